#include <algorithm>
#include <map>
#include <string>

#include "compiler/llvm/emit_access.h"
#include "compiler/llvm/emit_ops.h"
#include "compiler/llvm/kernel_function.h"

namespace padlock::compiler {
namespace {

using ir::Expr;
using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

/// Emits one body: the loops of its walks, with what one chunk does.
class BodyEmitter {
 public:
  BodyEmitter(KernelContext& context, std::size_t index)
      : context_(context),
        index_(index),
        body_(context.schedule.bodies[index]),
        arguments_per_load_(context.checks_any_load(index) ? 4 : 2),
        run_(context.exprs()),
        builder_(context.module.getContext()),
        i64_(builder_.getInt64Ty()),
        function_(make_function(index)) {}

  llvm::Function* emit() {
    BasicBlock* entry = block("entry");
    BasicBlock* start = block("start");
    builder_.SetInsertPoint(entry);
    LaunchFields fields(builder_, function_->getArg(0), context_);
    AccessEmitter accesses(builder_, fields.fault);
    accesses_ = &accesses;
    ExprEmitter exprs(context_.exprs(), context_.widths, context_.sizes, entry, fields.sizes,
                      context_.schedule.threads.has_value());
    exprs_ = &exprs;
    set_outer_coordinates();
    load_buffers(fields);
    load_scalars(fields);
    builder_.CreateBr(start);
    builder_.SetInsertPoint(start);
    load_steps();
    emit_invariants();
    exprs_->set_coordinate(run_.begin, begin());
    exprs_->set_coordinate(run_.end, end());
    if (is_shared())
      emit_shared();
    else
      emit_loops();
    builder_.CreateRetVoid();
    return function_;
  }

 private:
  /// Whether a team of threads shares the run.
  [[nodiscard]] bool is_shared() const { return context_.schedule.threads.has_value(); }
  [[nodiscard]] unsigned fixed_arguments() const { return is_shared() ? 5 : 4; }

  llvm::Function* make_function(std::size_t index) {
    llvm::Type* pointer = builder_.getPtrTy(context_.target.global_space);
    std::vector<llvm::Type*> types = {builder_.getPtrTy(), i64_, i64_, i64_};
    if (is_shared()) types.push_back(i64_);
    for (std::size_t i = 0; i < body_.loads.size(); ++i) {
      types.insert(types.end(), {pointer, i64_});
      if (arguments_per_load_ == 4) types.insert(types.end(), {i64_, i64_});
    }
    if (body_.uses_rows) types.insert(types.end(), static_cast<std::size_t>(kernel().rank() - 1), i64_);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
    auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                            context_.abi.name + ".body" + std::to_string(index), context_.module);
    // A GPU's calls are dear; the host has registers for all that a body takes.
    function->setCallingConv(is_shared() ? llvm::CallingConv::C : llvm::CallingConv::Fast);
    function->addFnAttr(is_shared() ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    set_attributes(*function, context_.target);
    return function;
  }

  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  BasicBlock* block(const char* name) { return BasicBlock::Create(builder_.getContext(), name, function_); }
  Value* begin() { return function_->getArg(1); }
  Value* end() { return function_->getArg(2); }
  Value* row() { return function_->getArg(3); }
  Value* displaced(Value* value) {
    return displacement_ == 0 ? value : builder_.CreateAdd(value, count(displacement_));
  }
  Value* load_argument(int load, unsigned which) {
    return function_->getArg(fixed_arguments() + static_cast<unsigned>(load) * arguments_per_load_ + which);
  }

  void set_outer_coordinates() {
    if (!body_.uses_rows) return;
    const unsigned first = fixed_arguments() + static_cast<unsigned>(body_.loads.size()) * arguments_per_load_;
    for (int axis = 0; axis + 1 < kernel().rank(); ++axis)
      exprs_->set_coordinate(kernel().coordinate(axis), function_->getArg(first + static_cast<unsigned>(axis)));
  }

  void load_buffers(const LaunchFields& fields) {
    for (std::size_t i = 0; i < kernel().results.size(); ++i)
      outputs_.push_back(fields.buffer(builder_, context_.buffer_of_result(i)));
  }

