// Class A: the allocated size and the used indices came from two places. Here storage and offsets come from one layout,
// evaluated from one binding; the load, store and extent obligations compare them.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("pytorch_169760: a pad on a dynamic dimension needs 9216 bytes and gets 9216") {
  Regression flat("program p(x: f32[S], hi: dim) { y = pad(x, low = [0], high = [hi]) z = relu(y) return z }");
  const Sizes sizes{{shape({2176})}, {{"hi", 128}}};
  CHECK(flat.storage_bytes(sizes, "x") == 8704);
  CHECK(flat.storage_bytes(sizes, "z") == 9216);
  flat.same(sizes);
  flat.proves(compiler::ObligationKind::load, "x[");
  flat.proves(compiler::ObligationKind::extent, "axis 0 of z");

  Regression rows(
      "program p(x: f32[B, S], lo: dim) where 1 <= B <= 4096, 0 <= S <= 65536, -8 <= lo <= 8, S + lo >= 0 {"
      "  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5) z = relu(y) return z }");
  for (const std::int64_t lo : {-8, -1, 0, 1, 8})
    for (const std::int64_t s : {8, 9, 15, 127, 128, 129}) rows.same({{shape({9, s})}, {{"lo", lo}}});
}

TEST_CASE("pytorch_169760: rows of 128 in a pitch of 256, the last row without its gap") {
  Regression r(
      "program p(x: f32[R, C] strides [2 * C, 1], hi: dim) {"
      "  y = pad(x, low = [0, 0], high = [0, hi]) z = relu(y) return z }");
  const Sizes sizes{{shape({9, 128}, {256, 1})}, {{"hi", 128}}};
  CHECK(r.storage_bytes(sizes, "x") == (8 * 256 + 128) * 4);
  CHECK(r.storage_bytes(sizes, "z") == 9216);
  r.same(sizes);
}

TEST_CASE("pytorch_140249: one column past rows of 2047 at a pitch of 2048") {
  Regression r(
      "program p(x: f32[R, C] strides [C + 1, 1]) { y = pad(x, low = [0, 0], high = [0, 1], value = 12345.0) return y "
      "}");
  const Sizes report{{shape({2048, 2047}, {2048, 1})}};
  CHECK(r.storage_bytes(report, "x") == (std::int64_t{2047} * 2048 + 2047) * 4);
  r.same({{shape({48, 2047}, {2048, 1})}});
  r.same({{shape({1, 1}, {2, 1})}});
}

TEST_CASE("torchdynamo_872: a stride of 4096 needs 4178944 bytes") {
  Regression r("program p(x: f32[R, C] strides [T, 1]) { y = relu(x) return y }");
  CHECK(r.storage_bytes({{shape({256, 256}, {4096, 1})}}, "x") == 4178944);
  CHECK(r.storage_bytes({{shape({256, 256}, {256, 1})}}, "x") == 262144);
  r.same({{shape({5, 256}, {4096, 1})}});
}

TEST_CASE("pytorch_165943: strides that are not the evaluation of their expressions are refused") {
  Regression r("program p(x: bf16[A, B, C] strides [B * C, C, 1]) { y = relu(x) return y }");
  r.refuses({{shape({1536, 32, 8192}, {8192, 8192, 1})}}, "stride");
  CHECK(r.storage_bytes({{shape({1536, 32, 8192}, {262144, 8192, 1})}}, "x") == std::int64_t{1536} * 32 * 8192 * 2);
  r.same({{shape({3, 5, 7}, {35, 7, 1})}});
}

TEST_CASE("pytorch_163660: u0 * 128 is evaluated from u0, never given a value of its own") {
  Regression r("program p(x: bf16[64, u0, 128] strides [u0 * 128, 128, 1]) { y = relu(x) return y }");
  CHECK(r.storage_bytes({{shape({64, 8192, 128}, {8192 * 128, 128, 1})}}, "x") == std::int64_t{64} * 8192 * 128 * 2);
  r.refuses({{shape({64, 8192, 128}, {8192, 128, 1})}}, "stride");
  r.same({{shape({64, 3, 128}, {384, 128, 1})}});
}

TEST_CASE("pytorch_190589: a relation between symbols holds for every binding") {
  Regression r(
      "program p(x: f32[s44, 64], u0: dim) where 0 <= u0, u0 <= s44 {"
      "  y = slice(x, start = [u0, 0], limit = [s44, 64]) return y }");
  r.refuses({{shape({1016, 64})}, {{"u0", 2024}}}, "u0 <= s44");
  CHECK(r.extents({{shape({1016, 64})}, {{"u0", 1000}}}, "y") == std::vector<std::int64_t>{16, 64});
  for (const std::int64_t u0 : {0, 1, 12, 13}) r.same({{shape({13, 64})}, {{"u0", u0}}});
}

