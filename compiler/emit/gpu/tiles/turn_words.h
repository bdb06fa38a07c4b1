#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Emits the transpose of a square of elements: of n vectors of n elements, element j of vector i becomes element i of
/// vector j. `on_gpu`: bytes of words are chosen by the instruction that a GPU has for it.
[[nodiscard]] std::vector<llvm::Value*> turned(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> vectors,
                                               bool on_gpu);

}  // namespace padlock::compiler
