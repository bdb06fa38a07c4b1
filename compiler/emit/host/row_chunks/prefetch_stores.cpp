#include "compiler/emit/host/row_chunks/prefetch_stores.h"

#include <algorithm>
#include <cstddef>

namespace padlock::compiler {

void prefetch_stores(llvm::IRBuilder<>& builder, llvm::Type* element, const std::vector<llvm::Value*>& vectors,
                     int vector_bytes, llvm::Value* at) {
  constexpr int kAhead = 1024, kLine = 64;
  const auto vectors_of_line = static_cast<std::size_t>(std::max(kLine / vector_bytes, 1));
  for (std::size_t vector = 0; vector < vectors.size(); vector += vectors_of_line) {
    llvm::Value* to = builder.CreateGEP(element, vectors[vector], at);
    llvm::Value* ahead = builder.CreateConstGEP1_64(builder.getInt8Ty(), to, kAhead);
    builder.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {ahead->getType()},
        {ahead, builder.getInt32(/*write*/ 1), builder.getInt32(/*locality*/ 3), builder.getInt32(/*data*/ 1)});
  }
}

}  // namespace padlock::compiler
