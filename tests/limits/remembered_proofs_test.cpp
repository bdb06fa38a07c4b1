#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "support/steps.h"
#include "tests/limits/hostile_texts.h"

// Asserts that proofs which a compiler keeps change no result: a program takes the same steps and gets the same
// verdicts in a new compiler, in one that has compiled others, and when it is compiled again.
namespace padlock::compiler {
namespace {

struct Outcome {
  std::int64_t steps = 0;
  std::string verdicts;  ///< of all obligations, or the error

  bool operator==(const Outcome&) const = default;
};

Outcome outcome_of(TargetCompiler& compiler, const ir::Program& program) {
  const std::int64_t before = steps_taken();
  const auto proofs = compiler.prove(program, {});
  Outcome outcome{.steps = steps_taken() - before, .verdicts = proofs ? "" : proofs.error().message};
  if (!proofs) return outcome;
  for (const Proof& proof : *proofs)
    for (const Obligation& obligation : proof.obligations) outcome.verdicts += to_string(obligation) + "\n";
  return outcome;
}

std::unique_ptr<TargetCompiler> new_compiler() { return *TargetCompiler::create("host:x86-64-v3"); }

constexpr std::size_t kBytes = 3000;

TEST_CASE("a program takes the steps that it takes alone, whatever was proved before it, itself too") {
  const std::unique_ptr<TargetCompiler> used = new_compiler();
  for (const testing::HostileFamily& family : testing::hostile_families()) {
    const Result<ir::Program> alone = ir::parse_program(family.text(kBytes));
    const Result<ir::Program> later = ir::parse_program(family.text(kBytes));
    if (!alone) continue;
    CAPTURE(family.name);
    const Outcome expected = outcome_of(*new_compiler(), *alone);
    for (int times = 0; times < 2; ++times) {
      const Outcome found = outcome_of(*used, *later);
      CHECK(found.steps == expected.steps);
      CHECK(found.verdicts == expected.verdicts);
    }
  }
}

}  // namespace
}  // namespace padlock::compiler
