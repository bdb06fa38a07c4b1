#include "ir/binding/binding.h"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/allocation_count.h"
#include "tests/ir/reference/reference_run.h"

using namespace padlock;
using namespace padlock::ir;
using namespace padlock::ir::testing;

namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

using Extents = std::vector<std::int64_t>;
using Shapes = std::vector<std::optional<ArgumentShape>>;

ArgumentShape dense(Extents extents) { return {.extents = std::move(extents), .strides = std::nullopt}; }
ArgumentShape strided(Extents extents, Extents strides) {
  return {.extents = std::move(extents), .strides = std::move(strides)};
}

/// Whether the request binds; fails the test with the message if not.
bool binds(const Program& program, Shapes tensors, Symbols symbols = {}) {
  const auto binding = Binding::bind(program, {.tensors = std::move(tensors), .symbols = std::move(symbols)});
  if (!binding) MESSAGE(binding.error().to_string());
  return binding.has_value();
}

struct Refusal {
  Code code;
  std::string message;
  friend bool operator==(const Refusal&, const Refusal&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Refusal& r) {
    return out << name_of(r.code) << ": " << r.message;
  }
};

Refusal refusal(const Program& program, Shapes tensors, Symbols symbols = {}) {
  const auto binding = Binding::bind(program, {.tensors = std::move(tensors), .symbols = std::move(symbols)});
  if (binding) return {.code = Code::unknown, .message = "it binds"};
  return {.code = binding.error().code, .message = binding.error().message};
}

Refusal invalid(std::string message) { return {.code = Code::invalid_argument, .message = std::move(message)}; }
Refusal failed(std::string message) { return {.code = Code::failed_precondition, .message = std::move(message)}; }

}  // namespace

TEST_CASE("symbols come from extents, strides and names, once") {
  const auto program = parse_or_fail(
      "program p(x: f32[B, S] strides [R, 1], z: f32[S, 2*B + 1], lo: dim) { y = pad(x, low = [lo, 0], high = [0, 0]) "
      "return y }");
  const auto binding = Binding::bind(
      *program, {.tensors = {strided({3, 4}, {10, 1}), dense({4, 7})}, .symbols = {{"lo", -1}, {"S", 4}}});
  REQUIRE(binding.has_value());
  const auto value_of = [&](const char* name) { return (*binding)(*program->exprs().find_symbol(name)); };
  CHECK(value_of("B") == 3);
  CHECK(value_of("S") == 4);
  CHECK(value_of("R") == 10);
  CHECK(value_of("lo") == -1);
  const Value& x = program->value(program->tensor_parameters()[0]);
  const Value& y = program->value(program->results()[0]);
  CHECK(binding->extents_of(x) == Extents{3, 4});
  CHECK(binding->strides_of(x) == Extents{10, 1});
  CHECK(binding->storage_bytes(x) == 4 * (2 * 10 + 3 + 1));
  CHECK(binding->extents_of(y) == Extents{2, 4});
  CHECK(binding->strides_of(y) == Extents{4, 1});
  CHECK(binding->storage_bytes(y) == 32);
  CHECK(&binding->program() == program.get());
}

TEST_CASE("a request that does not match the program is refused") {
  const auto program = parse_or_fail("program p(x: f32[B, S] strides [S, 1], lo: dim) { y = relu(x) return y }");
  const Symbols lo = {{"lo", 0}};
  CHECK(binds(*program, {dense({1, 2})}, lo));
  CHECK(refusal(*program, {}, lo) == invalid("program 'p' takes 1 tensors, 0 are given"));
  CHECK(refusal(*program, {dense({1, 2}), dense({1})}, lo) == invalid("program 'p' takes 1 tensors, 2 are given"));
  CHECK(refusal(*program, {dense({1})}, lo) == invalid("'x' has rank 2, but a tensor of rank 1 is given"));
  CHECK(refusal(*program, {strided({1, 2}, {1})}, lo) == invalid("'x' has rank 2, but 1 strides are given"));
  CHECK(refusal(*program, {dense({1, -2})}, lo) == invalid("extent of axis 1 of 'x' is -2; an extent is at least 0"));
  CHECK(refusal(*program, {strided({2, 2}, {-2, 1})}, lo) ==
        invalid("stride of axis 0 of 'x' is -2; a stride is at least 0"));
  CHECK(Binding::bind(*program, {.tensors = {strided({1, 2}, {-2, 1})}, .symbols = {{"lo", 0}}}));  // an unused stride
  CHECK(refusal(*program, {dense({1, 2})}) == invalid("symbol 'lo' of program 'p' has no value"));
  CHECK(refusal(*program, {dense({1, 2})}, {{"lo", 0}, {"Q", 1}}) == invalid("program 'p' has no symbol 'Q'"));
  CHECK(refusal(*program, {dense({1, 2})}, {{"lo", 0}, {"x", 1}}) == invalid("program 'p' has no symbol 'x'"));
}

