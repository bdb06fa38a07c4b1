#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/arrays/array_file.h"
#include "tools/failure.h"

namespace padlock::tools {

/// The comparison of a result with a file.
struct Comparison {
  std::int64_t elements = 0;
  std::int64_t differing = 0;
  std::string first;  ///< describes the first difference; empty if there is none

  [[nodiscard]] bool equal() const { return first.empty(); }
};

/// Returns whether the result's element at these coordinates is allowed, given the expected one.
using Matches = std::function<lib::Expected<bool>(const std::vector<std::int64_t>& coordinates, std::uint64_t expected,
                                                  std::uint64_t actual)>;

/// Compares a dense row-major result with the array in a file. Calls `matches` for elements whose bits differ. The file
/// is read through a small buffer. A file of another type or shape counts as different. Failure: `file` if reading
/// fails.
[[nodiscard]] Outcome<Comparison> compare_with_file(const ArrayFile& file, const lib::TensorInfo& result,
                                                    std::span<const std::byte> storage, const Matches& matches);

}  // namespace padlock::tools
