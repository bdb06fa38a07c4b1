#include <algorithm>

#include "solver/feasibility.h"
#include "solver/integer_solver.h"
#include "tests/compiler/emit/compiled.h"
#include "tests/compiler/prover/mutant_case.h"
#include "tests/solver/failing_solver.h"

// "No point violates it" is shown by an empty set. Sets may be empty for other reasons: contradictory assumptions, an
// access that never happens, a constant that was truncated, a solver that gave up. None of them counts as a proof.
namespace padlock::compiler {
namespace {

constexpr std::string_view kPad =
    "program p(x: f32[B, S], lo: dim) where B >= 1, S >= 1, lo >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, lo]) return y }";
constexpr std::string_view kConfig = "vector_bytes=16,unroll=1,store=plain";

Schedule schedule_of(const ir::Program& program, Mutation mutation = Mutation::none) {
  Result<std::vector<Schedule>> schedules = schedules_of(program, kConfig, mutation);
  if (!schedules) FAIL(schedules.error().to_string());
  return std::move(schedules->front());
}

Proof proof_of(const Schedule& schedule, const ProverOptions& options = {}) {
  Result<Proof> proof = list_obligations(schedule, options);
  if (!proof) FAIL(proof.error().to_string());
  return *std::move(proof);
}

/// Returns the first obligation whose verdict is stronger than it may be. `weak` is the same proof with something
/// missing.
std::string overstated(const Proof& weak, const Proof& full) {
  if (weak.obligations.size() != full.obligations.size()) return "other obligations";
  for (std::size_t i = 0; i < full.obligations.size(); ++i) {
    const Obligation& claimed = weak.obligations[i];
    if (claimed.verdict != full.obligations[i].verdict && claimed.verdict != Verdict::checked)
      return to_string(claimed) + ", but it is " + to_string(full.obligations[i]);
  }
  return {};
}

constexpr auto kBugs = std::to_array<Mutation>({
    Mutation::none,
    Mutation::pad_guard_upper_weak,
    Mutation::stream_off_by_one,
    Mutation::rows_rounded_down,
});

constexpr auto kLarge = std::to_array<Int128>({
    Int128{1} << 31,
    (Int128{1} << 31) - 1,
    Int128{1} << 32,
    Int128{1} << 40,
    Int128{1} << 62,
});
// What the simplex does not compute with.
constexpr auto kTooLarge = std::to_array<Int128>({
    Int128{1} << 63,
    Int128{1} << 90,
});

}  // namespace

TEST_CASE("constraints that no sizes satisfy are an error that names them") {
  const ir::Program program = program_of(
      "program p(x: f32[S], t: dim, u: dim) where S == 2*t, S == 2*u + 1 { y = pad(x, low = [1], high = [t]) return y "
      "}");
  for (const Mutation mutation : {Mutation::none, Mutation::pad_guard_lower_dropped}) {
    const Result<Proof> proof = list_obligations(schedule_of(program, mutation));
    REQUIRE_FALSE(proof.has_value());
    CHECK(proof.error().code == Code::failed_precondition);
    CHECK(proof.error().message == "program 'p' admits no sizes: S - 2*t == 0 contradicts S - 2*u - 1 == 0");
    CHECK_FALSE(prove(schedule_of(program, mutation)).has_value());
  }
}

TEST_CASE("an access that never happens is dead, and says which conditions exclude it") {
  const ir::Program program = program_of(
      "program p(x: f32[S], lo: dim, k: dim, t: dim) where S >= 1, lo >= 0, 1 <= k, 3*k <= 2*t, 2*t <= 3*lo "
      "{ y = pad(x, low = [lo], high = [S]) z = slice(y, start = [0], limit = [k]) return z }");
  ProverOptions options;
  options.explain = true;
  const Proof proof = proof_of(schedule_of(program), options);
  int loads = 0;
  for (const Obligation& obligation : proof.obligations) {
    if (obligation.kind != ObligationKind::load) continue;
    ++loads;
    CHECK(obligation.verdict == Verdict::dead);
    for (const char* condition : {"-3*k + 2*t >= 0", "3*lo - 2*t >= 0"}) {
      CAPTURE(std::string(condition));
      CHECK(std::ranges::count(obligation.contradiction, condition) == 1);
    }
  }
  CHECK(loads == 1);
  CHECK(proof.count(Verdict::refuted) == 0);
}

TEST_CASE("constants beyond an int are what they say") {
  for (const Int128 magnitude : kLarge)
    for (const Int128 c : {magnitude, -magnitude}) {
      CAPTURE(static_cast<double>(c));
      solver::IntegerSolver solver;
      const solver::LinearRow at_least{.terms = {{0, 1}}, .constant = -c};
      const solver::LinearRow at_most{.terms = {{0, -1}}, .constant = c};
      const solver::LinearRow below{.terms = {{0, -1}}, .constant = c - 1};
      const auto point = solver.find_point(1, {at_least, at_most}, 10'000);
      REQUIRE(point.has_value());
      REQUIRE(point->has_value());
      CHECK((**point)[0] == c);
      const auto none = solver.find_point(1, {at_least, below}, 10'000);
      REQUIRE(none.has_value());
      CHECK_FALSE(none->has_value());
      // As a coefficient: c * x == c has a point, c * x == c - 1 has none.
      const solver::LinearRow equal{.terms = {{0, c}}, .constant = -c, .is_equality = true};
      const solver::LinearRow unequal{.terms = {{0, c}}, .constant = 1 - c, .is_equality = true};
      const auto one = solver.find_point(1, {equal}, 10'000);
      REQUIRE(one.has_value());
      REQUIRE(one->has_value());
      CHECK((**one)[0] == 1);
      const auto fraction = solver.find_point(1, {unequal}, 10'000);
      REQUIRE(fraction.has_value());
      CHECK_FALSE(fraction->has_value());
    }
}

TEST_CASE("constants beyond 62 bits are not decided, or rightly") {
  for (const Int128 magnitude : kTooLarge)
    for (const Int128 c : {magnitude, -magnitude}) {
      CAPTURE(static_cast<double>(c));
      solver::IntegerSolver solver;
      const solver::LinearRow at_least{.terms = {{0, 1}}, .constant = -c};
      const solver::LinearRow at_most{.terms = {{0, -1}}, .constant = c};
      const solver::LinearRow below{.terms = {{0, -1}}, .constant = c - 1};
      for (const std::vector<solver::LinearRow>& rows :
           {std::vector{at_least, at_most}, std::vector{at_least, below}}) {
        const auto answer = solver.find_point(1, rows, 10'000);
        REQUIRE_FALSE(answer.has_value());
        CHECK(answer.error().code == Code::resource_exhausted);
      }
      // Divided by their common factor they are small, or no multiples of each other.
      const auto one = solver.find_point(1, {{.terms = {{0, c}}, .constant = -c, .is_equality = true}}, 10'000);
      REQUIRE(one.has_value());
      REQUIRE(one->has_value());
      CHECK((**one)[0] == 1);
      const auto fraction = solver.find_point(1, {{.terms = {{0, c}}, .constant = 1 - c, .is_equality = true}}, 10'000);
      REQUIRE(fraction.has_value());
      CHECK_FALSE(fraction->has_value());
    }
}

TEST_CASE("questions with large constants have their answers") {
  for (const Int128 c : kLarge) {
    CAPTURE(static_cast<double>(c));
    ir::ExprContext exprs;
    const ir::Expr n =
        exprs.declare({.name = "n", .kind = ir::SymbolKind::dim, .range = {-2 * c, 2 * c}, .congruence = {}});
    const ir::Expr constant = exprs.constant(c);
    solver::Feasibility feasibility(exprs);
    feasibility.assume(exprs.sub(n, constant));
    // n < c, and n <= c
    CHECK(feasibility.ask({}, {exprs.sub(exprs.sub(constant, n), exprs.constant(1))}).kind ==
          solver::Answer::Kind::empty);
    CHECK(feasibility.ask({}, {exprs.sub(constant, n)}).kind == solver::Answer::Kind::found);
    if (!fits_int64(c)) continue;
    const solver::Answer found = feasibility.find_point({}, {exprs.sub(constant, n)}, {n});
    REQUIRE(found.kind == solver::Answer::Kind::found);
    CHECK(found.point.at(n.symbol()) == c);
  }
}

TEST_CASE("a bug at 2^31, 2^40 and 2^62 is refuted") {
  for (const char* amount : {"2147483648", "1099511627776", "4611686018427387904"}) {
    CAPTURE(std::string(amount));
    const ir::Program program = program_of(fmt::format(
        "program p(x: f32[S], k: dim) where S >= 1, {0} <= k <= {0} {{ y = pad(x, low = [k], high = [-k]) return y }}",
        amount));
    const Proof right = proof_of(schedule_of(program));
    CHECK(right.count(Verdict::refuted) + right.count(Verdict::checked) == 0);
    // Without its guard the load is before the tensor, by at least the amount.
    const Proof wrong = proof_of(schedule_of(program, Mutation::pad_guard_lower_dropped));
    const Obligation* refuted = wrong.refuted();
    REQUIRE(refuted != nullptr);
    CHECK(refuted->kind == ObligationKind::load);
    CHECK(refuted->found.violation.starts_with("coordinate -"));
    for (const Obligation& obligation : wrong.obligations)
      CHECK((obligation.kind != ObligationKind::load || obligation.verdict != Verdict::proved));
  }
}

TEST_CASE("a call of the solver that fails is never taken for a proof") {
  const ir::Program program = program_of(kPad);
  for (const Mutation mutation : kBugs) {
    CAPTURE(std::string(name_of(mutation)));
    const Schedule schedule = schedule_of(program, mutation);
    const Proof full = proof_of(schedule);
    REQUIRE(full.solver_calls > 0);
    CHECK(full.count(Verdict::checked) == 0);
    CHECK((full.refuted() == nullptr) == (mutation == Mutation::none));
    std::int64_t noticed = 0;
    for (std::int64_t call = 0; call < full.solver_calls; ++call)
      for (const Code code : {Code::internal, Code::resource_exhausted}) {
        CAPTURE(call);
        solver::FailingSolver solver(call, code);
        const Result<Proof> weak = list_obligations(schedule, {.solver = &solver});
        if (!weak) {
          ++noticed;
          continue;
        }
        CHECK(overstated(*weak, full) == "");
        // If nothing is left to be checked, another question was asked instead, or the missing fact was not needed.
        noticed += weak->count(Verdict::checked) > 0 || weak->solver_calls != full.solver_calls;
      }
    CHECK(noticed > full.solver_calls);
  }
}

TEST_CASE("an exhausted budget leaves obligations to be checked") {
  const ir::Program program = program_of(kPad);
  for (const Mutation mutation : kBugs) {
    CAPTURE(std::string(name_of(mutation)));
    const Schedule schedule = schedule_of(program, mutation);
    const Proof full = proof_of(schedule);
    for (const std::uint64_t pivots : {0, 1, 3, 10, 30, 100, 300}) {
      CAPTURE(pivots);
      ProverOptions options;
      options.limits.pivots = pivots;
      CHECK(overstated(proof_of(schedule, options), full) == "");
    }
    for (const int calls : {0, 1, 2, 3, 5, 8, 20}) {
      CAPTURE(calls);
      ProverOptions options;
      options.limits.calls = calls;
      CHECK(overstated(proof_of(schedule, options), full) == "");
    }
  }
}

TEST_CASE("a load that is not decided is tested by its code") {
  // What holds of every loop is known from another program; of this one nothing is decided.
  ProofCache cache;
  const auto reflection = [](const char* name) {
    return fmt::format(
        "program {}(x: f32[S], lo: dim) where S >= 2, lo >= 0"
        " {{ y = pad(x, low = [lo], high = [lo], mode = reflect) return y }}",
        name);
  };
  const ir::Program other = program_of(reflection("other"));
  REQUIRE(prove(schedule_of(other), {.cache = &cache}).has_value());
  const ir::Program program = program_of(reflection("p"));
  ProverOptions none{.cache = &cache};
  none.limits.calls = 0;
  const Result<ProvenKernel> kernel = prove(schedule_of(program), none);
  REQUIRE_MESSAGE(kernel.has_value(), kernel.error().to_string());
  int checked = 0;
  for (const Obligation& obligation : kernel->proof().obligations) {
    if (obligation.verdict != Verdict::guarded || obligation.kind != ObligationKind::load) continue;
    ++checked;
    CHECK(kernel->load_is_checked(obligation.body, obligation.load, false));
    CHECK_FALSE(kernel->load_is_checked(obligation.body, obligation.load, true));
    CHECK(abi::assumes(kernel->guards(), abi::Assumption::in_range));
  }
  CHECK(checked > 0);
}

TEST_CASE("what has no place to be tested at is not compiled undecided") {
  const ir::Program program = program_of(kPad);
  ProverOptions none;
  none.limits.calls = 0;
  const Result<ProvenKernel> kernel = prove(schedule_of(program), none);
  REQUIRE_FALSE(kernel.has_value());
  CHECK(kernel.error().code == Code::resource_exhausted);
  CHECK(kernel.error().message.find(" cannot be proved: ") != std::string::npos);
}

}  // namespace padlock::compiler
