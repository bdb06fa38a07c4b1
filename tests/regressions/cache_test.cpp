// Class K, files and starts: caches that crashed their reader, lost writes of one of several processes, or made a
// program be tuned again at every start.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "support/file.h"
#include "tests/regressions/tuned.h"
#include "tests/tuner/cache/crash_records.h"
#include "tuner/cache/record_text.h"

namespace padlock::regressions {

using session::Context;
using tuner::Mode;

/// A forked copy of this process, in which `pid` is 0. The destructor kills it.
struct Child {
  const pid_t pid = ::fork();
  Child() = default;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

// ---- Files -----------------------------------------------------------------------------------------------------

TEST_CASE(
    "pytorch_153791: whatever a cache file holds, a program compiles, with the tuned config or with the default") {
  const Folder folder;
  const std::string path = folder / "t.db";
  const session::Program program = program_of(kTunedPad);
  Context first;
  const std::string standard = *first.choose_config({}), chosen = *first.choose_config({.config = kSlow});
  learn(path, key_of(first, program), "", kSlow);
  const std::string good = *read_text_file(path, 1 << 24);
  int hits = 0, misses = 0;
  const auto compile_with = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    Context context;
    use(context, path, Mode::read);
    const std::string config = bound(context, program, sizes(3, 4)).compiled().config();
    CHECK((config == standard || config == chosen));
    ++(config == chosen ? hits : misses);
  };
  compile_with(good);
  CHECK(hits == 1);
  for (std::size_t size = 0; size < good.size(); size += good.size() / 24 + 1) compile_with(good.substr(0, size));
  for (std::size_t at = 7; at < good.size(); at += good.size() / 24 + 1) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(~bytes[at]);
    compile_with(bytes);
  }
  compile_with("{\"best_config\": ");
  compile_with("\xff\xfe\x80 no UTF-8");
  CHECK(hits >= 2);  // most of a file is not this record
  CHECK(misses > 10);
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  Context context;
  use(context, path, Mode::read_write);
  CHECK(bound(context, program, sizes(3, 4)).compiled().config() == standard);
}

TEST_CASE("pytorch_119698: several processes that keep what they learn in one file lose nothing") {
  const Folder folder;
  constexpr int kProcesses = 4, kRecords = 40;
  std::string command;
  for (int i = 0; i < kProcesses; ++i)
    command += fmt::format("{} {} {} {} > /dev/null & ", PADLOCK_CACHE_WRITER, folder / "t.db", i, kRecords);
  REQUIRE(std::system((command + "wait").c_str()) == 0);
  const auto set = session::verify_cache(folder / "t.db");
  REQUIRE(set);
  CHECK(set->problems == std::vector<std::string>{});
  for (int i = 0; i < kProcesses; ++i)
    for (int n = 0; n < kRecords; ++n) {
      const tuner::Record wanted = record_of(tuner::testing::key_of_writer(i), tuner::testing::crash_record(i, n));
      CHECK(std::ranges::count(set->records, wanted) == 1);
    }
}

