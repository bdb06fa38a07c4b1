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

  Value* emit(std::span<const Walk> walks) { return walks.size() == 1 ? emit_one(walks.front()) : emit_nested(walks); }
  Value* emit_nested(std::span<const Walk> walks) {
    const State all = walk(walks, {ops_.to_sum(dtype_, neutral()), kept(ops_.bits(dtype_, 0)), builder_.getInt32(0)});
    Value* several = builder_.CreateICmpUGT(all.terms, builder_.getInt32(1));
    Value* last = builder_.CreateBitCast(all.last, ops_.storage_type(dtype_));
    return builder_.CreateSelect(several, ops_.from_sum(dtype_, all.sum), last);
  }

 private:
  /// One walk takes its first term before its loop: a sum begins with it, and nothing need be told of the terms.
  Value* emit_one(const Walk& walk) {
    Value* limit = exprs_.exact(builder_, walk.limit);
    Value* at = exprs_.exact(builder_, walk.first);
    const std::array<Value*, 2> steps = {exprs_.exact(builder_, walk.step), exprs_.exact(builder_, walk.other)};
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock *first = block("term"), *loop = block("terms");
    BasicBlock *added = block("added"), *done = block("summed");
    builder_.CreateCondBr(builder_.CreateICmpSLT(at, limit), first, done);
    builder_.SetInsertPoint(first);
    exprs_.set_coordinate(walk.variable, at);
    const std::vector<Value*> terms = terms_();
    Value* sum = ops_.to_sum(dtype_, terms.front());
    for (std::size_t i = 1; i < terms.size(); ++i) sum = ops_.add_to_sum(dtype_, sum, terms[i]);
    Value* alone = terms.size() == 1 ? terms.front() : ops_.from_sum(dtype_, sum);
    Value* next = builder_.CreateAdd(at, steps[0]);
    BasicBlock* one = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, limit), loop, done);
    builder_.SetInsertPoint(loop);
    const auto [here, by, then] = joined({next, steps[1], steps[0]}, one);
    PHINode* before = phi(sum, one);
    exprs_.set_coordinate(walk.variable, here);
    Value* all = before;
    for (Value* term : terms_()) all = ops_.add_to_sum(dtype_, all, term);
    Value* after = builder_.CreateAdd(here, by);
    BasicBlock* last = builder_.GetInsertBlock();
    add_incoming({here, by, then}, {after, then, by}, last);
    before->addIncoming(all, last);
    builder_.CreateCondBr(builder_.CreateICmpSLT(after, limit), loop, added);
    builder_.SetInsertPoint(added);
    Value* rounded = ops_.from_sum(dtype_, all);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    PHINode* result = phi(ops_.bits(dtype_, 0), start);
    result->addIncoming(alone, one);
    result->addIncoming(rounded, added);
    return result;
  }

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

void emit_walks(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, std::span<const Walk> walks,
                llvm::function_ref<void()> each) {
  const auto nothing = [&] {
    each();
    return std::vector<Value*>{};
  };
  static_cast<void>(SumEmitter(builder, exprs, target, ir::DType::i32, 1, nothing).emit_nested(walks));
}

}  // namespace padlock::compiler
