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

/// Returns strides, in elements, of a dense array. Error (invalid_argument) for a negative extent, or an array that has
/// 2^62 elements or more, with empty axes counted as 1.
[[nodiscard]] Result<std::vector<std::int64_t>> dense_strides(const std::vector<std::int64_t>& extents,
                                                              ElementOrder order);

/// A dense array whose elements the caller will place where the program declares a parameter's elements.
struct TensorSource {
  std::vector<std::int64_t> extents;
  ElementOrder order = ElementOrder::row_major;
  std::optional<std::vector<std::int64_t>> strides = {};  ///< override the order's; one per axis
};

struct SourceRequest {
  ir::BindRequest request;
  /// Symbols without a value from a source or from `symbols`, in declaration order.
  std::vector<std::string> missing;
};

/// Makes the binding request for arrays that will be placed at the declared strides. `sources` has one entry per tensor
/// parameter, nullopt if there is no array and `symbols` gives the extents. A stride symbol missing in `symbols` takes
/// its value from the first source that has it, in that array's own order or strides. Binding::bind reports
/// contradictions. Error: as dense_strides.
[[nodiscard]] Result<SourceRequest> request_for(const ir::Program& program,
                                                const std::vector<std::optional<TensorSource>>& sources,
                                                const std::map<std::string, std::int64_t>& symbols);

}  // namespace padlock::session