TEST_CASE("triton_11512: a file that comes and goes while it is read is a hit or a miss") {
  const Folder folder;
  const std::string path = folder / "t.db";
  const tuner::CacheKey key = tuner::testing::key();
  // In a process of its own: SQLite's locks say nothing to another thread about files that were made anew.
  const Child publisher;
  REQUIRE(publisher.pid >= 0);
  while (publisher.pid == 0) {
    {
      const auto store = tuner::Store::open({.mode = Mode::read_write, .user_file = path});
      if (store) static_cast<void>((*store)->add(key, tuner::testing::choice("", "unroll=1")));
    }
    for (const char* suffix : {"-wal", "-shm", ""}) ::unlink((path + suffix).c_str());
  }
  int hits = 0;
  for (int i = 0; i < 400 || (hits == 0 && i < 20'000); ++i) {
    int warnings = 0;
    const auto store =
        tuner::Store::open({.mode = Mode::read, .user_file = path, .warn = [&](const std::string&) { ++warnings; }});
    REQUIRE(store);
    const auto found = (*store)->look_up(key, tuner::testing::legal);
    REQUIRE(found);
    CHECK(warnings <= 1);
    if (!(*found)->hit()) continue;
    ++hits;
    CHECK((*found)->choices == std::vector{tuner::testing::choice("", "unroll=1")});
  }
  CHECK(hits > 0);
}

// ---- The next start --------------------------------------------------------------------------------------------

TEST_CASE("pytorch_158026: a start that finds what was tuned tries nothing, and takes for each size what was chosen") {
  const Folder folder;
  const session::Program program = program_of(kTunedPad);
  std::map<std::int64_t, std::string> chosen;  // by A
  {
    Context context;
    use(context, folder / "t.db", Mode::read_write);
    for (const std::int64_t a : {20, 200}) {
      session::TuneOptions options = small_tuning(sizes(a, 50));
      (a == 20 ? options.sizes.max : options.sizes.min) = {{"A", a}};
      const session::TuneReport report = tuned(context, program, options);
      REQUIRE(report.chosen() == 1);
      chosen[a] = *report.regions.front().outcome.config;
    }
  }
  // As it is, and as it comes back from an export.
  const auto kept = session::read_rows(folder / "t.db");
  REQUIRE(kept);
  const tuner::RowSet again = tuner::parse_rows(tuner::lines_of(kept->rows));
  CHECK(again.rows == kept->rows);
  REQUIRE(session::merge_into_cache(folder / "copy.db", again.rows));
  for (const char* file : {"t.db", "copy.db"}) {
    Context context;
    use(context, folder / file, Mode::require);
    const auto compiled = context.compile(program);
    REQUIRE(compiled);
    for (const auto& [a, config] : chosen) {
      const auto made = compiled->bind({.tensors = {std::nullopt}, .symbols = sizes(a, 50)});
      REQUIRE(made);
      CHECK(made->compiled().config() == config);
      CHECK(contains(made->reason(), ": tuned for A "));
    }
    CHECK(context.trial_count() == 0);
  }
}

TEST_CASE("pytorch_173391: a choice that no search would try any more is kept, and nothing is tried again") {
  const Folder folder;
  const session::Program program = program_of(kTunedPad);
  Context context;
  const session::TuneOptions options = small_tuning(sizes(20, 50));
  const auto plan = context.plan_tuning(program, options);
  REQUIRE(plan);
  const session::RegionPlan& region = plan->regions.front();
  const auto compiler = compiler::TargetCompiler::create("host");
  REQUIRE(compiler);
  std::vector<std::string> all;
  for (const compiler::Config& config : (*compiler)->all_configs()) all.push_back(compiler::to_string(config));
  const auto left_out = std::ranges::find_if(all, [&](const std::string& config) {
    return std::ranges::find(region.candidates, config, &tuner::Candidate::config) == region.candidates.end();
  });
  REQUIRE(left_out != all.end());
  learn(folder / "t.db", key_of(context, program), region.planned.region, *left_out);
  use(context, folder / "t.db", Mode::read_write);
  CHECK(bound(context, program, sizes(20, 50)).compiled().config() == *left_out);
  session::TuneOptions resumed = options;
  resumed.resume = true;
  const session::TuneReport report = tuned(context, program, resumed);
  CHECK(report.regions.front().was_known);
  CHECK(report.regions.front().outcome.config == *left_out);
  CHECK(context.trial_count() == 0);
}

TEST_CASE("triton_dejavu_1: the first, the tuned and the cached run give the same bits") {
  const Folder folder;
  const session::Program program = program_of(
      "program p(x: f32[A, B]) where A >= 1, B >= 1 {"
      "  y = pad(x, low = [1, 2], high = [3, 1], value = -1.5) z = mul(y, y) w = leaky_relu(z, alpha = 0.1) return w "
      "}");
  const auto run = [&](Context& context) {
    const session::BoundProgram made = bound(context, program, sizes(20, 50));
    const session::Arrays arrays(made);
    REQUIRE(made.launch(arrays.arguments()));
    return arrays.results;
  };
  Context first, tuning, cached;
  const auto untuned = run(first);
  use(tuning, folder / "t.db", Mode::read_write);
  REQUIRE(tuned(tuning, program, small_tuning(sizes(20, 50))).chosen() == 1);
  CHECK(run(tuning) == untuned);
  use(cached, folder / "t.db", Mode::require);
  CHECK(run(cached) == untuned);
  CHECK(cached.trial_count() == 0);
}

}  // namespace padlock::regressions
