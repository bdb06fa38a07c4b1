#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/launch_plan.h"
#include "compiler/schedule/index/exact_indices.h"
#include "tests/common/plan_launch.h"
#include "tests/compiler/emit/compiled.h"
#include "tests/compiler/prover/mutant_case.h"
#include "tests/compiler/schedule/index_arithmetic.h"

// Sizes that a program does not bound: each launch checks exactly the bounds that 64-bit indices need.
namespace padlock::compiler {
namespace {

/// If A is 0, y, z and v have no rows, so nothing bounds their columns, while w is not empty.
constexpr std::string_view kProducts =
    "program p(x: f32[A, S], k: dim, m: dim, q: dim) where S >= 1 {"
    "  y = pad(x, low = [0, k*m], high = [0, 0], mode = edge)"
    "  z = slice(y, start = [0, 0], limit = [A, S + k*m], step = [1, 3])"
    "  v = pad(z, low = [0, q], high = [0, 0], mode = wrap)"
    "  w = pad(v, low = [1, 0], high = [0, -((S + k*m) ceildiv 3)]) return w }";
/// As above with one size, which the program bounds beyond what an index can hold. It is not a product, so the prover
/// finds points.
constexpr std::string_view kFar =
    "program p(x: f32[A, S], k: dim, q: dim) where S >= 1, 0 <= k <= 9223372036854775807 {"
    "  y = pad(x, low = [0, k], high = [0, 0], mode = edge)"
    "  z = slice(y, start = [0, 0], limit = [A, S + k], step = [1, 3])"
    "  v = pad(z, low = [0, q], high = [0, 0], mode = wrap)"
    "  w = pad(v, low = [1, 0], high = [0, -((S + k) ceildiv 3)]) return w }";
constexpr const char* kConfigs[] = {"", "split=0", "map=vector_grid,threads=128,items=1", "map=vector_grid,split=0"};

Schedule schedule_of(const ir::Program& program, std::string_view config) {
  return std::move(value_of(schedules_of(program, config)).front());
}

Schedule without(Schedule schedule, std::size_t bound) {
  schedule.index64_bounds.erase(schedule.index64_bounds.begin() + static_cast<std::ptrdiff_t>(bound));
  return schedule;
}

ir::Binding bind_products(const ir::Program& program, std::int64_t k, std::int64_t m, std::int64_t q = 1) {
  return value_of(ir::Binding::bind(
      program, {.tensors = {ir::ArgumentShape{{0, 5}, std::nullopt}}, .symbols = {{"k", k}, {"m", m}, {"q", q}}}));
}

/// Returns whether an index that must be exact overflows 64 bits at a counter-example of kFar, or farther out, since a
/// proof leaves some room.
bool goes_wrong(const Schedule& schedule, const Counterexample& found) {
  ir::ExprContext& exprs = schedule.exprs();
  std::vector<std::int64_t> values(exprs.symbol_count(), 0);
  for (const auto* named : {&found.sizes, &found.where})
    for (const auto& [name, value] : *named)
      if (const auto symbol = exprs.find_symbol(name)) values[symbol->symbol()] = value;
  std::int64_t& k = values[exprs.find_symbol("k")->symbol()];
  k = std::max(k, std::int64_t{9'000'000'000'000'000'000});
  IndexArithmetic code(exprs, values, 64);
  for (const ExactIndices& place : exact_indices(schedule))
    for (const ir::Expr e : place.exact) {
      const Result<Int128> exact = ir::evaluate(exprs, e, values);
      if (exact && code.exact(e) != *exact) return true;
    }
  return false;
}

}  // namespace

TEST_CASE("products of sizes that nothing bounds are preconditions of a kernel, and the program is not refused") {
  const ir::Program program = program_of(kProducts);
  for (const char* config : kConfigs) {
    CAPTURE(std::string(config));
    const ProvenKernel proven = value_of(prove(schedule_of(program, config)));
    REQUIRE_FALSE(proven.preconditions().empty());
    abi::KernelAbi abi;
    abi.name = "p_0";
    abi.results = program.results();
    abi.rows = program.exprs().constant(1);
    abi.columns = abi.row_bytes = proven.schedule().columns;
    abi.preconditions = proven.preconditions();
    constexpr std::int64_t kFar = std::int64_t{1} << 31;
    CHECK(testing::plan_launch(abi, bind_products(program, 3, 4)).has_value());
    const auto refused = testing::plan_launch(abi, bind_products(program, kFar, kFar));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Code::failed_precondition);
    CHECK(refused.error().message.starts_with("indices of kernel 'p_0' in 64 bits: "));
    CHECK(refused.error().message.ends_with("(S = 5, k = 2147483648, m = 2147483648)"));
  }
}

/// An element's number, divided by a product of sizes: the remainder is as small as the number is.
constexpr std::string_view kRemainders =
    "program p(a: dim, b: dim, c: dim, d: dim, e: dim, f: dim, x: i16[a, 1, 1]) where b >= -12, c <= 90 {"
    "  y = pad(x, low = [-4, 1, min(-2 * c + 19, a - 3)], high = [b, -min(b, c), b + 4], mode = edge)"
    "  z = pad(y, low = [27 - d, c - 8, d + 5], high = [2 * c - 2 * d - 26, 1, min(c - 10, e) + max(-1, e - 2)],"
    "          mode = edge)"
    "  v = reshape(z, shape = [b + 3, 1, min(f, 929)]) return v }";
