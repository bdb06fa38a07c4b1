#include "session/compile/proof_report.h"

#include <doctest/doctest.h>

#include <vector>

namespace padlock::session {
namespace {

using compiler::Counterexample;
using compiler::ObligationKind;
using compiler::Proof;
using compiler::Verdict;

/// One obligation of each verdict, in two kernels.
std::vector<Proof> proofs() {
  Proof first{.kernel = "p_0", .config = "unroll=1", .obligations = {}, .milliseconds = 0.25};
  first.obligations.push_back({.kind = ObligationKind::store, .access = "z[$0]", .verdict = Verdict::proved});
  first.obligations.push_back(
      {.kind = ObligationKind::load,
       .access = "x[$0 + 1]",
       .verdict = Verdict::refuted,
       .found = Counterexample{.sizes = {{"A", 5}}, .where = {{"$0", 4}}, .violation = "coordinate 5 on axis 0"}});
  Proof second{.kernel = "p_1", .config = "unroll=1", .obligations = {}, .milliseconds = 0.5};
  second.obligations.push_back(
      {.kind = ObligationKind::width, .access = "i", .verdict = Verdict::guarded, .guard = "A <= 9"});
  second.obligations.push_back(
      {.kind = ObligationKind::load, .access = "w[$0]", .verdict = Verdict::checked, .reason = "out of steps"});
  second.obligations.push_back(
      {.kind = ObligationKind::load, .access = "v[$0]", .verdict = Verdict::dead, .contradiction = {"A > 1", "A < 1"}});
  return {first, second};
}

}  // namespace

TEST_CASE("each verdict has its line with what belongs to it, and its total") {
  CHECK(to_text(proofs()) == R"(kernel p_0, config unroll=1
  proved   store     z[$0]
  refuted  load      x[$0 + 1]: A = 5: coordinate 5 on axis 0 (at $0 = 4)
kernel p_1, config unroll=1
  guarded  width     i if A <= 9
  checked  load      w[$0]: out of steps
  dead     load      v[$0]: never, for A > 1 contradicts A < 1
1 proved, 1 guarded, 1 checked, 1 refuted, 1 dead in 0.75 ms
)");
  CHECK(count(proofs(), Verdict::refuted) == 1);
  CHECK(count({}, Verdict::refuted) == 0);
}

TEST_CASE("the same as JSON, with null for what a verdict does not have") {
  const std::string json = to_json(proofs());
  const auto has = [&](std::string_view part) { return json.find(part) != std::string::npos; };
  CHECK(has(R"("command": "prove")"));
  CHECK(has(R"json("counterexample": "A = 5: coordinate 5 on axis 0 (at $0 = 4)")json"));
  CHECK(has(R"("guard": "A <= 9")"));
  CHECK(has(R"("reason": "out of steps")"));
  CHECK(has(R"("contradiction": ["A > 1", "A < 1"])"));
  CHECK(has(R"("guard": null)"));
  CHECK(has(R"("ms": 0.75)"));
}

}  // namespace padlock::session
