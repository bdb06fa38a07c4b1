#include "compiler/emit/gpu/tiles/emit_tile_loads.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/emit/scalar/emit_loop.h"
#include "compiler/emit/scalar/vector_shift.h"

namespace padlock::compiler {
namespace {

/// Words that a thread has in flight, besides those of the halo: each takes a register.
constexpr int kWordsOnTheirWay = 16;

}  // namespace

Value* TileLoader::emit(Value* has_halo, BasicBlock* otherwise, BasicBlock* done) {
  has_halo_ = has_halo;
  BasicBlock* cases = vector_.block("parts");
  emit_whole(cases, done);
  builder_.SetInsertPoint(cases);
  Ways left;
  for (const TileCase& tile_case : tile_.cases) {
    BasicBlock* here = vector_.block("part");
    BasicBlock* later = vector_.block("later");
    builder_.CreateCondBr(vector_.holds(tile_case.tests), here, later);
    builder_.SetInsertPoint(here);
    Value* missing = load_case(vector_.schedule().cases[tile_case.row_case]);
    left.push_back({builder_.GetInsertBlock(), {missing}});
    builder_.CreateCondBr(builder_.CreateIsNotNull(missing), otherwise, done);
    builder_.SetInsertPoint(later);
  }
  left.push_back({builder_.GetInsertBlock(), {builder_.getInt32(~0U)}});
  builder_.CreateBr(otherwise);
  builder_.SetInsertPoint(otherwise);
  return join(builder_, left)[0];
}

void TileLoader::emit_whole(BasicBlock* otherwise, BasicBlock* done) {
  const Schedule& schedule = vector_.schedule();
  vector_.set(tile_.square, builder_.CreateAdd(thread_, vector_.index(tile_.halo_squares())));
  BasicBlock* whole = vector_.block("whole");
  builder_.CreateCondBr(vector_.holds(tile_.whole), whole, otherwise);
  builder_.SetInsertPoint(whole);
  (void)addresses_.place(tile_.square_row, tile_.square_column);
  std::vector<SegmentSite> sites(schedule.bodies.size());
  for (const TileRun& run : tile_.runs) {
    const SegmentCall& call = schedule.cases[run.row_case].calls[run.call];
    const auto body = static_cast<std::size_t>(call.body);
    BasicBlock* here = vector_.block("run");
    BasicBlock* later = vector_.block("later");
    builder_.CreateCondBr(vector_.holds(run.tests), here, later);
    builder_.SetInsertPoint(here);
    BodyArguments arguments(vector_.context, body);
    rows_.set_loads(call, arguments);
    sites[body].emplace_back(builder_.GetInsertBlock(), std::move(arguments));
    builder_.SetInsertPoint(later);
  }
  builder_.CreateBr(otherwise);
  for (std::size_t body = 0; body < sites.size(); ++body)
    if (!sites[body].empty()) load_body(body, segments_.enter(sites[body], body), otherwise, done);
}

/// Loads a body's words. Words that lie as they are in memory need one load each, others two.
void TileLoader::load_body(std::size_t body, BodyArguments arguments, BasicBlock* otherwise, BasicBlock* done) {
  const Body& code = vector_.schedule().bodies[body];
  vector_.set(tile_.square, builder_.CreateAdd(thread_, vector_.index(tile_.halo_squares())));
  Value* column = builder_.CreateAdd(vector_.exact(tile_.column_first), vector_.exact(tile_.square_column));
  std::vector<TileStart> starts;
  Value* aligned = builder_.getTrue();
  for (std::size_t i = 0; i < code.loads.size(); ++i) {
    const BodyArguments::Load& load = arguments.loads[i];
    TileStart start = addresses_.start_of(load.base, code.loads[i].step);
    start.element = start.moved_on(builder_, column);  // not a column of the halo
    addresses_.point(start, load.tensor, code.loads[i].dtype);
    if (tile_.lanes > 1)
      aligned =
          builder_.CreateAnd(aligned, addresses_.is_multiple(load.tensor, code.loads[i].dtype, start, tile_.lanes));
    starts.push_back(start);
  }
  if (tile_.lanes > 1) {
    BasicBlock* words = vector_.block("words");
    BasicBlock* misaligned = vector_.block("misaligned");
    BasicBlock* shifts = vector_.block("shifts");
    builder_.CreateCondBr(aligned, words, misaligned);
    builder_.SetInsertPoint(misaligned);
    builder_.CreateCondBr(words_are_inside(starts, arguments), shifts, otherwise);
    builder_.SetInsertPoint(shifts);
    load_rounds(body, arguments, starts, /*shifted=*/true);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(words);
  }
  load_rounds(body, arguments, starts, /*shifted=*/false);
  builder_.CreateBr(done);
}

Value* TileLoader::words_are_inside(const std::vector<TileStart>& starts, const BodyArguments& arguments) {
  Value* all = builder_.getTrue();
  const int columns =
      tile_.stored_columns() - tile_.lanes * tile_.threads / kTileWords + tile_.lanes - 1;  // to the last column
  Value* halo = builder_.CreateSelect(has_halo_, vector_.index(-tile_.halo()), vector_.index(0));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    Value* first = starts[i].moved_by(builder_, halo);
    Value* last = starts[i].moved_by(builder_, vector_.index(columns));
    const auto end = [&](llvm::Intrinsic::ID id) { return builder_.CreateBinaryIntrinsic(id, first, last); };
    vector_.set(tile_.loads.lowest, end(llvm::Intrinsic::smin));
    vector_.set(tile_.loads.highest, end(llvm::Intrinsic::smax));
    vector_.set(tile_.loads.extent, builder_.CreateTrunc(arguments.loads[i].extent, vector_.context.offset_type()));
    all = builder_.CreateAnd(all, holds_of_offsets(builder_, vector_.exprs, tile_.loads.tests));
  }
  return all;
}

