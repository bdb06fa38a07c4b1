#include "compiler/emit/host/row_chunks/chunk_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "compiler/emit/host/row_chunks/vector_permute.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

using llvm::PHINode;

RowChunkPlan::RowChunkPlan(const Kernel& kernel, const RowChunks& chunks, const TargetFeatures& target) {
  ir::ExprContext& exprs = kernel.exprs();
  const auto add_guard = [&](PredicateId guard) {
    if (std::ranges::find(guards, guard) == guards.end()) guards.push_back(guard);
  };
  for (const BodyNode& node : chunks.body.nodes)
    if (node.kind == NodeKind::when) add_guard(node.guard);
  selections = guards.size();
  for (const BodyLoad& load : chunks.body.loads) add_guard(load.guard);
  choose_marks(kernel, chunks, target);
  bytes = exprs.constant(static_cast<Int128>(lowest(chunks.body.loads.size())));
  const Expr line = exprs.constant(abi::kPlanAlignment);
  const auto table = [&](Expr entries, int entry_bytes) {
    const Table made{.offset = exprs.mul(exprs.ceildiv(bytes, line), line), .bytes = entry_bytes};
    bytes = exprs.add(made.offset, exprs.mul(entries, exprs.constant(entry_bytes)));
    return made;
  };
  const int lanes = chunks.loop.lanes;
  const Expr vectors = exprs.add(chunks.loop.vectors, exprs.constant(1));
  // 1 where a plan is made, else 0.
  const Expr some = exprs.min(chunks.loop.vectors, exprs.constant(1));
  const Expr columns = exprs.mul(some, exprs.add(kernel.extents.back(), exprs.constant(1)));
  positions = table(vectors, 8);
  run_begins = table(columns, 8);
  for (const BodyLoad& load : chunks.body.loads) {
    starts.push_back(table(vectors, 8));
    indices.push_back(table(vectors, lanes * ir::byte_size(load.dtype)));
    column_sources.push_back(table(columns, 8));
    run_steps.push_back(table(columns, 8));
  }
  for (std::size_t i = 0; i < selections; ++i) masks.push_back(table(vectors, target.mask_registers ? 8 : lanes));
  for (std::size_t i = 0; i < guards.size(); ++i) column_holds.push_back(table(columns, 1));
  bytes = exprs.mul(some, bytes);
}

void RowChunkPlan::choose_marks(const Kernel& kernel, const RowChunks& chunks, const TargetFeatures& target) {
  marks.resize(chunks.body.loads.size());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const int size = ir::byte_size(chunks.body.loads[i].dtype);
    // (Registers hold masks of short rows.)
    if (chunks.axes == 1 && target.mask_registers) continue;
    if (!VectorPermute::pays_to_mark(target.architecture, chunks.loop.lanes, size, target.mask_registers)) continue;
    for (std::size_t selection = 0; selection < selections && !marks[i]; ++selection) {
      const auto needed = kernel.graph.conditions_of(chunks.body.loads[i].guard);
      const auto tested = kernel.graph.conditions_of(guards[selection]);
      if (!marked_load(selection) && std::ranges::includes(needed, tested)) marks[i] = selection;
    }
  }
}

std::optional<std::size_t> RowChunkPlan::marked_load(std::size_t selection) const {
  const auto at = std::ranges::find(marks, std::optional(selection));
  return at == marks.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - marks.begin()));
}

std::size_t RowChunkPlan::guard_index(PredicateId guard) const {
  return static_cast<std::size_t>(std::ranges::find(guards, guard) - guards.begin());
}

namespace {

// A number beyond any offset, such that a difference of two such numbers fits.
constexpr std::int64_t kNone = std::int64_t{1} << 61;
constexpr int kLineBits = 6;  // of a cache line's bytes, 64

/// Emits the planner. It first finds what columns take, and runs of columns. Then, row by row, it places each part of a
/// run that fits the rest of a vector.
class ChunkPlanEmitter : private FunctionEmitter {
 public:
  ChunkPlanEmitter(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan)
      : FunctionEmitter(context, make_function(context)),
        chunks_(chunks),
        plan_(plan),
        memory_(scope_.fields.plan),
        rows_(context, builder_, exprs_),
        columns_(exprs_.exact(builder_, kernel().extents.back())),
        room_(exprs_.exact(builder_, chunks.loop.vectors)),
        is_streamed_(chunks.loop.streams ? emit_is_nontemporal(context, builder_, exprs_) : builder_.getFalse()) {}

