#include "compiler/llvm/emit_gpu.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/llvm/emit_row.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

namespace {

/// Blocks of a persistent launch on the host: few, so that they take several tiles.
constexpr int kHostBlocks = 6;

/// What one thread of a block does: void(launch, block, thread, blocks).
class ThreadEmitter {
 public:
  ThreadEmitter(KernelContext& context, const std::vector<llvm::Function*>& bodies)
      : context_(context),
        map_(*context.schedule.threads),
        bodies_(bodies),
        builder_(context.module.getContext()),
        i64_(builder_.getInt64Ty()) {}

  llvm::Function* emit() {
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy(), i64_, i64_, i64_}, false);
    function_ =
        llvm::Function::Create(type, llvm::Function::InternalLinkage, context_.abi.name + ".thread", context_.module);
    set_attributes(*function_, context_.target);
    function_->addFnAttr(llvm::Attribute::AlwaysInline);
    BasicBlock* entry = block("entry");
    BasicBlock* start = block("start");
    builder_.SetInsertPoint(entry);
    LaunchFields fields(builder_, function_->getArg(0), context_);
    ExprEmitter exprs(context_.exprs(), context_.widths, context_.sizes, entry, fields.sizes,
                      context_.schedule.threads.has_value());
    exprs_ = &exprs;
    RowEmitter rows(context_, bodies_, builder_, *function_, exprs);
    rows_ = &rows;
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    rows.load_buffers(fields);
    Value* tiles = exprs.exact(builder_, context_.schedule.tiles());
    counted_loop(function_->getArg(1), tiles, function_->getArg(3), [&](Value* tile) {
      if (map_.flat)
        emit_elements(tile);
      else
        emit_tile(tile);
    });
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }
  Value* count(int n) { return builder_.getInt64(static_cast<std::uint64_t>(n)); }
  Value* thread() { return function_->getArg(2); }

  template <class Trip>
  void counted_loop(Value* from, Value* limit, Value* step, Trip&& trip) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* header = block("header");
    BasicBlock* inside = block("trip");
    BasicBlock* done = block("done");
    builder_.CreateBr(header);
    builder_.SetInsertPoint(header);
    llvm::PHINode* at = builder_.CreatePHI(i64_, 2);
    at->addIncoming(from, before);
    builder_.CreateCondBr(builder_.CreateICmpSLT(at, limit), inside, done);
    builder_.SetInsertPoint(inside);
    trip(at);
    at->addIncoming(builder_.CreateAdd(at, step), builder_.GetInsertBlock());
    builder_.CreateBr(header);
    builder_.SetInsertPoint(done);
  }

  void place(Value* row) {
    const std::vector<Value*> coordinates = rows_->unflatten(row);
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
      exprs_->set_coordinate(context_.schedule.kernel.coordinate(static_cast<int>(axis)), coordinates[axis]);
  }

  /// Rows of the tile that are this thread's team's.
  void emit_tile(Value* tile) {
    const TileBounds rows = context_.schedule.row_bounds();
    const TileBounds columns = context_.schedule.column_bounds();
    Value* row_tile = tile;
    Value* column_tile = count(0);
    if (!columns.tiles.is_constant(1)) {
      const auto [quotient, remainder] = exprs_->divide(builder_, tile, columns.tiles);
      row_tile = quotient;
      column_tile = remainder;
    }
    exprs_->set_coordinate(rows.tile, row_tile);
    exprs_->set_coordinate(columns.tile, column_tile);
    rows_->set_columns(exprs_->exact(builder_, columns.first), exprs_->exact(builder_, columns.last));
    // A team is a power of two.
    Value* member = builder_.CreateURem(thread(), count(map_.team));
    Value* team = builder_.CreateUDiv(thread(), count(map_.team));
    Value* first = exprs_->exact(builder_, rows.first);
    counted_loop(builder_.CreateAdd(first, team), exprs_->exact(builder_, rows.last), count(map_.teams()),
                 [&](Value* row) {
                   place(row);
                   rows_->emit_row(member);
                 });
  }

  /// This thread's elements of a tile of the flattened output.
  void emit_elements(Value* tile) {
    const TileBounds elements = context_.schedule.row_bounds();
    exprs_->set_coordinate(elements.tile, tile);
    Value* first = exprs_->exact(builder_, elements.first);
    Value* last = exprs_->exact(builder_, elements.last);
    counted_loop(builder_.CreateAdd(first, thread()), last, count(map_.threads), [&](Value* element) {
      const auto [row, column] = exprs_->divide(builder_, element, context_.schedule.columns);
      place(row);
      rows_->set_columns(column, builder_.CreateAdd(column, count(1)));
      rows_->emit_row(count(0));
    });
  }

  KernelContext& context_;
  const ThreadMap& map_;
  const std::vector<llvm::Function*>& bodies_;
  IRBuilder<> builder_;
  llvm::Type* i64_;
  llvm::Function* function_ = nullptr;
  ExprEmitter* exprs_ = nullptr;
  RowEmitter* rows_ = nullptr;
};

/// Whether a thread does so little that it needs few registers: rows of one kind, elements of 2 or 4 bytes, addresses
/// that need no division, and at most a relu.
bool is_light(const Schedule& schedule) {
  if (schedule.cases.size() > 1 || schedule.kernel.rank() != 2) return false;
  return std::ranges::all_of(schedule.bodies, [](const Body& body) {
    return body.lanes > 1 && std::ranges::all_of(body.nodes, [](const BodyNode& node) {
             const int bytes = ir::byte_size(node.dtype);
             return (bytes == 2 || bytes == 4) && (node.kind != NodeKind::operation || node.op == ir::Op::relu);
           });
  });
}

