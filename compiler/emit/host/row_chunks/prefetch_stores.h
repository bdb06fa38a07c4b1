#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Asks for each line of a result that a chunk some trips later will write, where this trip's vectors of so many bytes
/// are stored at element `at` after `vectors`. Vectors that cross lines and are stored again in part keep their places
/// in a core's queue of stores until all their lines have come: rows of 66 bytes of 64 took 1.25 to 1.9 times as long
/// as a copy on a Xeon (the latter where the core's other thread was busy, which halves the queue), and as long as a
/// copy with this; with 512 and 2048 bytes as with 1024.
void prefetch_stores(llvm::IRBuilder<>& builder, llvm::Type* element, const std::vector<llvm::Value*>& vectors,
                     int vector_bytes, llvm::Value* at);

}  // namespace padlock::compiler
