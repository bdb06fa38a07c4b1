#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "api/compiled_program.h"
#include "tools/array_file.h"
#include "tools/failure.h"

namespace padlock::tools {

/// What comparing a result with a file found.
struct Comparison {
  std::int64_t elements = 0;
  std::int64_t differing = 0;
  std::string first;  ///< the first difference in words; empty where there is none

  [[nodiscard]] bool equal() const { return first.empty(); }
};

/// Whether the language leaves a NaN open at these coordinates of the result.
using NanIsOpen = std::function<Result<bool>(std::span<const std::int64_t>)>;

/// Compares a dense row-major result with the array in a file, bit for bit but for open NaNs, or within `ulp`. The
/// file is read through a small buffer. A file of another type or shape differs. Failure: `file` where reading fails.
[[nodiscard]] Outcome<Comparison> compare_with_file(const ArrayFile& file, const api::TensorInfo& result,
                                                    std::span<const std::byte> storage, std::uint64_t ulp,
                                                    const NanIsOpen& nan_is_open);

/// Element `index` of an array as a literal of the language.
[[nodiscard]] std::string element_text(ir::DType dtype, const std::byte* element);

}  // namespace padlock::tools
