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
  SumEmitter(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, ir::DType dtype, int lanes,
             llvm::function_ref<std::vector<Value*>()> terms)
      : builder_(builder), exprs_(exprs), ops_(builder, lanes, target), dtype_(dtype), terms_(terms) {}

  Value* emit(std::span<const Walk> walks) {
    const State all = walk(walks, {ops_.to_sum(dtype_, neutral()), kept(ops_.bits(dtype_, 0)), builder_.getInt32(0)});
    Value* several = builder_.CreateICmpUGT(all.terms, builder_.getInt32(1));
    Value* last = builder_.CreateBitCast(all.last, ops_.storage_type(dtype_));
    return builder_.CreateSelect(several, ops_.from_sum(dtype_, all.sum), last);
  }

 private:
  /// Holds the values that change with each term.
  struct State {
    Value* sum;
    Value* last;   // of the terms, as `kept`; 0 of none
    Value* terms;  // a bit set for each, the lowest first, up to 32: it never wraps
  };
  static std::array<Value*, 3> values_of(const State& state) { return {state.sum, state.last, state.terms}; }

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
    return is_half ? bits : ops_.to_sum(dtype_, bits);
  }

  BasicBlock* block(const char* name) {
    return BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
  }

  State add_terms(State state) {
    for (Value* bits : terms_()) state = add_term(state, bits);
    return state;
  }

  State add_term(const State& before, Value* bits) {
    Value* one = builder_.getInt32(1);
    return {ops_.add_to_sum(dtype_, before.sum, bits), kept(bits),
            builder_.CreateOr(builder_.CreateShl(before.terms, one), one)};
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
    const auto [at, by, then] = joined(starts, start);
    const std::array<PHINode*, 3> states = joined(values_of(before), start);
    exprs_.set_coordinate(walk.variable, at);
    const State after = this->walk(walks.subspan(1), {states[0], states[1], states[2]});
    Value* next = builder_.CreateAdd(at, by);
    BasicBlock* last = builder_.GetInsertBlock();
    add_incoming({at, by, then}, {next, then, by}, last);
    add_incoming(states, values_of(after), last);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, limit), inside, done);
    builder_.SetInsertPoint(done);
    const std::array<PHINode*, 3> all = joined(values_of(before), start);
    add_incoming(all, values_of(after), last);
    return {all[0], all[1], all[2]};
  }

  /// Makes phis that have these values where they come from one block.
  std::array<PHINode*, 3> joined(const std::array<Value*, 3>& values, BasicBlock* from) {
    std::array<PHINode*, 3> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = phi(values[i], from);
    return all;
  }
  static void add_incoming(const std::array<PHINode*, 3>& joined, const std::array<Value*, 3>& values,
                           BasicBlock* from) {
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i]->addIncoming(values[i], from);
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
  llvm::function_ref<std::vector<Value*>()> terms_;
};

}  // namespace

Value* emit_sum(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, ir::DType dtype, int lanes,
                std::span<const Walk> walks, llvm::function_ref<std::vector<Value*>()> terms) {
  return SumEmitter(builder, exprs, target, dtype, lanes, terms).emit(walks);
}

}  // namespace padlock::compiler
