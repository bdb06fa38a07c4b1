// The parts of a pack that need no code: expressions and launch contracts as bytes.

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/pack/contract.h"
#include "runtime/pack/cubin.h"
#include "runtime/pack/expr_table.h"
#include "runtime/pack/pack_header.h"
#include "tests/common/environment.h"
#include "tests/ir/expr/random_expr.h"
#include "tests/runtime/cuda/fake_cubin.h"

namespace padlock::runtime {
namespace {

using ir::Expr;

/// What the simplifier makes of an expression once more need not be its form; its values are.
bool same_values(const ir::ExprContext& exprs, Expr a, Expr b, testing::Rng& random) {
  for (int draw = 0; draw < 20; ++draw) {
    const std::vector<std::int64_t> values = testing::draw_values(random, exprs);
    const auto x = ir::evaluate(exprs, a, values), y = ir::evaluate(exprs, b, values);
    if (x && (!y || *x != *y)) return false;
  }
  return true;
}

TEST_CASE("expressions are read with the same values, and nearly all as the same handles") {
  const std::uint64_t seed = testing::seed_or(20261122);
  MESSAGE("seed " << seed);
  testing::Rng random(seed);
  // Symbols as a program has them.
  const auto program = ir::parse_program(
      "program p(x: f32[A, B], n: dim, k: dim) where 1 <= A <= 100, B mod 8 == 0, -5 <= n <= 5 "
      "{ y = pad(x, low = [0, 0], high = [0, 0]) return y }");
  REQUIRE(program);
  std::vector<Expr> symbols;
  for (const char* name : {"A", "B", "n", "k"}) symbols.push_back(*program->exprs().find_symbol(name));
  int inner = 0, same = 0, all = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Expr> roots;
    for (int i = 0; i < 4; ++i)
      roots.push_back(testing::draw_tree(random, symbols, 5).build(program->exprs(), symbols));
    ByteWriter writer;
    const auto order = write_exprs(roots, writer);
    REQUIRE(order);
    const std::vector<std::byte> bytes = std::move(writer).take();
    ByteReader reader(bytes, kPack);
    const auto read = read_exprs(*program, reader);
    REQUIRE_MESSAGE(read, (read ? "" : read.error().message));
    CHECK(reader.finish());
    for (const Expr root : roots) {
      const Expr again = (*read)[order->slot(root)];
      same += again == root ? 1 : 0;
      ++all;
      CHECK(same_values(program->exprs(), root, again, random));
      inner += root.operands().empty() ? 0 : 1;
    }
  }
  CHECK(inner > 400);
  CHECK(same > all * 95 / 100);
}

TEST_CASE("expressions that the simplifier may not see are refused") {
  const auto program = ir::parse_program("program p(x: f32[A]) { y = pad(x, low = [0], high = [0]) return y }");
  REQUIRE(program);
  const auto refusal = [&](const std::vector<int>& numbers) {
    ByteWriter writer;
    for (const int number : numbers) writer.number(number);
    const std::vector<std::byte> bytes = std::move(writer).take();
    ByteReader reader(bytes, kPack);
    const auto read = read_exprs(*program, reader);
    return read ? "" : read.error().message;
  };
  constexpr int kConstant = 0, kSymbol = 1, kProduct = 3, kFloordiv = 4;
  CHECK(refusal({2, kSymbol, 0, kFloordiv, 0, 0}) == "the pack is damaged: the divisor A may not be positive");
  CHECK(refusal({2, kConstant, 0, kFloordiv, 0, 0}) == "the pack is damaged: the divisor 0 may not be positive");
  CHECK(refusal({1, kSymbol, 1}) == "the pack is damaged: expected a number from 0 to 0, found 1");
  CHECK(refusal({1, kFloordiv, 0, 0}) == "the pack is damaged: expected a number from 0 to -1, found 0");
  CHECK(refusal({1, kProduct, 0}) == "the pack is damaged: an operation has no operands");
  CHECK(refusal({1, 9, 0}) == "the pack is damaged: expected a number from 0 to 7, found 9");
}

/// A program with a contract in parts.
struct Parts {
  Parts() {
    ir::ExprContext& exprs = program.exprs();
    const auto symbol = [&](const char* name) { return *exprs.find_symbol(name); };
    const auto constant = [&](int value) { return exprs.constant(value); };
    const Expr A = symbol("A"), B = symbol("B"), C = symbol("C");
    abi.name = "k";
    abi.inputs = program.tensor_parameters();
    abi.results = program.results();
    abi.rows = abi.columns = abi.row_bytes = constant(1);
    abi.sizes = {{A, Encoding::first_row},
                 {B, Encoding::elements},
                 {C, Encoding::from_origin, 1},
                 {A, Encoding::from_origin32, 0},
                 {B, Encoding::wrap}};
    abi.parts = abi::LaunchParts{.extents = {A, B},
                                 .columns = C,
                                 .spans = {exprs.mul(A, B), exprs.mul(B, C)},
                                 .reaches = {{1, {B, constant(-2)}, constant(-7), exprs.add(A, B)},
                                             {0, {constant(0), C}, A, exprs.mul(A, C)},
                                             {1, {A, A}, B, C}},
                                 .block_elements = 1024,
                                 .lanes = 8,
                                 .most_elements = std::numeric_limits<std::int32_t>::max()};
  }

