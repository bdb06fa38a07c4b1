#include <fmt/format.h>

#include "tests/common/environment.h"
#include "tests/compiler/emit/compiled.h"
#include "tests/compiler/prover/mutant_case.h"
#include "tests/differential/programs/random_program.h"

// Seeded bugs in random programs: an execution confirms every refutation, and correct kernels do nothing wrong there.
namespace padlock::compiler {
namespace {

constexpr std::uint64_t kPrograms = 8000;  // to be looked at for each bug, at most: some show in one of 2000
constexpr std::size_t kLongest = 700;      // letters of a program: long ones take longer and show no more
constexpr int kWanted = 3;                 // refuted programs for each bug
using Configs = std::array<const char*, 3>;
constexpr Configs kHostConfigs = {"vector_bytes=16,unroll=1,store=plain", "vector_bytes=32,unroll=2,store=nontemporal",
                                  "split=0,unroll=1"};
constexpr Configs kStreams = {"map=vector_grid,threads=128,items=1", "map=vector_grid,threads=256,items=2",
                              "map=vector_grid,threads=512,items=4"};
constexpr Configs kTiles = {"map=tiles,threads=128", "map=tiles,threads=256", "map=tiles,threads=512"};

/// What a seeded bug came to in one program.
struct Outcome {
  int executed = 0;     // counter-examples
  std::string mistake;  // a refutation without a confirmation, or an error of a correct kernel
};

/// Returns whether an execution's answer says that it is too large.
bool is_too_large(const std::string& answer) { return answer.find("some millions") != std::string::npos; }

Outcome try_mutant(const ir::Program& program, std::string_view config, Mutation mutation, ProofCache& lemmas) {
  Outcome outcome;
  const Result<std::vector<Schedule>> wrong = schedules_of(program, config, mutation);
  const Result<std::vector<Schedule>> right = schedules_of(program, config);
  if (!wrong || !right) return outcome;
  for (std::size_t k = 0; k < wrong->size(); ++k) {
    const Result<Proof> proof = list_obligations((*wrong)[k], {.cache = &lemmas, .keep = false});
    const Obligation* refuted = proof ? proof->refuted() : nullptr;
    if (refuted == nullptr) continue;
    const std::string missing = not_shown((*wrong)[k], *refuted);
    if (is_too_large(missing)) continue;
    ++outcome.executed;
    const std::string misdeed = misdeed_at((*right)[k], refuted->found);
    if (!missing.empty()) outcome.mistake = missing;
    if (!misdeed.empty() && !is_too_large(misdeed)) outcome.mistake = "the right kernel: " + misdeed;
  }
  return outcome;
}

bool is_refuted(const ir::Program& program, std::string_view config, Mutation mutation, ProofCache& lemmas) {
  const Result<std::vector<Schedule>> schedules = schedules_of(program, config, mutation);
  if (!schedules) return false;
  return std::ranges::any_of(*schedules, [&](const Schedule& schedule) {
    if (judge_of(mutation) == Judge::tile && schedule.tiles() == nullptr) return false;
    const Result<Proof> proof = list_obligations(schedule, {.cache = &lemmas, .keep = false});
    return proof && proof->refuted() != nullptr;
  });
}

}  // namespace

TEST_CASE("a seeded bug in a random program is refuted, and its counter-example is one") {
  const std::uint64_t seed = testing::seed_or(20240731);
  CAPTURE(seed);
  ProofCache lemmas;
  int survivors = 0, sought = 0;
  for (const Mutation mutation : kMutations) {
    if (judge_of(mutation) != Judge::proof) continue;
    CAPTURE(std::string(name_of(mutation)));
    int found = 0;
    for (std::uint64_t index = 0; index < kPrograms && found < kWanted; ++index) {
      const std::string text = differential::random_program(seed, index).text();
      if (text.size() > kLongest) continue;
      CAPTURE(index);
      CAPTURE(text);
      const Result<ir::Program> program = ir::parse_program(text);
      REQUIRE(program.has_value());
      const Outcome outcome = try_mutant(*program, kHostConfigs[index % kHostConfigs.size()], mutation, lemmas);
      found += outcome.executed > 0;
      CHECK(outcome.mistake == "");
    }
    CHECK_MESSAGE(found >= kWanted, "the mutant survives");
    ++sought;
    survivors += found < kWanted ? 1 : 0;
  }
  CHECK(sought == kByProof);
  CHECK(survivors == 0);
}

TEST_CASE("a seeded bug of a GPU's schedule in a random program is refuted, and the right kernel is not") {
  const std::uint64_t seed = testing::seed_or(20240731);
  CAPTURE(seed);
  ProofCache lemmas;
  int sought = 0;
  for (const Mutation mutation : kMutations) {
    if (judge_of(mutation) != Judge::grid && judge_of(mutation) != Judge::tile) continue;
    if (needs_search(mutation)) continue;
    const Configs& configs = judge_of(mutation) == Judge::grid ? kStreams : kTiles;
    CAPTURE(std::string(name_of(mutation)));
    int found = 0;
    for (std::uint64_t index = 0; index < kPrograms && found < kWanted; ++index) {
      const std::string text = differential::random_program(seed, index).text();
      if (text.size() > kLongest) continue;
      CAPTURE(index);
      CAPTURE(text);
      const Result<ir::Program> program = ir::parse_program(text);
      REQUIRE(program.has_value());
      const char* const config = configs[index % configs.size()];
      if (!is_refuted(*program, config, mutation, lemmas)) continue;
      ++found;
      CHECK_FALSE(is_refuted(*program, config, Mutation::none, lemmas));
    }
    CHECK_MESSAGE(found >= kWanted, "the mutant survives");
    ++sought;
  }
  CHECK(sought == kByGrid - kOfSearches + kByTile);
}

}  // namespace padlock::compiler