/// An element's number with three products of sizes, which the solver's steps do not bound.
constexpr std::string_view kNumbers =
    "program p(x: u32[N], a: dim, b: dim, c: dim, d: dim, e: dim, f: dim,"
    "          w: u32[2 * a - 68, max(d, e), max(e - 3, 3), 1, c mod 9]) where e < 8 {"
    "  y = pad(x, low = [min(b + 8, max(b, a))], high = [-(N + min(b + 8, max(b, a))) mod 16], mode = wrap)"
    "  z = reshape(y, shape = [2 * a - 68, max(d, e), max(e - 3, 3), 1, c mod 9])"
    "  v = concat(w, z, axis = 3) return v }";

TEST_CASE("an element's number in a reshape fits 64 bits, or a launch is asked to keep it there") {
  for (const auto& [text, is_guarded] : {std::pair(kRemainders, false), {kNumbers, true}}) {
    const ir::Program program = program_of(text);
    for (const char* config : kConfigs) {
      CAPTURE(std::string(config));
      int guarded = 0;
      for (const Obligation& one : value_of(list_obligations(schedule_of(program, config))).obligations) {
        if (one.kind != ObligationKind::width) continue;
        CAPTURE(to_string(one));
        CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded));
        guarded += one.verdict == Verdict::guarded ? 1 : 0;
      }
      // Code for a GPU numbers the elements of its vectors once more.
      CHECK((guarded > 0) == (is_guarded || std::string_view(config).contains("map=vector_grid")));
      CHECK(prove(schedule_of(program, config)).has_value());
    }
  }
}

TEST_CASE("a reshape keeps its elements where a constraint says so, whichever way it is written") {
  for (const char* text :
       {"program p(x: f32[N]) where N == 7 { y = reshape(x, shape = [7]) z = reshape(y, shape = [N]) return z }",
        "program p(x: f32[N]) where N == 64 { y = slice(x, start = [73 - N], limit = [61])"
        " z = reshape(y, shape = [4, (N - 12) floordiv 4]) return z }"}) {
    CAPTURE(std::string(text));
    const ir::Program program = program_of(text);
    for (const char* config : kConfigs) {
      CAPTURE(std::string(config));
      for (const Obligation& one : value_of(list_obligations(schedule_of(program, config))).obligations)
        CHECK_MESSAGE((one.kind != ObligationKind::cover || one.verdict == Verdict::proved), to_string(one));
    }
  }
}

TEST_CASE("a bound that is dropped is missed: a kernel that needs it is not compiled") {
  for (const std::string_view text : {kProducts, kFar}) {
    const ir::Program program = program_of(text);
    for (const char* config : kConfigs) {
      CAPTURE(std::string(config));
      const Schedule schedule = schedule_of(program, config);
      const std::set<std::size_t> needed = value_of(list_obligations(schedule)).preconditions;
      REQUIRE_FALSE(needed.empty());
      for (const std::size_t i : needed) CHECK_FALSE(prove(without(schedule, i)).has_value());
    }
  }
}

TEST_CASE("a bound that is dropped is refuted by sizes at which an index is wrong") {
  const ir::Program program = program_of(kFar);
  for (const char* config : kConfigs) {
    CAPTURE(std::string(config));
    const Schedule schedule = schedule_of(program, config);
    for (const std::size_t i : value_of(list_obligations(schedule)).preconditions) {
      const Schedule wrong = without(schedule, i);
      const Proof proof = value_of(list_obligations(wrong));
      const Obligation* refuted = proof.refuted();
      REQUIRE(refuted != nullptr);
      CAPTURE(to_string(*refuted));
      CHECK(refuted->kind == ObligationKind::width);
      CHECK(goes_wrong(wrong, refuted->found));
    }
  }
}

TEST_CASE("a program that bounds its sizes, or whose tensors do, has no precondition") {
  for (const char* text :
       {"program p(x: f32[B, S], l: dim, h: dim) { y = pad(x, low = [0, l], high = [0, h], mode = reflect) return y }",
        "program p(x: f32[B], k: dim, m: dim) where 0 <= k <= 4096, 0 <= m <= 4096"
        " { y = pad(x, low = [k*m], high = [B*B], mode = symmetric) return y }",
        "program p(x: f32[B], k: dim) { y = pad(x, low = [B*B], high = [k*B], mode = symmetric)"
        " z = pad(y, low = [k], high = [k*k], mode = reflect) return z }"}) {
    CAPTURE(std::string(text));
    const ir::Program program = program_of(text);
    for (const char* config : kConfigs) {
      CAPTURE(std::string(config));
      CHECK(value_of(prove(schedule_of(program, config))).preconditions().empty());
    }
  }
}

}  // namespace padlock::compiler
