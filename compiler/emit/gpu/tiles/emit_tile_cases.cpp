#include <algorithm>
#include <bit>

#include "compiler/emit/gpu/tiles/emit_tile_loads.h"
#include "compiler/emit/scalar/emit_loop.h"

// Emits loads of tiles that have parts of several segments, or reach past an end of the output.
namespace padlock::compiler {
namespace {

/// Words that a thread has in flight: a word with its own test takes more code and registers than other words. (On an
/// H200, misaligned, 64 MiB: halves 0.76 of a copy with four and 0.81 with eight, bytes 0.69 and 0.68, floats 0.90 and
/// 0.89. With offsets of 64 bits eight words take too many registers.)
constexpr int kCaseWordsOnTheirWay = 4, kCaseWordsOfHalves = 8;

}  // namespace

/// Loads some rounds of all threads at a time, fewer where several segments have loads. Returns the rounds in which
/// this thread has an element that no segment had, as a bit each.
Value* TileLoader::load_case(const ScheduledCase& row) {
  const auto loads = static_cast<int>(std::ranges::count_if(
      row.calls, [&](const SegmentCall& call) { return !vector_.schedule().body_of(call).loads.empty(); }));
  // The rounds together are a power of two, which divides the rounds without the halo.
  const int own_rounds = (tile_.squares() - tile_.halo_squares()) / tile_.threads;
  const bool has_room = tile_.lanes == 2 && vector_.context.offset_bits == 32;
  const int words = has_room ? kCaseWordsOfHalves : kCaseWordsOnTheirWay;
  const auto most = static_cast<unsigned>(std::clamp(words / (tile_.lanes * std::max(loads, 1)), 1, own_rounds));
  const int together = static_cast<int>(std::bit_floor(most));
  llvm::Type* bits = builder_.getInt32Ty();
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* last = nullptr;
  Value* missing = nullptr;
  counted_loop(builder_, thread_, addresses_.loaded_squares(has_halo_), std::int64_t{together} * tile_.threads,
               [&](Value* first) {
                 llvm::PHINode* so_far = builder_.CreatePHI(bits, 2);
                 so_far->addIncoming(builder_.getInt32(0), before);
                 missing = builder_.CreateOr(so_far, load_case_blocks(row, first, together));
                 last = builder_.GetInsertBlock();
                 so_far->addIncoming(missing, last);
               });
  llvm::PHINode* any = builder_.CreatePHI(bits, 2);
  any->addIncoming(builder_.getInt32(0), before);
  any->addIncoming(missing, last);
  return any;
}

/// Threads without a block in a round store none.
Value* TileLoader::load_case_blocks(const ScheduledCase& row, Value* first, int together) {
  Value* first_block = addresses_.loaded_square(first);
  Value* count = addresses_.loaded_squares(has_halo_);
  vector_.set(tile_.square, first_block);
  Value* start = addresses_.place(tile_.square_row, tile_.square_column);
  const int lanes = tile_.lanes;
  const auto tile_lanes = static_cast<std::size_t>(lanes);
  const int step = lanes * tile_.threads / kTileWords;  // columns from one round to the next
  std::vector<CaseColumn> columns;
  for (int i = 0; i < together * lanes; ++i)
    columns.push_back({.column = builder_.CreateAdd(start, vector_.index(i / lanes * step + i % lanes)),
                       .made = builder_.getFalse()});
  for (const SegmentCall& call : row.calls) add_segment(call, columns);
  vector_.set(tile_.square, first_block);
  Value* missing = builder_.getInt32(0);
  Value* extent = vector_.exact(vector_.schedule().columns);
  for (int round = 0; round < together; ++round) {
    const std::int64_t blocks = std::int64_t{round} * tile_.threads;
    Value* is_block = builder_.CreateICmpSLT(builder_.CreateAdd(first, vector_.index(blocks)), count);
    const llvm::ArrayRef<CaseColumn> own =
        llvm::ArrayRef(columns).slice(static_cast<std::size_t>(std::int64_t{round} * lanes), tile_lanes);
    Value* lacks = builder_.getFalse();
    for (const CaseColumn& one : own) {
      Value* is_element = builder_.CreateAnd(builder_.CreateICmpSGE(one.column, vector_.index(0)),
                                             builder_.CreateICmpSLT(one.column, extent));
      Value* wanted = builder_.CreateAnd(is_block, is_element);
      lacks = builder_.CreateOr(lacks, builder_.CreateAnd(wanted, builder_.CreateNot(one.made)));
    }
    Value* bit = builder_.CreateShl(builder_.CreateZExt(lacks, missing->getType()), static_cast<std::uint64_t>(round));
    missing = builder_.CreateOr(missing, bit);
    vector_.when(is_block, [&] {
      for (std::size_t i = 0; i < own[0].results.size(); ++i) {
        std::vector<Value*> made;
        for (const CaseColumn& one : own) made.push_back(one.results[i]);
        store_block(static_cast<int>(i), blocks, made);
      }
    });
  }
  return builder_.CreateShl(missing, addresses_.round_of(first));
}

/// Emits all loads of a segment before the first use of a value.
void TileLoader::add_segment(const SegmentCall& call, std::vector<CaseColumn>& columns) {
  const auto body = static_cast<std::size_t>(call.body);
  BodyArguments arguments(vector_.context, body);
  rows_.set_loads(call, arguments);
  Value* begin = vector_.exact(call.begin);
  Value* end = vector_.exact(call.end);
  const std::size_t loads = vector_.schedule().bodies[body].loads.size();
  std::vector<Value*> inside;
  std::vector<Value*> loaded;
  for (const CaseColumn& one : columns) {
    Value* here =
        builder_.CreateAnd(builder_.CreateICmpSGE(one.column, begin), builder_.CreateICmpSLT(one.column, end));
    for (std::size_t i = 0; i < loads; ++i) loaded.push_back(load_case_word(i, call, arguments, one.column, here));
    inside.push_back(here);
  }
  ThreadValues code(vector_, body, arguments, nullptr);
  llvm::ArrayRef<Value*> left = loaded;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::vector<Value*> results = code.compute(tile_.lanes, left.take_front(loads));
    left = left.drop_front(loads);
    CaseColumn& one = columns[c];
    one.made = builder_.CreateOr(one.made, inside[c]);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (one.results.size() == i) one.results.push_back(llvm::Constant::getNullValue(results[i]->getType()));
      one.results[i] = builder_.CreateSelect(inside[c], results[i], one.results[i]);
    }
  }
}

