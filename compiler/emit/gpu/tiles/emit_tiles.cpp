#include "compiler/emit/gpu/tiles/emit_tiles.h"

#include <utility>

#include "compiler/emit/gpu/tiles/emit_tile_loads.h"
#include "compiler/emit/gpu/tiles/emit_tile_stores.h"
#include "compiler/emit/gpu/tiles/tile_memory.h"
#include "compiler/emit/gpu/vector_grid/emit_segments.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

class TileEmitter : private TileEmitterBase {
 public:
  TileEmitter(const VectorContext& vector, Value* thread)
      : TileEmitterBase(vector),
        context_(vector.context),
        addresses_(vector),
        segments_(vector),
        memory_(vector, thread),
        loader_(vector, segments_, memory_, thread),
        storer_(vector, memory_, thread),
        thread_(thread) {}

  void emit(Value* block) {
    segments_.load_buffers();
    loader_.load_buffers();
    outputs_ = vector_.fields.results(builder_, context_);
    enter_tile(block);
    enter_halo();
    vector_.wait_for_earlier_grids();
    // Tiles are launched for rows of any phase. Where rows have no phase, tiles past the last column have no elements.
    vector_.when(vector_.holds({tile_.some}), [&] {
      if (tile_.holds_results)
        vector_.in_turn([&] { emit_results(); }, [&] { storer_.emit(outputs_, has_halo_); });
      else
        vector_.in_turn([&] { emit_loads(); }, [&] { emit_stores(); });
    });
  }

 private:
  [[nodiscard]] const Kernel& kernel() const { return vector_.schedule().kernel; }

  /// Emits the digits of the tile's number; the last is the remainder. Tiles go from the last to the first: those at
  /// the far ends take the longest, so a launch shall not wait for them at its end.
  void enter_tile(Value* block) {
    Value* last = builder_.CreateSub(vector_.exact(tile_.tiles), context_.index(1));
    Value* left = builder_.CreateSub(last, block);
    for (const TileDigit& digit : tile_.digits) {
      Value* value = left;
      if (&digit != &tile_.digits.back()) {
        const auto [quotient, remainder] = vector_.exprs.divide(builder_, left, digit.count);
        value = remainder;
        left = quotient;
      }
      vector_.set(digit.value, value);
    }
  }

  /// Emits whether a row may have a phase, so that the halo is needed. It is not needed where all rows begin at its
  /// multiples, or where positions are stored one by one.
  void enter_halo() {
    Value* halo = context_.index(tile_.halo());
    has_halo_ = builder_.getFalse();
    if (tile_.holds_results) {
      vector_.set(tile_.column, halo);
      (void)addresses_.place(context_.exprs().constant(0), tile_.column);
      const TileStart start = addresses_.output_at();
      Value* aligned = builder_.getTrue();
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        aligned = builder_.CreateAnd(aligned,
                                     addresses_.is_multiple(outputs_[i], vector_.result_type(i), start, tile_.halo()));
      has_halo_ = builder_.CreateNot(aligned);
    }
    vector_.set(tile_.needed, builder_.CreateSelect(has_halo_, context_.index(0), halo));
    vector_.set(tile_.phase, context_.index(0));
  }

  /// Emits the code of each position that this thread loads: the positions of its blocks in the rounds, a bit each.
  template <class Emit>
  void for_each_loaded(Value* rounds, Emit&& emit) {
    const auto load = [&](Value* number) {
      vector_.set(tile_.square, addresses_.loaded_square(number));
      Value* positions = context_.index(std::int64_t{tile_.lanes} * tile_.lanes);
      counted_loop(builder_, context_.index(0), positions, 1, [&](Value* slot) {
        vector_.set(tile_.slot, slot);
        emit_position(tile_.loaded_row, tile_.loaded_column, emit);
      });
    };
    counted_loop(builder_, thread_, addresses_.loaded_squares(has_halo_), tile_.threads, [&](Value* number) {
      Value* bit = builder_.CreateLShr(rounds, addresses_.round_of(number));
      vector_.when(builder_.CreateTrunc(bit, builder_.getInt1Ty()), [&] { load(number); });
    });
  }

  /// Emits the code of each position that this thread stores: neighbouring threads store neighbours.
  template <class Emit>
  void for_each_stored(Emit&& emit) {
    counted_loop(builder_, thread_, context_.index(tile_.positions()), tile_.threads, [&](Value* slot) {
      vector_.set(tile_.slot, slot);
      emit_position(tile_.stored_row, tile_.stored_column, emit);
    });
  }

