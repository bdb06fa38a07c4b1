#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/limits.h"

namespace padlock {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(PADLOCK_SOURCE_DIR + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The second column of the table of docs/language.md's limits, by the first.
std::map<std::string, std::string> documented_limits() {
  const std::string text = text_of("/docs/language.md");
  const std::size_t begin = text.find("\n## Limits\n");
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find("\n## ", begin + 1);
  std::map<std::string, std::string> rows;
  for (std::size_t at = text.find("\n| ", begin); at < end; at = text.find("\n| ", at + 1)) {
    const std::size_t first = at + 3, middle = text.find(" | ", first), last = text.find(" |", middle + 3);
    rows[text.substr(first, middle - first)] = text.substr(middle + 3, last - middle - 3);
  }
  rows.erase("of");
  return rows;
}

TEST_CASE("the language's page lists every limit with its value") {
  const std::map<std::string, std::string> expected = {
      {"bytes of a text", fmt::to_string(limits::kTextBytes)},
      {"characters of a name or a number", fmt::to_string(limits::kTokenBytes)},
      {"parentheses in each other", fmt::to_string(limits::kParentheses)},
      {"operators of an expression", fmt::to_string(limits::kOperators)},
      {"constraints", fmt::to_string(limits::kConstraints)},
      {"symbols", fmt::to_string(limits::kSymbols)},
      {"axes of a tensor", fmt::to_string(limits::kRank)},
      {"operands of a sum, product, `min` or `max` in normal form", fmt::to_string(limits::kOperands)},
      {"operators over each other in normal form", fmt::to_string(limits::kExprDepth)},
      {"steps to verify a program", fmt::to_string(limits::kVerifySteps)},
      {"steps of one question about sizes; then it is left to binding, or to the code",
       fmt::to_string(limits::kQuestionSteps)},
      {"different shapes of results, each a kernel", fmt::to_string(limits::kKernels)},
      {"elements read for one element of a kernel's results", fmt::to_string(limits::kKernelNodes)},
      {"conditions on one element", fmt::to_string(limits::kPathConditions)},
      {"levels of a coordinate", fmt::to_string(limits::kCoordinateDepth)},
      {"steps to find what elements are", fmt::to_string(limits::kGatherSteps)},
      {"steps to merge axes into longer ones; then they stay apart", fmt::to_string(limits::kMergeSteps)},
      {"steps to split the rows of a kernel; then the rest keeps its conditions", fmt::to_string(limits::kSplitSteps)},
      {"operations on coordinates, of indices that the code of a program compares or divides",
       fmt::to_string(limits::kIndexOperations)},
      {"steps to schedule and prove all kernels; then loads are tested in the code",
       fmt::to_string(limits::kProofSteps)},
      {"of these to try ordinary sizes as counter-examples of a kernel; then no more are tried",
       fmt::to_string(limits::kGuessSteps)},
      {"steps of `padlock prove` to explain what never happens; then more conditions are listed",
       fmt::to_string(limits::kExplainSteps)},
      {"instructions that are emitted for LLVM, before it merges equal ones",
       fmt::to_string(limits::kEmittedInstructions)},
      {"LLVM's instructions of a function; then it is not optimised", fmt::to_string(limits::kOptimizedInstructions)},
      {"LLVM's instructions of a program; then it is not optimised", fmt::to_string(limits::kOptimizedModule)},
      {"LLVM's instructions of a program", fmt::to_string(limits::kInstructions)},
      {"LLVM's instructions of a program whose code tests every access", fmt::to_string(limits::kCheckedInstructions)},
      {"LLVM's instructions of a program for a GPU, in all variants of its kernels",
       fmt::to_string(limits::kGpuInstructions)},
  };
  CHECK(documented_limits() == expected);
  const std::string header = text_of("/support/limits.h");
  std::size_t constants = 0;
  for (std::size_t at = 0; (at = header.find("\ninline constexpr ", at)) != std::string::npos; ++at) ++constants;
  CHECK(constants == expected.size());
}

}  // namespace
}  // namespace padlock
