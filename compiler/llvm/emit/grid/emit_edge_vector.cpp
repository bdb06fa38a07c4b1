#include "compiler/llvm/emit/grid/emit_edge_vector.h"

#include "compiler/llvm/emit/grid/vector_words.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::Value;

namespace {

/// Bytes [first, last) of a word that begins at byte `at`, as ones. The numbers are i32.
Value* mask_of(llvm::IRBuilder<>& builder, Value* first, Value* last, int at, llvm::Type* word) {
  const unsigned bytes = word->getIntegerBitWidth() / 8;
  // From byte number `end` on, by two shifts, since one by 32 is none.
  const auto above = [&](Value* end) {
    Value* count = builder.CreateSub(end, builder.getInt32(static_cast<std::uint32_t>(at)));
    count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, builder.getInt32(0));
    count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, builder.getInt32(bytes));
    Value* half = builder.CreateShl(count, 2);
    return builder.CreateShl(builder.CreateShl(builder.getInt32(~0U), half), half);
  };
  return builder.CreateTrunc(builder.CreateAnd(above(first), builder.CreateNot(above(last))), word);
}

class EdgeEmitter {
 public:
  EdgeEmitter(const VectorContext& vector, SegmentEmitter& segments, VectorStores& stores, Value* local, Value* left)
      : vector_(vector), builder_(vector.builder), segments_(segments), stores_(stores), local_(local) {
    const auto clamp = [&](llvm::Intrinsic::ID id, Value* a, Value* b) {
      return builder_.CreateBinaryIntrinsic(id, a, b);
    };
    Value* lanes = vector.context.index(vector.lanes());
    first_ = clamp(llvm::Intrinsic::smax, local, vector.context.index(0));
    last_ = clamp(llvm::Intrinsic::smin, builder_.CreateAdd(local, lanes), left);
  }

  void emit() {
    choose_known();
    const std::vector<Value*> words = first_words();
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* part = vector_.block("part");
    BasicBlock* next = vector_.block("next_part");
    BasicBlock* done = vector_.block("made");
    builder_.CreateBr(part);
    builder_.SetInsertPoint(part);
    llvm::PHINode* at = builder_.CreatePHI(first_->getType(), 2, "at");
    at->addIncoming(first_, before);
    make_results(words, before);
    next_ = next;
    reached_ = llvm::PHINode::Create(first_->getType(), 4, "reached", next);
    for (llvm::PHINode* word : made_) merged_.push_back(llvm::PHINode::Create(word->getType(), 4, "", next));
    emit_part(at);
    builder_.SetInsertPoint(next);
    at->addIncoming(reached_, next);
    for (std::size_t i = 0; i < made_.size(); ++i) made_[i]->addIncoming(merged_[i], next);
    builder_.CreateCondBr(builder_.CreateICmpSLT(reached_, last_), part, done);
    builder_.SetInsertPoint(done);
    stores_.store_edge(local_, results());
  }

 private:
  [[nodiscard]] llvm::Type* type_of(std::size_t result) const {
    const auto bits = static_cast<unsigned>(8 * ir::byte_size(vector_.result_type(result)));
    return llvm::FixedVectorType::get(builder_.getIntNTy(bits), static_cast<unsigned>(vector_.lanes()));
  }
  [[nodiscard]] std::size_t results_count() const { return vector_.schedule().kernel.results.size(); }

  /// Chooses a body that loads nothing, such as a pad's fill: all lanes are first made by it, and its segments then
  /// left out.
  void choose_known() {
    const std::vector<Body>& bodies = vector_.schedule().bodies;
    for (std::size_t i = 0; i < bodies.size() && known_ < 0; ++i)
      if (bodies[i].loads.empty() && bodies[i].lanes > 1) known_ = static_cast<int>(i);
  }

  /// Emits the words of all results as far as they are known.
  std::vector<Value*> first_words() {
    std::vector<Value*> values;
    if (known_ >= 0) {
      const auto body = static_cast<std::size_t>(known_);
      values = StreamBody(vector_, body, BodyArguments(vector_.context, body)).compute({});
    } else {
      for (std::size_t i = 0; i < results_count(); ++i) values.push_back(llvm::Constant::getNullValue(type_of(i)));
    }
    std::vector<Value*> all;
    for (Value* value : values) {
      const std::vector<Value*> words = words_of(builder_, value);
      all.insert(all.end(), words.begin(), words.end());
    }
    return all;
  }