  void load_scalars(const LaunchFields& fields) {
    for (const BodyNode& node : body_.nodes) {
      if (node.kind != NodeKind::scalar || scalars_.contains(node.scalar)) continue;
      Value* slot = builder_.CreateConstGEP1_64(i64_, fields.scalars, context_.index_of_scalar(node.scalar));
      scalars_[node.scalar] = builder_.CreateLoad(i64_, slot, "scalar");
    }
  }

  void load_steps() {
    for (const BodyLoad& load : body_.loads)
      steps_.push_back(load.kind == LoadKind::strided ? exprs_->address(builder_, load.step) : nullptr);
  }

  [[nodiscard]] bool is_invariant(const BodyNode& node) const {
    switch (node.kind) {
      case NodeKind::constant:
      case NodeKind::scalar:
        return true;
      case NodeKind::load:
        return body_.loads[static_cast<std::size_t>(node.load)].kind == LoadKind::invariant;
      case NodeKind::when:
        return false;
      case NodeKind::operation:
        return std::ranges::all_of(node.operands, [&](int o) { return invariant_[static_cast<std::size_t>(o)]; });
    }
    return false;
  }

  /// What does not depend on the innermost coordinate is computed once, as a scalar, and spread.
  void emit_invariants() {
    invariant_.resize(body_.nodes.size());
    scalar_values_.resize(body_.nodes.size());
    vector_values_.resize(body_.nodes.size());
    for (std::size_t i = 0; i < body_.nodes.size(); ++i) {
      const BodyNode& node = body_.nodes[i];
      invariant_[i] = is_invariant(node);
      if (!invariant_[i]) continue;
      scalar_values_[i] = emit_node(node, builder_.getInt64(0), 1, scalar_values_);
      if (body_.lanes > 1)
        vector_values_[i] = builder_.CreateVectorSplat(static_cast<unsigned>(body_.lanes), scalar_values_[i]);
    }
  }

  Value* emit_node(const BodyNode& node, Value* column, int lanes, const std::vector<Value*>& values) {
    OpEmitter ops(builder_, lanes, context_.target.f16c);
    std::vector<Value*> operands;
    for (const int operand : node.operands) operands.push_back(values[static_cast<std::size_t>(operand)]);
    switch (node.kind) {
      case NodeKind::constant:
        return ops.bits(node.dtype, node.bits);
      case NodeKind::scalar:
        return builder_.CreateTrunc(scalars_.at(node.scalar), ops.storage_type(node.dtype));
      case NodeKind::load:
        return emit_load(node.load, column, lanes);
      case NodeKind::when:
        return builder_.CreateSelect(emit_predicate(builder_, *exprs_, kernel().graph, node.guard), operands[0],
                                     operands[1]);
      case NodeKind::operation: {
        const std::size_t typed = node.op == ir::Op::select ? 1 : 0;
        const ir::DType dtype = body_.nodes[static_cast<std::size_t>(node.operands[typed])].dtype;
        return ops.emit(node.op, node.dtype, dtype, operands);
      }
    }
    return nullptr;
  }

  // --- loads -------------------------------------------------------------------------------------------------------

  Access access_of(int index, Value* first, Value* last, Value* guard = nullptr) {
    Access access{.pointer = load_argument(index, 0),
                  .dtype = body_.loads[static_cast<std::size_t>(index)].dtype,
                  .first = first,
                  .last = last,
                  .guard = guard,
                  .align = element_align(body_.loads[static_cast<std::size_t>(index)].dtype)};
    if (context_.checks_load(index_, static_cast<std::size_t>(index))) {
      access.name = load_argument(index, 2);
      access.extent = load_argument(index, 3);
    }
    return access;
  }

  /// Of the elements that a vector loads: aligned where the loop's are.
  Access vector_of(int index, Value* first, Value* last, int lanes) {
    Access access = access_of(index, first, last);
    if (aligned_loads_) access.align = static_cast<unsigned>(lanes * ir::byte_size(access.dtype));
    return access;
  }
  /// A launch on a GPU checks that pointers are multiples of the element size; the host takes any.
  [[nodiscard]] unsigned element_align(ir::DType dtype) const {
    return context_.target.aligned_elements ? static_cast<unsigned>(ir::byte_size(dtype)) : 1;
  }

