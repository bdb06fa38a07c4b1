#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/compiler/seeded/seeded_bugs.h"
#include "tests/differential/variant_run.h"

// A barrier of a tile, of a box, or of a grid's table of rows that is missing or misplaced is found by an execution of
// threads one after the other: as a race, since the result may be right by chance.
namespace padlock::differential {
namespace {

using compiler::Mutation;

constexpr const char* kTurned =
    "program p(x: f32[A, B], l: dim) where 0 <= l <= 8 "
    "{ t = transpose(x, perm = [1, 0]) y = pad(t, low = [0, l], high = [l, 0], value = 1) return y }";
constexpr const char* kBytes =
    "program p(x: i8[A, B], l: dim) where 0 <= l <= 8 "
    "{ t = transpose(x, perm = [1, 0]) y = pad(t, low = [0, l], high = [l, 0], value = 1) z = relu(y) return z }";
/// Not all that is loaded goes across rows: results are made after the barrier.
constexpr const char* kMixed =
    "program p(x: f16[A, B], l: dim) where 0 <= l <= 8 "
    "{ t = transpose(x, perm = [1, 0]) y = pad(t, low = [0, l], high = [l, 0], value = 1) "
    "z = concat(y, y, axis = 1) c = slice(z, start = [0, 0], limit = [B + l, A + l], step = [1, 1]) w = add(c, y) "
    "return w }";

/// What data says of a block's rows is in a table: of one value, and of two.
constexpr const char* kFound =
    "program p(x: f32[A, B], a: i64[G], i: i64[N], l: dim) where 0 <= l <= 8 "
    "{ g = search(a, i) t = take(x, g, axis = 0) y = pad(t, low = [0, l], high = [l, 0], value = 1) return y }";
constexpr const char* kFoundTwice =
    "program p(x: f16[A, B], a: i64[G], i: i64[N], l: dim) where 0 <= l <= 8 "
    "{ g = search(a, i) t = take(x, g, axis = 0) u = take(x, i, axis = 0, value = 2) y = add(t, u) return y }";

std::string run(const char* text, std::int64_t a, std::int64_t b, const char* config, const compiler::PassEdits* edits,
                std::uint64_t seed = 1) {
  Case of{text, {{a, b}}};
  for (std::size_t i = 1; i < testing::program_of(text).tensor_parameters().size(); ++i) of.shapes.push_back({2 * a});
  return run(of, {.config = config, .edits = edits, .seed = seed});
}

std::vector<Mutation> races(bool of_bulk) {
  std::vector<Mutation> all;
  for (const Mutation mutation : compiler::kMutations)
    if (mutation != Mutation::none && judge_of(mutation) == compiler::Judge::race)
      if (of_bulk || !is_of_bulk(mutation)) all.push_back(mutation);
  return all;
}

}  // namespace

TEST_CASE("a tile without its barrier, or with it before the loads, is a race") {
  for (const char* text : {kTurned, kBytes, kMixed})
    for (const char* config : {"tiles=large,threads=128", "tiles=medium", "tiles=small,threads=512"}) {
      CAPTURE(text);
      CAPTURE(config);
      CHECK(run(text, 300, 290, config, nullptr).empty());
      for (const Mutation bug : races(/*of_bulk=*/false)) {
        CAPTURE(std::string(compiler::name_of(bug)));
        const std::string message = run(text, 300, 290, config, edits_of(bug));
        CHECK_MESSAGE(message.find("race for shared memory") != std::string::npos, message);
        CHECK(run(text, 1, 40, config, edits_of(bug)).find("race for shared memory") != std::string::npos);
      }
    }
}

TEST_CASE("a table of rows without its barrier, or with it before the table, is a race") {
  for (const char* text : {kFound, kFoundTwice})
    for (const char* config : {"map=vector_grid,threads=128", "map=vector_grid,threads=64,items=4"})
      for (const std::int64_t columns : {1, 3, 40, 700}) {
        CAPTURE(text);
        CAPTURE(config);
        CAPTURE(columns);
        CHECK(run(text, 90, columns, config, nullptr) == "");
        for (const Mutation bug : races(/*of_bulk=*/false)) {
          CAPTURE(std::string(compiler::name_of(bug)));
          std::string message;
          // A seed draws the variant, too; the one that assumes nothing has no table.
          for (std::uint64_t seed = 1; seed <= 8 && message.empty(); ++seed)
            message = run(text, 90, columns, config, edits_of(bug), seed);
          CHECK_MESSAGE(message.find("race for shared memory") != std::string::npos, message);
        }
      }
}

TEST_CASE("a box without its barrier or its wait for copies in bulk, or with wrong bytes of these, is a race") {
  const char* rows =
      "program p(x: i8[A, B], l: dim) where 0 <= l <= 8 "
      "{ y = pad(x, low = [0, l], high = [0, 1], value = 1) return y }";
  const char* concatenated =
      "program p(x: f16[A, B], y: f16[A, C], l: dim) where 0 <= l <= 8 "
      "{ z = concat(x, y, axis = 1) w = pad(z, low = [0, l], high = [0, 0], value = 1) return w }";
  const char* to_planes =
      "program p(x: u8[N, H, W, C], l: dim) where 0 <= l <= 8 { t = transpose(x, perm = [0, 3, 1, 2]) "
      "y = pad(t, low = [0, 0, 1, l], high = [0, 0, 1, 1], value = 1) return y }";
  const char* from_planes =
      "program p(x: u8[N, C, H, W], l: dim) where 0 <= l <= 8 { t = transpose(x, perm = [0, 2, 3, 1]) "
      "y = pad(t, low = [0, 1, l, 0], high = [0, 1, 1, 0], value = 1) return y }";
  struct OfBoxes {
    Case of;
    const char* variant;
    bool of_runs = false;  // copied in bulk
  };
  REQUIRE(races(/*of_bulk=*/true).size() == compiler::kByRace);
  // Turned boxes serve only large outputs.
  for (const OfBoxes& boxes : {OfBoxes{{rows, {{900, 20}}}, "_boxes", true},
                               {{rows, {{700, 43}}}, "_boxes", true},
                               {{concatenated, {{1000, 10}, {1000, 6}}}, "_boxes", true},
                               {{to_planes, {{1, 300, 640, 6}}}, "_boxes"},
                               {{from_planes, {{1, 6, 300, 640}}}, "_boxes_joined"},
                               {{from_planes, {{1, 96, 30, 400}}}, "_boxes"},
                               {{from_planes, {{1, 96, 30, 400}}}, "_boxes_parts"}}) {
    CAPTURE(std::string(boxes.of.text));
    CAPTURE(std::string(boxes.variant));
    CHECK(run(boxes.of, {.only = boxes.variant}) == "");
    for (const Mutation bug : races(boxes.of_runs)) {
      CAPTURE(std::string(compiler::name_of(bug)));
      const std::string message = run(boxes.of, {.edits = edits_of(bug), .only = boxes.variant});
      CHECK_MESSAGE(message.find("race for shared memory") != std::string::npos, message);
    }
  }
}

TEST_CASE("one element has no race, whatever the barrier") {
  // It is stored at the place of its load: results made after the barrier have no phases.
  for (const Mutation bug : races(/*of_bulk=*/false))
    CHECK(run("program p(x: f32[A, A], l: dim) where 0 <= l <= 8 "
              "{ t = transpose(x, perm = [1, 0]) z = add(t, x) return z }",
              1, 1, "tiles=large", edits_of(bug))
              .empty());
}

}  // namespace padlock::differential
