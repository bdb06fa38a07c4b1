#include <doctest/doctest.h>

#include <string>

#include "compiler/targets/target_compiler.h"
#include "tests/common/expect.h"
#include "tests/compiler/seeded/seeded_bugs.h"
#include "tests/differential/host_check.h"

// A tile's barrier that is missing or misplaced is found by an execution of threads one after the other: as a race,
// since the result may be right by chance.
namespace padlock::differential {
namespace {

using compiler::Config;
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

std::string run(const char* text, std::int64_t a, std::int64_t b, const char* config,
                const compiler::PassEdits* edits) {
  const ir::Program program = testing::program_of(text);
  const auto compiler = testing::value_of(compiler::TargetCompiler::create("sm_90"));
  const Config parsed = testing::value_of(compiler->parse_config(config));
  const runtime::HostImage code = testing::value_of(
      load(compiler->compile(program, {.config = parsed, .bounds_check = false, .for_simt = true, .edits = edits})));
  ir::BindRequest request;
  request.tensors = {ir::ArgumentShape{{a, b}, {}}};
  request.symbols = {{"l", 3}};
  const ir::Binding binding = testing::value_of(ir::Binding::bind(program, request));
  testing::Rng rng(1);
  const Problem problem = testing::value_of(random_problem(program, binding, rng));
  GuardedArena arena;
  return check_both_placements(code, problem, arena, rng);
}

std::vector<Mutation> races() {
  std::vector<Mutation> all;
  for (const Mutation mutation : compiler::kMutations)
    if (mutation != Mutation::none && judge_of(mutation) == compiler::Judge::race) all.push_back(mutation);
  CHECK(all.size() == compiler::kByRace);
  return all;
}

}  // namespace

TEST_CASE("a tile without its barrier, or with it before the loads, is a race") {
  for (const char* text : {kTurned, kBytes, kMixed})
    for (const char* config : {"tiles=large,threads=128", "tiles=medium", "tiles=small,threads=512"}) {
      CAPTURE(text);
      CAPTURE(config);
      CHECK(run(text, 300, 290, config, nullptr).empty());
      for (const Mutation bug : races()) {
        CAPTURE(std::string(compiler::name_of(bug)));
        const std::string message = run(text, 300, 290, config, edits_of(bug));
        CHECK_MESSAGE(message.find("race for shared memory") != std::string::npos, message);
        CHECK(run(text, 1, 40, config, edits_of(bug)).find("race for shared memory") != std::string::npos);
      }
    }
}

TEST_CASE("one element has no race, whatever the barrier") {
  // It is stored at the place of its load: results made after the barrier have no phases.
  for (const Mutation bug : races())
    CHECK(run("program p(x: f32[A, A], l: dim) where 0 <= l <= 8 "
              "{ t = transpose(x, perm = [1, 0]) z = add(t, x) return z }",
              1, 1, "tiles=large", edits_of(bug))
              .empty());
}

}  // namespace padlock::differential
