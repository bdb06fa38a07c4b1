#include "abi/launch_plan.h"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/allocation_count.h"
#include "tests/common/plan_launch.h"
#include "tests/ir/program_testing.h"

namespace padlock::abi {

using ir::ArgumentShape;
using ir::Binding;
using ir::BindRequest;
using ir::Comparison;
using ir::Expr;
using ir::ExprContext;
using ir::Program;

namespace {

using Encoding = SizeArgument::Encoding;
using padlock::testing::plan_launch;

/// A program with its kernel's contract, as a compiler would write it.
struct Fixture {
  Fixture() {
    abi.name = "k";
    abi.inputs = {*program.find("x")};
    abi.results = {*program.find("y")};
    const auto extents = program.value(abi.results[0]).extents();
    abi.rows = extents[0];
    abi.columns = extents[1];
    abi.row_bytes = c.mul(extents[1], k(4));
    abi.sizes = {{extents[1]}, {c.mul(extents[0], extents[1]), Encoding::saturate}};
  }
  Expr k(Int128 value) { return c.constant(value); }
  Binding bind(std::int64_t rows, std::int64_t columns, std::int64_t wide = 0) const {
    auto bound = Binding::bind(
        program, {.tensors = {ArgumentShape{{rows, columns}, std::nullopt}}, .symbols = {{"lo", 1}, {"w", wide}}});
    REQUIRE_MESSAGE(bound.has_value(), (bound ? "" : bound.error().to_string()));
    return *std::move(bound);
  }

  Program program = ir::testing::accept(R"(
program p(x: f32[R, C], lo: dim, w: dim)
where -9223372036854775807 <= w <= 9223372036854775807
{
  y = pad(x, low = [0, lo], high = [0, 2])
  return y
})");
  ExprContext& c = program.exprs();
  const Expr R = *c.find_symbol("R"), C = *c.find_symbol("C"), w = *c.find_symbol("w");
  KernelAbi abi;
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a plan evaluates grid and sizes as the contract says") {
  abi.sizes = {{w, Encoding::wrap},
               {c.mul(w, w), Encoding::wrap},
               {c.mul(w, w), Encoding::saturate},
               {c.neg(c.mul(w, w)), Encoding::saturate},
               {C, Encoding::magic_multiplier},
               {C, Encoding::magic_shift},
               {c.mul(c.mul(w, w), w), Encoding::wrap}};
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();
  const auto plan = plan_launch(abi, bind(3, 7, kLarge));
  REQUIRE(plan);
  CHECK(plan->variant == 0);
  CHECK(plan->rows == 3);
  CHECK(plan->columns == 10);
  CHECK(plan->row_bytes == 40);
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const Divisor seven = Divisor::of(7);
  // The last overflows 128 bits.
  CHECK(plan->sizes ==
        std::vector<std::int64_t>{kLarge, 1, kFar, -kFar, static_cast<std::int64_t>(seven.multiplier), seven.shift, 0});
  abi.sizes.back().fit = Encoding::saturate;
  const auto bad = plan_launch(abi, bind(3, 7, kLarge));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "'w*w*w' overflows 128 bits");
  CHECK(plan_launch(abi, bind(3, 7, -2))->sizes.back() == -8);
}

TEST_CASE_FIXTURE(Fixture, "a divisor is clamped to those of its width") {
  constexpr std::int64_t kLast = (std::int64_t{1} << 31) - 1;
  abi.sizes = {{w, Encoding::magic_multiplier32},
               {w, Encoding::magic_shift32},
               {w, Encoding::magic_multiplier},
               {w, Encoding::magic_shift}};
  const auto check = [&](std::int64_t value, std::uint64_t divisor32, std::uint64_t divisor64) {
    CAPTURE(value);
    const auto plan = plan_launch(abi, bind(3, 7, value));
    REQUIRE(plan);
    const Divisor narrow = Divisor::of(divisor32, 32), wide = Divisor::of(divisor64);
    CHECK(plan->sizes == std::vector<std::int64_t>{static_cast<std::int64_t>(narrow.multiplier), narrow.shift,
                                                   static_cast<std::int64_t>(wide.multiplier), wide.shift});
  };
  check(1, 1, 1);
  check(10, 10, 10);
  check(kLast, kLast, kLast);
  check(kLast + 1, kLast + 1, kLast + 1);
  check(kLast + 2, kLast + 1, kLast + 2);
  check(std::numeric_limits<std::int64_t>::max(), kLast + 1, std::uint64_t{1} << 62);
  // Where nothing is divided.
  check(0, 1, 1);
  check(-5, 1, 1);
}

TEST_CASE_FIXTURE(Fixture, "the last variant whose guards all hold is planned") {
  KernelAbi even = abi, small = abi;
  even.guards = {{Assumption::index32, {c.mod(C, k(2)), Comparison::eq, k(0)}}};
  even.sizes = {{R}};
  small.guards = {{Assumption::index32, {C, Comparison::lt, k(100)}},
                  {Assumption::index32, {c.mul(c.mul(w, w), w), Comparison::le, k(8)}}};
  small.sizes = {{C}, {R}, {c.add(R, C)}};
  const KernelAbi* const variants[] = {&abi, &even, &small};
  const LaunchPlanner planner(program, variants);
  const auto check = [&](const Binding& binding, std::size_t variant, const std::vector<std::int64_t>& sizes) {
    const auto plan = planner.plan(binding);
    REQUIRE(plan);
    CHECK(plan->variant == variant);
    CHECK(plan->sizes == sizes);
    CHECK(guards_hold(*variants[variant], binding));
    for (std::size_t later = variant + 1; later < 3; ++later) CHECK_FALSE(guards_hold(*variants[later], binding));
  };
  check(bind(3, 7, 3), 0, {10, 30});
  check(bind(3, 8, 3), 1, {3});
  check(bind(3, 8, 2), 2, {8, 3, 11});
  check(bind(3, 101, 2), 0, {104, 312});
  // What cannot be evaluated does not hold.
  check(bind(3, 8, std::numeric_limits<std::int64_t>::max()), 1, {3});
}

TEST_CASE_FIXTURE(Fixture, "an empty output needs no size") {
  abi.columns = c.mul(c.mul(c.add(w, k(1)), c.add(w, k(2))), c.add(w, k(3)));
  abi.sizes = {{abi.columns, Encoding::saturate}};
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max() - 1;
  const auto plan = plan_launch(abi, bind(0, 5, kLarge));
  REQUIRE(plan);
  CHECK(plan->empty());
  CHECK(plan->sizes.empty());
  const auto bad = plan_launch(abi, bind(1, 5, kLarge));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message == "'(w + 1)*(w + 2)*(w + 3)' overflows 128 bits");
}

