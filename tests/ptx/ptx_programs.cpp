#include "tests/ptx/ptx_programs.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "ir/dtype.h"
#include "tests/differential/programs/random_program.h"
#include "tests/regressions/regression.h"

namespace padlock::ptx {
namespace {

std::string text_of(std::string_view parameters, std::string_view operation) {
  return fmt::format("program p({}) {{ y = {} return y }}", parameters, operation);
}

void add_arithmetic(ir::DType dtype, std::vector<std::string>& programs) {
  const std::string_view type = ir::name_of(dtype);
  const std::string two = fmt::format("x: {0}[B, S], z: {0}[B, S], s: {0}", type);
  for (const char* op : {"relu(x)", "neg(x)", "abs(x)", "sign(x)", "leaky_relu(x, alpha = 2)",
                         "leaky_relu(x, alpha = s)", "clamp(x, lo = 1, hi = 3)", "clamp(x, lo = s, hi = 3)",
                         "add(x, z)", "add(x, s)", "sub(x, z)", "mul(x, z)", "maximum(x, z)", "minimum(x, z)"})
    programs.push_back(text_of(two, op));
  programs.push_back(
      fmt::format("program p({}) {{ a = mul(x, z) b = add(a, x) c = sub(b, a) d = relu(c) return d }}", two));
  programs.push_back(text_of(two, fmt::format("iota({}, shape = [B, S], axis = 1)", type)));
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"})
    programs.push_back(
        text_of(two, fmt::format("pad_adjoint(x, extent = [B - 2, S], low = [1, 0], high = [1, 0], mode = {})", mode)));
  if (!ir::is_float(dtype)) return;
  for (const char* op : {"div(x, z)", "div(s, x)", "sqrt(x)", "floor(x)", "ceil(x)", "round(x)"})
    programs.push_back(text_of(two, op));
  if (dtype == ir::DType::f64) return;
  for (const ir::OpInfo& info : ir::kOperations)
    if (info.op_class == ir::OpClass::activation) programs.push_back(text_of(two, fmt::format("{}(x)", info.name)));
}

void add_every_type(ir::DType dtype, std::vector<std::string>& programs) {
  const std::string_view type = ir::name_of(dtype);
  const std::string two = fmt::format("x: {0}[B, S], z: {0}[B, S], c: bool[B, S], s: {0}, l: dim, h: dim", type);
  for (const char* op :
       {"lt(x, z)", "le(x, z)", "gt(x, z)", "ge(x, z)", "eq(x, z)", "ne(x, s)", "select(c, x, z)", "select(c, x, s)",
        "pad(x, low = [0, l], high = [h, 3], value = s)", "pad(x, low = [l, 1], high = [1, h], mode = edge)",
        "pad(x, low = [1, l], high = [l, h], mode = reflect)", "pad(x, low = [1, l], high = [l, h], mode = symmetric)",
        "pad(x, low = [1, l], high = [l, h], mode = wrap)", "pad(x, low = [1, l], high = [l, h], interior = [1, 2])",
        "transpose(x, perm = [1, 0])", "concat(x, z, axis = 1)", "reshape(x, shape = [S, B])",
        "broadcast(x, shape = [3, B, S], axes = [1, 2])"})
    programs.push_back(text_of(two, op));
  const std::string rows = fmt::format("x: {0}[B, S], i: i64[N], j: i32[N], k: i32[N], s: {0}", type);
  for (const char* op : {"take(x, i, axis = 0)", "take(x, j, axis = 1, value = s)", "take(x, j, k, axes = [0, 1])"})
    programs.push_back(text_of(rows, op));
  programs.push_back(fmt::format(
      "program p(x: {}[B, S], l: dim) {{ y = slice(x, start = [0, l], limit = [B, S], step = [1, 3]) return y }}",
      type));
  for (const ir::DType to : ir::kAllDTypes)
    programs.push_back(text_of(fmt::format("x: {}[B, S]", type), fmt::format("cast(x, {})", ir::name_of(to))));
}

/// Texts that were compiled, each once, in order.
class Texts {
 public:
  void add(std::string_view text) {
    if (seen_.emplace(text).second) texts_.emplace_back(text);
  }
  std::vector<std::string> take() && { return std::move(texts_); }

 private:
  std::set<std::string, std::less<>> seen_;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> operation_programs() {
  std::vector<std::string> programs;
  for (const ir::DType dtype : ir::kAllDTypes) {
    add_every_type(dtype, programs);
    if (dtype != ir::DType::boolean) add_arithmetic(dtype, programs);
  }
  for (const char* integer : {"i32", "i64"})
    programs.push_back(text_of(fmt::format("a: {0}[N], x: {0}[B, S]", integer), "search(a, x)"));
  for (const char* op : {"and(x, z)", "or(x, z)", "not(x)"})
    programs.push_back(text_of("x: bool[B, S], z: bool[B, S]", op));
  return programs;
}

std::vector<std::string> example_programs() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_EXAMPLES_DIR))
    if (entry.path().extension() == ".pad") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> programs;
  for (const auto& path : paths) {
    std::ifstream file(path);
    programs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return programs;
}

std::vector<std::string> regression_programs() {
  setenv("PADLOCK_DEVICE", "reference", 1);
  Texts texts;
  regressions::observe_programs([&](std::string_view text) { texts.add(text); });
  doctest::Context context;
  context.setOption("minimal", true);
  context.addFilter("test-suite-exclude", "host code");
  const int failed = context.run();
  regressions::observe_programs(nullptr);
  if (failed != 0) return {};
  return std::move(texts).take();
}

std::vector<std::string> random_programs(std::uint64_t seed, std::uint64_t count) {
  std::vector<std::string> programs;
  for (std::uint64_t i = 0; i < count; ++i) programs.push_back(differential::random_program(seed, i).text());
  return programs;
}

std::string renamed(const std::string& program, const std::string& name) {
  constexpr std::string_view kWord = "program ";
  std::size_t at = 0;
  while (program.compare(at, kWord.size(), kWord) != 0) at = program.find_first_not_of(" \n", program.find('\n', at));
  at = program.find_first_not_of(' ', at + kWord.size());
  std::size_t end = at;
  while (std::isalnum(static_cast<unsigned char>(program[end])) != 0 || program[end] == '_') ++end;
  return program.substr(0, at) + name + program.substr(end);
}

}  // namespace padlock::ptx