TEST_CASE("coordinates of a kernel are no symbols of a request") {
  const auto program = parse_or_fail("program p(x: f32[N]) { y = relu(x) return y }");
  (void)program->exprs().coordinate(0);
  CHECK(binds(*program, {dense({4})}));
  CHECK(refusal(*program, {dense({4})}, {{"$0", 1}}) == invalid("program 'p' has no symbol '$0'"));
}

TEST_CASE("without a tensor, symbols come by name alone") {
  const auto program = parse_or_fail("program p(x: f32[B, S] strides [R, 1]) { y = relu(x) return y }");
  CHECK(binds(*program, {std::nullopt}, {{"B", 2}, {"S", 3}, {"R", 5}}));
  CHECK(refusal(*program, {std::nullopt}, {{"B", 2}, {"S", 3}}) == invalid("symbol 'R' of program 'p' has no value"));
  CHECK(refusal(*program, {std::nullopt}, {{"B", -1}, {"S", 3}, {"R", 5}}) ==
        failed("lower bound of 'B': B >= 0 does not hold, -1 >= 0 is false (B = -1)"));
}

TEST_CASE("a symbol that stands alone again, or has a name's value, is an equality") {
  const auto program = parse_or_fail("program p(x: f32[N], z: f32[N], w: f32[K], K: dim) { y = relu(x) return y }");
  CHECK(binds(*program, {dense({3}), dense({3}), dense({2})}, {{"K", 2}}));
  CHECK(binds(*program, {dense({3}), dense({3}), dense({2})}));
  CHECK(refusal(*program, {dense({3}), dense({4}), dense({2})}, {{"K", 2}}) ==
        failed("extent of axis 0 of 'z' is 4, expected N = 3"));
  CHECK(refusal(*program, {dense({3}), dense({3}), dense({2})}, {{"K", 3}}) ==
        failed("extent of axis 0 of 'w' is 2, expected K = 3"));
  CHECK(refusal(*program, {dense({3}), dense({3}), dense({2})}, {{"N", 5}}) ==
        failed("extent of axis 0 of 'x' is 3, expected N = 5"));
}

TEST_CASE("any other extent or stride expression is checked") {
  const auto program = parse_or_fail("program p(x: f32[N, 2*N + 1, 8]) { y = relu(x) return y }");
  CHECK(binds(*program, {dense({3, 7, 8})}));
  CHECK(refusal(*program, {dense({3, 8, 8})}) == failed("extent of axis 1 of 'x' is 8, expected 2*N + 1 = 7 (N = 3)"));
  CHECK(refusal(*program, {dense({3, 7, 9})}) == failed("extent of axis 2 of 'x' is 9, expected 8"));
  // The declaration is dense, the argument is not.
  CHECK(refusal(*program, {strided({3, 7, 8}, {64, 8, 1})}) ==
        failed("stride of axis 0 of 'x' is 64, expected 16*N + 8 = 56 (N = 3); copy the tensor to dense memory, or "
               "declare its strides"));
}

