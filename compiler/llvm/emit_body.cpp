#include <string>

#include "compiler/llvm/emit_chunk.h"
#include "compiler/llvm/emit_loop.h"

namespace padlock::compiler {
namespace {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

/// Emits one body as a function of the host: the loops of its walks.
class BodyEmitter {
 public:
  BodyEmitter(KernelContext& context, std::size_t index)
      : context_(context),
        index_(index),
        body_(context.schedule.bodies[index]),
        run_(context.exprs()),
        builder_(context.module.getContext()),
        i64_(builder_.getInt64Ty()) {}

  llvm::Function* emit() {
    BodyArguments arguments = make_function();
    BasicBlock* entry = block("entry");
    BasicBlock* start = block("start");
    builder_.SetInsertPoint(entry);
    const LaunchFields fields(builder_, function_->getArg(0), context_);
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    ExprEmitter exprs = context_.expressions(entry, fields.sizes);
    exprs_ = &exprs;
    ChunkEmitter chunks(context_, index_, builder_, fields, exprs, std::move(arguments));
    chunks_ = &chunks;
    exprs_->set_coordinate(run_.begin, begin());
    exprs_->set_coordinate(run_.end, end());
    emit_loops();
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  BodyArguments make_function() {
    BodyArguments arguments(context_, index_);
    std::vector<llvm::Type*> types = {builder_.getPtrTy(), i64_, i64_, i64_};
    for (unsigned i = 0; i < arguments.loads; ++i) {
      types.push_back(builder_.getPtrTy());
      types.insert(types.end(), arguments.per_load - 1, i64_);
    }
    const auto outer_axes = static_cast<std::size_t>(context_.schedule.kernel.rank() - 1);
    if (body_.uses_rows) types.insert(types.end(), outer_axes, i64_);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
    const std::string name = context_.abi.name + ".body" + std::to_string(index_);
    function_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, context_.module);
    // There are registers for all that a body takes.
    function_->setCallingConv(llvm::CallingConv::Fast);
    function_->addFnAttr(llvm::Attribute::NoInline);
    set_attributes(*function_, context_.target);
    for (llvm::Argument& argument : function_->args())
      if (argument.getArgNo() > 0) arguments.values.push_back(&argument);
    return arguments;
  }

  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }
  Value* begin() { return chunks_->arguments().begin(); }
  Value* end() { return chunks_->arguments().end(); }

  void emit_loops() {
    BasicBlock* done = block("done");
    BasicBlock* elements = block("elements");
    std::vector<std::pair<Value*, BasicBlock*>> into_elements = {{begin(), builder_.GetInsertBlock()}};
    const std::vector<Walk>& walks = body_.walks;
    if (walks.size() > 1) {
      BasicBlock* vectors = block("vectors");
      builder_.CreateCondBr(holds(builder_, *exprs_, walks[1].tests), vectors, elements);
      builder_.SetInsertPoint(vectors);
      if (walks.size() > 2) into_elements.push_back(emit_streamed(walks[2], elements));
      exprs_->set_coordinate(run_.shift, chunks_->misalignment(begin(), body_.lanes));
      for (const ChunkLoop& loop : walks[1].loops) emit_loop(loop, exprs_->exact(builder_, loop.from));
      builder_.CreateBr(done);
    } else {
      builder_.CreateBr(elements);
    }
    // One loop for the walk by elements and for the rest of the streamed one.
    builder_.SetInsertPoint(elements);
    llvm::PHINode* from = builder_.CreatePHI(i64_, 2);
    for (const auto& [column, block] : into_elements) from->addIncoming(column, block);
    emit_loop(walks[0].loops.front(), from);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  /// The streamed walk up to its last loop, which is that of the elements. Returns where it begins and from which
  /// block; the builder stands where nothing is streamed.
  std::pair<Value*, BasicBlock*> emit_streamed(const Walk& walk, BasicBlock* elements) {
    const ChunkLoop& lines = walk.loops[1];
    Value* left = builder_.CreateSub(count(walk.line), chunks_->misalignment(begin(), walk.line));
    exprs_->set_coordinate(run_.peel, builder_.CreateAnd(left, count(walk.line - 1)));
    BasicBlock* head = block("head");
    BasicBlock* plain = block("plain");
    builder_.CreateCondBr(streaming_pays(walk), head, plain);
    builder_.SetInsertPoint(head);
    emit_loop(walk.loops[0], exprs_->exact(builder_, walk.loops[0].from));
    emit_loop(lines, exprs_->exact(builder_, lines.from));
    Value* rest = exprs_->exact(builder_, walk.loops[2].from);
    BasicBlock* from = builder_.GetInsertBlock();
    builder_.CreateBr(elements);
    builder_.SetInsertPoint(plain);
    return {rest, from};
  }

  /// All results aligned at the first line, a run of some lines, and (under `automatic`) an output larger than the
  /// caches.
  Value* streaming_pays(const Walk& walk) {
    Value* aligned = chunks_->stores_are_aligned(exprs_->exact(builder_, walk.loops[1].from));
    Value* pays = builder_.CreateAnd(aligned, holds(builder_, *exprs_, walk.tests));
    if (context_.schedule.store == StoreKind::nontemporal) return pays;
    Value* bytes = exprs_->exact(builder_, context_.exprs().mul(context_.abi.rows, context_.abi.row_bytes));
    return builder_.CreateAnd(pays, builder_.CreateICmpSGE(bytes, builder_.getInt64(kStreamedBytes)));
  }

  void emit_loop(const ChunkLoop& loop, Value* from) {
    if (loop.once) {
      chunks_->emit(from, loop);
      return;
    }
    Value* last = loop.last.valid() ? exprs_->exact(builder_, loop.last) : nullptr;
    Value* limit = exprs_->exact(builder_, loop.limit);
    Value* reached = counted_loop(builder_, from, limit, loop.step(), [&](Value* column) {
      if (last != nullptr) column = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, column, last);
      for (int i = 0; i < loop.unroll; ++i) chunks_->emit(column, loop, i * loop.lanes);
    });
    if (loop.reached.valid()) exprs_->set_coordinate(loop.reached, reached);
  }

  [[nodiscard]] llvm::ConstantInt* count(int elements) const { return context_.index(elements); }

  // Outputs from this size on go past the caches under store=automatic: they would not fit them.
  static constexpr std::uint64_t kStreamedBytes = std::uint64_t{32} << 20;

  KernelContext& context_;
  std::size_t index_;
  const Body& body_;
  RunVariables run_;
  IRBuilder<> builder_;
  llvm::Type* i64_;
  llvm::Function* function_ = nullptr;
  ExprEmitter* exprs_ = nullptr;
  ChunkEmitter* chunks_ = nullptr;
};

}  // namespace

llvm::Function* emit_body(KernelContext& context, std::size_t index) { return BodyEmitter(context, index).emit(); }

}  // namespace padlock::compiler
