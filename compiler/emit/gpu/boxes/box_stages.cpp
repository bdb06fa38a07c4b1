#include "compiler/emit/gpu/boxes/box_stages.h"

#include <string>

#include <llvm/IR/InlineAsm.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

/// Vectors that a thread has in flight.
constexpr int kOnTheirWay = 4;

}  // namespace

/// Adds the byte of element 0, so that loops add no more to it than an element. LLVM would add its terms again in each
/// turn, and ptxas would ask again where shared memory begins. (A turned stage has no such terms, and its code no
/// register to spare.)
void BoxStages::add_run(StagedRun run) {
  Value* bytes = builder_.CreateMul(run.origin, builder_.getInt32(static_cast<unsigned>(ir::byte_size(run.dtype))));
  run.zero = builder_.CreateSub(run.place, bytes);
  if (!memory_.has_stamps() && !llvm::isa<llvm::ConstantInt>(run.origin)) {
    llvm::Type* i32 = builder_.getInt32Ty();
    auto* type = llvm::FunctionType::get(i32, {i32}, false);
    auto* same = llvm::InlineAsm::get(type, "mov.b32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
    run.zero = builder_.CreateCall(same, {run.zero});
  }
  runs_.push_back(run);
}

/// All of a run is copied in vectors. The exceptions are at its ends: elements of a vector that is not all in the
/// tensor's storage.
void BoxStages::locate() {
  const Boxes& boxes = *vector_.schedule().boxes();
  ir::ExprContext& exprs = vector_.context.exprs();
  const auto launched = [&](Expr e) { return at_launch(exprs, boxes, e); };
  llvm::Type* i32 = builder_.getInt32Ty();
  for (const BoxStage& stage : boxes.stages) {
    const ir::Value& tensor = vector_.schedule().kernel.program->value(stage.tensor);
    const auto size = static_cast<std::uint64_t>(ir::byte_size(tensor.dtype));
    const std::uint32_t lanes = kStageVectorBytes / static_cast<std::uint32_t>(size);
    const std::size_t buffer = vector_.context.buffer_of_input(stage.tensor);
    StagedRun run{.tensor = vector_.fields.buffer(builder_, buffer), .dtype = tensor.dtype};
    Value* place = builder_.CreateAdd(memory_.first(), builder_.getInt32(kStageMargin));
    run.place = builder_.CreateAdd(vector_.exprs.exact(builder_, launched(stage.place)), place);
    // Asks for the extent only where it is used: a kernel takes no unused size.
    if (!stage.turn || stage.turn->lanes > 1 || vector_.context.bounds_check)
      run.storage = vector_.exprs.word(tensor.layout.storage_extent());
    run.name = builder_.getInt64(buffer);
    if (stage.turn) {
      run.origin = builder_.getInt32(0);
      add_run(run);
      continue;
    }
    Value* elements = vector_.exprs.address(builder_, launched(stage.elements));
    Value* columns = vector_.exprs.exact(builder_, launched(stage.columns));
    Value* some = builder_.CreateAnd(builder_.CreateICmpSGT(columns, builder_.getInt32(0)),
                                     builder_.CreateICmpSGT(elements, builder_.getInt32(0)));
    elements = builder_.CreateSelect(some, elements, builder_.getInt32(0));
    Value* first = vector_.exprs.address(builder_, launched(stage.first));
    first = builder_.CreateSelect(some, first, builder_.getInt32(0));
    Value* address =
        builder_.CreateUDiv(builder_.CreatePtrToInt(run.tensor, builder_.getInt64Ty()), builder_.getInt64(size));
    Value* shift =
        builder_.CreateAnd(builder_.CreateAdd(builder_.CreateTrunc(address, i32), first), builder_.getInt32(lanes - 1));
    run.origin = builder_.CreateSub(first, shift);
    Copied copied{.begin = shift, .end = builder_.CreateAdd(shift, elements)};
    Value* all = builder_.CreateAnd(builder_.CreateAdd(copied.end, builder_.getInt32(lanes - 1)),
                                    builder_.getInt32(~(lanes - 1)));
    Value* begins = builder_.CreateICmpSGE(run.origin, builder_.getInt32(0));
    Value* storage = builder_.CreateTrunc(run.storage, i32);
    Value* ends = builder_.CreateICmpSLE(builder_.CreateAdd(run.origin, all), storage);
    copied.vectors = builder_.CreateSelect(begins, builder_.getInt32(0), builder_.getInt32(lanes));
    copied.vectors_end = builder_.CreateSelect(ends, all, builder_.CreateSub(all, builder_.getInt32(lanes)));
    copied.vectors_end = builder_.CreateSelect(some, copied.vectors_end, builder_.getInt32(0));
    add_run(run);
    copied_.push_back(copied);
  }
}

Access global_access(const VectorContext& vector, const StagedRun& run, Value* element, int elements) {
  Access access{.pointer = run.tensor, .dtype = run.dtype, .first = element, .elements = elements};
  if (vector.context.target.aligned_elements) access.align = static_cast<unsigned>(elements * ir::byte_size(run.dtype));
  if (!vector.context.bounds_check) return access;
  access.extent = run.storage;
  access.name = run.name;
  return access;
}

void BoxStages::copy() {
  if (in_bulk()) copy_in_bulk();
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    const StagedRun& run = runs_[i];
    const Copied& copied = copied_[i];
    if (!in_bulk()) copy_vectors(run, copied);
    const auto least = [&](Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); };
    const auto most = [&](Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); };
    copy_elements(run, copied.begin, least(copied.vectors, copied.end));
    copy_elements(run, most(most(copied.vectors, copied.vectors_end), copied.begin), copied.end);
  }
}