  Value* emit_load(int index, Value* column, int lanes) {
    const BodyLoad& load = body_.loads[static_cast<std::size_t>(index)];
    llvm::Type* type = OpEmitter(builder_, lanes, context_.target.f16c).storage_type(load.dtype);
    Value* base = load_argument(index, 1);
    Value* last = count(lanes - 1);
    switch (load.kind) {
      case LoadKind::invariant:
        return accesses_->load(access_of(index, base, base), type);
      case LoadKind::contiguous: {
        Value* first = displaced(builder_.CreateAdd(base, column));
        if (lanes > 1 && is_shared() && !aligned_loads_) return emit_gather(index, type, first, count(1), lanes);
        return accesses_->load(vector_of(index, first, builder_.CreateAdd(first, last), lanes), type);
      }
      case LoadKind::reversed: {
        Value* at = builder_.CreateSub(base, column);
        if (lanes > 1 && is_shared() && !aligned_loads_)
          return emit_gather(index, type, builder_.CreateSub(at, count(displacement_)), builder_.getInt64(-1), lanes);
        Value* first = builder_.CreateSub(at, count(displacement_ + lanes - 1));
        Value* vector =
            accesses_->load(vector_of(index, first, builder_.CreateSub(at, count(displacement_)), lanes), type);
        return lanes == 1 ? vector : builder_.CreateVectorReverse(vector);
      }
      case LoadKind::strided:
        return emit_strided(index, type, column, lanes);
      case LoadKind::general: {
        Value* offset = exprs_->address(builder_, load.offset);
        Value* guard = load.guard == kAlways ? nullptr : emit_predicate(builder_, *exprs_, kernel().graph, load.guard);
        return accesses_->load(access_of(index, offset, offset, guard), type);
      }
    }
    return nullptr;
  }

  Value* emit_strided(int index, llvm::Type* type, Value* column, int lanes) {
    Value* step = steps_[static_cast<std::size_t>(index)];
    Value* offset = builder_.CreateAdd(load_argument(index, 1), builder_.CreateMul(displaced(column), step));
    if (lanes == 1) return accesses_->load(access_of(index, offset, offset), type);
    return emit_gather(index, type, offset, step, lanes);
  }

  /// A vector of elements `step` apart.
  Value* emit_gather(int index, llvm::Type* type, Value* offset, Value* step, int lanes) {
    Value* vector = llvm::PoisonValue::get(type);
    for (int lane = 0; lane < lanes; ++lane) {
      Value* element = accesses_->load(access_of(index, offset, offset), type->getScalarType());
      vector = builder_.CreateInsertElement(vector, element, static_cast<std::uint64_t>(lane));
      offset = builder_.CreateAdd(offset, step);
    }
    return vector;
  }

  // --- stores and loops --------------------------------------------------------------------------------------------

  Value* output_address(std::size_t result, Value* column) {
    return accesses_->address(outputs_[result], builder_.CreateAdd(row(), column), result_type(result));
  }
  [[nodiscard]] ir::DType result_type(std::size_t result) const {
    return kernel().program->value(kernel().results[result]).dtype;
  }
  [[nodiscard]] int result_bytes(std::size_t result) const { return ir::byte_size(result_type(result)); }

  /// All results at coordinates [column, column + lanes), moved by `displacement`. It is added last, where it becomes
  /// part of the instruction that loads or stores.
  void emit_chunk(Value* column, const ChunkLoop& loop, int displacement = 0) {
    store_chunk(column, loop, displacement, compute_chunk(column, loop.lanes, displacement));
  }

  std::vector<Value*> compute_chunk(Value* column, int lanes, int displacement) {
    std::vector<Value*> values = lanes == 1 ? scalar_values_ : vector_values_;
    displacement_ = displacement;
    exprs_->set_coordinate(kernel().coordinate(kernel().rank() - 1), displaced(column));
    for (std::size_t i = 0; i < body_.nodes.size(); ++i)
      if (!invariant_[i]) values[i] = emit_node(body_.nodes[i], column, lanes, values);
    return values;
  }