TEST_CASE("pytorch_163660: a stride expression is evaluated from its symbols, never hinted as a whole") {
  const auto program = parse_or_fail("program p(x: f32[64, U, 128] strides [U*128, 128, 1]) { y = relu(x) return y }");
  const auto binding =
      Binding::bind(*program, {.tensors = {strided({64, 8192, 128}, {8192 * 128, 128, 1})}, .symbols = {}});
  REQUIRE(binding.has_value());
  const Value& x = program->value(program->tensor_parameters()[0]);
  CHECK(binding->strides_of(x) == Extents{8192 * 128, 128, 1});
  CHECK(binding->storage_bytes(x) == 4LL * 64 * 8192 * 128);
  CHECK(refusal(*program, {strided({64, 8192, 128}, {8192, 128, 1})}) ==
        failed("stride of axis 0 of 'x' is 8192, expected 128*U = 1048576 (U = 8192); copy the tensor to dense memory, "
               "or declare its strides"));
}

TEST_CASE("pytorch_165943: two equal strides are not the evaluation of the declared ones") {
  const auto program = parse_or_fail("program p(x: bf16[A, B, C] strides [B*C, C, 1]) { y = relu(x) return y }");
  CHECK(binds(*program, {strided({1536, 32, 8192}, {32 * 8192, 8192, 1})}));
  CHECK(refusal(*program, {strided({1536, 32, 8192}, {8192, 8192, 1})}) ==
        failed("stride of axis 0 of 'x' is 8192, expected B*C = 262144 (B = 32, C = 8192); copy the tensor to dense "
               "memory, or declare its strides"));
}

TEST_CASE("pytorch_190589: a binding satisfies every constraint, and no extent is negative") {
  const auto stated = parse_or_fail(
      "program p(x: f32[S, 64], u: dim) where 0 <= u <= S { y = slice(x, start = [u, 0], limit = [S, 64]) return y }");
  CHECK(binds(*stated, {dense({16, 64})}, {{"u", 16}}));
  CHECK(refusal(*stated, {dense({16, 64})}, {{"u", 1024}}) ==
        failed("constraint 'u <= S': u <= S does not hold, 1024 <= 16 is false (S = 16, u = 1024)"));
  const auto implied =
      parse_or_fail("program p(x: f32[S, 64], u: dim) { y = slice(x, start = [u, 0], limit = [S, 64]) return y }");
  CHECK(binds(*implied, {dense({16, 64})}, {{"u", 16}}));
  CHECK(refusal(*implied, {dense({16, 64})}, {{"u", 1024}}) ==
        failed("start on axis 0 (statement 'y'): u <= S does not hold, 1024 <= 16 is false (S = 16, u = 1024)"));
  CHECK(refusal(*implied, {dense({16, 64})}, {{"u", -1}}).message.starts_with("start on axis 0 (statement 'y'): "));
}

TEST_CASE("tvm_7375: a negative padded extent is refused before anything is allocated") {
  const auto program = parse_or_fail(
      "program p(x: f32[N], lo: dim, hi: dim) { unused = pad(x, low = [lo], high = [hi]) y = relu(x) return y }");
  CHECK(binds(*program, {dense({4})}, {{"lo", -4}, {"hi", 0}}));
  CHECK(binds(*program, {dense({4})}, {{"lo", 3}, {"hi", -7}}));
  const auto refused = refusal(*program, {dense({4})}, {{"lo", -3}, {"hi", -2}});
  CHECK(refused.code == Code::failed_precondition);
  CHECK(refused.message.starts_with("padded extent on axis 0 (statement 'unused'): "));
  CHECK(refused.message.ends_with("-1 >= 0 is false (N = 4, lo = -3, hi = -2)"));
}

TEST_CASE("a mode that reads elements needs one, unless the result is empty") {
  const auto program =
      parse_or_fail("program p(x: f32[N], lo: dim) { y = pad(x, low = [lo], high = [0], mode = wrap) return y }");
  CHECK(binds(*program, {dense({0})}, {{"lo", 0}}));
  CHECK(binds(*program, {dense({1})}, {{"lo", 9}}));
  const auto refused = refusal(*program, {dense({0})}, {{"lo", 1}});
  CHECK(refused.code == Code::failed_precondition);
  CHECK(refused.message.starts_with("elements that mode wrap needs of 'x' on axis 0 (statement 'y'): "));
}