  void emit() {
    store_word(RowChunkPlan::vectors(), index(0));
    store_word(RowChunkPlan::streams(), index(0));
    emit_if(builder_, builder_.CreateICmpSGT(room_, index(0)), [&] {
      tabulate_columns();
      Value* runs = find_runs();
      const Expr rows = chunks_.rows(kernel());
      Value* units = choose_units();
      store_word(RowChunkPlan::units(), units);
      Fill fill = fold(units, start(), [&](Value* unit, const Fill& before) {
        return fold(exprs_.exact(builder_, rows), before, [&](Value* row, const Fill& so_far) {
          const UnitRow here = row_at(unit, row);
          return fold(runs, so_far, [&](Value* run, const Fill& last) { return place(here, run, last); });
        });
      });
      emit_if(builder_, builder_.CreateNot(fill.failed), [&] { finish(fill); });
    });
    scope_.end();
  }

 private:
  static llvm::Function* make_function(KernelContext& context) {
    llvm::LLVMContext& llvm = context.module.getContext();
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(llvm), {llvm::PointerType::get(llvm, 0)}, false);
    auto* made =
        llvm::Function::Create(type, llvm::Function::ExternalLinkage, planner_name(context.abi), context.module);
    made->addFnAttr(kSelectsByGraph);
    set_attributes(*made, context.target);
    return made;
  }

  /// The state of the vector that is being filled. For each load: the least and the last element of its window. For
  /// each selection: the bits of its lanes.
  struct Fill {
    Value *vector, *filled, *element, *full, *failed;
    std::vector<Value*> low, high, bits;

    template <class Visit>
    void for_each(Visit&& visit) {
      for (Value** value : {&vector, &filled, &element, &full, &failed}) visit(*value);
      for (std::vector<Value*>* values : {&low, &high, &bits})
        for (Value*& value : *values) visit(value);
    }
  };
  /// A row of a unit: each load's element without the column's part, and which guards hold by their other conditions.
  struct UnitRow {
    std::vector<Value*> sources, holds;
  };

