#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/dtype.h"

namespace padlock::bench::gpu {

/// pad and relu of one row-major array; extents and pads in elements, a vector has an entry an axis.
struct Problem {
  ir::DType dtype = ir::DType::f32;
  bool aligned = true;             ///< rows of input and output begin at multiples of 16 bytes
  std::int64_t nominal_bytes = 0;  ///< of the input, about: what the list of sizes says
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;

  [[nodiscard]] int rank() const { return static_cast<int>(extents.size()); }
  [[nodiscard]] std::vector<std::int64_t> output_extents() const;
  [[nodiscard]] std::int64_t input_bytes() const;
  [[nodiscard]] std::int64_t output_bytes() const;
  /// Returns the bytes that must move: each byte of the input read once, each of the output written once.
  [[nodiscard]] std::int64_t bytes() const { return input_bytes() + output_bytes(); }
  /// The padding's value, as the program and the peers have it: no element that relu changes.
  [[nodiscard]] double fill() const { return dtype == ir::DType::i8 ? 3 : 0.5; }

  /// "pad_relu_f32_rank4_aligned": one program for all sizes, whose extents are symbols.
  [[nodiscard]] std::string program_name() const;
  [[nodiscard]] std::string program_text() const;
  [[nodiscard]] ir::BindRequest request() const;
  /// "[8, 64, 256, 256]", of any list
  [[nodiscard]] static std::string text_of(const std::vector<std::int64_t>& list);
};

/// f32, f16 and i8; ranks 2 to 5; aligned and misaligned rows; each in every size. In the order of their programs, so
/// that those of one program follow each other.
[[nodiscard]] std::vector<Problem> all_problems(const std::vector<std::int64_t>& sizes);

/// One of them. `rank`: 2 to 5.
[[nodiscard]] Problem make_problem(ir::DType dtype, int rank, bool aligned, std::int64_t nominal_bytes);

}  // namespace padlock::bench::gpu
