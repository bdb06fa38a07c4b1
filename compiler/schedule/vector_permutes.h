#pragma once

#include <array>
#include <bit>

#include "ir/dtype.h"

namespace padlock::compiler {

/// The widest vectors in which a target permutes elements of each size by one instruction.
struct VectorPermutes {
  std::array<int, 4> bytes = {};  ///< of elements of 1, 2, 4 and 8 bytes; 0: it has no such instruction

  [[nodiscard]] int bytes_of(ir::DType dtype) const {
    return bytes[static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(ir::byte_size(dtype))))];
  }
};

}  // namespace padlock::compiler