  [[nodiscard]] std::size_t loads() const { return chunks_.body.loads.size(); }
  [[nodiscard]] int lanes() const { return chunks_.loop.lanes; }
  /// Returns bytes of a result that streamed chunks have a multiple of: whole lines and whole trips.
  [[nodiscard]] unsigned streamed_bytes() const {
    const int trip = lanes() * chunks_.loop.narrowest * RowChunkPlan::vectors_of_trip(chunks_);
    return std::bit_ceil(static_cast<unsigned>(std::max(trip, 1 << kLineBits)));
  }
  [[nodiscard]] bool has_bits() const { return context_.target.mask_registers; }
  Value* at_word(std::size_t offset) { return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), memory_, offset); }
  Value* load_word(std::size_t offset) { return builder_.CreateLoad(i64_, at_word(offset)); }
  void store_word(std::size_t offset, Value* value) { builder_.CreateStore(value, at_word(offset)); }
  Value* entry(const RowChunkPlan::Table& table, Value* number) {
    Value* begin = builder_.CreateGEP(builder_.getInt8Ty(), memory_, exprs_.exact(builder_, table.offset));
    return builder_.CreateGEP(builder_.getInt8Ty(), begin, builder_.CreateMul(number, index(table.bytes)));
  }
  Value* load_entry(const RowChunkPlan::Table& table, Value* number, llvm::Type* type = nullptr) {
    return builder_.CreateAlignedLoad(type == nullptr ? i64_ : type, entry(table, number), llvm::Align(1));
  }
  void store_entry(const RowChunkPlan::Table& table, Value* number, Value* value) {
    builder_.CreateAlignedStore(value, entry(table, number), llvm::Align(1));
  }
  llvm::IntegerType* element_type(std::size_t load) {
    return builder_.getIntNTy(8 * static_cast<unsigned>(ir::byte_size(chunks_.body.loads[load].dtype)));
  }
  llvm::FixedVectorType* vector_of(llvm::Type* element) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes()));
  }
  [[nodiscard]] llvm::Constant* iota(llvm::Type* element) const {
    std::vector<llvm::Constant*> numbers;
    for (int lane = 0; lane < lanes(); ++lane)
      numbers.push_back(llvm::ConstantInt::get(element, static_cast<std::uint64_t>(lane)));
    return llvm::ConstantVector::get(numbers);
  }

  Fill start() {
    Fill fill{.vector = index(0),
              .filled = index(0),
              .element = index(0),
              .full = builder_.getTrue(),
              .failed = builder_.getFalse(),
              .low = std::vector<Value*>(loads(), index(kNone)),
              .high = std::vector<Value*>(loads(), index(-kNone)),
              .bits = {}};
    if (has_bits()) fill.bits.assign(plan_.selections, index(0));
    return fill;
  }

  /// Emits: for (i = 0; i < count; ++i) fill = trip(i, fill). Precondition: count > 0.
  template <class Trip>
  Fill fold(Value* count, Fill fill, Trip&& trip) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* inside = block("fold");
    BasicBlock* after = block("folded");
    builder_.CreateBr(inside);
    builder_.SetInsertPoint(inside);
    PHINode* number = phi(index(0), before);
    std::vector<PHINode*> phis;
    fill.for_each([&](Value*& value) {
      phis.push_back(phi(value, before));
      value = phis.back();
    });
    fill = trip(number, fill);
    Value* next = builder_.CreateAdd(number, index(1));
    BasicBlock* last = builder_.GetInsertBlock();
    number->addIncoming(next, last);
    std::size_t i = 0;
    fill.for_each([&](Value*& value) { phis[i++]->addIncoming(value, last); });
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, count), inside, after);
    builder_.SetInsertPoint(after);
    return fill;
  }
  PHINode* phi(Value* first, BasicBlock* before) {
    PHINode* made = builder_.CreatePHI(first->getType(), 2);
    made->addIncoming(first, before);
    return made;
  }

  /// Emits the number of units in a chunk.
  Value* choose_units() {
    const RowChunkLoop& loop = chunks_.loop;
    Value* unit = exprs_.exact(builder_, loop.unit);
    // Bytes that a chunk is to have a multiple of, as a power of two, and the most elements of such a chunk.
    Value* least = builder_.CreateSelect(is_streamed_, index(std::countr_zero(streamed_bytes())), index(kLineBits));
    Value* most =
        builder_.CreateSelect(is_streamed_, index(loop.most_streamed_elements), index(loop.most_line_elements));
    const auto quotient = [&](Value* a, Value* b) {  // rounded up
      return builder_.CreateUDiv(builder_.CreateAdd(a, builder_.CreateSub(b, index(1))), b);
    };
    Value* few = quotient(index(loop.least_elements), unit);
    // The least number of units whose bytes are whole lines: a power of two.
    Value* bytes = builder_.CreateMul(unit, index(loop.narrowest));
    Value* zeros = builder_.CreateIntrinsic(llvm::Intrinsic::cttz, {i64_}, {bytes, builder_.getTrue()});
    Value* lines = builder_.CreateShl(index(1), larger(builder_.CreateSub(least, zeros), index(0)));
    Value* whole = builder_.CreateMul(lines, quotient(few, lines));
    Value* fits = builder_.CreateICmpSLE(builder_.CreateMul(whole, unit), most);
    Value* all = exprs_.exact(builder_, kernel().extent(chunks_.unit_axis(kernel())));
    return smaller(builder_.CreateSelect(fits, whole, few), all);
  }

  /// Emits whether a predicate's conditions on the column hold, or its other conditions.
  Value* holds(PredicateId predicate, bool of_column) {
    std::vector<ConditionId> some;
    for (const ConditionId id : kernel().graph.conditions_of(predicate))
      if (mentions(kernel().graph.condition(id).expr, kernel().column()) == of_column) some.push_back(id);
    return emit_conditions(builder_, exprs_, kernel().graph, some);
  }

  void tabulate_columns() {
    counted_loop(builder_, index(0), columns_, 1, [&](Value* column) {
      exprs_.set_coordinate(kernel().column(), column);
      for (std::size_t i = 0; i < loads(); ++i)
        store_entry(plan_.column_sources[i], column, exprs_.address(builder_, chunks_.offsets[i].column));
      for (std::size_t i = 0; i < plan_.guards.size(); ++i)
        store_entry(plan_.column_holds[i], column,
                    builder_.CreateZExt(holds(plan_.guards[i], /*of_column=*/true), builder_.getInt8Ty()));
    });
  }

  Value* column_holds(std::size_t guard, Value* column) {
    return builder_.CreateTrunc(load_entry(plan_.column_holds[guard], column, builder_.getInt8Ty()),
                                builder_.getInt1Ty());
  }
  [[nodiscard]] std::size_t guard_of(std::size_t load) const {
    return plan_.guard_index(chunks_.body.loads[load].guard);
  }

  /// Emits the runs of columns. A column continues the previous column's run if the same conditions hold and each load
  /// goes on as in the rest of the run. A load goes on to the next element, the one before or the same. Returns the
  /// number of runs.
  Value* find_runs() {
    store_word(RowChunkPlan::runs(), index(0));
    begin_run(index(0), index(0));
    counted_loop(builder_, index(0), builder_.CreateSub(columns_, index(1)), 1,
                 [&](Value* column) { go_on_with_run(column, builder_.CreateAdd(column, index(1))); });
    Value* runs = builder_.CreateAdd(load_word(RowChunkPlan::runs()), index(1));
    store_entry(plan_.run_begins, runs, columns_);
    return runs;
  }
  void begin_run(Value* run, Value* column) {
    store_entry(plan_.run_begins, run, column);
    for (const RowChunkPlan::Table& steps : plan_.run_steps) store_entry(steps, run, index(0));
  }
  void go_on_with_run(Value* last, Value* column) {
    Value* run = load_word(RowChunkPlan::runs());
    Value* is_second = builder_.CreateICmpEQ(last, load_entry(plan_.run_begins, run));
    Value* goes_on = builder_.getTrue();
    const auto require = [&](Value* holds) { goes_on = builder_.CreateAnd(goes_on, holds); };
    for (std::size_t i = 0; i < plan_.guards.size(); ++i)
      require(builder_.CreateICmpEQ(column_holds(i, last), column_holds(i, column)));
    std::vector<Value*> steps;
    for (std::size_t i = 0; i < loads(); ++i) {
      Value* known = load_entry(plan_.run_steps[i], run);
      Value* step =
          builder_.CreateSub(load_entry(plan_.column_sources[i], column), load_entry(plan_.column_sources[i], last));
      Value* is_near = builder_.CreateICmpULE(builder_.CreateAdd(step, index(1)), index(2));
      Value* fits = builder_.CreateSelect(is_second, is_near, builder_.CreateICmpEQ(step, known));
      Value* is_used = column_holds(guard_of(i), column);
      require(builder_.CreateOr(fits, builder_.CreateNot(is_used)));
      steps.push_back(builder_.CreateSelect(builder_.CreateAnd(is_second, is_used), step, known));
    }
    Value* next = builder_.CreateAdd(run, index(1));
    begin_run(next, column);  // overwritten unless the column begins a run
    for (std::size_t i = 0; i < loads(); ++i)
      store_entry(plan_.run_steps[i], run,
                  builder_.CreateSelect(goes_on, steps[i], load_entry(plan_.run_steps[i], run)));
    store_word(RowChunkPlan::runs(), builder_.CreateSelect(goes_on, run, next));
  }

  UnitRow row_at(Value* unit, Value* row) {
    const std::vector<int> axes = chunks_.row_axes(kernel());
    const std::vector<Value*> coordinates = rows_.unflatten(row, axes);
    for (std::size_t i = 0; i < axes.size(); ++i) exprs_.set_coordinate(kernel().coordinate(axes[i]), coordinates[i]);
    UnitRow here;
    for (std::size_t i = 0; i < loads(); ++i) {
      Value* moved = builder_.CreateMul(exprs_.address(builder_, chunks_.sources[i].step), unit);
      here.sources.push_back(builder_.CreateAdd(moved, exprs_.address(builder_, chunks_.offsets[i].row)));
    }
    for (const PredicateId guard : plan_.guards) here.holds.push_back(holds(guard, /*of_column=*/false));
    return here;
  }

  /// Gives the elements of a run their lanes.
  Fill place(const UnitRow& row, Value* run, Fill fill) {
    Value* column = load_entry(plan_.run_begins, run);
    Value* length = builder_.CreateSub(load_entry(plan_.run_begins, builder_.CreateAdd(run, index(1))), column);
    UnitRow part;
    for (std::size_t i = 0; i < loads(); ++i)
      part.sources.push_back(builder_.CreateAdd(row.sources[i], load_entry(plan_.column_sources[i], column)));
    for (std::size_t i = 0; i < plan_.guards.size(); ++i)
      part.holds.push_back(builder_.CreateAnd(row.holds[i], column_holds(i, column)));
    std::vector<Value*> steps;
    for (std::size_t i = 0; i < loads(); ++i) steps.push_back(load_entry(plan_.run_steps[i], run));
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* inside = block("part");
    BasicBlock* after = block("placed");
    builder_.CreateBr(inside);
    builder_.SetInsertPoint(inside);
    PHINode* left = phi(length, before);
    std::vector<PHINode*> phis;
    const auto carry = [&](Value*& value) {
      phis.push_back(phi(value, before));
      value = phis.back();
    };
    fill.for_each(carry);
    for (Value*& source : part.sources) carry(source);
    Value* count = place_part(part, steps, left, fill);
    Value* rest = builder_.CreateSub(left, count);
    left->addIncoming(rest, inside);
    std::size_t at = 0;
    fill.for_each([&](Value*& value) { phis[at++]->addIncoming(value, inside); });
    for (std::size_t i = 0; i < loads(); ++i)
      phis[at++]->addIncoming(builder_.CreateAdd(part.sources[i], builder_.CreateMul(steps[i], count)), inside);
    builder_.CreateCondBr(builder_.CreateICmpSGT(rest, index(0)), inside, after);
    builder_.SetInsertPoint(after);
    return fill;
  }

  /// Gives the next of a run's remaining elements lanes of the vector, if the windows have all loads of the first. If
  /// not, gives them the first lanes of the next vector. Takes as many elements as this holds for. Returns the number
  /// taken.
  Value* place_part(const UnitRow& part, const std::vector<Value*>& steps, Value* left, Fill& fill) {
    const RowChunkLoop& loop = chunks_.loop;
    const RowChunkVariables at(context_.exprs());
    Value* most_span = exprs_.exact(builder_, loop.span_limit);
    exprs_.set_coordinate(at.filled, fill.filled);
    Value* fits = builder_.CreateICmpSLE(fill.filled, exprs_.exact(builder_, loop.filled_limit));
    std::vector<Value*> needed, low, high;
    for (std::size_t i = 0; i < loads(); ++i) {
      needed.push_back(part.holds[guard_of(i)]);
      low.push_back(smaller(fill.low[i], part.sources[i]));
      high.push_back(larger(fill.high[i], part.sources[i]));
      Value* span = builder_.CreateSub(high[i], low[i]);
      Value* in_window = builder_.CreateICmpSLE(span, most_span);
      fits = builder_.CreateAnd(fits, builder_.CreateOr(in_window, builder_.CreateNot(needed[i])));
    }
    Value* is_full = builder_.CreateICmpEQ(fill.filled, index(lanes()));
    fill.full = builder_.CreateAnd(fill.full, builder_.CreateOr(fits, is_full));
    fill.vector = builder_.CreateSelect(fits, fill.vector, builder_.CreateAdd(fill.vector, index(1)));
    fill.failed = builder_.CreateOr(fill.failed, builder_.CreateICmpSGE(fill.vector, room_));
    fill.vector = smaller(fill.vector, builder_.CreateSub(room_, index(1)));
    Value* filled = builder_.CreateSelect(fits, fill.filled, index(0));
    Value* more = builder_.CreateAdd(exprs_.exact(builder_, loop.filled_limit), index(1));
    Value* count = smaller(left, builder_.CreateSub(more, filled));
    for (std::size_t i = 0; i < loads(); ++i) {
      low[i] = builder_.CreateSelect(fits, low[i], part.sources[i]);
      high[i] = builder_.CreateSelect(fits, high[i], part.sources[i]);
      // A step goes up to the window's last element, or down to its first.
      Value* up = builder_.CreateSub(builder_.CreateAdd(low[i], most_span), part.sources[i]);
      Value* down = builder_.CreateSub(part.sources[i], builder_.CreateSub(high[i], most_span));
      Value* room = builder_.CreateSelect(builder_.CreateICmpSGT(steps[i], index(0)), up, down);
      Value* moves = builder_.CreateAnd(needed[i], builder_.CreateICmpNE(steps[i], index(0)));
      count = builder_.CreateSelect(moves, smaller(count, builder_.CreateAdd(room, index(1))), count);
    }
    for (std::size_t i = 0; i < loads(); ++i) {
      Value* last =
          builder_.CreateAdd(part.sources[i], builder_.CreateMul(steps[i], builder_.CreateSub(count, index(1))));
      const auto take = [&](Value*& bound, Value* with, std::int64_t none) {
        bound = builder_.CreateSelect(needed[i], with, builder_.CreateSelect(fits, bound, index(none)));
      };
      take(fill.low[i], smaller(low[i], last), kNone);
      take(fill.high[i], larger(high[i], last), -kNone);
    }
    write(part, steps, fill, filled, count, fits);
    fill.filled = builder_.CreateAdd(filled, count);
    fill.element = builder_.CreateAdd(fill.element, count);
    return count;
  }

  /// Writes the lanes, and the vector's state so far. Writes whole vectors: lanes past the part are overwritten later.
  void write(const UnitRow& part, const std::vector<Value*>& steps, Fill& fill, Value* filled, Value* count,
             Value* fits) {
    store_entry(plan_.positions, fill.vector, builder_.CreateSub(fill.element, filled));
    Value* lane = builder_.CreateAdd(builder_.CreateMul(fill.vector, index(lanes())), filled);
    const auto put = [&](const RowChunkPlan::Table& table, Value* vector) {
      store_entry({.offset = table.offset, .bytes = table.bytes / lanes()}, lane, vector);
    };
    for (std::size_t i = 0; i < loads(); ++i) {
      store_entry(plan_.starts[i], fill.vector, fill.low[i]);
      llvm::IntegerType* type = element_type(i);
      const auto spread = [&](Value* value) {
        return builder_.CreateVectorSplat(static_cast<unsigned>(lanes()), builder_.CreateTrunc(value, type));
      };
      put(plan_.indices[i],
          builder_.CreateAdd(builder_.CreateMul(iota(type), spread(steps[i])), spread(part.sources[i])));
    }
    for (std::size_t i = 0; i < plan_.selections; ++i) {
      if (!has_bits()) {
        Value* byte = builder_.CreateSExt(part.holds[i], builder_.getInt8Ty());
        put(plan_.masks[i], builder_.CreateVectorSplat(static_cast<unsigned>(lanes()), byte));
        continue;
      }
      Value* some = builder_.CreateLShr(index(-1), builder_.CreateSub(index(64), count));
      Value* bits = builder_.CreateSelect(part.holds[i], builder_.CreateShl(some, filled), index(0));
      fill.bits[i] = builder_.CreateOr(builder_.CreateSelect(fits, fill.bits[i], index(0)), bits);
      store_entry(plan_.masks[i], fill.vector, fill.bits[i]);
    }
  }

  /// Makes windows relative to the first, and indices relative to their windows. Writes the number of vectors.
  void finish(const Fill& fill) {
    Value* vectors = builder_.CreateAdd(fill.vector, index(1));
    store_entry(plan_.positions, vectors, fill.element);
    Value* trips = builder_.CreateAnd(vectors, index(-RowChunkPlan::vectors_of_trip(chunks_)));
    if (chunks_.loop.streams) store_word(RowChunkPlan::streams(), builder_.CreateZExt(streams(fill, vectors), i64_));
    if (chunks_.axes == 1) {
      Value* is_held = hold(vectors);
      vectors = builder_.CreateSelect(is_held, index(RowChunkPlan::kHeld), vectors);
      trips = builder_.CreateSelect(is_held, vectors, trips);
    }
    for (std::size_t i = 0; i < loads(); ++i) finish_windows(i, vectors);
    store_word(RowChunkPlan::full(), builder_.CreateSelect(fill.full, trips, index(0)));
    store_word(RowChunkPlan::vectors(), vectors);
  }

  /// Emits whether the chunk is streamed.
  Value* streams(const Fill& fill, Value* vectors) {
    Value* elements = builder_.CreateMul(vectors, index(lanes()));
    const auto trip = static_cast<std::int64_t>(streamed_bytes()) / chunks_.loop.narrowest;
    Value* is_whole = builder_.CreateICmpEQ(builder_.CreateAnd(fill.element, index(trip - 1)), index(0));
    Value* is_full = builder_.CreateAnd(fill.full, builder_.CreateICmpEQ(fill.element, elements));
    return builder_.CreateAnd(is_streamed_, builder_.CreateAnd(is_full, is_whole));
  }

  /// Makes a chunk of the whole units in the first vectors, if registers hold these vectors. Their elements per vector
  /// must be at least four fifths of the average of all vectors. Returns whether it made the chunk.
  Value* hold(Value* vectors) {
    Value* held = index(RowChunkPlan::kHeld);
    Value* few = smaller(held, vectors);
    Value* unit = exprs_.exact(builder_, chunks_.loop.unit);
    Value* units = builder_.CreateUDiv(load_entry(plan_.positions, few), unit);
    Value* elements = builder_.CreateMul(units, unit);
    Value* each = builder_.CreateMul(builder_.CreateMul(elements, vectors), index(5));
    Value* all = builder_.CreateMul(builder_.CreateMul(load_entry(plan_.positions, vectors), few), index(4));
    Value* is_held = builder_.CreateAnd(builder_.CreateICmpEQ(few, held), builder_.CreateICmpSGE(each, all));
    is_held = builder_.CreateAnd(is_held, builder_.CreateICmpEQ(load_word(RowChunkPlan::streams()), index(0)));
    emit_if(builder_, is_held, [&] {
      store_entry(plan_.positions, held, elements);
      store_word(RowChunkPlan::units(), units);
    });
    return is_held;
  }

  /// Loads a selection's lanes, as a vector of i1.
  Value* load_lane_mask(const RowChunkPlan::Table& table, Value* vector) {
    if (!has_bits()) {
      Value* bytes = load_entry(table, vector, vector_of(builder_.getInt8Ty()));
      return builder_.CreateICmpNE(bytes, llvm::Constant::getNullValue(bytes->getType()));
    }
    llvm::Type* bit = builder_.getInt1Ty();
    Value* bits = builder_.CreateBitCast(load_entry(table, vector), llvm::FixedVectorType::get(bit, 64));
    std::vector<int> taken(static_cast<std::size_t>(lanes()));
    std::iota(taken.begin(), taken.end(), 0);
    return builder_.CreateShuffleVector(bits, taken);
  }

  /// A vector without loads takes the first window.
  void finish_windows(std::size_t load, Value* vectors) {
    Fill ends = start();
    ends = fold(vectors, ends, [&](Value* vector, Fill so_far) {
      Value* first = load_entry(plan_.starts[load], vector);
      Value* none = builder_.CreateICmpEQ(first, index(kNone));
      so_far.low[load] = smaller(so_far.low[load], first);
      so_far.high[load] = larger(so_far.high[load], builder_.CreateSelect(none, index(-kNone), first));
      return so_far;
    });
    Value* any = builder_.CreateICmpNE(ends.low[load], index(kNone));
    Value* lowest = builder_.CreateSelect(any, ends.low[load], index(0));
    store_word(RowChunkPlan::lowest(load), lowest);
    store_word(RowChunkPlan::spread(load),
               builder_.CreateSelect(any, builder_.CreateSub(ends.high[load], lowest), index(0)));
    VectorPermute permute(builder_, context_.target.architecture, lanes(),
                          ir::byte_size(chunks_.body.loads[load].dtype));
    llvm::IntegerType* type = element_type(load);
    counted_loop(builder_, index(0), vectors, 1, [&](Value* vector) {
      Value* first = load_entry(plan_.starts[load], vector);
      Value* indices = load_entry(plan_.indices[load], vector, vector_of(type));
      Value* from = builder_.CreateVectorSplat(static_cast<unsigned>(lanes()), builder_.CreateTrunc(first, type));
      Value* numbers = permute.numbered(builder_.CreateSub(indices, from));
      if (const auto selection = plan_.marks[load])
        numbers = permute.marked(numbers, load_lane_mask(plan_.masks[*selection], vector));
      store_entry(plan_.indices[load], vector, numbers);
      Value* none = builder_.CreateICmpEQ(first, index(kNone));
      store_entry(plan_.starts[load], vector, builder_.CreateSelect(none, index(0), builder_.CreateSub(first, lowest)));
    });
  }

  const RowChunks& chunks_;
  const RowChunkPlan& plan_;
  Value* memory_;
  RowEmitter rows_;
  Value *columns_, *room_;
  Value* is_streamed_;  // whether the launch stores past the caches
};

}  // namespace

void emit_chunk_plan(KernelContext& context, const RowChunks& chunks, const RowChunkPlan& plan) {
  ChunkPlanEmitter(context, chunks, plan).emit();
}

}  // namespace padlock::compiler
