// Inputs for the bodies that read programs.
#include <fmt/format.h>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/differential/programs/random_program.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/mutate.h"
#include "tests/limits/hostile_texts.h"

namespace padlock::fuzz {
namespace {

using testing::Rng;

constexpr std::array<std::string_view, 44> kWords = {" floordiv ",
                                                     " ceildiv ",
                                                     " mod ",
                                                     " min(",
                                                     " max(",
                                                     "(",
                                                     ")",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     ":",
                                                     "=",
                                                     "==",
                                                     "<=",
                                                     "<",
                                                     ">",
                                                     " * ",
                                                     " - ",
                                                     "-",
                                                     " strides [",
                                                     " where ",
                                                     " return ",
                                                     "program ",
                                                     " dim ",
                                                     "f32",
                                                     "bf16",
                                                     "bool",
                                                     "i64",
                                                     "nan",
                                                     "inf",
                                                     "bits(0xffffffffffffffff)",
                                                     "bits(0x",
                                                     "true",
                                                     "pad(",
                                                     "slice(",
                                                     "concat(",
                                                     "transpose(",
                                                     "broadcast(",
                                                     " interior = [7]",
                                                     " mode = reflect",
                                                     "// ",
                                                     "\n",
                                                     "\xff",
                                                     "e+99"};

std::vector<std::string> read_examples() {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_EXAMPLES_DIR)) {
    if (entry.path().extension() != ".pad") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts.push_back(text.str());
  }
  require(!texts.empty(), "there are examples to begin from");
  return texts;
}

/// Programs that are small to write and large to look at.
std::string deep_program(Rng& rng) {
  std::string text = "program deep(x: f32[n], d: dim) { v0 = relu(x)\n";
  const std::int64_t depth = rng.between(1, rng.chance(80) ? 60 : 1500);
  static constexpr std::array kForms = {"concat(v{0}, v{0}, axis = 0)",
                                        "add(v{0}, v{0})",
                                        "pad(v{0}, low = [d], high = [1], value = 1.5)",
                                        "pad(v{0}, low = [1], high = [d], mode = reflect)",
                                        "slice(v{0}, start = [0], limit = [max(n, d) - max(n, d)])",
                                        "pad(v{0}, low = [(d + 3) floordiv 2 * d], high = [-d mod 7])"};
  const std::string form = rng.pick(kForms);
  for (std::int64_t i = 0; i < depth; ++i)
    text +=
        fmt::format("v{} = ", i + 1) + fmt::format(fmt::runtime(rng.chance(80) ? form : rng.pick(kForms)), i) + "\n";
  return text + fmt::format("return v{} }}\n", depth);
}

std::string deep_expression(Rng& rng) {
  static constexpr std::array kOperators = {" + ", " - ", " * ", " floordiv 3 + ", " mod 5 - ", " ceildiv 2 * "};
  std::string text = "program wide(x: f32[n], d: dim, e: dim) { y = pad(x, low = [";
  const std::int64_t length = rng.between(1, rng.chance(80) ? 120 : 4000);
  const bool nested = rng.chance(50);
  for (std::int64_t i = 0; i < length; ++i) {
    text += nested ? "(" : "";
    text += rng.chance(50) ? "d" : rng.chance(50) ? "e" : "n";
    text += rng.pick(kOperators);
  }
  text += "1" + (nested ? std::string(static_cast<std::size_t>(length), ')') : "");
  return text + "], high = [0]) return y }";
}

/// Mostly short: a long one takes as much as the limits allow.
std::string hostile_program(Rng& rng) {
  const auto families = testing::hostile_families();
  const auto& family =
      families[static_cast<std::size_t>(rng.between(0, static_cast<std::int64_t>(families.size()) - 1))];
  return family.text(static_cast<std::size_t>(rng.between(100, rng.chance(90) ? 4000 : 65536)));
}

std::string valid_program(Rng& rng) {
  static const std::vector<std::string> kExamples = read_examples();
  const std::int64_t kind = rng.between(0, 99);
  if (kind < 25) return rng.pick(kExamples);
  if (kind < 92) return differential::random_program(rng.next(), rng.next() % 100000).text();
  if (kind < 97) return kind < 95 ? deep_program(rng) : deep_expression(rng);
  return hostile_program(rng);
}

}  // namespace

std::string make_input(Rng& rng) {
  std::string text = valid_program(rng);
  if (rng.chance(10)) return text;
  const std::string other = rng.chance(30) ? valid_program(rng) : text;
  return mutate(std::move(text), other, kWords, rng);
}

}  // namespace padlock::fuzz