/// Loads only words that are `inside` and lie wholly in the tensor.
Value* TileLoader::load_case_word(std::size_t load, const SegmentCall& call, const BodyArguments& arguments,
                                  Value* column, Value*& inside) {
  const auto body = static_cast<std::size_t>(call.body);
  const BodyLoad& which = vector_.schedule().bodies[body].loads[load];
  const BodyArguments::Load& from = arguments.loads[load];
  TileStart start = addresses_.start_of(from.base, which.step);
  Value* element = start.moved_by(builder_, column);
  start.element = element;
  addresses_.point(start, from.tensor, which.dtype);
  Value* past = addresses_.past(from.tensor, which.dtype, element, tile_.lanes);
  Value* first = builder_.CreateSub(element, addresses_.offset(past));
  vector_.set(tile_.loads.lowest, element);
  vector_.set(tile_.loads.shift, past);
  vector_.set(tile_.loads.highest, builder_.CreateAdd(first, addresses_.offset(rounded_up(past))));
  vector_.set(tile_.loads.extent, builder_.CreateTrunc(from.extent, vector_.context.offset_type()));
  inside = builder_.CreateAnd(inside, holds_of_offsets(builder_, vector_.exprs, tile_.loads.word_tests));
  return load_word(body, load, arguments, start, inside, tile_.lanes > 1 ? Words::last : Words::one);
}

/// Rounds a number of elements past the beginning of a word up to whole words.
Value* TileLoader::rounded_up(Value* past) {
  return builder_.CreateAnd(builder_.CreateAdd(past, vector_.index(tile_.lanes - 1)), vector_.index(tile_.lanes));
}

}  // namespace padlock::compiler
