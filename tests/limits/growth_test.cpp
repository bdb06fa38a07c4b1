#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "compiler/pipeline.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/fuzz/processor_time.h"
#include "tests/limits/hostile_texts.h"

// The cost, in steps, of programs that take as much work as a text can; it is the same on every machine.
namespace padlock::compiler {
namespace {

/// The steps of each pass, and how it ended. A pass after one that failed takes none.
struct Costs {
  std::int64_t verify = 0, gather = 0, host = 0, gpu = 0;
  std::vector<Error> errors;
};

template <class Pass>
std::int64_t cost_of(std::vector<Error>& errors, Pass&& pass) {
  const std::int64_t before = steps_taken();
  if (auto outcome = pass(); !outcome) errors.push_back(std::move(outcome).error());
  return steps_taken() - before;
}

Costs costs_of(const std::string& text) {
  static const auto kHost = TargetCompiler::create("host:x86-64-v3");
  static const auto kGpu = TargetCompiler::create("sm_90");
  Costs costs;
  std::optional<ir::Program> program;
  costs.verify = cost_of(costs.errors, [&]() -> Status {
    PADLOCK_TRY(program, ir::parse_program(text));
    return {};
  });
  if (!program) return costs;
  costs.gather = cost_of(costs.errors, [&] { return lower(*program); });
  if (!costs.errors.empty()) return costs;
  costs.host = cost_of(costs.errors, [&] { return (*kHost)->prove(*program, {}); });
  costs.gpu = cost_of(costs.errors, [&] { return (*kGpu)->prove(*program, {}); });
  return costs;
}

/// A budget is looked at between operations, and the last one may end beyond it.
constexpr std::int64_t with_last_operation(std::int64_t steps) { return steps + steps / 4 + 500'000; }

/// Sanitizers find in short texts what they find in long ones, and take ten times the time and memory.
const std::vector<std::size_t> kLengths =
    PADLOCK_SANITIZED ? std::vector<std::size_t>{3'000} : std::vector<std::size_t>{12'000, 65'536};

TEST_CASE("no pass takes more steps than its limit, whatever the text") {
  for (const testing::HostileFamily& family : testing::hostile_families()) {
    for (const std::size_t bytes : kLengths) {
      const Costs costs = costs_of(family.text(bytes));
      CAPTURE(family.name);
      CAPTURE(bytes);
      CHECK(costs.verify <= with_last_operation(limits::kVerifySteps));
      CHECK(costs.gather <= with_last_operation(limits::kGatherSteps + limits::kMergeSteps));
      const std::int64_t all = limits::kGatherSteps + limits::kMergeSteps + limits::kProofSteps + limits::kExplainSteps;
      CHECK(costs.host <= with_last_operation(all));
      CHECK(costs.gpu <= with_last_operation(all));
      // Only a limit refuses these texts, and it is named.
      for (const Error& error : costs.errors) {
        CAPTURE(error.message);
        if (!error.message.starts_with("expected at most"))  // the parser's
          CHECK(error.code == Code::resource_exhausted);
        const auto says = [&](const char* text) { return error.message.find(text) != std::string::npos; };
        const bool named = says("at most") || says("within") || says("budget") || says("a launch takes");
        CHECK(named);
      }
    }
  }
}

/// Returns the factor by which a pass may grow for twice the text: a little more than 2, or than 4 for a listed family,
/// for which the pass takes the square.
std::int64_t most_times(std::span<const std::string_view> square, std::string_view family) {
  return std::ranges::find(square, family) == square.end() ? 2 : 5;
}

// Factors that are compared with each other, remainders of sums of sums, and sums that become longer with each
// statement.
constexpr auto kSquareToVerify =
    std::to_array<std::string_view>({"product_of_sums", "product_of_mods", "product_of_long_sums", "mod_of_long_sum",
                                     "minimum", "pads_by_new_mods", "strides_of_high_rank"});
// Coordinates and conditions that become longer with each statement or operand.
constexpr auto kSquareToGather =
    std::to_array<std::string_view>({"pads_by_new_mods", "concats_of_rows", "wide_concat_outer", "wide_concat_inner"});
// A simplex of products: up to the proof's budget.
constexpr auto kBeyondSquareToProve =
    std::to_array<std::string_view>({"product_of_long_sums", "constraints_of_two", "strides_of_high_rank"});

TEST_CASE("splitting a kernel's rows takes no more steps than its limit, whatever the text") {
  for (const testing::HostileFamily& family : testing::hostile_families()) {
    const Result<ir::Program> program = ir::parse_program(family.text(kLengths.back()));
    if (!program) continue;
    Result<std::vector<Kernel>> kernels = lower(*program);
    if (!kernels) continue;
    for (Kernel& kernel : *kernels) {
      const std::int64_t before = steps_taken();
      CHECK(!split_rows(kernel, {}).empty());
      CAPTURE(family.name);
      CHECK(steps_taken() - before <= with_last_operation(limits::kSplitSteps));
    }
  }
}

TEST_CASE("a text twice as long takes about twice the steps, at most about four times where that is known") {
  for (const testing::HostileFamily& family : testing::hostile_families()) {
    const Costs half = costs_of(family.text(1500)), whole = costs_of(family.text(3000));
    if (!whole.errors.empty()) continue;
    const auto grows = [&](const std::string& pass, std::int64_t less, std::int64_t more, std::int64_t times) {
      CAPTURE(family.name);
      CAPTURE(pass);
      CAPTURE(less);
      CHECK(more <= times * less * 5 / 4 + 20'000);
    };
    grows("verify", half.verify, whole.verify, most_times(kSquareToVerify, family.name));
    grows("gather", half.gather, whole.gather, most_times(kSquareToGather, family.name));
    if (std::ranges::find(kBeyondSquareToProve, family.name) == kBeyondSquareToProve.end())
      grows("prove", half.host, whole.host, 5);  // a row and a variable of the solver for each
  }
}

// Questions whether guards, columns of walks and sizes of nodes are within bounds do not follow here.
constexpr std::string_view kProductsOfFreeSizes = R"(
program p(p0: u16[N0] strides [2], d1: dim, p3: f32[d1, 3, 1] strides [0, 2, 0])
{
  v1 = reshape(p0, shape = [N0])
  v2 = relu(v1)
  v4 = pad_adjoint(p3, extent = [d1, d1 * (N0 + -1) * N0 + (N0 - 128136), N0 * (N0 + -1) * d1 + -128014],
                   low = [N0 * (d1 + 1) + -1140, 32, (N0 - 128) ceildiv 2],
                   high = [d1 - (N0 * (d1 + 1) + -1140) - d1, 3 - 32 - (d1 * (N0 + -1) * N0 + (N0 - 128136)),
                           1 - (N0 - 128) ceildiv 2 - (N0 * (N0 + -1) * d1 + -128014)], mode = reflect)
  v5 = tanh(v4)
  v7 = le(v2, v1)
  return v5, v7
})";

TEST_CASE("sizes that are multiplied and bounded by nothing use up no large part of a proof's steps") {
  const Costs costs = costs_of(std::string(kProductsOfFreeSizes));
  CHECK(costs.errors.empty());
  CHECK(costs.host < limits::kProofSteps / 3);
  CHECK(costs.gpu < limits::kProofSteps / 3);
}

TEST_CASE("what a proof says of an obligation stays short, however many sizes a program has") {
  const auto families = testing::hostile_families();
  const auto family = std::ranges::find(families, "reflected_high_rank", &testing::HostileFamily::name);
  REQUIRE(family != families.end());
  const Result<ir::Program> program = ir::parse_program(family->text(4000));
  REQUIRE(program.has_value());
  const auto proofs = (*TargetCompiler::create("host:x86-64-v3"))->prove(*program, {});
  REQUIRE(proofs.has_value());
  std::size_t guarded = 0;
  for (const Proof& proof : *proofs)
    for (const Obligation& obligation : proof.obligations) {
      CHECK(to_string(obligation).size() < 16'000);
      CHECK(obligation.guard.size() < 900);  // thousands of obligations may say it
      if (obligation.guard.ends_with("more")) ++guarded;
    }
  CHECK(guarded > 0);  // many sizes have a guard each, and the text says how many are left out
}

}  // namespace
}  // namespace padlock::compiler