TEST_CASE("pytorch_158690: storage of a view with stride 0 and of one that begins at element 3") {
  Regression r("program p(x: f32[3, 3] strides [0, 1]) { y = neg(x) return y }");
  CHECK(r.storage_bytes({{shape({3, 3}, {0, 1})}}, "x") == 12);
  r.same({{shape({3, 3}, {0, 1})}});
  Regression offset(
      "program p(x: f32[6]) { s = slice(x, start = [3], limit = [6]) y = broadcast(s, shape = [3, 3], axes = [1]) "
      "return y }");
  offset.gives<float>({{shape({6})}}, {bytes_of<float>({0, 1, 2, 3, 4, 5})}, {3, 4, 5, 3, 4, 5, 3, 4, 5});
}

TEST_CASE("pytorch_139224: no storage exactly where an extent is 0, whatever the strides are") {
  Regression r("program p(x: f32[A, B, C] strides [S, T, U]) { y = relu(x) return y }");
  for (const std::vector<std::int64_t>& extents :
       {std::vector<std::int64_t>{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {0, 0, 0}, {1, 0, 1}}) {
    CHECK(r.storage_bytes({{shape(extents, {1000, 10, 1})}}, "x") == 0);
    r.same({{shape(extents, {1000, 10, 1})}});
  }
  CHECK(r.storage_bytes({{shape({1, 1, 1}, {1000, 10, 1})}}, "x") == 4);
}

TEST_CASE("pytorch_161115: gaps of a strided input are neither needed at its end nor touched") {
  Regression r(
      "program p(x: i16[R, C] strides [P, Q]) { y = pad(x, low = [1, 1], high = [1, 1], value = 7) return y }");
  r.same({{shape({4, 5}, {20, 3})}});
  r.same({{shape({3, 17}, {64, 2})}});
}

TEST_CASE("helion_2867: every second row, and an expanded row") {
  Regression step("program p(x: f32[R, C] strides [2 * C, 1]) { y = relu(x) return y }");
  step.same({{shape({7, 33}, {66, 1})}});
  Regression expanded(
      "program p(x: f32[R, C] strides [0, 1], lo: dim) { y = pad(x, low = [lo, lo], high = [1, 2], mode = wrap) return "
      "y }");
  expanded.same({{shape({7, 33}, {0, 1})}, {{"lo", 2}}});
  Regression column("program p(x: f32[R, C] strides [1, 0]) { y = relu(x) return y }");
  column.same({{shape({7, 33}, {1, 0})}});
}

TEST_CASE("torch_to_nnef_140: no size that a program is run with stands in its code") {
  Regression r("program p(x: f32[S], k: dim) where k >= 0 { y = pad(x, low = [-k], high = [k]) return y }");
  r.same({{shape({7919})}, {{"k", 1237}}});
  for (const session::Stage stage : {session::Stage::kernel, session::Stage::llvm}) {
    const std::string text = r.emit(stage);
    for (const char* hint : {"7919", "1237", "6682"}) CHECK(text.find(hint) == std::string::npos);
  }
  // Where the crop takes everything, the axis keeps its extent.
  CHECK(r.extents({{shape({100})}, {{"k", 164}}}, "y") == std::vector<std::int64_t>{100});
  r.same({{shape({100})}, {{"k", 164}}});
}

TEST_CASE("tvm_7375: an extent below zero is refused at binding, by name") {
  Regression r("program p(x: f32[n], lo: dim, hi: dim) { y = pad(x, low = [lo], high = [hi]) return y }");
  r.refuses({{shape({4})}, {{"lo", -3}, {"hi", -2}}}, "y");
  r.same({{shape({4})}, {{"lo", -3}, {"hi", -1}}});
  r.same({{shape({4})}, {{"lo", -3}, {"hi", 0}}});
}

TEST_CASE("pytorch_123855: one kernel serves every sign of a pad amount") {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"}) {
    Regression r(std::string("program p(x: f32[n], lo: dim, hi: dim) { y = pad(x, low = [lo], high = [hi], mode = ") +
                 mode + ") return y }");
    for (std::int64_t lo = -6; lo <= 6; lo += 2)
      for (std::int64_t hi = -7; hi <= 9; hi += 4) r.same({{shape({24})}, {{"lo", lo}, {"hi", hi}}});
  }
}

}  // namespace padlock::regressions
