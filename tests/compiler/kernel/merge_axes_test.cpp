#include "tests/compiler/emit/compiled.h"

namespace padlock::compiler {
namespace {

int rank_of(std::string_view text) {
  const ir::Program program = program_of(text);
  return kernels_of(program).front().rank();
}

}  // namespace

TEST_CASE("elementwise on dense tensors is one axis") {
  CHECK(rank_of("program p(x: f32[A, B, C, D]) { y = relu(x) return y }") == 1);
}

TEST_CASE("outer axes that are not padded merge; so does an unpadded inner axis with a padded one") {
  CHECK(rank_of("program p(x: f32[N, C, H, W]) { y = pad(x, low = [0, 0, 1, 1], high = [0, 0, 1, 1]) return y }") == 3);
  // Channels last: W and C become one long row, [low * C, (low + W) * C) of it the input.
  CHECK(rank_of("program p(x: f32[N, H, W, C]) { y = pad(x, low = [0, 1, 1, 0], high = [0, 1, 1, 0]) return y }") == 3);
}

TEST_CASE("strides that do not continue keep their axes") {
  CHECK(rank_of("program p(x: f32[A, B] strides [P, 1]) { y = relu(x) return y }") == 2);
  CHECK(rank_of("program p(x: f32[A, B] strides [1, A]) { y = relu(x) return y }") == 2);
  CHECK(rank_of("program p(x: f32[A, B], b: f32[B]) { y = add(x, b) return y }") == 2);
}

TEST_CASE("never across a reflected axis (onnxruntime_6442)") {
  CHECK(rank_of("program p(x: f32[A, B]) where A >= 1 { y = pad(x, low = [1, 0], high = [0, 0], mode = reflect)"
                " return y }") == 2);
}

TEST_CASE("a condition on a merged axis counts in elements of both") {
  const ir::Program program = program_of(
      "program p(x: f32[A, B], lo: dim) where 0 <= lo { y = pad(x, low = [lo, 0], high = [0, 0]) return y }");
  const std::string text = to_string(kernels_of(program).front());
  CHECK(text.find("load x[-(lo*B) + $0]") == std::string::npos);  // the sum is spelled as the printer does
  CHECK(text.find("B*lo") != std::string::npos);
  CHECK(kernels_of(program).front().rank() == 1);
}

}  // namespace padlock::compiler
