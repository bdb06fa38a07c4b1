#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"
#include "onnx/model.h"
#include "support/error.h"

namespace padlock::onnx {

/// The elements of a constant, as their bits.
struct Elements {
  ir::DType dtype = ir::DType::f32;
  std::vector<std::int64_t> dims;
  std::size_t count = 0;            ///< the product of dims
  std::vector<std::uint64_t> bits;  ///< one for all where they are equal, else one each, row by row

  [[nodiscard]] bool is_uniform() const { return bits.size() <= 1; }
  [[nodiscard]] ir::Scalar at(std::size_t index) const { return {dtype, bits[bits.size() == 1 ? 0 : index]}; }
  /// Returns an element of an integer type or a bool as a number; u64 beyond 2^63 wraps.
  [[nodiscard]] std::int64_t integer(std::size_t index) const;
};

/// Reads the constants of one model, in all at most limits::kAllElements.
class ElementReader {
 public:
  /// `folder`: where files of external data lie; empty: nowhere.
  explicit ElementReader(std::string folder) : folder_(std::move(folder)) {}

  /// Errors: unimplemented for a type that programs do not have; invalid_argument where the elements are not as many as
  /// the dimensions say; resource_exhausted beyond the limits; the file's, of external data.
  [[nodiscard]] Result<Elements> read(const StoredTensor& tensor);

 private:
  std::string folder_;
  std::size_t read_ = 0;
};

}  // namespace padlock::onnx
