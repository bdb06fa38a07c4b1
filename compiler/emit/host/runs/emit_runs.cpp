#include "compiler/emit/host/runs/emit_runs.h"

#include <string>
#include <vector>

#include "compiler/emit/host/runs/run_vector.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

/// Emits one body as a function of the host: the loops of its strategies.
class RunsEmitter : private FunctionEmitter {
  using Row = RunVector::Row;

 public:
  RunsEmitter(KernelContext& context, std::size_t index)
      : FunctionEmitter(context, make_function(context, index)),
        body_(context.schedule.bodies[index]),
        run_(context.exprs()),
        vector_(context, index, builder_, scope_.fields, exprs_, arguments_of(context, index)) {
    exprs_.set_coordinate(run_.begin, begin());
    exprs_.set_coordinate(run_.end, end());
  }

  llvm::Function* emit() {
    emit_loops();
    scope_.end();
    return scope_.function;
  }

 private:
  static llvm::Function* make_function(KernelContext& context, std::size_t index) {
    llvm::LLVMContext& llvm = context.module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(llvm, 0);
    std::vector<llvm::Type*> types = {pointer};
    BodyArguments(context, index).for_each([&](Value*, bool is_pointer) {
      types.push_back(is_pointer ? pointer : llvm::Type::getInt64Ty(llvm));
    });
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(llvm), types, false);
    const bool has_boxes = !context.schedule.bodies[index].turns.empty();
    return make_internal_function(context, type, context.abi.name + ".body" + std::to_string(index), has_boxes);
  }
  BodyArguments arguments_of(const KernelContext& context, std::size_t index) const {
    BodyArguments arguments(context, index);
    unsigned parameter = 1;  // the launch is the first
    arguments.for_each([&](Value*& value, bool) { value = scope_.argument(parameter++); });
    return arguments;
  }

  Value* begin() { return vector_.arguments().begin; }
  Value* end() { return vector_.arguments().end; }

  void emit_loops() {
    BasicBlock* done = block("done");
    const BodyArguments& arguments = vector_.arguments();
    if (arguments.takes_rows) steps_ = vector_.row_steps();
    const Rows rows{vector_.first_row(), arguments.takes_rows ? arguments.rows : builder_.getInt64(1)};
    const LoopStrategy& longest = body_.strategies.back();
    if (longest.kind == LoopStrategyKind::nontemporal)
      emit_nontemporal(longest, rows, done);
    else
      emit_run(begin(), end(), rows, done);
    builder_.SetInsertPoint(done);
  }

  // --- rows ---------------------------------------------------------------------------------------------------------

  /// The rows left: where the first begins, and how many there are.
  struct Rows {
    Row first;
    Value* count;
  };

  /// Makes a row of values from another: `make(value, like)`, with the values of `like` in the same order. Null stays
  /// null.
  template <class Make>
  static Row each_of(const Row& row, const Row& like, Make&& make) {
    const auto of = [&](Value* a, Value* b) { return a == nullptr ? nullptr : make(a, b); };
    const auto each = [&](const std::vector<Value*>& a, const std::vector<Value*>& b) {
      std::vector<Value*> values;
      for (std::size_t i = 0; i < a.size(); ++i) values.push_back(of(a[i], b[i]));
      return values;
    };
    return {of(row.offset, like.offset), each(row.bases, like.bases), each(row.outputs, like.outputs),
            each(row.loads, like.loads)};
  }

  /// Makes phis for rows like these where the builder stands; adds no values to them.
  Rows join_rows(const Rows& like) {
    const auto phi = [&](Value* value, Value*) -> Value* { return builder_.CreatePHI(value->getType(), 2); };
    return {each_of(like.first, like.first, phi), phi(like.count, nullptr)};
  }
  static void add_incoming(const Rows& joined, const Rows& rows, BasicBlock* from) {
    const auto add = [&](Value* phi, Value* value) {
      llvm::cast<llvm::PHINode>(phi)->addIncoming(value, from);
      return phi;
    };
    add(joined.count, rows.count);
    each_of(joined.first, rows.first, add);
  }
  Rows after_first(const Rows& rows) {
    if (!vector_.arguments().takes_rows) return {rows.first, builder_.getInt64(0)};
    const auto moved = [&](Value* value, Value* step) { return moved_by(value, step); };
    return {each_of(rows.first, steps_, moved), builder_.CreateSub(rows.count, builder_.getInt64(1))};
  }
  Value* moved_by(Value* value, Value* by) {
    return value->getType()->isPointerTy() ? builder_.CreateGEP(builder_.getInt8Ty(), value, by)
                                           : builder_.CreateAdd(value, by);
  }
  /// Emits where the row begins that lies `rows` rows after this one.
  Row moved_rows(const Row& first, Value* rows) {
    return each_of(first, steps_,
                   [&](Value* value, Value* step) { return moved_by(value, builder_.CreateMul(step, rows)); });
  }
  Value* are_left(Value* rows) { return builder_.CreateICmpSGT(rows, builder_.getInt64(0)); }

  /// Emits a loop over the rows, of which there is at least one. `emit_row` emits the loop's body. Branches to `done`.
  template <class EmitRow>
  void for_each(const Rows& rows, BasicBlock* done, EmitRow&& emit_row) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock* inside = block("row");
    builder_.CreateBr(inside);
    builder_.SetInsertPoint(inside);
    const Rows at = join_rows(rows);
    add_incoming(at, rows, before);
    vector_.set_row(at.first);
    emit_row();
    const Rows rest = after_first(at);
    add_incoming(at, rest, builder_.GetInsertBlock());
    builder_.CreateCondBr(are_left(rest.count), inside, done);
  }

  // --- runs ---------------------------------------------------------------------------------------------------------

  /// Emits the run [from, to) of each row, by the strategy for its length. Branches to `done`. Each row chooses its
  /// vector strategy anew: the branch is predicted, and one loop over rows per strategy would be twice the code.
  void emit_run(Value* from, Value* to, Rows rows, BasicBlock* done) {
    if (!context_.bounds_check) {
      for (const Interleave& interleave : body_.interleaves) rows = emit_interleave(interleave, from, to, rows, done);
      for (const Turn& turn : body_.turns) from = emit_turn(turn, from, to, rows, done);
    }
    exprs_.set_coordinate(run_.begin, from);
    exprs_.set_coordinate(run_.end, to);
    if (body_.strategies.size() == 1) {
      if (sums_by_column(body_)) return emit_columns(from, rows, done);
      return for_each(rows, done, [&] { emit_loop(body_.strategies[0].loops.front(), from); });
    }
    BasicBlock* few = block("few");
    BasicBlock* many = block("many");
    builder_.CreateCondBr(holds(builder_, exprs_, body_.strategies[1].entry_conditions), many, few);
    builder_.SetInsertPoint(few);
    emit_columns(from, rows, done);
    builder_.SetInsertPoint(many);
    for_each(rows, done, [&] {
      BasicBlock* finished = block("finished");
      for (std::size_t i = body_.strategies.size(); i-- > 1;) {
        const LoopStrategy& strategy = body_.strategies[i];
        if (strategy.kind == LoopStrategyKind::nontemporal) continue;
        BasicBlock* shorter = nullptr;
        if (i > 1) {
          BasicBlock* chosen = block(strategy.kind == LoopStrategyKind::peeled_vector ? "vectors" : "ends");
          shorter = block("shorter");
          builder_.CreateCondBr(holds(builder_, exprs_, strategy.entry_conditions), chosen, shorter);
          builder_.SetInsertPoint(chosen);
        }
        if (strategy.kind == LoopStrategyKind::peeled_vector)
          exprs_.set_coordinate(run_.shift, vector_.misalignment(from, body_.lanes));
        for (const VectorLoop& loop : strategy.loops) emit_loop(loop, exprs_.exact(builder_, loop.from));
        builder_.CreateBr(finished);
        if (shorter != nullptr) builder_.SetInsertPoint(shorter);
      }
      builder_.SetInsertPoint(finished);
    });
  }

  /// Emits rows of few columns by boxes of all their columns, and branches to `done`. Returns the rows that are not
  /// taken; the builder stands where there are any.
  Rows emit_interleave(const Interleave& interleave, Value* from, Value* to, const Rows& rows, BasicBlock* done) {
    BasicBlock* boxes = block("interleaved");
    BasicBlock* others = block("others");
    Value* columns = exprs_.exact(builder_, context_.schedule.columns);
    Value* is_whole = builder_.CreateAnd(builder_.CreateICmpEQ(from, index(0)), builder_.CreateICmpEQ(to, columns));
    Value* left_out = index(0);
    for (std::size_t i = 0; i < interleave.left_out.size(); ++i)
      left_out = builder_.CreateSelect(builder_.CreateICmpEQ(columns, index(static_cast<std::int64_t>(i) + 1)),
                                       index(interleave.left_out[i]), left_out);
    Value* limit = builder_.CreateSub(rows.count, left_out);
    const auto [rows_fit, last] = enter_boxes(interleave.along_rows, index(0), limit);
    Value* fits = builder_.CreateAnd(builder_.CreateAnd(rows_fit, is_whole), holds(builder_, exprs_, interleave.tests));
    BasicBlock* before = builder_.GetInsertBlock();
    builder_.CreateCondBr(fits, boxes, others);
    builder_.SetInsertPoint(boxes);
    vector_.set_row(rows.first);
    vector_.begin_interleave(interleave);
    counted_loop(builder_, index(0), limit, interleave.lanes,
                 [&, last](Value* row) { vector_.emit_interleave(interleave, smaller(row, last)); });
    const Rows rest{moved_rows(rows.first, limit), left_out};
    BasicBlock* after = builder_.GetInsertBlock();
    builder_.CreateCondBr(are_left(rest.count), others, done);
    builder_.SetInsertPoint(others);
    const Rows left = join_rows(rows);
    add_incoming(left, rows, before);
    add_incoming(left, rest, after);
    return left;
  }

  /// Emits the run by boxes if it has enough columns, and branches to `done`. Else the builder stands where it has too
  /// few. Returns the column from which a run is left.
  Value* emit_turn(const Turn& turn, Value* from, Value* to, const Rows& rows, BasicBlock* done) {
    BasicBlock* boxes = block("boxes");
    BasicBlock* others = block("no_boxes");
    vector_.set_row(rows.first);
    Value* limit = turn.few_rows ? vector_.begin_few_rows(turn, to, rows.count) : to;
    const auto [rows_fit, last_row] = enter_boxes(turn.along_rows, index(0), rows.count);
    const auto [columns_fit, last_column] = enter_boxes(turn.along_columns, from, limit);
    Value* fits = builder_.CreateAnd(builder_.CreateAnd(rows_fit, columns_fit), holds(builder_, exprs_, turn.tests));
    BasicBlock* before = builder_.GetInsertBlock();
    builder_.CreateCondBr(fits, boxes, others);
    builder_.SetInsertPoint(boxes);
    emit_lines_of_boxes(turn, from, limit, {last_row, last_column}, rows);
    BasicBlock* after = builder_.GetInsertBlock();
    builder_.CreateCondBr(builder_.CreateICmpSLT(limit, to), others, done);
    builder_.SetInsertPoint(others);
    return join(builder_, {{before, {from}}, {after, {limit}}})[0];
  }
  /// Emits whether a run has enough columns for a box, and where its last box begins. The latter is null if no box is
  /// moved back.
  std::pair<Value*, Value*> enter_boxes(const LoopStrategy& along, Value* from, Value* to) {
    exprs_.set_coordinate(run_.begin, from);
    exprs_.set_coordinate(run_.end, to);
    const Expr last = along.loops.front().last;
    return {holds(builder_, exprs_, along.entry_conditions), last.valid() ? exprs_.exact(builder_, last) : nullptr};
  }
  struct LastBox {
    Value *row, *column;
  };
  void emit_lines_of_boxes(const Turn& turn, Value* from, Value* to, const LastBox& last, const Rows& rows) {
    Value* fetches = vector_.pays_to_fetch(turn);
    counted_loop(builder_, index(0), rows.count, turn.line, [&](Value* line) {
      Value* line_end = smaller(builder_.CreateAdd(line, index(turn.line)), rows.count);
      counted_loop(builder_, from, to, turn.lanes, [&](Value* column) {
        column = smaller(column, last.column);
        emit_if(builder_, fetches, [&] { prefetch_boxes(turn, column, line, line_end, rows.first); });
        counted_loop(builder_, line, line_end, turn.rows, [&](Value* row) {
          emit_box(turn, column, last.row == nullptr ? row : smaller(row, last.row), rows);
        });
      });
    });
  }
  void prefetch_boxes(const Turn& turn, Value* column, Value* line, Value* line_end, const Row& first) {
    vector_.set_row(moved_rows(first, line));
    vector_.prefetch_blocks(turn, column);
    counted_loop(builder_, line, line_end, 1, [&](Value* row) {
      vector_.set_row(moved_rows(first, row));
      vector_.prefetch_box(column);
    });
  }
  void emit_box(const Turn& turn, Value* column, Value* row, const Rows& rows) {
    std::vector<Row> at = {moved_rows(rows.first, row)};
    vector_.emit_box(turn, column, [&](int g) {  // here, so that few registers are in use
      while (std::ssize(at) <= g) {
        Value* is_there = builder_.CreateICmpSLT(builder_.CreateAdd(row, index(std::ssize(at))), rows.count);
        at.push_back(each_of(at.back(), steps_, [&](Value* value, Value* step) {
          return moved_by(value, turn.few_rows ? builder_.CreateSelect(is_there, step, index(0)) : step);
        }));
      }
      return at[static_cast<std::size_t>(g)];
    });
  }

  /// Emits column by column a run that is shorter than any vector, or a run of sums. The rows are the longer loop and
  /// lie in the cache. A sum's walks begin and end at the same places in all rows.
  void emit_columns(Value* from, const Rows& rows, BasicBlock* done) {
    const VectorLoop& loop = body_.strategies[0].loops.front();
    counted_loop(builder_, from, exprs_.exact(builder_, loop.limit), 1, [&](Value* column) {
      if (sums_by_column(body_)) vector_.hoist_from_sums(column);
      BasicBlock* finished = block("finished");
      for_each(rows, finished, [&] { vector_.emit(column, loop); });
      builder_.SetInsertPoint(finished);
    });
    builder_.CreateBr(done);
  }

  // --- nontemporal rows
  // ------------------------------------------------------------------------------------------------

  /// The code that all runs of nontemporal rows share, and the values that it is entered with.
  struct SharedRun {
    BasicBlock* block;
    Value *from, *to;
    Rows rows;
    Value* left;  // of the rows, including this one; 0: nothing is nontemporal
  };

  SharedRun begin_shared_run(BasicBlock* block, const Rows& like) {
    builder_.SetInsertPoint(block);
    const auto phi = [&] { return builder_.CreatePHI(i64_, 3); };
    Value* from = phi();
    Value* to = phi();
    Rows rows = join_rows(like);
    return {.block = block, .from = from, .to = to, .rows = std::move(rows), .left = phi()};
  }
  /// Adds a way into the shared run, without the jump.
  static void enter(const SharedRun& run, Value* from, Value* to, const Rows& rows, Value* left, BasicBlock* way) {
    const auto add = [&](Value* phi, Value* value) { llvm::cast<llvm::PHINode>(phi)->addIncoming(value, way); };
    add(run.from, from);
    add(run.to, to);
    add_incoming(run.rows, rows, way);
    add(run.left, left);
  }
  Rows one_of(const Rows& rows) { return {rows.first, builder_.getInt64(1)}; }

  /// Emits row by row: the run up to the first line, the lines, and the run after them. All runs share one code, which
  /// takes all rows at once if nothing is nontemporal.
  void emit_nontemporal(const LoopStrategy& strategy, const Rows& all, BasicBlock* done) {
    BasicBlock* start = builder_.GetInsertBlock();
    BasicBlock* large = block("large");
    BasicBlock* row = block("nontemporal_row");
    BasicBlock* shared = block("run");
    BasicBlock* lines = block("lines");
    choose_streaming(strategy, large, row, shared);

    const SharedRun run = begin_shared_run(shared, all);
    for (BasicBlock* whole : {start, large}) enter(run, begin(), end(), all, builder_.getInt64(0), whole);
    BasicBlock* ran = block("ran");
    BasicBlock* next_row = block("next_row");
    emit_run(run.from, run.to, run.rows, ran);
    builder_.SetInsertPoint(ran);
    builder_.CreateCondBr(builder_.CreateICmpSLT(run.to, end()), lines, next_row);

    builder_.SetInsertPoint(row);
    const Rows at = join_rows(all);
    add_incoming(at, all, large);
    emit_row_start(strategy, at, run);
    builder_.SetInsertPoint(lines);
    emit_lines(strategy, run);
    builder_.SetInsertPoint(next_row);
    emit_next_row(run, row, at, done);
  }

  /// Goes to `row` where rows are nontemporal, else to `run`.
  void choose_streaming(const LoopStrategy& strategy, BasicBlock* large, BasicBlock* row, BasicBlock* run) {
    vector_.plan_prefetches();
    // Runs too short for non-temporal stores take the ordinary strategies. An edge of few elements goes by columns.
    Value* is_long = holds(builder_, exprs_, strategy.entry_conditions);
    builder_.CreateCondBr(builder_.CreateAnd(emit_is_nontemporal(context_, builder_, exprs_), is_long), large, run);
    builder_.SetInsertPoint(large);
    // A line of the first result has whole vectors of all other results. If these are aligned in one row, they are
    // aligned in every row.
    Value* before_line = builder_.CreateSub(begin(), vector_.misalignment(begin(), strategy.line));
    builder_.CreateCondBr(vector_.stores_are_aligned(before_line), row, run);
  }

  /// Emits the run of a row up to its first line.
  void emit_row_start(const LoopStrategy& strategy, const Rows& at, const SharedRun& run) {
    vector_.set_row(at.first);
    Value* past = builder_.CreateSub(index(strategy.line), vector_.misalignment(begin(), strategy.line));
    set_whole_run(builder_.CreateAnd(past, index(strategy.line - 1)));
    Value* limit = exprs_.exact(builder_, strategy.loops[0].limit);
    vector_.prefetch_stores();
    enter(run, begin(), limit, one_of(at), at.count, builder_.GetInsertBlock());
    builder_.CreateBr(run.block);
  }

  /// Emits a row's lines, and then the run after them.
  void emit_lines(const LoopStrategy& strategy, const SharedRun& run) {
    vector_.set_row(run.rows.first);
    set_whole_run(builder_.CreateSub(run.to, begin()));  // the previous run ended at the first line
    emit_loop(strategy.loops[1], exprs_.exact(builder_, strategy.loops[1].from));
    Value* rest = exprs_.exact(builder_, strategy.loops[2].from);
    enter(run, rest, end(), one_of(run.rows), run.left, builder_.GetInsertBlock());
    builder_.CreateBr(run.block);
  }

  /// Goes back to `row`, which began with the rows `at`; after the last row goes to `done`.
  void emit_next_row(const SharedRun& run, BasicBlock* row, const Rows& at, BasicBlock* done) {
    if (vector_.fetches_gaps()) {
      // Fetches gaps after the last row, too: the rows go on in another call.
      BasicBlock* gaps = block("gaps");
      builder_.CreateCondBr(are_left(run.left), gaps, done);
      builder_.SetInsertPoint(gaps);
      vector_.set_row(run.rows.first);
      vector_.prefetch_gaps();
    }
    const Rows later = after_first({run.rows.first, run.left});
    add_incoming(at, later, builder_.GetInsertBlock());
    builder_.CreateCondBr(are_left(later.count), row, done);
  }

  void set_whole_run(Value* peel) {
    exprs_.set_coordinate(run_.begin, begin());
    exprs_.set_coordinate(run_.end, end());
    exprs_.set_coordinate(run_.peel, peel);
  }

  void emit_loop(const VectorLoop& loop, Value* from) {
    if (loop.single_trip) {
      vector_.emit(from, loop);
      return;
    }
    Value* last = loop.last.valid() ? exprs_.exact(builder_, loop.last) : nullptr;
    Value* limit = exprs_.exact(builder_, loop.limit);
    Value* reached = counted_loop(builder_, from, limit, loop.step(), [&](Value* column) {
      if (last != nullptr) column = smaller(column, last);
      if (loop.nontemporal) vector_.prefetch_loads(column, loop);
      if (loop.masked) return vector_.emit_masked(column, limit, loop);
      vector_.emit_trip(column, loop);
    });
    if (loop.end_value.valid()) exprs_.set_coordinate(loop.end_value, reached);
  }

  const Body& body_;
  RunVariables run_;
  RunVector vector_;
  Row steps_;  // from one row to the next
};

}  // namespace

llvm::Function* emit_runs(KernelContext& context, std::size_t index) { return RunsEmitter(context, index).emit(); }

}  // namespace padlock::compiler
