#pragma once

#include <cstddef>
#include <cstdint>

// Limits of a model, which comes from anywhere: each is checked before memory is taken.
namespace padlock::onnx::limits {

inline constexpr std::int64_t kModelBytes = std::int64_t{512} << 20;
inline constexpr std::size_t kItems = std::size_t{1} << 20;        ///< nodes, names, attributes, numbers, ... in all
inline constexpr std::size_t kNodes = 20'000;                      ///< of the graph
inline constexpr std::size_t kElements = std::size_t{1} << 20;     ///< of one constant that is looked at
inline constexpr std::size_t kAllElements = std::size_t{1} << 22;  ///< of all of them
inline constexpr std::size_t kSizes = 1024;                        ///< elements of one tensor that carries sizes
inline constexpr std::size_t kLiterals = 64;                       ///< different elements of a constant used as data
inline constexpr std::size_t kRank = 32;
inline constexpr std::size_t kNameBytes = 200;         ///< of a name in the program; longer ones are cut
inline constexpr std::size_t kExpressionBytes = 4000;  ///< of one size's text
inline constexpr std::size_t kRefusals = 50;           ///< that one message lists
inline constexpr std::int64_t kSteps = 20'000'000;     ///< of arithmetic on sizes

}  // namespace padlock::onnx::limits