  using Encoding = abi::SizeArgument::Encoding;
  [[nodiscard]] std::vector<std::byte> written() const { return *write_contracts({.kernels = {{{abi, 0}}}}); }
  [[nodiscard]] Result<abi::CompiledCode> read(const std::vector<std::byte>& bytes) const {
    return read_code(program, abi::CodeKind::ptx, {.config = "", .contracts = bytes, .code = {}});
  }
  /// Returns the error of reading the written bytes; empty if they are read.
  [[nodiscard]] std::string refusal() const {
    const auto code = read(written());
    return code ? "" : code.error().message;
  }

  ir::Program program = *ir::parse_program(
      "program p(x: f32[A, B, C], z: f32[A, B, C]) { y = pad(x, low = [0, 0, 0], high = [0, 0, 0]) return y }");
  abi::KernelAbi abi;
};

TEST_CASE_FIXTURE(Parts, "the parts of a contract are read as they were written") {
  const auto code = read(written());
  REQUIRE_MESSAGE(code, (code ? "" : code.error().message));
  const abi::KernelAbi& found = code->kernels[0][0].abi;
  REQUIRE(found.sizes.size() == abi.sizes.size());
  for (std::size_t i = 0; i < found.sizes.size(); ++i) {
    CHECK(found.sizes[i].value == abi.sizes[i].value);
    CHECK(found.sizes[i].fit == abi.sizes[i].fit);
    CHECK(found.sizes[i].input == abi.sizes[i].input);
  }
  REQUIRE(found.parts);
  CHECK(found.parts->extents == abi.parts->extents);
  CHECK(found.parts->columns == abi.parts->columns);
  CHECK(found.parts->spans == abi.parts->spans);
  CHECK(found.parts->block_elements == 1024);
  CHECK(found.parts->lanes == 8);
  CHECK(found.parts->most_elements == abi.parts->most_elements);
  REQUIRE(found.parts->reaches.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const abi::Reach &a = abi.parts->reaches[i], &b = found.parts->reaches[i];
    CHECK(a.input == b.input);
    CHECK(a.steps == b.steps);
    CHECK(a.least == b.least);
    CHECK(a.most == b.most);
  }
  abi.parts.reset();
  CHECK_FALSE(read(written())->kernels[0][0].abi.parts);
}

TEST_CASE_FIXTURE(Parts, "parts that no compiler made are refused") {
  constexpr const char* kInputs = "the pack is damaged: expected a number from 0 to 1, found 2";
  SUBCASE("a size from the origin of no input") {
    abi.sizes[2].input = 2;
    CHECK(refusal() == kInputs);
  }
  SUBCASE("a reach of no input") {
    abi.parts->reaches[2].input = 2;
    CHECK(refusal() == kInputs);
  }
  SUBCASE("an input where there is none") {
    abi.inputs = {};
    abi.sizes = {};
    abi.parts->spans = {};
    CHECK(refusal() == "the pack is damaged: expected a number from 0 to -1, found 1");
  }
  SUBCASE("counts that would be divided by, or overflow") {
    const auto check = [&](std::int64_t& count) {
      for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
        const std::int64_t good = std::exchange(count, bad);
        CHECK(refusal() == "the pack is damaged: expected a number from 1 to 2147483647, found " + std::to_string(bad));
        count = good;
      }
    };
    check(abi.parts->block_elements);
    check(abi.parts->lanes);
    check(abi.parts->most_elements);
  }
}