TEST_CASE_FIXTURE(Fixture, "a precondition is checked in 128 bits and named, whatever the variant") {
  const Expr cube = c.mul(c.mul(w, w), w);
  abi.preconditions = {{cube, Comparison::le, k(Int128{1} << 60)}, {cube, Comparison::ge, k(-(Int128{1} << 60))}};
  KernelAbi small = abi;
  small.guards = {{Assumption::index32, {C, Comparison::lt, k(100)}}};
  const KernelAbi* const variants[] = {&abi, &small};
  const LaunchPlanner planner(program, variants);
  const auto refused = [&](std::int64_t columns, std::int64_t wide) {
    const auto plan = planner.plan(bind(3, columns, wide));
    if (plan) return std::string();
    CHECK(plan.error().code == Code::failed_precondition);
    CHECK(plan.error().subject.values.size() == 1);
    return plan.error().message;
  };
  for (const std::int64_t columns : {7, 700}) {
    CAPTURE(columns);
    CHECK(refused(columns, 1 << 20) == "");
    CHECK(refused(columns, -(1 << 20)) == "");
    CHECK(refused(columns, (1 << 20) + 1) ==
          "indices of kernel 'k' in 64 bits: w*w*w <= 1152921504606846976 does not hold, the left side is "
          "1152924803144876033 (w = 1048577)");
    CHECK(refused(columns, -(1 << 30)) ==
          "indices of kernel 'k' in 64 bits: w*w*w >= -1152921504606846976 does not hold, the left side is "
          "-1237940039285380274899124224 (w = -1073741824)");
    CHECK(refused(columns, std::numeric_limits<std::int64_t>::max()) ==
          "indices of kernel 'k' in 64 bits: w*w*w <= 1152921504606846976 does not hold, the left side does not fit "
          "128 bits (w = 9223372036854775807)");
  }
  // Nothing is computed of an empty output.
  const auto empty = planner.plan(bind(0, 7, std::numeric_limits<std::int64_t>::max()));
  REQUIRE(empty);
  CHECK(empty->empty());
}

TEST_CASE_FIXTURE(Fixture, "a contract that counts below zero is an error") {
  abi.rows = c.sub(k(2), R);
  const auto bad = plan_launch(abi, bind(5, 5));
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == Code::internal);
  CHECK(bad.error().message == "kernel k has -3 rows");
}

TEST_CASE_FIXTURE(Fixture, "planning allocates the sizes and nothing else") {
  KernelAbi narrow = abi;
  narrow.guards = {{Assumption::index32, {C, Comparison::lt, k(100)}}};
  const KernelAbi* const variants[] = {&abi, &narrow};
  const LaunchPlanner planner(program, variants);
  const Binding binding = bind(4, 50);
  const long before = padlock::testing::allocation_count();
  const auto plan = planner.plan(binding);
  const long after = padlock::testing::allocation_count();
  REQUIRE(plan);
  CHECK(plan->variant == 1);
  CHECK(after - before == 1);
}

}  // namespace padlock::abi
