#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

// A vector as words of 32 bits, or the only one of fewer: what code does with it element by element, in a loop.
namespace padlock::compiler {

[[nodiscard]] std::vector<llvm::Value*> words_of(llvm::IRBuilder<>& builder, llvm::Value* vector);
/// Returns the type of each word of a vector.
[[nodiscard]] std::vector<llvm::Type*> word_types_of(llvm::IRBuilder<>& builder, llvm::Type* vector);
[[nodiscard]] llvm::Value* vector_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> words, llvm::Type* type);

/// Emits the first element, an integer of so many bytes.
[[nodiscard]] llvm::Value* first_of(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> words, int bytes);
/// Emits the words without their first element, with another one after the last.
[[nodiscard]] std::vector<llvm::Value*> shifted_in(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> words,
                                                   llvm::Value* element);

}  // namespace padlock::compiler