/// A kernel: its parameters are words by value, as many as there are sizes in the end.
llvm::Function* emit_kernel(KernelContext& context, llvm::Function* thread) {
  IRBuilder<> builder(context.module.getContext());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto* kernel = llvm::Function::Create(type, llvm::Function::ExternalLinkage, context.abi.name, context.module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  set_attributes(*kernel, context.target);
  kernel->addFnAttr("nvvm.maxntid", std::to_string(context.abi.threads));
  // ptxas 13 spills a few bytes rather than take more registers than what it thinks best (32 for a cast of f64). Told
  // of a low occupancy, it takes them; a light kernel, which needs no more, would take half as many again for nothing.
  if (!is_light(context.schedule)) kernel->addFnAttr("nvvm.minctasm", "1");
  builder.SetInsertPoint(BasicBlock::Create(context.module.getContext(), "entry", kernel));
  const auto special = [&](llvm::Intrinsic::ID id) {
    return builder.CreateZExt(builder.CreateIntrinsic(id, {}), builder.getInt64Ty());
  };
  builder.CreateCall(thread, {kernel->getArg(0), special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                              special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x),
                              special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x)});
  builder.CreateRetVoid();
  return kernel;
}

/// A HostEntry: for each block, for each thread.
void emit_blocks(KernelContext& context, llvm::Function* thread) {
  IRBuilder<> builder(context.module.getContext());
  llvm::Type* i64 = builder.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), i64, i64, i64, i64}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, context.abi.name, context.module);
  set_attributes(*function, context.target);
  const auto block = [&](const char* name) { return BasicBlock::Create(builder.getContext(), name, function); };
  BasicBlock* entry = block("entry");
  BasicBlock* blocks = block("blocks");
  BasicBlock* threads = block("threads");
  BasicBlock* next = block("next");
  BasicBlock* done = block("done");
  builder.SetInsertPoint(entry);
  Value* saved = save_environment(builder);
  LaunchFields fields(builder, function->getArg(0), context);
  ExprEmitter exprs(context.exprs(), context.widths, context.sizes, entry, fields.sizes);
  Value* count = exprs.exact(builder, context.abi.rows);
  builder.CreateCondBr(builder.CreateICmpSLT(function->getArg(1), function->getArg(2)), blocks, done);
  builder.SetInsertPoint(blocks);
  llvm::PHINode* at = builder.CreatePHI(i64, 2, "block");
  at->addIncoming(function->getArg(1), entry);
  builder.CreateBr(threads);
  builder.SetInsertPoint(threads);
  llvm::PHINode* member = builder.CreatePHI(i64, 2, "thread");
  member->addIncoming(builder.getInt64(0), blocks);
  builder.CreateCall(thread, {function->getArg(0), at, member, count});
  Value* following = builder.CreateAdd(member, builder.getInt64(1));
  member->addIncoming(following, threads);
  Value* all = builder.CreateICmpEQ(following, builder.getInt64(static_cast<std::uint64_t>(context.abi.threads)));
  builder.CreateCondBr(all, next, threads);
  builder.SetInsertPoint(next);
  Value* next_block = builder.CreateAdd(at, builder.getInt64(1));
  at->addIncoming(next_block, next);
  builder.CreateCondBr(builder.CreateICmpSLT(next_block, function->getArg(2)), blocks, done);
  builder.SetInsertPoint(done);
  restore_environment(builder, saved);
  builder.CreateRetVoid();
}

/// The rows of the contract are tiles.
ir::KernelAbi gpu_contract_of(const Schedule& schedule) {
  ir::ExprContext& exprs = schedule.exprs();
  ir::KernelAbi abi = contract_of(schedule);
  const ThreadMap& map = *schedule.threads;
  const Expr element_bytes = exprs.constant(ir::byte_size(schedule.kernel.program->value(abi.results[0]).dtype));
  const Expr columns = map.tile_columns > 0 ? exprs.constant(map.tile_columns) : schedule.columns;
  abi.rows = schedule.tiles();
  abi.columns = exprs.constant(1);
  abi.row_bytes = exprs.mul(exprs.mul(exprs.constant(map.tile_rows), columns), element_bytes);
  abi.threads = map.threads;
  abi.persistent = map.persistent;
  return abi;
}

}  // namespace

std::vector<ir::KernelAbi> emit_gpu_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                           const TargetFeatures& target, bool bounds_check) {
  const Schedule& schedule = kernel.schedule();
  SizeTable sizes;
  ir::KernelAbi abi = gpu_contract_of(schedule);
  IndexWidths widths = kernel.index_widths(false);
  KernelContext context{module, kernel, schedule, target, bounds_check, abi, sizes, widths};
  std::vector<llvm::Function*> bodies;
  for (std::size_t i = 0; i < schedule.bodies.size(); ++i) bodies.push_back(emit_body(context, i));
  llvm::Function* thread = ThreadEmitter(context, bodies).emit();
  if (!target.takes_words) {
    if (abi.persistent) abi.rows = schedule.exprs().min(abi.rows, schedule.exprs().constant(kHostBlocks));
    emit_blocks(context, thread);
    abi.sizes = std::move(sizes).take();
    return {abi};
  }
  llvm::Function* entry = emit_kernel(context, thread);
  abi.sizes = std::move(sizes).take();
  llvm::Type* word = llvm::Type::getInt64Ty(module.getContext());
  llvm::Type* parameters = llvm::ArrayType::get(word, ir::ParameterWords(abi).count);
  entry->addParamAttr(0, llvm::Attribute::getWithByValType(module.getContext(), parameters));
  entry->addParamAttr(0, llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(8)));
  return {abi};
}

}  // namespace padlock::compiler
