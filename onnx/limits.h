#pragma once

#include <cstddef>
#include <cstdint>

// Limits of a model, which is not trusted: each is checked before memory is allocated.
namespace padlock::onnx::limits {

inline constexpr std::int64_t kModelBytes = std::int64_t{512} << 20;
inline constexpr std::size_t kItems = std::size_t{1} << 20;     ///< nodes, names, attributes, numbers and so on, in all
inline constexpr std::size_t kNodes = 20'000;                   ///< of the graph
inline constexpr std::size_t kElements = std::size_t{1} << 20;  ///< of one constant that is read
inline constexpr std::size_t kAllElements = std::size_t{1} << 22;  ///< of all constants
inline constexpr std::size_t kSizes = 1024;                        ///< elements of one tensor that holds sizes
inline constexpr std::size_t kLiterals = 64;                       ///< distinct elements of a constant used as data
inline constexpr std::size_t kRank = 32;
inline constexpr std::size_t kNameBytes = 200;         ///< of a name in the program; a longer one is cut
inline constexpr std::size_t kExpressionBytes = 4000;  ///< of the text of one size
inline constexpr std::size_t kRefusals = 50;           ///< listed in one message
inline constexpr std::int64_t kSteps = 20'000'000;     ///< of all arithmetic on sizes

}  // namespace padlock::onnx::limits
