#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::session {

enum class ElementOrder : std::uint8_t { row_major, column_major };

/// Strides, in elements, of a dense array. Error (invalid_argument) where an extent is negative or the array, its
/// empty axes counted as 1, has 2^62 elements or more.
[[nodiscard]] Result<std::vector<std::int64_t>> dense_strides(const std::vector<std::int64_t>& extents,
                                                              ElementOrder order);

/// A dense array whose elements the caller is going to place where the program declares a parameter's elements.
struct TensorSource {
  std::vector<std::int64_t> extents;
  ElementOrder order = ElementOrder::row_major;
  std::optional<std::vector<std::int64_t>> strides = {};  ///< instead of the order's; one an axis
};

struct SourceRequest {
  ir::BindRequest request;
  /// Symbols that neither a source nor `symbols` gives a value, in declaration order.
  std::vector<std::string> missing;
};

/// The binding request for arrays that will be placed at the declared strides. `sources` has one entry a tensor
/// parameter, nullopt where there is no array and `symbols` gives the extents. A stride symbol that `symbols` does
/// not name takes its value from the first source that has it, in that array's own order or strides. What disagrees is
/// left for Binding::bind to say. Error: as dense_strides.
[[nodiscard]] Result<SourceRequest> request_for(const ir::Program& program,
                                                const std::vector<std::optional<TensorSource>>& sources,
                                                const std::map<std::string, std::int64_t>& symbols);

}  // namespace padlock::session