  void store_chunk(Value* column, const ChunkLoop& loop, int displacement, const std::vector<Value*>& values) {
    displacement_ = displacement;
    for (std::size_t result = 0; result < body_.roots.size(); ++result)
      emit_store(result, column, loop, values[static_cast<std::size_t>(body_.roots[result])]);
  }

  void emit_store(std::size_t result, Value* column, const ChunkLoop& loop, Value* value) {
    Value* first = displaced(builder_.CreateAdd(row(), column));
    Access access{.pointer = outputs_[result],
                  .dtype = result_type(result),
                  .first = first,
                  .last = builder_.CreateAdd(first, count(loop.lanes - 1)),
                  .align = element_align(result_type(result))};
    if (loop.aligned) access.align = static_cast<unsigned>(loop.lanes * result_bytes(result));
    if (context_.checks_stores(index_)) {
      // Results are dense even where the value is an input, returned, with strides of its own.
      const ir::Layout output = ir::Layout::dense(context_.exprs(), kernel().extents);
      access.name = builder_.getInt64(context_.buffer_of_result(result));
      access.extent = exprs_->exact(builder_, output.storage_extent());
    }
    accesses_->store(access, value, loop.nontemporal ? hint_of_target() : StoreHint::none);
  }

  /// A GPU's kernel that is made for this machine has the stores without the hint.
  [[nodiscard]] StoreHint hint_of_target() const {
    if (!is_shared()) return StoreHint::nontemporal;
    return context_.target.takes_words ? StoreHint::streaming : StoreHint::none;
  }

