#pragma once

#include <cstdint>
#include <span>

#include "ir/dtype.h"
#include "ir/operation.h"

namespace padlock::ir {

/// One element: its bits, and whether the language leaves a NaN's sign and payload open (then any NaN of the type is
/// equal to it).
struct Element {
  std::uint64_t bits = 0;
  bool nan_open = false;
};

/// Returns whether the language allows `actual_bits` where `expected` is computed.
[[nodiscard]] bool same_element(DType dtype, const Element& expected, std::uint64_t actual_bits);

/// Applies one elementwise operation to single elements, as the language defines it. f32 and f64 use the host's IEEE
/// arithmetic (the caller has a DefaultFpEnvironment), f16 and bf16 are computed in f32 and rounded once, integers
/// modulo 2^n. `operand_type` is the type of x (of a and b for select, the source for cast), `result_type` that of the
/// result. `operands` have the order of Value::operands. Precondition: the verifier admits `op` on these types and it
/// is not data movement. Pure, thread-safe.
[[nodiscard]] Element apply_elementwise(Op op, DType operand_type, DType result_type,
                                        std::span<const Element> operands);

}  // namespace padlock::ir