/// Threads beyond the number of the halo's blocks have no halo block.
std::vector<TileLoader::Round> TileLoader::halo_rounds() {
  Value* guard = has_halo_;
  if (tile_.threads > tile_.halo_squares())
    guard = builder_.CreateAnd(guard, builder_.CreateICmpSLT(thread_, vector_.index(tile_.halo_squares())));
  std::vector<Round> rounds;
  for (std::int64_t blocks = 0; blocks < tile_.halo_squares(); blocks += tile_.threads)
    rounds.push_back({.blocks = blocks - tile_.halo_squares(), .guard = guard});
  return rounds;
}

/// Loads some rounds of all threads at a time; the first also has the halo's blocks.
void TileLoader::load_rounds(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                             bool shifted) {
  const int rounds = (tile_.squares() - tile_.halo_squares()) / tile_.threads;
  const int words = tile_.lanes * static_cast<int>(starts.size()) * (shifted ? 2 : 1);
  const auto most = static_cast<unsigned>(std::clamp(kWordsOnTheirWay / words, 1, rounds));
  const int together = static_cast<int>(std::bit_floor(most));
  std::vector<Round> all;
  for (int round = 0; round < together; ++round) all.push_back({.blocks = std::int64_t{round} * tile_.threads});
  const auto trip = [&](Value* first, const std::vector<Round>& which) {
    Value* blocks = builder_.CreateMul(first, vector_.index(tile_.threads));
    Value* own = builder_.CreateAdd(thread_, vector_.index(tile_.halo_squares()));
    vector_.set(tile_.square, builder_.CreateAdd(own, blocks));
    const int columns = tile_.lanes * tile_.threads / kTileWords;  // from one round to the next
    std::vector<TileStart> moved;
    for (std::size_t i = 0; i < starts.size(); ++i)
      moved.push_back(addresses_.moved(starts[i], vector_.schedule().bodies[body].loads[i].dtype,
                                       builder_.CreateMul(first, vector_.index(columns))));
    load_blocks(body, arguments, moved, which, shifted);
  };
  std::vector<Round> first = halo_rounds();
  first.insert(first.end(), all.begin(), all.end());
  trip(vector_.index(0), first);
  if (together < rounds)
    counted_loop(builder_, vector_.index(together), vector_.index(rounds), together, [&](Value* at) { trip(at, all); });
}

