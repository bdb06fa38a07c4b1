#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "abi/kernel_abi.h"
#include "abi/launch_parts.h"
#include "ir/binding/binding.h"
#include "ir/expr/expr_tape.h"

namespace padlock::abi {

/// The LaunchParts of one contract, prepared for many bindings. Their expressions have a tape of their own, because few
/// bindings need them. Immutable, thread-safe.
class PartsTape {
 public:
  /// `parts` are read here and not kept. Borrows the program.
  PartsTape(const ir::Program& program, const LaunchParts& parts);

  /// Returns nullopt if a number does not fit.
  [[nodiscard]] std::optional<PartSizes> evaluate(const ir::Binding& binding) const;
  [[nodiscard]] std::int64_t most_elements() const { return most_elements_; }
  /// Returns the blocks of a launch that writes so many elements.
  [[nodiscard]] std::int64_t blocks(std::int64_t elements) const {
    return block_count(elements, lanes_, block_elements_);
  }

 private:
  std::size_t axes_, inputs_;
  std::vector<std::uint32_t> reach_inputs_;
  std::int64_t block_elements_, lanes_, most_elements_;
  ir::ExprTape tape_;  // roots: columns, extents, spans, then least, most and steps of each reach
};

}  // namespace padlock::abi
