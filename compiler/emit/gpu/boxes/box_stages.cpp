#include "compiler/emit/gpu/boxes/box_stages.h"

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

/// The block's first thread starts a copy for each stage. A stage of which no vector is all in the tensor's storage may
/// have ends before its first.
void BoxStages::copy_in_bulk() {
  vector_.when(builder_.CreateICmpEQ(thread_, vector_.context.index(0)), [&] {
    std::vector<BulkCopy> copies;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const StagedRun& run = runs_[i];
      const Copied& copied = copied_[i];
      Value* size = vector_.context.index(ir::byte_size(run.dtype));
      Value* elements = builder_.CreateSub(copied.vectors_end, copied.vectors);
      elements = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, elements, vector_.context.index(0));
      Value* first = builder_.CreateAdd(run.origin, copied.vectors);
      copies.push_back({.from = global_access(vector_, run, first, kStageVectorBytes / ir::byte_size(run.dtype)),
                        .to = builder_.CreateAdd(run.place, builder_.CreateMul(copied.vectors, size)),
                        .bytes = builder_.CreateMul(elements, size, "copied")});
    }
    bulk_.start(copies);
  });
}

void BoxStages::wait() {
  if (in_bulk()) bulk_.wait();
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