TEST_CASE("extents that meet are equal") {
  const auto program = parse_or_fail("program p(x: f32[A, B], z: f32[C]) {\n  y = add(x, z)\n  return y\n}");
  CHECK(binds(*program, {dense({2, 3}), dense({3})}));
  const auto binding = Binding::bind(*program, {.tensors = {dense({2, 3}), dense({1})}, .symbols = {}});
  REQUIRE_FALSE(binding.has_value());
  const Error& error = binding.error();
  CHECK(error.code == Code::failed_precondition);
  CHECK(error.blame == Blame::user);
  CHECK(error.where.line == 2);
  CHECK(error.message.starts_with("extents of 'x' and 'z' on axis 1 (statement 'y'): "));
  CHECK(error.message.ends_with(" is false (B = 3, C = 1)"));
}

TEST_CASE("bounds come before constraints, constraints before parameters, those before statements") {
  const auto program = parse_or_fail(
      "program p(x: f32[N], z: f32[N + 1], k: dim) where 1 <= N <= 8, k <= N { y = pad(x, low = [k], high = [-9]) "
      "return y }");
  CHECK(binds(*program, {dense({8}), dense({9})}, {{"k", 2}}));
  CHECK(refusal(*program, {dense({9}), dense({1})}, {{"k", 10}}).message.starts_with("upper bound of 'N': N <= 8"));
  CHECK(refusal(*program, {dense({0}), dense({1})}, {{"k", 1}}).message.starts_with("lower bound of 'N': N >= 1"));
  CHECK(refusal(*program, {dense({4}), dense({4})}, {{"k", 5}}).message.starts_with("constraint 'k <= N'"));
  CHECK(refusal(*program, {dense({4}), dense({4})}, {{"k", 4}}).message ==
        "extent of axis 0 of 'z' is 4, expected N + 1 = 5 (N = 4)");
  CHECK(refusal(*program, {dense({4}), dense({5})}, {{"k", 4}}).message.starts_with("padded extent on axis 0"));
}

TEST_CASE("what a constraint says of one symbol is checked though expressions are simplified by it") {
  const auto program = parse_or_fail("program p(x: f32[N]) where N mod 8 == 0 { y = relu(x) return y }");
  CHECK(binds(*program, {dense({16})}));
  const auto refused = refusal(*program, {dense({17})});
  CHECK(refused.code == Code::failed_precondition);
  CHECK(refused.message == "constraint 'N mod 8 == 0': 17 mod 8 == 0 is false (N = 17)");
}

TEST_CASE("strides of axes with one element or none, and of empty tensors, mean nothing") {
  const auto program = parse_or_fail("program p(x: f32[A, B] strides [B, 1]) { y = relu(x) return y }");
  CHECK(binds(*program, {strided({1, 5}, {777, 1})}));
  CHECK(binds(*program, {strided({5, 1}, {1, 777})}));
  CHECK(binds(*program, {strided({0, 5}, {777, 777})}));
  CHECK(binds(*program, {strided({5, 0}, {777, kMax})}));
  CHECK(refusal(*program, {strided({2, 5}, {777, 1})}) ==
        failed(
            "stride of axis 0 of 'x' is 777, expected B = 5; copy the tensor to dense memory, or declare its strides"));
}

TEST_CASE("a stride symbol that nothing fixes takes its dense value") {
  const auto program =
      parse_or_fail("program p(x: f32[A, B] strides [R, Q], z: f32[A, B] strides [T, 1]) { y = relu(x) return y }");
  const auto strides = [&](const Extents& extents, Extents given, Symbols symbols = {}) {
    const auto binding = Binding::bind(
        *program, {.tensors = {strided(extents, std::move(given)), dense(extents)}, .symbols = std::move(symbols)});
    if (!binding) FAIL(binding.error().to_string());
    return binding->strides_of(program->value(program->tensor_parameters()[0]));
  };
  CHECK(strides({2, 3}, {9, 2}) == Extents{9, 2});
  CHECK(strides({1, 3}, {777, 2}) == Extents{3, 2});
  CHECK(strides({2, 1}, {9, 777}) == Extents{9, 1});
  CHECK(strides({0, 3}, {9, 777}) == Extents{3, 1});
  CHECK(strides({1, 3}, {777, 2}, {{"R", 5}}) == Extents{5, 2});
  // Where it stands elsewhere too, that place binds it.
  const auto shared =
      parse_or_fail("program p(x: f32[1, B] strides [R, 1], z: f32[4, 2] strides [R, 1]) { y = relu(x) return y }");
  CHECK(binds(*shared, {strided({1, 3}, {777, 1}), strided({4, 2}, {6, 1})}));
  CHECK(
      refusal(*shared, {strided({1, 3}, {777, 1}), strided({4, 2}, {6, 1})}, {{"R", 3}}) ==
      failed("stride of axis 0 of 'z' is 6, expected R = 3; copy the tensor to dense memory, or declare its strides"));
}

