#include "tuner/cache/record.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/hash.h"
#include "tests/tuner/cache/samples.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

std::vector<Record> records() {
  Measurement extreme = testing::measurement("S >= 1024", "unroll=2");
  extreme.sizes = {{"lo", std::numeric_limits<std::int64_t>::min()}, {"S", std::numeric_limits<std::int64_t>::max()}};
  extreme.provenance.seed = std::numeric_limits<std::uint64_t>::max();
  extreme.samples_ps.assign(4096, std::numeric_limits<std::int64_t>::max());
  extreme.median_ps = std::numeric_limits<std::int64_t>::max();
  std::vector<Record> list = {
      record_of(testing::key()), record_of(testing::key(), testing::choice("S >= 1024, S mod 4 == 0", "unroll=2")),
      record_of(testing::key(), testing::measurement("", "unroll=1")), record_of(testing::key(), extreme),
      record_of(testing::key(), testing::failure("unroll=4", Verdict::crash, "SIG\"SEGV\"\\"))};
  Choice covered = testing::choice("S < 64", "unroll=2");
  covered.coverage = {.measured = 18, .candidates = 24};
  list.push_back(record_of(testing::key(), covered));
  covered.regime = Regime::warm;
  list.push_back(record_of(testing::key(), covered));
  Measurement raced = testing::measurement("", "unroll=1");
  raced.regime = Regime::both;
  raced.ratios = {.ppm = {{"cold", 980'000}, {"warm", 1'010'000}}, .noise_ppm = {{"cold", 0}, {"warm", 3000}}};
  list.push_back(record_of(testing::key(), raced));
  return list;
}

/// Returns the line with changed JSON and a corrected hash: only its values can refuse it.
std::string changed(const Record& record, const std::function<void(nlohmann::json&)>& change) {
  nlohmann::json object = nlohmann::json::parse(to_line(record));
  object.erase("check");
  change(object);
  object["check"] = hash64(object.dump());
  return object.dump();
}

void refuses(const std::string& line, const std::string& message) {
  const auto parsed = parse_line(line);
  CAPTURE(line.substr(0, 400));
  REQUIRE_FALSE(parsed);
  CAPTURE(parsed.error().message);
  CHECK(parsed.error().code == Code::invalid_argument);
  CHECK(parsed.error().message.find(message) != std::string::npos);
}

TEST_CASE("a record is what its line says, exactly") {
  for (const Record& record : records()) {
    REQUIRE(validate(record));
    const std::string line = to_line(record);
    CHECK(line.find('\n') == std::string::npos);
    const auto parsed = parse_line(line);
    REQUIRE_MESSAGE(parsed, parsed.error().message);
    CHECK(*parsed == record);
    CHECK(to_line(*parsed) == line);
  }
}

TEST_CASE("a line is JSON with sorted keys") {
  CHECK(to_line(record_of(testing::key(), testing::failure("unroll=4", Verdict::red_zone, "byte 3 after z"))) ==
        R"({"check":"4b7af849bcad859e","config":"unroll=4","key":")" + testing::key().digest() +
            R"(","kind":"measurement","median_ps":0,"message":"byte 3 after z","noise_ps":0,"program":")" +
            std::string(32, 'a') +
            R"(","provenance":{"date":"2026-01-31T12:00:00Z","seed":7,"version":"0.1.0"},"region":"","samples_ps":[],)"
            R"("schema":1,"sizes":{"B":4},"verdict":"red zone"})");
}

TEST_CASE("a choice says how much was measured for it, and one of earlier versions does not") {
  const std::string line = to_line(records()[5]);
  CHECK(line.find(R"("coverage":{"candidates":24,"measured":18})") != std::string::npos);
  const Record old = records()[1];
  CHECK(to_line(old).find("coverage") == std::string::npos);
  CHECK(std::get<Choice>(parse_line(to_line(old))->content).coverage == std::nullopt);
  const auto with = [&](std::int64_t measured, std::int64_t candidates) {
    return changed(records()[5],
                   [&](auto& o) { o["coverage"] = {{"measured", measured}, {"candidates", candidates}}; });
  };
  CHECK(parse_line(with(24, 24)));
  refuses(with(25, 24), "expected 1 to 24 measured configs of as many candidates, found 25");
  refuses(with(0, 24), "expected 1 to 24 measured configs");
  refuses(with(-1, -1), "expected 1 to -1 measured configs");
  refuses(changed(records()[5], [](auto& o) { o["coverage"] = 3; }), "expected an object as 'coverage'");
  refuses(changed(records()[5], [](auto& o) { o["coverage"].erase("measured"); }), "expected an integer as 'measured'");
}

TEST_CASE("a record says its regime, and one of earlier versions is read as it is") {
  const std::string line = to_line(records()[6]);
  CHECK(line.find(R"("regime":"warm")") != std::string::npos);
  CHECK(std::get<Choice>(parse_line(line)->content).regime == Regime::warm);
  // A line of a version before regimes, byte for byte.
  const std::string old = to_line(records()[5]);
  CHECK(old.find("regime") == std::string::npos);
  CHECK(std::get<Choice>(parse_line(old)->content).regime == std::nullopt);
  refuses(changed(records()[6], [](auto& o) { o["regime"] = "hot"; }), "expected a regime (warm, cold or both)");
  refuses(changed(records()[6], [](auto& o) { o["regime"] = 3; }), "expected a text as 'regime'");
  // The same region and sizes in another regime are another place.
  CHECK(place_of(records()[5]) != place_of(records()[6]));
  CHECK(place_of(records()[7]).sizes == "B=4,S=1024 both");
  CHECK(place_of(records()[2]).sizes == "B=4,S=1024");
  CHECK(compare_places(records()[2], records()[7]) < 0);
}

TEST_CASE("a measurement says the ratios that decided, each with its noise") {
  const Record raced = records()[7];
  CHECK(to_line(raced).find(R"("ratios":{"noise_ppm":{"cold":0,"warm":3000},"ppm":{"cold":980000,"warm":1010000}})") !=
        std::string::npos);
  refuses(changed(raced, [](auto& o) { o["ratios"]["ppm"].erase("warm"); }), "expected a ratio and its noise");
  refuses(changed(raced, [](auto& o) { o["ratios"]["ppm"]["warm"] = 0; }), "expected a ratio above 0");
  refuses(changed(raced, [](auto& o) { o["ratios"]["noise_ppm"]["warm"] = -1; }), "expected a ratio above 0");
  refuses(changed(raced,
                  [](auto& o) {
                    for (const char* member : {"ppm", "noise_ppm"}) o["ratios"][member] = {{"hot", 1}};
                  }),
          "expected a setting, found 'hot'");
  refuses(changed(raced, [](auto& o) { o["ratios"] = 1; }), "expected an object as 'ratios'");
}

TEST_CASE("no single byte of a line can be changed, added or lost") {
  for (const std::size_t number : {1, 4, 5, 6, 7}) {
    const std::string line = to_line(records()[number]);
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (const int bit : {0, 1, 5, 7}) {
        std::string flipped = line;
        flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
        CHECK_FALSE(parse_line(flipped));
      }
      CHECK_FALSE(parse_line(line.substr(0, i)));
      CHECK_FALSE(parse_line(line.substr(0, i) + " " + line.substr(i)));
    }
  }
}