/// Emits PTX with operands in shared memory (i32 addresses) and in global memory (i64 addresses).
void BoxStages::emit_ptx(const char* code, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<llvm::Type*, 4> types;
  std::string constraints;
  for (Value* operand : operands) {
    types.push_back(operand->getType());
    constraints += operand->getType()->isIntegerTy(64) ? "l," : "r,";
  }
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(type, code, constraints + "~{memory}", /*hasSideEffects=*/true), operands);
}

/// The block's first thread starts a copy for each stage. It also tells the barrier at the beginning of shared memory
/// how many bytes to wait for. (PTX ISA, cp.async.bulk, and mbarrier.)
void BoxStages::copy_in_bulk() {
  vector_.when(builder_.CreateICmpEQ(thread_, vector_.context.index(0)), [&] {
    Value* barrier = memory_.first();
    emit_ptx("mbarrier.init.shared::cta.b64 [$0], 1;", {barrier});
    emit_ptx("fence.mbarrier_init.release.cluster;", {});
    std::vector<Value*> bytes;
    Value* all = builder_.getInt32(0);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Value* vectors = builder_.CreateSub(copied_[i].vectors_end, copied_[i].vectors);
      Value* some = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, vectors, vector_.context.index(0));
      bytes.push_back(builder_.CreateMul(some, vector_.context.index(ir::byte_size(runs_[i].dtype))));
      all = builder_.CreateAdd(all, bytes.back());
    }
    emit_ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {barrier, all});
    for (std::size_t i = 0; i < runs_.size(); ++i)
      vector_.when(builder_.CreateICmpSGT(bytes[i], builder_.getInt32(0)), [&] {
        const StagedRun& run = runs_[i];
        Value* first = builder_.CreateAdd(run.origin, copied_[i].vectors);
        Value* from = accesses_.address({.pointer = run.tensor, .dtype = run.dtype, .first = first});
        Value* after = builder_.CreateMul(copied_[i].vectors, vector_.context.index(ir::byte_size(run.dtype)));
        emit_ptx("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
                 {builder_.CreateAdd(run.place, after), builder_.CreatePtrToInt(from, builder_.getInt64Ty()), bytes[i],
                  barrier});
      });
  });
}

void BoxStages::wait() {
  if (!in_bulk()) return;
  emit_ptx("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], 0; @!done bra again; }",
           {memory_.first()});
}

/// Loads some vectors before it stores the first.
void BoxStages::copy_vectors(const StagedRun& run, const Copied& copied) {
  const int lanes = kStageVectorBytes / ir::byte_size(run.dtype);
  const int threads = vector_.schedule().boxes()->threads;
  llvm::Type* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), kStageVectorBytes / 4);
  Value* first = builder_.CreateAdd(copied.vectors, builder_.CreateMul(thread_, vector_.context.index(lanes)));
  const std::int64_t step = std::int64_t{threads} * lanes;
  counted_loop(builder_, first, copied.vectors_end, kOnTheirWay * step, [&](Value* at) {
    std::vector<Value*> loaded, taken, places;
    for (int i = 0; i < kOnTheirWay; ++i) {
      Value* place = builder_.CreateAdd(at, vector_.context.index(i * step));
      Access access = global_access(vector_, run, builder_.CreateAdd(run.origin, place), lanes);
      taken.push_back(builder_.CreateICmpSLT(place, copied.vectors_end));
      if (i > 0) access.guard = taken.back();
      loaded.push_back(accesses_.load(access, type));
      places.push_back(place);
    }
    for (std::size_t i = 0; i < loaded.size(); ++i)
      vector_.when(taken[i], [&] {
        Value* bytes = builder_.CreateMul(places[i], vector_.context.index(ir::byte_size(run.dtype)));
        memory_.store(builder_.CreateAdd(run.place, bytes), loaded[i]);
      });
  });
}

/// Copies fewer elements than a vector has: one per thread.
void BoxStages::copy_elements(const StagedRun& run, Value* first, Value* end) {
  Value* at = builder_.CreateAdd(first, thread_);
  vector_.when(builder_.CreateICmpSLT(at, end), [&] {
    llvm::Type* type = builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(run.dtype)));
    Value* value = accesses_.load(global_access(vector_, run, builder_.CreateAdd(run.origin, at), 1), type);
    Value* bytes = builder_.CreateMul(at, vector_.context.index(ir::byte_size(run.dtype)));
    memory_.store(builder_.CreateAdd(run.place, bytes), value);
  });
}

}  // namespace padlock::compiler