TEST_CASE("pytorch_139224: an empty tensor needs no storage, whatever its strides") {
  const auto program = parse_or_fail("program p(x: f32[A, B, C] strides [R, Q, 1]) { y = relu(x) return y }");
  for (const Extents& extents : {Extents{0, 5, 7}, Extents{5, 0, 7}, Extents{5, 7, 0}, Extents{0, 0, 0}}) {
    const auto binding = Binding::bind(*program, {.tensors = {strided(extents, {1000, 10, 1})}, .symbols = {}});
    REQUIRE(binding.has_value());
    CHECK(binding->storage_bytes(program->value(program->tensor_parameters()[0])) == 0);
    CHECK(binding->storage_bytes(program->value(program->results()[0])) == 0);
  }
}

TEST_CASE("storage stays below 2^47 bytes, in 128 bits") {
  const auto program = parse_or_fail("program p(x: f32[A, B, C, D]) { y = relu(x) return y }");
  CHECK(binds(*program, {dense({1LL << 40, 1, 1, 16})}));
  const auto limit = refusal(*program, {dense({1LL << 40, 1, 1, 32})});
  CHECK(limit.code == Code::failed_precondition);
  CHECK(limit.message.find("'x'") != std::string::npos);
  CHECK(limit.message.ends_with("(A = 1099511627776, B = 1, C = 1, D = 32)"));
  // 2^160 elements leave even 128 bits.
  const auto huge = refusal(*program, {dense({1LL << 40, 1LL << 40, 1LL << 40, 1LL << 40})});
  CHECK(huge.code == Code::failed_precondition);
  CHECK(huge.message.find("'x'") != std::string::npos);
  CHECK(binds(*program, {dense({1LL << 40, 1LL << 40, 1LL << 40, 0})}));
  // A stride alone can break it.
  const auto gaps =
      parse_or_fail("program p(x: f32[2] strides [R]) where R <= 9223372036854775807 { y = relu(x) return y }");
  CHECK(binds(*gaps, {strided({2}, {(1LL << 45) - 2})}));
  CHECK(refusal(*gaps, {strided({2}, {1LL << 45})}).code == Code::failed_precondition);
  CHECK(refusal(*gaps, {strided({2}, {kMax})}).code == Code::failed_precondition);
}

TEST_CASE("tensorflow_51908: pads of any size are refused or evaluated, never wrapped") {
  const auto program = parse_or_fail(
      "program p(x: f32[N], lo: dim, hi: dim) where -9223372036854775808 <= lo <= 9223372036854775807, "
      "-9223372036854775808 <= hi <= 9223372036854775807 { y = pad(x, low = [lo], high = [hi], mode = edge) return y "
      "}");
  CHECK(binds(*program, {dense({4})}, {{"lo", kMax}, {"hi", -kMax}}));
  CHECK(binds(*program, {dense({4})}, {{"lo", kMin + 1}, {"hi", kMax}}));
  for (const auto& [lo, hi] :
       {std::pair{kMax, kMax}, std::pair{kMin, kMin}, std::pair{kMax, std::int64_t{0}},
        std::pair{std::int64_t{1} << 62, std::int64_t{1} << 62}, std::pair{std::int64_t{0}, std::int64_t{1} << 46}}) {
    CAPTURE(lo);
    CAPTURE(hi);
    CHECK(refusal(*program, {dense({4})}, {{"lo", lo}, {"hi", hi}}).code == Code::failed_precondition);
  }
}