/// The line with a part of its text changed and its check made anew.
std::string rewritten(const Record& record, std::string_view old, std::string_view fresh) {
  std::string rest = "{" + to_line(record).substr(sizeof(R"({"check":"0123456789abcdef",)") - 1);
  const std::size_t at = rest.find(old);
  REQUIRE(at != std::string::npos);
  rest.replace(at, old.size(), fresh);
  return fmt::format(R"({{"check":"{}",{})", hash64(rest), rest.substr(1));
}

TEST_CASE("what says the same in other words is no line, even where its check fits") {
  const Record measured = records()[2], failed = records()[4], covered = records()[5], extreme = records()[3];
  CHECK(parse_line(rewritten(measured, "1500", "1500")));
  for (const auto& [old, fresh] :
       std::vector<std::pair<std::string, std::string>>{{R"("seed":7)", R"("seed":07)"},
                                                        {R"("seed":7)", R"("seed": 7)"},
                                                        {R"("schema":1)", R"("schema":1.0)"},
                                                        {R"("samples_ps":[)", R"("samples_ps":[0)"},
                                                        {R"("samples_ps":[)", R"("samples_ps":[ )"},
                                                        {R"({"B":4,"S":1024})", R"({"S":1024,"B":4})"},
                                                        {R"({"B":4,)", R"({"B":4,"B":4,)"},
                                                        {R"({"B":4,)", R"({"B":04,)"},
                                                        {R"({"B":4,)", R"({"B":-0,)"},
                                                        {R"("ok")", R"("\u006fk")"},
                                                        {R"("config":"u)", R"("config":"\/u)"}}) {
    CAPTURE(fresh);
    CHECK_FALSE(parse_line(rewritten(measured, old, fresh)));
  }
  CHECK_FALSE(parse_line(rewritten(failed, R"("median_ps":0)", R"("median_ps":-0)")));
  CHECK_FALSE(parse_line(rewritten(failed, R"("median_ps":0)", R"("median_ps":00)")));
  CHECK_FALSE(parse_line(rewritten(covered, R"("measured":18)", R"("measured":018)")));
  CHECK_FALSE(parse_line(rewritten(extreme, R"("S":9223372036854775807)", R"("S":9223372036854775808)")));
  CHECK(parse_line(rewritten(measured, R"({"B":4,)", R"({"B":-4,"C":0,)")));
}

