#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"
#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// The elements of a constant, as bits.
struct Elements {
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> dims;
  std::size_t count = 0;            ///< the product of dims
  std::vector<std::uint64_t> bits;  ///< one element if all are equal, else each one, row by row

  [[nodiscard]] bool is_uniform() const { return bits.size() <= 1; }
  [[nodiscard]] ir::Scalar at(std::size_t index) const { return {dtype, bits[bits.size() == 1 ? 0 : index]}; }
  /// Returns an element of an integer type or bool as a number; u64 from 2^63 on wraps.
  [[nodiscard]] std::int64_t integer(std::size_t index) const;
};

/// Reads the constants of one model, at most limits::kAllElements in all.
class ElementReader {
 public:
  /// `folder` has the files of external data; empty: there are none.
  explicit ElementReader(std::string folder) : folder_(std::move(folder)) {}

  /// Errors: unimplemented for a type that programs do not have; invalid_argument if the number of elements differs
  /// from the dimensions' product; resource_exhausted beyond the limits; errors of files for external data.
  [[nodiscard]] Result<Elements> read(const StoredTensor& tensor);

 private:
  std::string folder_;
  std::size_t read_ = 0;
};

}  // namespace padlock::onnx