  /// Phis for the words.
  void make_results(const std::vector<Value*>& first, BasicBlock* before) {
    for (Value* word : first) {
      made_.push_back(builder_.CreatePHI(word->getType(), 2));
      made_.back()->addIncoming(word, before);
    }
  }

  /// The part that begins at element `at`: up to the end of the vector, of the row and of the segment; or one element,
  /// where the body takes one.
  void emit_part(Value* at) {
    Value* column = segments_.place(at);
    Value* limit = builder_.CreateAdd(column, builder_.CreateSub(last_, at));
    Value* from = builder_.CreateSub(at, local_);
    std::vector<SegmentSite> sites = segments_.dispatch_part(column, limit, known_);
    // The rest of the row is known.
    reached_->addIncoming(builder_.CreateAdd(at, builder_.CreateSub(segments_.last(), column)),
                          builder_.GetInsertBlock());
    for (std::size_t i = 0; i < made_.size(); ++i) merged_[i]->addIncoming(made_[i], builder_.GetInsertBlock());
    builder_.CreateBr(next_);
    for (std::size_t body = 0; body < sites.size(); ++body)
      if (!sites[body].runs.empty()) emit_body(sites[body], body, at, column, from);
  }

  void emit_body(SegmentSite& site, std::size_t body, Value* at, Value* column, Value* from) {
    SegmentSite::Run run = segments_.enter(site, body);
    Value* begin = run.arguments.begin;
    from = builder_.CreateAdd(from, builder_.CreateSub(begin, column));
    const bool one = vector_.schedule().bodies[body].lanes == 1;
    Value* count = one ? vector_.context.index(1) : builder_.CreateSub(run.arguments.end, begin);
    Value* resume = one ? builder_.CreateAdd(begin, count) : run.resume;
    Value* to = builder_.CreateAdd(from, count);
    StreamBody code(vector_, body, std::move(run.arguments));
    code.set_lanes(begin, from, to);
    const std::vector<Value*> values = code.compute_lanes();
    std::size_t position = 0;
    for (std::size_t result = 0; result < values.size(); ++result) position = merge(result, position, values, from, to);
    reached_->addIncoming(builder_.CreateAdd(at, builder_.CreateSub(resume, column)), builder_.GetInsertBlock());
    builder_.CreateBr(next_);
  }

  /// Takes lanes [from, to) of a result, whose words begin at this position; returns where the next one's do.
  std::size_t merge(std::size_t result, std::size_t position, const std::vector<Value*>& values, Value* from,
                    Value* to) {
    const auto size = static_cast<std::uint32_t>(ir::byte_size(vector_.result_type(result)));
    const auto bytes = [&](Value* lane) {
      return builder_.CreateMul(builder_.CreateTrunc(lane, builder_.getInt32Ty()), builder_.getInt32(size));
    };
    Value* first = bytes(from);
    Value* last = bytes(to);
    int at = 0;
    for (Value* word : words_of(builder_, values[result])) {
      Value* mask = mask_of(builder_, first, last, at, word->getType());
      Value* kept = builder_.CreateAnd(made_[position], builder_.CreateNot(mask));
      merged_[position]->addIncoming(builder_.CreateOr(kept, builder_.CreateAnd(word, mask)),
                                     builder_.GetInsertBlock());
      ++position;
      at += 4;
    }
    return position;
  }

  std::vector<Value*> results() {
    std::vector<Value*> all;
    std::size_t position = 0;
    for (std::size_t result = 0; result < results_count(); ++result) {
      const std::size_t count = word_types_of(builder_, type_of(result)).size();
      const std::vector<Value*> words(merged_.begin() + static_cast<std::ptrdiff_t>(position),
                                      merged_.begin() + static_cast<std::ptrdiff_t>(position + count));
      position += count;
      all.push_back(vector_of(builder_, words, type_of(result)));
    }
    return all;
  }

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SegmentEmitter& segments_;
  VectorStores& stores_;
  Value* local_;
  Value *first_ = nullptr, *last_ = nullptr;   // elements that the output has of the vector
  std::vector<llvm::PHINode*> made_, merged_;  // words of all results, before a part and after it
  llvm::PHINode* reached_ = nullptr;           // where the next part begins
  BasicBlock* next_ = nullptr;
  int known_ = -1;  // a body that loads nothing
};

}  // namespace

void emit_edge_vector(const VectorContext& vector, SegmentEmitter& segments, VectorStores& stores, Value* local,
                      Value* left) {
  EdgeEmitter(vector, segments, stores, local, left).emit();
}

}  // namespace padlock::compiler
