#include "onnx/value.h"

#include <memory>

#include "onnx/limits.h"

namespace padlock::onnx {

Value constant_value(Elements elements, SizeMath& sizes) {
  Value value{.dtype = elements.dtype, .shape = {}, .name = {}, .sizes = {}, .constant = {}};
  for (const std::int64_t n : elements.dims) value.shape.push_back(sizes.constant(n));
  using enum ir::DType;
  if ((value.dtype == i64 || value.dtype == i32 || value.dtype == boolean) && elements.count <= limits::kSizes) {
    value.sizes.emplace();
    for (std::size_t i = 0; i < elements.count; ++i) value.sizes->push_back(sizes.constant(elements.integer(i)));
  }
  value.constant = std::make_shared<const Elements>(std::move(elements));
  return value;
}

Result<Value> constant_value(const StoredTensor& tensor, ElementReader& elements, SizeMath& sizes) {
  PADLOCK_TRY(Elements read, elements.read(tensor));
  return constant_value(std::move(read), sizes);
}

}  // namespace padlock::onnx
