#include "compiler/llvm/emit/emit_sum.h"

#include <array>

#include "compiler/llvm/emit/emit_ops.h"

namespace padlock::compiler {
namespace {

using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::PHINode;
using llvm::Value;

class SumEmitter {
 public:
  using Terms = llvm::function_ref<std::vector<Value*>(std::size_t)>;
  SumEmitter(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, ir::DType dtype, int lanes,
             Terms terms)
      : builder_(builder), exprs_(exprs), ops_(builder, lanes, target), dtype_(dtype), terms_(terms) {}

  std::vector<Value*> emit(std::size_t count, std::span<const Walk> walks) {
    State state{.sums = {}, .terms = builder_.getInt32(0)};
    state.sums.assign(count, {ops_.to_sum(dtype_, neutral()), kept(ops_.bits(dtype_, 0))});
    state = walk(walks, state);
    Value* several = builder_.CreateICmpUGT(state.terms, builder_.getInt32(1));
    std::vector<Value*> all;
    for (const Sum& one : state.sums)
      all.push_back(builder_.CreateSelect(several, ops_.from_sum(dtype_, one.value),
                                          builder_.CreateBitCast(one.last, ops_.storage_type(dtype_))));
    return all;
  }

 private:
  struct Sum {
    Value* value;
    Value* last;  // of the terms, as `kept`; 0 of none
  };
  /// Holds the values that change with each term.
  struct State {
    std::vector<Sum> sums = {};
    Value* terms;  // of each sum: a bit set for each, the lowest first, up to 32: it never wraps
  };

  /// Makes the bits of what a sum begins with: added to any term, -0.0 too, it leaves the term. So no term asks whether
  /// it is the first.
  Value* neutral() {
    constexpr int kBitsOfByte = 8;
    const int sign = kBitsOfByte * ir::byte_size(dtype_) - 1;
    return ops_.bits(dtype_, ir::is_float(dtype_) ? std::uint64_t{1} << sign : 0);
  }

  /// A term's bits in the kind of register that it is added from, where that holds them all.
  Value* kept(Value* bits) {
    const bool is_half = ir::is_float(dtype_) && ir::byte_size(dtype_) < static_cast<int>(sizeof(float));
    return is_half || !ir::is_float(dtype_) ? bits : ops_.to_sum(dtype_, bits);
  }

  BasicBlock* block(const char* name) {
    return BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }

  State add_terms(State state) {
    std::size_t added = 0;
    for (std::size_t i = 0; i < state.sums.size(); ++i) {
      Sum& sum = state.sums[i];
      const std::vector<Value*> terms = terms_(i);
      for (Value* bits : terms) sum = {ops_.add_to_sum(dtype_, sum.value, bits), kept(bits)};
      added = terms.size();
    }
    Value* one = builder_.getInt32(1);
    for (; added > 0; --added) state.terms = builder_.CreateOr(builder_.CreateShl(state.terms, one), one);
    return state;
  }

  /// for (at = first, by = step, then = other; at < limit; at += by, swap(by, then)), tested after each term.
  State walk(std::span<const Walk> walks, const State& before) {
    if (walks.empty()) return add_terms(before);
    const Walk& walk = walks.front();
    Value* limit = exprs_.exact(builder_, walk.limit);
    const std::array<Value*, 3> starts = {exprs_.exact(builder_, walk.first), exprs_.exact(builder_, walk.step),
                                          exprs_.exact(builder_, walk.other)};
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock* inside = block("term");
    BasicBlock* done = block("summed");
    builder_.CreateCondBr(builder_.CreateICmpSLT(starts[0], limit), inside, done);
    builder_.SetInsertPoint(inside);
    std::array<PHINode*, 3> places{};
    for (std::size_t i = 0; i < starts.size(); ++i) places[i] = phi(starts[i], start);
    const State state = joined(before, start);
    const auto [at, by, then] = places;
    exprs_.set_coordinate(walk.variable, at);
    const State after = this->walk(walks.subspan(1), state);
    const std::array<Value*, 3> next = {builder_.CreateAdd(at, by), then, by};
    BasicBlock* last = builder_.GetInsertBlock();
    for (std::size_t i = 0; i < next.size(); ++i) places[i]->addIncoming(next[i], last);
    add_incoming(state, after, last);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next[0], limit), inside, done);
    builder_.SetInsertPoint(done);
    const State all = joined(before, start);
    add_incoming(all, after, last);
    return all;
  }

  /// Makes phis of a state's values, which have these where they come from one block.
  State joined(State state, BasicBlock* from) {
    for_each(state, [&](Value*& value) { value = phi(value, from); });
    return state;
  }
  static void add_incoming(State joined, State state, BasicBlock* from) {
    std::vector<Value*> values;
    for_each(state, [&](Value* value) { values.push_back(value); });
    std::size_t i = 0;
    for_each(joined, [&](Value* phi) { llvm::cast<PHINode>(phi)->addIncoming(values[i++], from); });
  }

  template <class Visit>
  static void for_each(State& state, Visit&& visit) {
    visit(state.terms);
    for (Sum& sum : state.sums)
      for (Value** value : {&sum.value, &sum.last}) visit(*value);
  }

  PHINode* phi(Value* value, BasicBlock* from) {
    PHINode* made = builder_.CreatePHI(value->getType(), 2);
    made->addIncoming(value, from);
    return made;
  }

  IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  OpEmitter ops_;
  ir::DType dtype_;
  Terms terms_;
};

}  // namespace

std::vector<Value*> emit_sums(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, ir::DType dtype,
                              int lanes, std::size_t count, std::span<const Walk> walks,
                              llvm::function_ref<std::vector<Value*>(std::size_t)> terms) {
  return SumEmitter(builder, exprs, target, dtype, lanes, terms).emit(count, walks);
}

}  // namespace padlock::compiler
