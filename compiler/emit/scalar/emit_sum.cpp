#include "compiler/emit/scalar/emit_sum.h"

#include <utility>

#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/emit_ops.h"

namespace padlock::compiler {
namespace {

using llvm::PHINode;

/// Loops over walks, the last walk innermost. Values are carried from one turn to the next.
class WalkEmitter {
 public:
  using Values = llvm::SmallVector<Value*, 3>;
  /// Emits one turn, with the variables set: the new values from the old.
  using Turn = llvm::function_ref<Values(const Values&)>;

  WalkEmitter(IRBuilder<>& builder, ExprEmitter& exprs) : builder_(builder), exprs_(exprs) {}

  /// Emits: for (at = first, by = step, then = other; at < limit; at += by, swap(by, then)), tested after each turn.
  Values walk(std::span<const Walk> walks, const Values& before, Turn turn) {
    if (walks.empty()) return turn(before);
    const Bounds bounds = bounds_of(walks.front());
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock *inside = new_block(builder_, "term"), *done = new_block(builder_, "summed");
    builder_.CreateCondBr(builder_.CreateICmpSLT(bounds.at, bounds.limit), inside, done);
    const Repeated all = repeat(walks.front(), bounds, before, {.from = start, .inside = inside, .done = done},
                                [&](const Values& state) { return walk(walks.subspan(1), state, turn); });
    builder_.SetInsertPoint(done);
    const auto joined = join(before, start);
    add_incoming(joined, all.values, all.last);
    return {joined.begin(), joined.end()};
  }

  struct Bounds {
    Value *limit, *at, *by, *then;
  };
  Bounds bounds_of(const Walk& walk) {
    Value* limit = exprs_.exact(builder_, walk.limit);
    Value* first = exprs_.exact(builder_, walk.first);
    Value* step = exprs_.exact(builder_, walk.step);
    return {limit, first, step, exprs_.exact(builder_, walk.other)};
  }

  /// A loop's blocks: the one before it, the one in which each turn begins, and the one after it.
  struct Places {
    BasicBlock *from, *inside, *done;
  };
  struct Repeated {
    Values values;
    BasicBlock* last;  // of a turn
  };
  /// Emits turns up to the limit; there is at least one turn.
  Repeated repeat(const Walk& walk, const Bounds& first, const Values& before, const Places& places, Turn turn) {
    builder_.SetInsertPoint(places.inside);
    const auto counters = join({first.at, first.by, first.then}, places.from);
    Value *at = counters[0], *by = counters[1], *then = counters[2];
    const auto states = join(before, places.from);
    exprs_.set_coordinate(walk.variable, at);
    Values after = turn({states.begin(), states.end()});
    Value* next = builder_.CreateAdd(at, by);
    BasicBlock* last = builder_.GetInsertBlock();
    add_incoming(counters, {next, then, by}, last);
    add_incoming(states, after, last);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, first.limit), places.inside, places.done);
    return {std::move(after), last};
  }

 private:
  using Phis = llvm::SmallVector<PHINode*, 3>;

  /// Makes phis with these values from one block.
  Phis join(const Values& values, BasicBlock* from) {
    Phis all;
    for (Value* value : values) {
      all.push_back(builder_.CreatePHI(value->getType(), 2));
      all.back()->addIncoming(value, from);
    }
    return all;
  }
  static void add_incoming(const Phis& joined, const Values& values, BasicBlock* from) {
    for (std::size_t i = 0; i < joined.size(); ++i) joined[i]->addIncoming(values[i], from);
  }

  IRBuilder<>& builder_;
  ExprEmitter& exprs_;
};

class SumEmitter {
  using Values = WalkEmitter::Values;

 public:
  SumEmitter(IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target, ir::DType dtype, int lanes,
             llvm::function_ref<std::vector<Value*>()> terms)
      : builder_(builder),
        walks_(builder, exprs),
        exprs_(exprs),
        ops_(builder, lanes, target),
        dtype_(dtype),
        terms_(terms) {}

  Value* emit(std::span<const Walk> walks) { return walks.size() == 1 ? emit_one(walks.front()) : emit_nested(walks); }

