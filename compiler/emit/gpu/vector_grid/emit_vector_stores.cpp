#include "compiler/emit/gpu/vector_grid/emit_vector_stores.h"

namespace padlock::compiler {

void VectorStores::load_buffers() {
  outputs_ = vector_.fields.results(builder_, vector_.context);
  phase_ = phase_of(0);
  together_ = builder_.getTrue();
  for (std::size_t i = 1; i < outputs_.size(); ++i)
    together_ = builder_.CreateAnd(together_, builder_.CreateICmpEQ(phase_of(i), phase_));
}

Value* VectorStores::phase_of(std::size_t result) {
  const auto size = static_cast<std::uint64_t>(ir::byte_size(vector_.result_type(result)));
  Value* address = builder_.CreatePtrToInt(outputs_[result], builder_.getInt64Ty());
  Value* element = builder_.CreateUDiv(address, builder_.getInt64(size));
  Value* phase = builder_.CreateAnd(element, builder_.getInt64(static_cast<std::uint64_t>(vector_.lanes()) - 1));
  return builder_.CreateTrunc(phase, vector_.context.index_type());
}

Access VectorStores::access_of(std::size_t result, Value* element, int elements) {
  const ir::DType dtype = vector_.result_type(result);
  Access access{.pointer = outputs_[result],
                .dtype = dtype,
                .first = builder_.CreateZExt(element, builder_.getInt64Ty()),
                .elements = elements};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(elements * ir::byte_size(dtype));
  return vector_.checked(access, result);
}

void VectorStores::store(Value* first, int elements, llvm::ArrayRef<Value*> results) {
  const bool evict_first =
      elements > 1 && vector_.schedule().store == StoreKind::nontemporal && vector_.context.target.takes_words;
  for (std::size_t i = 0; i < results.size(); ++i)
    accesses_.store(access_of(i, first, elements), results[i], evict_first ? StoreHint::evict_first : StoreHint::none);
}

}  // namespace padlock::compiler
