// Finds the coefficients of the activations of f16 and bf16 again, and compares them with those of the source.
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "tests/activation/search/half_search.h"
#include "tests/common/options.h"

namespace padlock::activation::search {
namespace {

constexpr const char* kUsage =
    "padlock_half_search [--function=NAME] [--type=f16|bf16] [--known] [--print]\n"
    "Finds coefficients with which all results are right, and says where the source has others. --known: judges the\n"
    "source's, and searches nothing. --print: compiler/emit/scalar/activation/half_functions.h, of what it finds.\n";
constexpr std::int64_t kTries = 10'000'000;  // enough for the hardest function, erf of f16

struct Options {
  std::string function, type;
  bool known = false, print = false;
};

using Function = Model::Function;

const Function& known_of(const Plan& plan) {
  const auto& table = plan.kind.is_f16() ? compiler::activation::kOfF16 : compiler::activation::kOfBf16;
  return *std::ranges::find(table, plan.kind.op, &Function::op);
}

std::vector<float> coefficients_of(const Function& function) {
  std::vector<float> all;
  for (const std::size_t number : {0, 1, 2})
    for (const double c : function.polynomial(number)) all.push_back(static_cast<float>(c));
  return all;
}

bool has_plan(const Function& function, const Plan& plan) {
  return function.least == plan.least && function.most == plan.most && function.counts == plan.counts;
}

/// Returns whether the coefficients are the same, but for a last place. The fits compute in long double, whose
/// functions are the CPU's own: AMD's and Intel's differ in their last bits.
bool are_alike(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return std::nextafter(x, y) == y; });
}

bool judge(const Plan& plan, const std::vector<float>& found, std::int64_t wrong) {
  const bool same = has_plan(known_of(plan), plan) && are_alike(found, coefficients_of(known_of(plan)));
  fmt::print("{} {}: {} wrong{}\n", name_of(plan.kind.op), name_of(plan.kind.dtype), wrong,
             same ? "" : "; the source has others");
  std::fflush(stdout);
  return same && wrong == 0;
}

constexpr const char* kHead = R"(#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "ir/operation.h"

// Made by padlock_half_search --print (tests/activation/search).
// clang-format off
namespace padlock::compiler::activation {

/// HalfFunction has what one activation of f16 or bf16 is computed with in f32: see HalfActivationEmitter.
struct HalfFunction {
    ir::Op op;
    double least, most;                ///< arguments beyond them give what the bound does
    std::array<std::size_t, 3> counts; ///< of the coefficients of E, P and Q
    std::array<double, 14> values;     ///< the coefficients, each polynomial's constant first

    /// 0: E, 1: P, 2: Q.
    [[nodiscard]] constexpr std::span<const double> polynomial(std::size_t number) const {
        const std::span<const double> all(values);
        if (number == 0) return all.first(counts[0]);
        return number == 1 ? all.subspan(counts[0], counts[1]) : all.subspan(counts[0] + counts[1], counts[2]);
    }
};
)";

void print(const Plan& plan, const std::vector<float>& found) {
  if (plan.kind.op == plans().front().kind.op)
    fmt::print("{}inline constexpr std::array<HalfFunction, 9> {} = {{{{\n", plan.kind.is_f16() ? "" : "}};\n",
               plan.kind.is_f16() ? "kOfF16" : "kOfBf16");
  fmt::print("    {{ir::Op::{}, {:a}, {:a}, {{{}}},\n     {{", name_of(plan.kind.op), plan.least, plan.most,
             fmt::join(plan.counts, ", "));
  for (std::size_t i = 0; i < found.size(); ++i)
    fmt::print("{}{:a}", i == 0 ? "" : i % 5 == 0 ? ",\n      " : ", ", found[i]);
  fmt::print("}}}},\n");
}

bool run(const Options& options) {
  Judge judge_of_results;
  bool right = true;
  if (options.print) fmt::print("{}", kHead);
  for (const Plan& plan : plans()) {
    if (!options.function.empty() && options.function != name_of(plan.kind.op)) continue;
    if (!options.type.empty() && options.type != name_of(plan.kind.dtype)) continue;
    Search search(plan, judge_of_results);
    const std::vector<float> found = options.known ? coefficients_of(known_of(plan)) : search.find(kTries);
    if (options.print)
      print(plan, found);
    else
      right &= judge(plan, found, search.wrong(found));
  }
  if (options.print) fmt::print("}}}};\n\n}}  // namespace padlock::compiler::activation\n");
  return right;
}

}  // namespace
}  // namespace padlock::activation::search

int main(int argc, char** argv) {
  padlock::activation::search::Options options;
  const auto parse = [&](const padlock::testing::Option& option) {
    return option.sets("--function", options.function) || option.sets("--type", options.type) ||
           option.sets("--known", options.known) || option.sets("--print", options.print);
  };
  if (!padlock::testing::read_options(argc, argv, padlock::activation::search::kUsage, parse)) return 2;
  return padlock::activation::search::run(options) ? 0 : 1;
}