 private:
  /// Several walks carry the sum and the last term, as `kept` has them (0 for none). They also carry a bit for each
  /// term, the lowest first, up to 32, which never wraps.
  Value* emit_nested(std::span<const Walk> walks) {
    const Values none = {ops_.to_sum(dtype_, neutral()), kept(ops_.bits(dtype_, 0)), builder_.getInt32(0)};
    const Values all = walks_.walk(walks, none, [&](const Values& before) {
      Values state = before;
      for (Value* bits : terms_()) state = add_term(state, bits);
      return state;
    });
    Value* several = builder_.CreateICmpUGT(all[2], builder_.getInt32(1));
    Value* last = builder_.CreateBitCast(all[1], ops_.storage_type(dtype_));
    return builder_.CreateSelect(several, ops_.from_sum(dtype_, all[0]), last);
  }

  Values add_term(const Values& before, Value* bits) {
    Value* one = builder_.getInt32(1);
    Value* sum = ops_.add_to_sum(dtype_, before[0], bits);
    Value* last = kept(bits);
    return {sum, last, builder_.CreateOr(builder_.CreateShl(before[2], one), one)};
  }

  /// One walk takes its first term before its loop. The sum begins with that term, so terms need no count.
  Value* emit_one(const Walk& walk) {
    WalkEmitter::Bounds bounds = walks_.bounds_of(walk);
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock *first = new_block(builder_, "term"), *loop = new_block(builder_, "terms");
    BasicBlock *added = new_block(builder_, "added"), *done = new_block(builder_, "summed");
    builder_.CreateCondBr(builder_.CreateICmpSLT(bounds.at, bounds.limit), first, done);
    builder_.SetInsertPoint(first);
    exprs_.set_coordinate(walk.variable, bounds.at);
    const std::vector<Value*> terms = terms_();
    Value* sum = ops_.to_sum(dtype_, terms.front());
    for (std::size_t i = 1; i < terms.size(); ++i) sum = ops_.add_to_sum(dtype_, sum, terms[i]);
    Value* alone = terms.size() == 1 ? terms.front() : ops_.from_sum(dtype_, sum);
    bounds.at = builder_.CreateAdd(bounds.at, bounds.by);
    std::swap(bounds.by, bounds.then);
    BasicBlock* one = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(bounds.at, bounds.limit), loop, done);
    const auto more = walks_.repeat(walk, bounds, {sum}, {.from = one, .inside = loop, .done = added},
                                    [&](const Values& before) -> Values {
                                      Value* all = before[0];
                                      for (Value* term : terms_()) all = ops_.add_to_sum(dtype_, all, term);
                                      return {all};
                                    });
    builder_.SetInsertPoint(added);
    Value* rounded = ops_.from_sum(dtype_, more.values[0]);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    PHINode* result = builder_.CreatePHI(rounded->getType(), 3);
    result->addIncoming(ops_.bits(dtype_, 0), start);
    result->addIncoming(alone, one);
    result->addIncoming(rounded, added);
    return result;
  }

  /// Returns the bits that a sum begins with. Added to any term, -0.0 too, they leave the term, so no test is needed
  /// for the first.
  Value* neutral() {
    constexpr int kBitsOfByte = 8;
    const int sign = kBitsOfByte * ir::byte_size(dtype_) - 1;
    return ops_.bits(dtype_, ir::is_float(dtype_) ? std::uint64_t{1} << sign : 0);
  }

  /// Keeps a term's bits in the kind of register that it is added from, if that holds them all.
  Value* kept(Value* bits) {
    const bool is_half = ir::is_float(dtype_) && ir::byte_size(dtype_) < static_cast<int>(sizeof(float));
    return is_half ? bits : ops_.to_sum(dtype_, bits);
  }

  IRBuilder<>& builder_;
  WalkEmitter walks_;
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

void emit_walks(IRBuilder<>& builder, ExprEmitter& exprs, std::span<const Walk> walks,
                llvm::function_ref<void()> each) {
  WalkEmitter(builder, exprs).walk(walks, {}, [&](const WalkEmitter::Values& none) {
    each();
    return none;
  });
}

}  // namespace padlock::compiler