TEST_CASE("a stated expression that does not fit 64 bits is named, even where nothing is stored") {
  const auto program =
      parse_or_fail("program p(x: f32[0, N]) { y = pad(x, low = [0, N*N*N], high = [0, 0]) return y }");
  CHECK(binds(*program, {dense({0, 1 << 20})}));
  const auto extent = refusal(*program, {dense({0, 1LL << 22})});
  CHECK(extent.code == Code::failed_precondition);
  CHECK(extent.message.starts_with("extent of axis 1 of 'y': "));
  CHECK(extent.message.ends_with("(N = 4194304)"));
  const auto constraint = parse_or_fail("program p(x: f32[N, 0]) where N*N*N - N >= 0 { y = relu(x) return y }");
  CHECK(binds(*constraint, {dense({1 << 20, 0})}));
  const auto side = refusal(*constraint, {dense({1LL << 30, 0})});
  CHECK(side.code == Code::failed_precondition);
  CHECK(side.message.starts_with("constraint '"));
  CHECK(side.message.find("1237940039285380273825382400, which does not fit 64 bits (N = 1073741824)") !=
        std::string::npos);
  // Intermediates have 128 bits: the quotient fits.
  const auto quotient =
      parse_or_fail("program p(x: f32[N, 0], z: f32[N*N*N floordiv 1099511627776, 0]) { y = relu(x) return y }");
  CHECK(binds(*quotient, {dense({1LL << 30, 0}), dense({1LL << 50, 0})}));
}

TEST_CASE("dense strides of an empty tensor may exceed 64 bits; nobody uses them") {
  const auto program = parse_or_fail("program p(x: f32[A, B, C]) { y = relu(x) return y }");
  const auto binding = Binding::bind(*program, {.tensors = {dense({0, 1LL << 40, 1LL << 40})}, .symbols = {}});
  REQUIRE(binding.has_value());
  CHECK(binding->strides_of(program->value(program->tensor_parameters()[0])) == Extents{kMax, 1LL << 40, 1});
}

TEST_CASE("a binder binds many requests, and allocates the values of each alone") {
  const auto program = parse_or_fail(R"(
program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B <= 4096, 0 <= S <= 65536, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z
})");
  const Binder binder(*program);
  BindRequest request{.tensors = {dense({1, 1})}, .symbols = {{"lo", 0}}};
  constexpr int kRounds = 2000;
  int failures = 0;
  long allocations = 0;
  for (std::int64_t i = 0; i < kRounds; ++i) {
    request.tensors[0]->extents = {1 + i % 4096, i};
    request.symbols["lo"] = i % 9;
    const long before = padlock::testing::allocation_count();
    const auto binding = binder.bind(request);
    allocations += padlock::testing::allocation_count() - before;
    if (!binding || binding->extents_of(program->value(program->results()[0]))[1] != (i + i % 9 + 7) / 8 * 8)
      ++failures;
  }
  CHECK(failures == 0);
  CHECK(allocations == kRounds);
  request.tensors[0]->extents = {0, 1};
  CHECK(binder.bind(request).error().message == "lower bound of 'B': B >= 1 does not hold, 0 >= 1 is false (B = 0)");
}

TEST_CASE("a binding has the values that its binder was asked for, unless one exceeds 64 bits") {
  const auto program = parse_or_fail("program p(x: f32[A, B, C]) { y = relu(x) return y }");
  const Value& x = program->value(program->tensor_parameters()[0]);
  const Binder binder(*program, {x.layout.strides()[0], x.extents()[2], x.layout.storage_extent()});
  const auto binding = binder.bind({.tensors = {dense({2, 3, 5})}, .symbols = {}});
  REQUIRE(binding.has_value());
  CHECK(Extents(binding->asked().begin(), binding->asked().end()) == Extents{15, 5, 30});
  const auto empty = binder.bind({.tensors = {dense({0, 1LL << 40, 1LL << 40})}, .symbols = {}});
  REQUIRE(empty.has_value());
  CHECK(empty->asked().empty());
  CHECK_FALSE(binder.bind({.tensors = {dense({2, 3})}, .symbols = {}}).has_value());
  CHECK(Binder(*program).bind({.tensors = {dense({2, 3, 5})}, .symbols = {}})->asked().empty());
}
