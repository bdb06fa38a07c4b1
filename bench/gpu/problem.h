#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/dtype.h"
#include "ir/operation.h"

namespace padlock::bench::gpu {

/// A family is problems that answer one question together.
enum class Family : std::uint8_t {
  table,      ///< pad and relu: ranks 2 to 5, aligned and misaligned
  rows,       ///< pad and relu of rank 2: what a row's length costs
  transpose,  ///< a transposed matrix, padded
  images,     ///< channels of images to the innermost axis, and from it
  variants,   ///< one shape: pad alone, in each mode, and with literal extents
  bf16,       ///< the table's problems in bf16, for which f16 stands in the others
};

/// A pad of one row-major array, and what goes with it; extents and pads in elements, a vector has an entry an axis.
struct Problem {
  ir::DType dtype = ir::DType::f32;
  bool aligned = true;             ///< rows of input and output begin at multiples of 16 bytes
  std::int64_t nominal_bytes = 0;  ///< of the input, about: what the list of sizes says
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> low;   ///< of the array that is padded, which is the transposed one where `transposed`
  std::vector<std::int64_t> high;  ///< the same
  ir::PadMode mode = ir::PadMode::constant;
  bool relu = true;
  bool transposed = false;  ///< the last two axes are swapped before they are padded
  bool literal = false;     ///< the program has its extents as numbers, not as symbols
  std::string shape;        ///< its part of the program's name: "rank4", "rows224"

  [[nodiscard]] int rank() const { return static_cast<int>(extents.size()); }
  /// Returns the extents of the array that is padded.
  [[nodiscard]] std::vector<std::int64_t> padded_extents() const;
  [[nodiscard]] std::vector<std::int64_t> output_extents() const;
  [[nodiscard]] std::int64_t input_bytes() const;
  [[nodiscard]] std::int64_t output_bytes() const;
  /// Returns the bytes that must move: each byte of the input read once, each of the output written once.
  [[nodiscard]] std::int64_t bytes() const { return input_bytes() + output_bytes(); }
  /// Returns the constant padding's value, as the program and the peers have it: no element that relu changes.
  [[nodiscard]] double fill() const { return dtype == ir::DType::i8 ? 3 : 0.5; }

  /// "pad_relu_f32_rank4_aligned": one program for all sizes, whose extents are symbols, unless they are literal.
  [[nodiscard]] std::string program_name() const;
  [[nodiscard]] std::string program_text() const;
  [[nodiscard]] ir::BindRequest request() const;
  /// "[8, 64, 256, 256]", of any list
  [[nodiscard]] static std::string text_of(const std::vector<std::int64_t>& list);
};

/// Returns the families' problems in f32, f16 and i8 (or in bf16), each in every size, in the order of their programs,
/// so that those of one program follow each other.
[[nodiscard]] std::vector<Problem> problems_of(const std::vector<Family>& families,
                                               const std::vector<std::int64_t>& sizes);

/// Returns one of Family::table. `rank`: 2 to 5.
[[nodiscard]] Problem make_problem(ir::DType dtype, int rank, bool aligned, std::int64_t nominal_bytes);

/// Returns the problem with 3 entries at most on each axis but the innermost: what the interpreter is quick with.
[[nodiscard]] Problem small(Problem problem);

}  // namespace padlock::bench::gpu