TEST_CASE("a damaged line says so") {
  std::string line = to_line(records()[2]);
  line[line.find("1500")] = '2';
  refuses(line, "expected a median among its samples");
  line = to_line(records()[1]);
  line[line.find("unroll=2") + 7] = '4';
  refuses(line, "expected a line that fits its 'check'; it was changed");
}

TEST_CASE("what is no record is refused by name") {
  const Record measured = records()[2], chosen = records()[1], key = records()[0];
  refuses("", "expected a JSON object");
  refuses("[1, 2]", "expected a record as a JSON object");
  refuses("{\"schema\":1", "expected a JSON object");
  refuses(std::string(100000, '['), "expected a JSON object");
  refuses("{}", "expected an integer as 'schema'");
  refuses(std::string(kMaxLineBytes + 1, ' '), "expected at most 1048576 bytes");
  refuses(changed(key, [](auto& o) { o["schema"] = 2; }), "expected schema 1, found 2");
  refuses(changed(key, [](auto& o) { o["kind"] = "code"; }), "expected a kind of record, found 'code'");
  refuses(changed(key, [](auto& o) { o["key"] = std::string(32, '0'); }), "expected a key whose digest is its own");
  refuses(changed(key, [](auto& o) { o["fields"].erase("llvm"); }), "expected a text as 'llvm'");
  refuses(changed(key, [](auto& o) { o["fields"]["llvm"] = "23"; }), "expected a key whose digest is its own");
  refuses(changed(key, [](auto& o) { o["program"] = "A"; }),
          "expected a program's fingerprint of 32 hexadecimal digits");
  refuses(changed(key, [](auto& o) { o["program"] = std::string(32, 'b'); }), "expected a key of the record's program");
  refuses(changed(chosen, [](auto& o) { o["more"] = 1; }), "expected a line that fits its 'check'");
  refuses(changed(chosen, [](auto& o) { o["config"] = ""; }), "expected a config, found none");
  refuses(changed(chosen, [](auto& o) { o["config"] = std::string(9000, 'c'); }), "expected a config of at most 8192");
  refuses(changed(chosen, [](auto& o) { o["region"] = "S >= \u00e9"; }), "expected a region in printable ASCII");
  refuses(changed(chosen, [](auto& o) { o["region"] = 3; }), "expected a text as 'region'");
  refuses(changed(chosen, [](auto& o) { o["provenance"]["date"] = "yesterday"; }), "expected a date like");
  refuses(changed(chosen, [](auto& o) { o["provenance"]["seed"] = -1; }), "expected an integer of its range in 'seed'");
  refuses(changed(measured, [](auto& o) { o["verdict"] = "fine"; }), "expected a verdict, found 'fine'");
  refuses(changed(measured, [](auto& o) { o["samples_ps"] = nlohmann::json::array(); }), "expected 1 to 4096 samples");
  refuses(changed(measured, [](auto& o) { o["samples_ps"] = {1, 2.5}; }), "integer of its range in 'samples_ps'");
  refuses(changed(measured, [](auto& o) { o["samples_ps"] = {0, 1500}; }), "expected samples above 0 ps, found 0");
  refuses(changed(measured, [](auto& o) { o["median_ps"] = 1e3; }), "expected an integer as 'median_ps'");
  refuses(changed(measured, [](auto& o) { o["median_ps"] = 18446744073709551615U; }), "of its range in 'median_ps'");
  refuses(changed(measured, [](auto& o) { o["noise_ps"] = -1; }), "expected noise of 0 ps or more");
  refuses(changed(measured, [](auto& o) { o["sizes"]["1x"] = 1; }), "expected a symbol's name among the sizes");
  refuses(changed(measured, [](auto& o) { o["message"] = "m"; }), "expected no message of a config that is ok");
  refuses(changed(measured, [](auto& o) { o["verdict"] = "crash"; }),
          "expected no time of a config whose verdict is 'crash'");
}

