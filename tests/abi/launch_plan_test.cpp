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

namespace {

/// A contract of GPU code that counts no more than 40 elements: each row of the result reads the same row of x.
struct InParts : Fixture {
  InParts() {
    parted = abi;
    const Expr columns = abi.columns, elements = c.mul(R, columns);
    parted.rows = c.ceildiv(c.add(elements, k(3)), k(16));
    parted.columns = k(1);
    parted.row_bytes = k(64);
    parted.sizes = {{columns},
                    {columns, Encoding::first_row},
                    {elements, Encoding::elements},
                    {w, Encoding::from_origin, 0},
                    {w, Encoding::from_origin32, 0}};
    parted.guards = {{Assumption::index32, {C, Comparison::lt, k(100)}}};
    parted.parts = LaunchParts{.extents = {R},
                               .columns = columns,
                               .spans = {c.mul(R, C)},
                               .reaches = {{0, {C}, k(0), c.sub(C, k(1))}},
                               .block_elements = 16,
                               .lanes = 4,
                               .most_elements = 40};
  }
  /// Plans a launch of these variants, the last of which is in parts.
  Result<LaunchPlan> plan(const Binding& binding) const {
    const KernelAbi* const variants[] = {&abi, &even, &parted};
    return LaunchPlanner(program, variants).plan(binding);
  }

  KernelAbi parted;
  KernelAbi even = [this] {
    KernelAbi made = abi;
    made.guards = {{Assumption::index32, {c.mod(C, k(2)), Comparison::eq, k(0)}}};
    return made;
  }();
};

using Sizes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE_FIXTURE(InParts, "what one launch may take is launched whole, from where the pointers are") {
  const auto whole = plan(bind(4, 7, 5));
  REQUIRE(whole);
  CHECK(whole->variant == 2);
  CHECK(whole->parts.empty());
  CHECK(whole->launches() == 1);
  CHECK(whole->rows == 3);
  CHECK(whole->sizes == Sizes{10, 0, 40, 5, 5});
  CHECK(plan(bind(0, 7))->launches() == 0);
}

TEST_CASE_FIXTURE(InParts, "more is launched in parts, each with sizes of its own") {
  const auto both = plan(bind(8, 7, 5));
  REQUIRE(both);
  CHECK(both->variant == 2);
  CHECK(both->launches() == 2);
  CHECK(both->rows == 6);
  CHECK(both->columns == 1);
  CHECK(both->row_bytes == 64);
  REQUIRE(both->parts.size() == 2);
  const LaunchPart &first = both->parts[0], &second = both->parts[1];
  CHECK(first.rows == 3);
  CHECK(first.first_element == 0);
  CHECK(first.origins == Sizes{0});
  CHECK(first.sizes == Sizes{10, 0, 40, 5, 5});
  CHECK(both->sizes == first.sizes);
  CHECK(second.rows == 3);
  CHECK(second.first_element == 40);
  CHECK(second.origins == Sizes{28});
  CHECK(second.sizes == Sizes{10, 4, 40, -23, -23});
  // The last has one row, of 10 elements, which may begin within a vector.
  const auto uneven = plan(bind(5, 7));
  REQUIRE(uneven);
  CHECK(uneven->parts.back().first_element == 20);
  CHECK(uneven->parts.back().rows == 3);
  CHECK(uneven->parts.back().sizes == Sizes{10, 2, 30, -14, -14});
}

TEST_CASE_FIXTURE(InParts, "what lies far from an origin is clamped in 32 bits and wraps in 64") {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max(), kMost = SizeArgument::kFarthest;
  const auto last = [&](std::int64_t wide) { return plan(bind(8, 7, wide))->parts.back().sizes; };
  CHECK(last(kFar) == Sizes{10, 4, 40, kFar - 28, kMost});
  CHECK(last(-kFar) == Sizes{10, 4, 40, kFar - 26, -kMost});
  CHECK(last(kMost + 28) == Sizes{10, 4, 40, kMost, kMost});
  CHECK(last(kMost + 27) == Sizes{10, 4, 40, kMost - 1, kMost - 1});
  CHECK(plan(bind(4, 7, kFar))->sizes == Sizes{10, 0, 40, kFar, kMost});
  CHECK(plan(bind(4, 7, -kFar))->sizes == Sizes{10, 0, 40, -kFar, -kMost});
}

TEST_CASE_FIXTURE(InParts, "a few elements of a large input are one launch that begins there") {
  parted.parts->spans = {k(1000)};
  parted.parts->reaches = {{0, {C}, k(500), k(506)}};
  const auto one = plan(bind(4, 7, 5));
  REQUIRE(one);
  REQUIRE(one->parts.size() == 1);
  CHECK(one->parts[0].origins == Sizes{500});
  CHECK(one->parts[0].sizes == Sizes{10, 0, 40, -495, -495});
  CHECK(one->sizes == one->parts[0].sizes);
  parted.parts->reaches = {{0, {C}, k(0), k(6)}};
  CHECK(plan(bind(4, 7))->parts.empty());
  CHECK(plan(bind(4, 7))->variant == 2);
}

TEST_CASE_FIXTURE(InParts, "sizes that no parts are small enough for take the last variant without parts") {
  CHECK(plan(bind(2, 37))->parts.size() == 2);
  for (const std::int64_t columns : {39, 40}) {
    CAPTURE(columns);
    const auto other = plan(bind(2, columns));
    REQUIRE(other);
    CHECK(other->variant == (columns == 40 ? 1 : 0));
    CHECK(other->parts.empty());
    CHECK(other->rows == 2);
    CHECK(other->columns == columns + 3);
    CHECK(other->sizes == Sizes{columns + 3, 2 * (columns + 3)});
  }
  parted.parts->reaches[0].least = c.neg(c.mul(c.mul(w, w), w));  // beyond 128 bits
  CHECK(plan(bind(8, 7, std::numeric_limits<std::int64_t>::max()))->variant == 0);
  const auto none = plan_launch(parted, bind(2, 39));
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Code::internal);
  CHECK(none.error().message == "kernel k has no code for so many elements");
}

TEST_CASE_FIXTURE(InParts, "planning one launch of a contract with parts allocates the sizes and nothing else") {
  const KernelAbi* const variants[] = {&abi, &parted};
  const LaunchPlanner planner(program, variants);
  const Binding binding = bind(4, 7);
  const long before = padlock::testing::allocation_count();
  const auto whole = planner.plan(binding);
  const long after = padlock::testing::allocation_count();
  REQUIRE(whole);
  CHECK(whole->variant == 1);
  CHECK(after - before == 1);
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
