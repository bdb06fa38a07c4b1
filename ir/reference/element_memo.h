#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/program.h"
#include "ir/reference/scalar_ops.h"

namespace padlock::ir {

/// The elements computed so far during the evaluation of one element, by value and coordinates: so evaluation walks a
/// DAG and not a tree. Open addressing. `clear` takes constant time, because it runs once for every element of a
/// result.
class ElementMemo {
 public:
  void clear();
  [[nodiscard]] std::optional<Element> find(ValueId value, std::span<const std::int64_t> coordinates) const;
  /// Precondition: not there yet.
  void insert(ValueId value, std::span<const std::int64_t> coordinates, const Element& element);

 private:
  struct Slot {
    std::uint64_t generation = 0;  // in use if equal to generation_
    std::uint64_t hash = 0;
    ValueId value = 0;
    std::size_t coordinates = 0;  // position in coordinates_
    Element element;
  };

  [[nodiscard]] std::size_t slot_of(std::uint64_t hash, ValueId value, std::span<const std::int64_t> coordinates) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two, at most half in use
  std::vector<std::int64_t> coordinates_;
  std::size_t used_ = 0;
  std::uint64_t generation_ = 1;
};

}  // namespace padlock::ir
