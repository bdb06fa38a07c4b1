#include "compiler/llvm/emit/grid/emit_vector_stores.h"

#include "compiler/llvm/emit/emit_loop.h"
#include "compiler/llvm/emit/grid/vector_words.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

void VectorStores::load_buffers() {
  for (std::size_t i = 0; i < vector_.schedule().kernel.results.size(); ++i)
    outputs_.push_back(vector_.fields.buffer(builder_, vector_.context.buffer_of_result(i)));
  phase_ = phase_of(0);
  together_ = builder_.getTrue();
  for (std::size_t i = 1; i < outputs_.size(); ++i)
    together_ = builder_.CreateAnd(together_, builder_.CreateICmpEQ(phase_of(i), phase_));
}

Value* VectorStores::phase_of(std::size_t result) {
  const auto size = static_cast<std::uint64_t>(ir::byte_size(vector_.result_type(result)));
  Value* address = builder_.CreatePtrToInt(outputs_[result], builder_.getInt64Ty());
  Value* element = builder_.CreateUDiv(address, builder_.getInt64(size));
  return builder_.CreateAnd(element, builder_.getInt64(static_cast<std::uint64_t>(vector_.lanes()) - 1));
}

void VectorStores::enter_tile(Value* origin, Value* left) {
  origin_ = origin;
  left_ = left;
}

Access VectorStores::access_of(std::size_t result, Value* element, int elements) {
  const ir::DType dtype = vector_.result_type(result);
  Access access{.pointer = outputs_[result],
                .dtype = dtype,
                .first = builder_.CreateAdd(origin_, vector_.element(element)),
                .elements = elements};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(elements * ir::byte_size(dtype));
  bool checks = vector_.context.bounds_check;
  for (std::size_t body = 0; body < vector_.schedule().bodies.size(); ++body)
    checks |= vector_.context.checks_stores(body);
  if (!checks) return access;
  // Results are dense even where the value is an input, returned, with strides of its own.
  const ir::Layout output = ir::Layout::dense(vector_.context.exprs(), vector_.schedule().kernel.extents);
  access.name = builder_.getInt64(vector_.context.buffer_of_result(result));
  access.extent = vector_.wide.word(output.storage_extent());
  access.proves_align = elements > 1;
  return access;
}

void VectorStores::store_vector(Value* local, llvm::ArrayRef<Value*> results) {
  const bool streams = vector_.schedule().store == StoreKind::nontemporal && vector_.context.target.takes_words;
  for (std::size_t i = 0; i < results.size(); ++i)
    accesses_.store(access_of(i, local, vector_.lanes()), results[i], streams ? StoreHint::streaming : StoreHint::none);
}

void VectorStores::store_edge(Value* local, llvm::ArrayRef<Value*> results) {
  Value* end = builder_.CreateAdd(local, vector_.context.index(vector_.lanes()));
  Value* inside =
      builder_.CreateAnd(builder_.CreateICmpSGE(local, vector_.context.index(0)), builder_.CreateICmpSLE(end, left_));
  BasicBlock* whole = vector_.block("whole");
  BasicBlock* part = vector_.block("part");
  BasicBlock* done = vector_.block("done");
  builder_.CreateCondBr(builder_.CreateAnd(inside, together_), whole, part);
  builder_.SetInsertPoint(whole);
  store_vector(local, results);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(part);
  store_elements(local, results);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

/// Lane by lane: the results move on by one after each.
void VectorStores::store_elements(Value* local, llvm::ArrayRef<Value*> results) {
  std::vector<std::vector<Value*>> words;
  for (Value* result : results) words.push_back(words_of(builder_, result));
  BasicBlock* before = builder_.GetInsertBlock();
  std::vector<std::vector<llvm::PHINode*>> phis(results.size());
  counted_loop(builder_, vector_.context.index(0), vector_.context.index(vector_.lanes()), 1, [&](Value* lane) {
    for (std::size_t i = 0; i < words.size(); ++i)
      for (Value*& word : words[i]) {
        phis[i].push_back(builder_.CreatePHI(word->getType(), 2));
        phis[i].back()->addIncoming(word, before);
        word = phis[i].back();
      }
    Value* element = builder_.CreateAdd(local, lane);
    BasicBlock* inside = vector_.block("element");
    BasicBlock* next = vector_.block("next");
    builder_.CreateCondBr(builder_.CreateAnd(builder_.CreateICmpSGE(element, vector_.context.index(0)),
                                             builder_.CreateICmpSLT(element, left_)),
                          inside, next);
    builder_.SetInsertPoint(inside);
    for (std::size_t i = 0; i < words.size(); ++i)
      accesses_.store(access_of(i, element, 1), first_of(builder_, words[i], ir::byte_size(vector_.result_type(i))),
                      StoreHint::none);
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto bits = static_cast<unsigned>(8 * ir::byte_size(vector_.result_type(i)));
      const std::vector<Value*> moved = shifted_in(builder_, words[i], builder_.getIntN(bits, 0));
      for (std::size_t word = 0; word < moved.size(); ++word) phis[i][word]->addIncoming(moved[word], next);
    }
  });
}

}  // namespace padlock::compiler