TEST_CASE_FIXTURE(Parts, "guards are read by the numbers of their assumptions, those of older code, too") {
  const auto guard_by = [&](int number) {
    abi.guards = {{static_cast<abi::Assumption>(number), {abi.parts->columns, ir::Comparison::le, abi.rows}}};
  };
  for (const int number : {1, 5, 11}) {
    guard_by(number);
    const auto code = read(written());
    REQUIRE_MESSAGE(code, (code ? "" : code.error().message));
    const abi::Guard& found = code->kernels[0][0].abi.guards.at(0);
    CHECK(static_cast<int>(found.assumption) == number);
    CHECK(found.holds.lhs == abi.parts->columns);
  }
  for (const int number : {0, 12}) {
    guard_by(number);
    CHECK(refusal() == "the pack is damaged: expected a number from 1 to 11, found " + std::to_string(number));
  }
}

TEST_CASE_FIXTURE(Parts, "parts that end early are refused, and counts ask for no more memory than there are bytes") {
  const std::vector<std::byte> whole = written();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    const auto code = read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    REQUIRE_FALSE(code);
    CHECK(code.error().code == Code::data_loss);
  }
  // There are bytes for as many reaches, and for as many extents, but not for the steps of all.
  abi.parts->extents.assign(64, abi.parts->columns);
  abi.parts->reaches.assign(64, {.input = 0, .steps = {}, .least = abi.rows, .most = abi.rows});
  CHECK(refusal().starts_with("the pack is damaged: 64 reaches of 64 steps in "));
}

TEST_CASE("a contract that names a coordinate is not written") {
  const auto program = ir::parse_program("program p(x: f32[A]) { y = pad(x, low = [0], high = [0]) return y }");
  REQUIRE(program);
  abi::KernelVariant variant;
  variant.abi.rows = variant.abi.columns = variant.abi.row_bytes = program->exprs().coordinate(0);
  CHECK(write_contracts({.kernels = {{variant}}}).error().code == Code::internal);
}

TEST_CASE("a cubin whose headers or sections leave the file is none") {
  const std::vector<std::byte> whole = cuda::fake_cubin("the code");
  CHECK(is_whole_cubin(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(is_whole_cubin(std::span(whole).first(size)));
  }
  const auto with = [&](std::size_t at, unsigned value) {
    std::vector<std::byte> other = whole;
    other[at] = static_cast<std::byte>(value);
    return is_whole_cubin(other);
  };
  CHECK_FALSE(with(0, 'E'));
  CHECK_FALSE(with(4, 1));    // 32 bits
  CHECK_FALSE(with(18, 62));  // for x86-64
  for (const std::size_t high : {7U, 1U, 0U}) {
    CAPTURE(high);
    CHECK_FALSE(with(40 + high, 255));  // the offset of the section headers
    CHECK_FALSE(with(88 + high, 255));  // the offset of a section
    CHECK_FALSE(with(96 + high, 255));  // how long it is
  }
  CHECK_FALSE(with(58, 63));  // bytes of a section's header
  CHECK_FALSE(with(60, 0));   // how many there are
  CHECK_FALSE(with(60, 2));
  CHECK_FALSE(with(61, 255));
  CHECK(with(68, 8) == true);  // memory without bytes
  std::vector<std::byte> memory = whole;
  memory[68] = std::byte{8};
  memory[103] = std::byte{255};  // may be larger than the file
  CHECK(is_whole_cubin(memory));
  std::vector<std::byte> segments = whole;
  segments[54] = std::byte{56};  // bytes of a segment's header
  segments[56] = std::byte{1};
  CHECK(is_whole_cubin(segments));  // the offset is 0, where ELF's magic number is: still a valid place
  segments[39] = std::byte{1};
  CHECK_FALSE(is_whole_cubin(segments));
}

}  // namespace
}  // namespace padlock::runtime