  void emit_loops() {
    BasicBlock* done = block("done");
    BasicBlock* elements = block("elements");
    std::vector<std::pair<Value*, BasicBlock*>> into_elements = {{begin(), builder_.GetInsertBlock()}};
    const std::vector<Walk>& walks = body_.walks;
    if (walks.size() > 1) {
      BasicBlock* vectors = block("vectors");
      builder_.CreateCondBr(hold(walks[1].tests), vectors, elements);
      builder_.SetInsertPoint(vectors);
      if (walks.size() > 2) into_elements.push_back(emit_streamed(walks[2], elements));
      exprs_->set_coordinate(run_.shift, misalignment(begin(), body_.lanes));
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

  Value* hold(const std::vector<Expr>& tests) {
    Value* all = builder_.getTrue();
    for (const Expr test : tests)
      all = builder_.CreateAnd(all, builder_.CreateICmpSGE(exprs_->exact(builder_, test), builder_.getInt64(0)));
    return all;
  }

  /// By how many elements the first result at `column` is past a boundary of `lanes` elements. (An address that is not
  /// a multiple of the element size never reaches one; then this is only a shift.)
  Value* misalignment(Value* column, int lanes) {
    const auto size = static_cast<std::uint64_t>(ir::byte_size(result_type(0)));
    Value* at = builder_.CreatePtrToInt(output_address(0, column), i64_);
    Value* past = builder_.CreateAnd(at, builder_.getInt64(static_cast<std::uint64_t>(lanes) * size - 1));
    return builder_.CreateUDiv(past, builder_.getInt64(size));
  }

  /// The streamed walk up to its last loop, which is that of the elements. Returns where it begins and from which
  /// block; the builder stands where nothing is streamed.
  std::pair<Value*, BasicBlock*> emit_streamed(const Walk& walk, BasicBlock* elements) {
    const ChunkLoop& lines = walk.loops[1];
    Value* left = builder_.CreateSub(count(walk.line), misalignment(begin(), walk.line));
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
    Value* aligned = stores_are_aligned(exprs_->exact(builder_, walk.loops[1].from));
    Value* pays = builder_.CreateAnd(aligned, hold(walk.tests));
    if (context_.schedule.store == StoreKind::nontemporal) return pays;
    Value* bytes = exprs_->exact(builder_, context_.exprs().mul(context_.abi.rows, context_.abi.row_bytes));
    return builder_.CreateAnd(pays, builder_.CreateICmpSGE(bytes, builder_.getInt64(kStreamedBytes)));
  }

  void emit_loop(const ChunkLoop& loop, Value* from) {
    if (loop.once) {
      emit_chunk(from, loop);
      return;
    }
    Value* last = loop.last.valid() ? exprs_->exact(builder_, loop.last) : nullptr;
    Value* limit = exprs_->exact(builder_, loop.limit);
    Value* reached = counted_loop(from, limit, loop.step(), [&](Value* column) {
      if (last != nullptr) column = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, column, last);
      for (int i = 0; i < loop.unroll; ++i) emit_chunk(column, loop, i * loop.lanes);
    });
    if (loop.reached.valid()) exprs_->set_coordinate(loop.reached, reached);
  }

  // --- a run that threads share ------------------------------------------------------------------------------------

  /// The walks of a team have their first and last loop in common, which are by elements: the run up to the first
  /// vector, or all of it where there is no vector or the output has no alignment.
  void emit_shared() {
    const std::vector<Walk>& walks = body_.walks;
    const ChunkLoop& elements = walks[0].loops.front();
    if (walks.size() == 1) return emit_shared_loop(elements, begin(), end());
    const int lanes = body_.lanes;
    exprs_->set_coordinate(run_.peel, builder_.CreateAnd(builder_.CreateSub(count(lanes), misalignment(begin(), lanes)),
                                                         count(lanes - 1)));
    Value* first = exprs_->exact(builder_, walks[1].loops[1].from);
    Value* vectors = builder_.CreateAnd(hold(walks[1].tests), stores_are_aligned(first));
    emit_shared_loop(elements, begin(), builder_.CreateSelect(vectors, first, end()));
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* any = block("vectors");
    BasicBlock* after = block("tail");
    builder_.CreateCondBr(vectors, any, after);
    builder_.SetInsertPoint(any);
    Value* rest = nullptr;
    if (walks.size() > 2) {
      BasicBlock* aligned = block("aligned");
      BasicBlock* narrow = block("narrow");
      BasicBlock* merge = block("merge");
      builder_.CreateCondBr(loads_are_aligned(first), aligned, narrow);
      llvm::SmallVector<std::pair<Value*, BasicBlock*>, 2> ends;
      for (const auto& [walk, place] : {std::pair(&walks[2], aligned), std::pair(&walks[1], narrow)}) {
        builder_.SetInsertPoint(place);
        Value* reached = emit_vectors(*walk);
        ends.emplace_back(reached, builder_.GetInsertBlock());
        builder_.CreateBr(merge);
      }
      builder_.SetInsertPoint(merge);
      rest = phi_of(ends);
    } else {
      rest = emit_vectors(walks[1]);
    }
    BasicBlock* from = builder_.GetInsertBlock();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
    emit_shared_loop(elements, phi_of({{rest, from}, {end(), before}}), end());
  }

  Value* phi_of(llvm::ArrayRef<std::pair<Value*, BasicBlock*>> incoming) {
    llvm::PHINode* phi = builder_.CreatePHI(i64_, static_cast<unsigned>(incoming.size()));
    for (const auto& [value, from] : incoming) phi->addIncoming(value, from);
    return phi;
  }

  /// The loops between the first and the last. Returns where they end.
  Value* emit_vectors(const Walk& walk) {
    Value* reached = nullptr;
    for (std::size_t i = 1; i + 1 < walk.loops.size(); ++i) {
      const ChunkLoop& loop = walk.loops[i];
      aligned_loads_ = loop.aligned_loads;
      emit_shared_loop(loop, exprs_->exact(builder_, loop.from), exprs_->exact(builder_, loop.limit));
      aligned_loads_ = false;
      reached = exprs_->exact(builder_, end_of(context_.exprs(), loop));
      exprs_->set_coordinate(loop.reached, reached);
    }
    return reached;
  }

  /// This thread's chunks of a loop. Where a trip has several, all that they read is read before they are stored, so
  /// that much of it is on its way at once.
  void emit_shared_loop(const ChunkLoop& loop, Value* from, Value* limit) {
    Value* offset = builder_.CreateMul(function_->getArg(4), count(loop.lanes));
    const int stride = loop.lanes * loop.team;
    const int chunks = loop.dealt ? 1 : loop.unroll;
    // Trips that a team makes together are counted by where they begin; dealt ones by where the chunk does.
    Value* start = loop.dealt ? builder_.CreateAdd(from, offset) : from;
    counted_loop(start, limit, stride * chunks, [&](Value* column) {
      if (!loop.dealt) column = builder_.CreateAdd(column, offset);
      std::vector<std::vector<Value*>> values;
      for (int i = 0; i < chunks; ++i) values.push_back(compute_chunk(column, loop.lanes, i * stride));
      for (int i = 0; i < chunks; ++i) store_chunk(column, loop, i * stride, values[static_cast<std::size_t>(i)]);
    });
  }

  /// Whether these addresses are multiples of their vectors' sizes.
  Value* are_aligned(llvm::ArrayRef<std::pair<Value*, int>> addresses) {
    Value* bits = builder_.getInt64(0);
    for (const auto& [address, bytes] : addresses) {
      Value* at = builder_.CreatePtrToInt(address, i64_);
      bits = builder_.CreateOr(bits, builder_.CreateAnd(at, count(bytes - 1)));
    }
    return builder_.CreateICmpEQ(bits, builder_.getInt64(0));
  }

  Value* stores_are_aligned(Value* column) {
    std::vector<std::pair<Value*, int>> addresses;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      addresses.emplace_back(output_address(i, column), body_.lanes * result_bytes(i));
    return are_aligned(addresses);
  }

  Value* loads_are_aligned(Value* column) {
    std::vector<std::pair<Value*, int>> addresses;
    for (std::size_t i = 0; i < body_.loads.size(); ++i) {
      const BodyLoad& load = body_.loads[i];
      if (!is_vector(load)) continue;
      const int index = static_cast<int>(i);
      Value* base = load_argument(index, 1);
      Value* first = load.kind == LoadKind::contiguous
                         ? builder_.CreateAdd(base, column)
                         : builder_.CreateSub(builder_.CreateSub(base, column), count(body_.lanes - 1));
      addresses.emplace_back(accesses_->address(load_argument(index, 0), first, load.dtype),
                             body_.lanes * ir::byte_size(load.dtype));
    }
    return are_aligned(addresses);
  }

  // -----------------------------------------------------------------------------------------------------------------

  /// for (column = from; column < limit; column += step), tested at the bottom. Returns the column where it ends.
  template <class Trip>
  Value* counted_loop(Value* from, Value* limit, int step, Trip&& trip) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* inside = block("loop");
    BasicBlock* exit = block("exit");
    builder_.CreateCondBr(builder_.CreateICmpSLT(from, limit), inside, exit);
    builder_.SetInsertPoint(inside);
    llvm::PHINode* column = builder_.CreatePHI(i64_, 2, "column");
    column->addIncoming(from, before);
    trip(column);
    Value* next = builder_.CreateAdd(column, count(step));
    BasicBlock* from_loop = builder_.GetInsertBlock();
    column->addIncoming(next, from_loop);
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, limit), inside, exit);
    builder_.SetInsertPoint(exit);
    llvm::PHINode* reached = builder_.CreatePHI(i64_, 2);
    reached->addIncoming(from, before);
    reached->addIncoming(next, from_loop);
    return reached;
  }

  [[nodiscard]] llvm::ConstantInt* count(int elements) {
    return builder_.getInt64(static_cast<std::uint64_t>(elements));
  }

  // Outputs from this size on go past the caches under store=automatic: they would not fit them.
  static constexpr std::uint64_t kStreamedBytes = std::uint64_t{32} << 20;

  KernelContext& context_;
  std::size_t index_;
  const Body& body_;
  unsigned arguments_per_load_;  // tensor and base, and where one of them is checked its name and extent
  RunVariables run_;
  IRBuilder<> builder_;
  llvm::Type* i64_;
  llvm::Function* function_;
  ExprEmitter* exprs_ = nullptr;
  AccessEmitter* accesses_ = nullptr;
  int displacement_ = 0;        // of the chunk that is being emitted
  bool aligned_loads_ = false;  // of the loop that is being emitted
  std::vector<Value*> outputs_;
  std::map<ir::ValueId, Value*> scalars_;
  std::vector<Value*> steps_;
  std::vector<bool> invariant_;
  std::vector<Value*> scalar_values_, vector_values_;  // of invariant nodes
};

}  // namespace

llvm::Function* emit_body(KernelContext& context, std::size_t index) { return BodyEmitter(context, index).emit(); }

}  // namespace padlock::compiler
