#pragma once

#include <cstddef>
#include <cstdint>

// All limits of the language and of its compiler; the table in docs/language.md lists each. A text of 64 KiB, whatever
// it says, is read, verified, proved and compiled, or refused by one of these, within about a second. The cost of each
// pass grows with few of these limits. Where that is not enough, a pass counts steps (support/steps.h), never time, so
// that a program is refused on every machine or on none.
namespace padlock::limits {

// Limits of a text.
inline constexpr std::size_t kTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kTokenBytes = 4096;
inline constexpr std::size_t kParentheses = 256;  ///< nested in each other
inline constexpr std::size_t kOperators = 4096;   ///< in one expression

// Limits of a program.
inline constexpr std::size_t kRank = 64;
inline constexpr std::size_t kSymbols = 4096;
inline constexpr std::size_t kConstraints = 512;
inline constexpr std::size_t kOperands = 512;      ///< of a sum, a product, a minimum or a maximum, in normal form
inline constexpr std::uint32_t kExprDepth = 2500;  ///< in normal form; 1000 operators in an expression stay well below
inline constexpr std::int64_t kVerifySteps = 20'000'000;
inline constexpr std::int64_t kQuestionSteps =
    200'000;  ///< for one question about sizes; then the answer is "not shown"

// Limits of a program's kernels.
inline constexpr std::size_t kKernels = 128;       ///< groups of results with the same extents
inline constexpr std::size_t kKernelNodes = 4096;  ///< elements read for one element of the results, in all statements
inline constexpr std::size_t kPathConditions = 256;  ///< conditions on which one element depends: code grows
                                                     ///< with their square; a hundred pads in a row have two hundred
inline constexpr std::uint32_t kCoordinateDepth = 1000;  ///< a coordinate nests by at most 3 levels a statement
inline constexpr std::int64_t kGatherSteps = 8'000'000;  ///< to compute the elements' sources
inline constexpr std::int64_t kMergeSteps = 2'000'000;   ///< to merge axes; then the rest stays unmerged
inline constexpr std::int64_t kSplitSteps = 2'000'000;   ///< to split rows; then the rest of a kernel keeps predicates
inline constexpr std::int64_t kProofSteps = 35'000'000;  ///< to schedule and prove all kernels
inline constexpr std::int64_t kGuessSteps = 6'000'000;   ///< of these, to try ordinary sizes as counter-examples
inline constexpr std::int64_t kExplainSteps = 10'000'000;  ///< to find conditions that exclude each other, for explain

/// Limits the index operations that are compared or divided, which determine the length of code. They are counted in
/// the schedules, before any proof.
inline constexpr std::size_t kIndexOperations = 10'000;

// Limits of LLVM's input. Code below the first limit is optimised, which may take the square of a function's length.
inline constexpr std::size_t kEmittedInstructions = 400'000;  ///< in all, before equal ones are merged
inline constexpr std::size_t kOptimizedInstructions = 5'000;  ///< in one function
inline constexpr std::size_t kOptimizedModule = 20'000;       ///< in all
inline constexpr std::size_t kInstructions = 50'000;          ///< in all
inline constexpr std::size_t kCheckedInstructions = 100'000;  ///< in all, where every access is tested
/// In all variants of a GPU's kernels. Its code generator takes up to 20 us for one instruction, several times as long
/// as a host's.
inline constexpr std::size_t kGpuInstructions = 45'000;

}  // namespace padlock::limits