  /// Emits a position's code, if the position is an element of the output. The coordinates are the element's.
  template <class Emit>
  void emit_position(Expr row, Expr column, Emit&& emit) {
    Value* at_row = vector_.exact(row);
    Value* at_column = vector_.exact(column);
    vector_.set(tile_.row, at_row);
    vector_.set(tile_.column, at_column);
    BasicBlock* inside = vector_.block("position");
    BasicBlock* done = vector_.block("done");
    builder_.CreateCondBr(vector_.holds(tile_.tests), inside, done);
    builder_.SetInsertPoint(inside);
    Value* cross = builder_.CreateAdd(vector_.exact(tile_.cross_first), at_row);
    column_ = builder_.CreateAdd(vector_.exact(tile_.column_first), at_column);
    vector_.set(kernel().coordinate(tile_.axis), cross);
    vector_.set(kernel().column(), column_);
    emit();
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  /// Emits the code of a position's body: `emit(body, its arguments)` for the bodies that are wanted.
  template <class Wanted, class Emit>
  void dispatch(Wanted&& wanted, Emit&& emit) {
    BasicBlock* done = vector_.block("made");
    std::vector<SegmentSite> sites = segments_.dispatch_element(column_);
    builder_.CreateBr(done);
    for (std::size_t body = 0; body < sites.size(); ++body) {
      if (sites[body].empty()) continue;
      BodyArguments arguments = segments_.enter(sites[body], body);
      if (wanted(body)) emit(body, std::move(arguments));
      builder_.CreateBr(done);
    }
    builder_.SetInsertPoint(done);
  }

  // --- before the barrier -------------------------------------------------------------------------------------------

  [[nodiscard]] bool has_arrays(std::size_t body) const {
    return std::ranges::any_of(tile_.arrays[body], [](int array) { return array >= 0; });
  }

  void emit_loads() {
    const auto load = [&](std::size_t body, BodyArguments arguments) {
      ThreadValues code(vector_, body, std::move(arguments), column_);
      const std::vector<BodyLoad>& loads = vector_.schedule().bodies[body].loads;
      for (std::size_t i = 0; i < loads.size(); ++i)
        if (const int array = tile_.array_of(body, i); array >= 0) {
          Value* value = code.load_element(i);
          memory_.store(array, word(), lane(), loads[i].dtype, value);
        }
    };
    for_each_loaded(builder_.getInt32(~0U),
                    [&] { dispatch([&](std::size_t body) { return has_arrays(body); }, load); });
  }

  // --- after the barrier --------------------------------------------------------------------------------------------

  void emit_stores() {
    const auto make = [&](std::size_t body, BodyArguments arguments) {
      Value* element = builder_.CreateAdd(arguments.row, addresses_.offset(column_));
      ThreadValues code(vector_, body, std::move(arguments), column_);
      const std::vector<BodyLoad>& loads = vector_.schedule().bodies[body].loads;
      std::vector<Value*> values;
      for (std::size_t i = 0; i < loads.size(); ++i) {
        const int array = tile_.array_of(body, i);
        values.push_back(array >= 0 ? memory_.load(array, word(), lane(), loads[i].dtype) : code.load_element(i));
      }
      store(element, code.compute(1, values));
    };
    for_each_stored([&] { dispatch([](std::size_t) { return true; }, make); });
  }

  void store(Value* element, llvm::ArrayRef<Value*> results) {
    for (std::size_t i = 0; i < results.size(); ++i) storer_.store_element(i, outputs_[i], element, results[i]);
  }

  // --- results in shared memory -------------------------------------------------------------------------------------

  /// Emits loads by words for a tile that has only whole words, else by elements.
  void emit_results() {
    BasicBlock* otherwise = vector_.block("elements");
    BasicBlock* done = vector_.block("all");
    Value* rounds = loader_.emit(has_halo_, otherwise, done);
    const auto make = [&](std::size_t body, BodyArguments arguments) { make_results(body, std::move(arguments)); };
    for_each_loaded(rounds, [&] { dispatch([](std::size_t) { return true; }, make); });
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  void make_results(std::size_t body, BodyArguments arguments) {
    ThreadValues code(vector_, body, std::move(arguments), column_);
    const std::vector<Value*> results = code.compute_element();
    for (std::size_t i = 0; i < results.size(); ++i)
      memory_.store(static_cast<int>(i), word(), lane(), vector_.result_type(i), results[i]);
  }

  [[nodiscard]] Value* word() { return vector_.exact(tile_.word); }
  [[nodiscard]] Value* lane() { return tile_.lanes == 1 ? context_.index(0) : vector_.exact(tile_.lane); }

  KernelContext& context_;
  TileAddresses addresses_;
  SegmentEmitter segments_;
  TileMemory memory_;
  TileLoader loader_;
  TileStorer storer_;
  Value* thread_;
  Value* has_halo_ = nullptr;
  Value* column_ = nullptr;
  std::vector<Value*> outputs_;
};

}  // namespace

void emit_transpose_tile(const VectorContext& vector, Value* block, Value* thread) {
  TileEmitter(vector, thread).emit(block);
}

int stamped_bytes(const TransposeTile& tile) {
  return tile.shared_bytes() +
         tile.array_count * tile.array_words() * tile.lanes * static_cast<int>(sizeof(std::int32_t));
}

}  // namespace padlock::compiler