/// Emits all loads before the first use of a value.
void TileLoader::load_blocks(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                             const std::vector<Round>& rounds, bool shifted) {
  const int lanes = tile_.lanes;
  std::vector<Value*> loaded;
  for (const Round& round : rounds) {
    // Starts from the round's first column: other columns are a non-negative constant times the step away.
    std::vector<TileStart> here;
    for (std::size_t i = 0; i < starts.size(); ++i)
      here.push_back(addresses_.moved(starts[i], dtype_of(body, i),
                                      vector_.index(std::min<std::int64_t>(round.blocks, 0) / kTileWords * lanes)));
    const std::int64_t first = std::max<std::int64_t>(round.blocks, 0) / kTileWords * lanes;
    for (int column = 0; column < lanes; ++column)
      for (std::size_t i = 0; i < starts.size(); ++i) {
        const TileStart start = addresses_.moved(here[i], dtype_of(body, i), vector_.index(first + column));
        loaded.push_back(load_word(body, i, arguments, start, round.guard, shifted ? Words::next : Words::one));
      }
  }
  ThreadValues code(vector_, body, arguments, nullptr);
  llvm::ArrayRef<Value*> left = loaded;
  for (const Round& round : rounds) {
    std::vector<std::vector<Value*>> made(vector_.schedule().kernel.results.size());
    for (int column = 0; column < lanes; ++column) {
      const std::vector<Value*> results = code.compute(lanes, left.take_front(starts.size()));
      left = left.drop_front(starts.size());
      for (std::size_t i = 0; i < results.size(); ++i) made[i].push_back(results[i]);
    }
    const auto store = [&] {
      for (std::size_t i = 0; i < made.size(); ++i) store_block(static_cast<int>(i), round.blocks, made[i]);
    };
    round.guard == nullptr ? store() : vector_.when(round.guard, store);
  }
}

/// Stores a block of a result: turns its vectors, one per column, into one per row.
void TileLoader::store_block(int result, std::int64_t blocks, llvm::ArrayRef<Value*> columns) {
  const ir::DType dtype = vector_.result_type(static_cast<std::size_t>(result));
  ir::ExprContext& exprs = vector_.context.exprs();
  const auto word_of_line = [&](Expr word, std::size_t row) {
    return replaced(exprs, word, tile_.line, exprs.constant(static_cast<std::int64_t>(row)));
  };
  const std::vector<Value*> rows = turned(builder_, columns, vector_.context.target.takes_words);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Expr here = word_of_line(with_later(exprs, tile_.square_word, tile_.square, blocks), row);
    const auto [word, later] = addresses_.displaced(here, word_of_line(tile_.square_word, 0));
    memory_.store_word(result, word, later, dtype, builder_.CreateBitCast(rows[row], addresses_.word_type(dtype)));
  }
}

Value* TileLoader::load_word(std::size_t body, std::size_t load, const BodyArguments& arguments, const TileStart& start,
                             Value* guard, Words words) {
  const ir::DType dtype = dtype_of(body, load);
  const BodyArguments::Load& from = arguments.loads[load];
  const auto loaded = [&](const TileStart& at, std::int64_t displacement) {
    Access access = addresses_.access_at(at, dtype, tile_.lanes);
    access.displacement = displacement;
    access.guard = guard;
    access.fetches_line = vector_.context.target.fetches_lines;
    if (vector_.context.checks_load(body, load)) {
      access.name = from.name;
      access.extent = from.extent;
      access.proves_align = tile_.lanes > 1;
    }
    return accesses_.load(access, addresses_.word_type(dtype));
  };
  const auto size = static_cast<unsigned>(ir::byte_size(dtype));
  const unsigned bytes = static_cast<unsigned>(tile_.lanes) * size;
  Value* word = nullptr;
  if (words == Words::one) {
    word = loaded(start, 0);
  } else {
    const TileStart first = addresses_.rounded(start, dtype);
    Value* low = loaded(first, 0);
    Value* high = nullptr;
    if (words == Words::next) {
      high = loaded(first, tile_.lanes);
    } else {
      Value* last = builder_.getInt64(static_cast<std::uint64_t>(tile_.lanes - 1));
      high = loaded(addresses_.rounded(addresses_.moved_by_elements(start, dtype, last), dtype), 0);
    }
    Value* address = builder_.CreatePtrToInt(start.pointer, builder_.getInt64Ty());
    Value* past = builder_.CreateAnd(builder_.CreateTrunc(address, builder_.getInt32Ty()), std::uint64_t{bytes - 1});
    word = VectorShift(builder_, bytes, static_cast<int>(size)).shifted(low, high, past);
  }
  if (tile_.lanes == 1) return word;
  llvm::Type* each = builder_.getIntNTy(8 * size);
  return builder_.CreateBitCast(word, llvm::FixedVectorType::get(each, static_cast<unsigned>(tile_.lanes)));
}

}  // namespace padlock::compiler
