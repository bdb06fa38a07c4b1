#pragma once

#include <array>
#include <bit>

#include "ir/dtype.h"

namespace padlock::compiler {

/// Widest vectors that a target permutes by one instruction, for each size of elements.
struct VectorPermutes {
  std::array<int, 4> bytes = {};  ///< of elements of 1, 2, 4 and 8 bytes; 0: no such instruction
  int blocks = 0;                 ///< bytes of the widest vectors whose blocks it shuffles, for elements of any size
  bool masks = false;             ///< it loads and stores any lanes of a vector, for elements of each size

  [[nodiscard]] int bytes_of(ir::DType dtype) const {
    return bytes[static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(ir::byte_size(dtype))))];
  }
};

}  // namespace padlock::compiler
