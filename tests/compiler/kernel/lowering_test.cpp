#include "tests/compiler/emit/compiled.h"

namespace padlock::compiler {
namespace {

std::string kernel_text(std::string_view text) {
  const ir::Program program = program_of(text);
  std::string result;
  for (const Kernel& kernel : kernels_of(program)) result += to_string(kernel);
  return result;
}

}  // namespace

TEST_CASE("a pad is a load under a guard and a selection of its own") {
  CHECK(kernel_text("program p(x: f32[S], lo: dim) where S + lo >= 0 { y = pad(x, low = [lo], high = [0], value = 2.0)"
                    " return y }") ==
        "kernel p_0 [S + lo]\n"
        "  %0 : f32 = 2\n"
        "  %1 : f32 = load x[-lo + $0] if -lo + $0 >= 0\n"
        "  %2 : f32 = %1 if -lo + $0 >= 0 else %0\n"
        "  store y = %2\n");
}

TEST_CASE("no condition is left that always holds") {
  const std::string text = kernel_text("program p(x: f32[A, B]) { y = pad(x, low = [0, 0], high = [0, 3]) return y }");
  // Low sides and the whole first axis are known to be inside; only the high side of the last axis is tested.
  CHECK(text.find("if B - $1 - 1 >= 0 else") != std::string::npos);
}

TEST_CASE("pads of different signs are not added (openxla_xla_48715)") {
  const std::string text = kernel_text(
      "program p(x: f32[S]) where S >= 2 { y = pad(x, low = [-1], high = [0]) z = pad(y, low = [1], high = [0])"
      " return z }");
  CHECK(text.find("if $0 - 1 >= 0") != std::string::npos);  // element 0 is the fill, not x[0]
}

TEST_CASE("one load for one coordinate, however often it is used (pytorch_175727)") {
  const ir::Program program = program_of(
      "program p(x: f32[S]) { y = pad(x, low = [1], high = [1]) a = relu(y) b = neg(y) c = add(a, b) d = mul(c, y)"
      " return d, c }");
  std::size_t loads = 0;
  const std::vector<Kernel> kernels = kernels_of(program);
  REQUIRE(kernels.size() == 1);
  for (const NodeId id : users_first(kernels[0].graph, kernels[0].roots))
    loads += kernels[0].graph.node(id).kind == NodeKind::load;
  CHECK(loads == 1);
}

TEST_CASE("forty levels of concat(c, c) are one load") {
  std::string text = "program p(x: f32[S], n: dim) where 0 <= n <= S { c0 = slice(x, start = [0], limit = [n])\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("c{} = concat(c{}, c{}, axis = 0)\n", i + 1, i, i);
  text += "r = slice(c40, start = [0], limit = [n]) return r }";
  const ir::Program program = program_of(text);
  const std::vector<Kernel> kernels = kernels_of(program);
  CHECK(users_first(kernels[0].graph, kernels[0].roots).size() == 1);
}

TEST_CASE("forty levels of two different pads are refused, with the statement named") {
  std::string text = "program p(x: f32[S]) { c0 = relu(x)\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format(
        "a{0} = pad(c{0}, low = [{1}], high = [{2}])\nb{0} = pad(c{0}, low = [{2}], high = [{1}])\n"
        "c{3} = add(a{0}, b{0})\n",
        i, i + 1, 2 * i + 3, i + 1);
  text += "return c40 }";
  const ir::Program program = program_of(text);
  const Result<std::vector<Kernel>> kernels = lower(program);
  REQUIRE_FALSE(kernels.has_value());
  CHECK(kernels.error().code == Code::resource_exhausted);
  CHECK(kernels.error().message.find("statement 'c") != std::string::npos);
  CHECK(kernels.error().message.find("4096") != std::string::npos);
}

TEST_CASE("a hundred pads in a row work; four hundred are refused, with the statement named") {
  const auto chain = [](int pads) {
    std::string text = "program p(x: f32[S]) { c0 = relu(x)\n";
    for (int i = 0; i < pads; ++i) text += fmt::format("c{} = pad(c{}, low = [1], high = [1])\n", i + 1, i);
    return text + fmt::format("return c{} }}", pads);
  };
  CHECK(lower(program_of(chain(100))).has_value());
  const ir::Program long_program = program_of(chain(400));
  const Result<std::vector<Kernel>> refused = lower(long_program);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message.find("statement 'c") == 0);
}

TEST_CASE("results of equal extents share a kernel, others do not") {
  const ir::Program program = program_of(
      "program p(x: f32[S]) { a = relu(x) b = neg(x) c = pad(x, low = [1], high = [0])"
      " d = pad(x, low = [0], high = [1]) return a, b, c, d }");
  const std::vector<Kernel> kernels = kernels_of(program);
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].results.size() == 2);
  CHECK(kernels[1].results.size() == 2);
}

TEST_CASE("a kernel has no literal that comes from a size (torch_to_nnef_140)") {
  // The literals of the program are 3 and 5; every other number in the code is 0, 1 or 2 of a closed form.
  const std::string text = kernel_text(
      "program p(x: f32[S], lo: dim) where 0 <= lo <= 3, S >= 5 { y = pad(x, low = [lo], high = [lo], mode = reflect)"
      " return y }");
  for (const char* digit : {"3", "4", "5", "6", "7", "8", "9"}) {
    CAPTURE(std::string(digit));
    std::string body = text.substr(text.find('\n'));
    for (std::size_t at; (at = body.find("f32")) != std::string::npos;) body.erase(at, 3);
    CHECK(body.find(digit) == std::string::npos);
  }
}

}  // namespace padlock::compiler