TEST_CASE("every verdict has a name of its own") {
#define PADLOCK_VERDICT(verdict, text)      \
  CHECK(name_of(Verdict::verdict) == text); \
  CHECK(verdict_from_name(text) == Verdict::verdict);
  PADLOCK_VERDICTS(PADLOCK_VERDICT)
#undef PADLOCK_VERDICT
}

TEST_CASE("text from elsewhere is made printable") {
  CHECK(printable("a\nb\x7f\xc3\xa9") == "a?b???");
  CHECK(printable(std::string(1000, 'x')).size() == 500);
}

TEST_CASE("lines are in the order of their places, and a bad one costs itself alone") {
  std::vector<Record> list = records();
  const std::string text = to_lines(list);
  std::ranges::reverse(list);
  CHECK(to_lines(list) == text);
  const RecordSet whole = parse_lines(text);
  CHECK(whole.records.size() == list.size());
  CHECK(whole.problems.empty());
  std::string damaged = "\n" + text;
  damaged.insert(damaged.find('\n', 1) + 1, "{}\n");
  const RecordSet rest = parse_lines(damaged + "end");
  CHECK(rest.records == whole.records);
  CHECK(rest.problems ==
        std::vector<std::string>{"line 3: expected an integer as 'schema'", "line 11: expected a JSON object"});
}

TEST_CASE("a bad line among many is named by its number, and the others keep their order") {
  const int count = 40'000;  // several batches; the last is not full
  std::vector<Record> list;
  for (int i = 0; i < count; ++i)
    list.push_back(record_of(testing::key(), testing::measurement(fmt::format("S >= {}", 100'000 + i), "unroll=1")));
  std::string text = to_lines(list);
  CHECK(parse_lines(text).records == list);
  const std::size_t length = text.size() / count;
  std::vector<std::string> problems;
  for (const std::size_t bad : {39'999, 20'000, 16'384, 16'383, 0}) {
    text[bad * length] = 'x';
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(bad));
    problems.insert(problems.begin(), fmt::format("line {}: expected a JSON object", bad + 1));
  }
  const RecordSet rest = parse_lines(text);
  CHECK(rest.records == list);
  CHECK(rest.problems == problems);
}

}  // namespace
}  // namespace padlock::tuner
