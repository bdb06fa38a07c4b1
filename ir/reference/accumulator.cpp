#include "ir/reference/accumulator.h"

#include <algorithm>
#include <bit>

#include "ir/reference/numeric.h"

namespace padlock::ir {

void Accumulator::add(const Element& term) {
  const bool is_first = terms_ == 0;
  if (is_first) first_ = term;
  terms_ = std::min(terms_ + 1, 2);
  if (type_ == DType::f64) {
    const auto value = std::bit_cast<double>(term.bits);
    wide_ = is_first ? value : wide_ + value;
  } else if (is_float(type_)) {
    const float value = float_from_bits(type_, term.bits);
    narrow_ = is_first ? value : narrow_ + value;
  } else {
    integer_ += term.bits;
  }
}

Element Accumulator::sum() const {
  if (terms_ < 2) return first_;
  const std::uint64_t bits = type_ == DType::f64 ? std::bit_cast<std::uint64_t>(wide_)
                             : is_float(type_)   ? bits_from_float(type_, narrow_)
                                                 : truncate_to(type_, integer_);
  return {.bits = bits, .nan_open = is_nan(type_, bits)};
}

}  // namespace padlock::ir
