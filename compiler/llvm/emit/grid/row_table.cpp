#include "compiler/llvm/emit/grid/row_table.h"

#include <algorithm>
#include <optional>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/schedule/short_rows.h"

namespace padlock::compiler {

using ir::Expr;
using llvm::BasicBlock;
using llvm::Value;

namespace {

constexpr int kWarp = 32;
constexpr int kMostWords = 4;  // of a record: what one instruction loads

/// The distinct bases of a case, in the order of a record.
std::vector<Expr> bases_of(const ScheduledCase& row) {
  std::vector<Expr> bases;
  for (const SegmentCall& call : row.calls)
    for (const Stream& stream : call.streams)
      if (std::ranges::none_of(bases, [&](Expr base) { return base.id() == stream.base.id(); }))
        bases.push_back(stream.base);
  return bases;
}

std::size_t most_bases(const Schedule& schedule) {
  std::size_t most = 0;
  for (const ScheduledCase& row : schedule.cases) most = std::max(most, bases_of(row).size());
  return most;
}

int record_words(const Schedule& schedule) {
  return std::max(2, static_cast<int>(llvm::PowerOf2Ceil(1 + most_bases(schedule))));
}

}  // namespace

std::vector<abi::Guard> RowTable::guards(const Schedule& schedule) {
  const std::optional<ShortRows> rows = find_short_rows(schedule);
  std::vector<abi::Guard> guards;
  if (!rows || record_words(schedule) > kMostWords) return guards;
  const auto of_launch = [&](Expr e) {
    return schedule.exprs().substitute(
        e, [&](Expr symbol) { return symbol == rows->columns ? schedule.columns : symbol; });
  };
  // With one vector a thread few trips share what is found, and all wait for it.
  guards.push_back(
      {abi::Assumption::few_tiles, {schedule.used_vectors(), ir::Comparison::ge, schedule.exprs().constant(2)}});
  for (const ir::Constraint& test : rows->tests)
    guards.push_back({abi::Assumption::few_tiles, {of_launch(test.lhs), test.comparison, of_launch(test.rhs)}});
  return guards;
}

int RowTable::block_words(const KernelContext& context) {
  return context.shares_rows ? context.schedule.grid->threads * record_words(context.schedule) : 0;
}

RowTable::RowTable(const VectorContext& vector, RowEmitter& rows, Value* thread)
    : vector_(vector), builder_(vector.builder), rows_(rows) {
  lane_ = builder_.CreateAnd(thread, vector.context.index(kWarp - 1));
  first_slot_ = builder_.CreateSub(thread, lane_);
  Value* words = builder_.CreateMul(first_slot_, vector.context.index(record_words(vector.schedule())));
  table_ = builder_.CreateGEP(builder_.getInt32Ty(), vector.shared, words);
}

Value* RowTable::place_of(Value* row, Value* number) {
  const int rows = kWarp / vector_.grid().vectors;
  Value* low = builder_.CreateAnd(row, vector_.context.index(rows - 1));
  Value* first =
      builder_.CreateMul(builder_.CreateZExtOrTrunc(number, vector_.context.index_type()), vector_.context.index(rows));
  Value* words =
      builder_.CreateMul(builder_.CreateAdd(first, low), vector_.context.index(record_words(vector_.schedule())));
  return builder_.CreateGEP(builder_.getInt32Ty(), table_, words);
}

void RowTable::fill(llvm::function_ref<Value*(Value*)> row_of) {
  const KernelContext& context = vector_.context;
  const int rows = kWarp / vector_.grid().vectors;
  Value* number = builder_.CreateUDiv(lane_, context.index(rows));
  Value* slot = builder_.CreateAdd(first_slot_, builder_.CreateMul(number, context.index(vector_.grid().threads)));
  Value* row = builder_.CreateAdd(row_of(slot), builder_.CreateURem(lane_, context.index(rows)));
  store(compute(row), place_of(row, number));
  if (vector_.part == nullptr) builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~0U)});
}

RowTable::Record RowTable::compute(Value* row) {
  rows_.set_row(row, vector_.context.offset_type());
  Record none(1 + most_bases(vector_.schedule()), llvm::PoisonValue::get(vector_.context.offset_type()));
  std::vector<std::pair<BasicBlock*, Record>> ways;
  rows_.emit_row([&](const ScheduledCase& which) {
    Record made = none;
    const auto number = static_cast<std::uint32_t>(&which - vector_.schedule().cases.data());
    made[0] = builder_.getInt32(number);
    const std::vector<Expr> bases = bases_of(which);
    for (std::size_t i = 0; i < bases.size(); ++i) made[1 + i] = vector_.exprs.address(builder_, bases[i]);
    ways.emplace_back(builder_.GetInsertBlock(), std::move(made));
  });
  Record joined;
  for (std::size_t i = 0; i < none.size(); ++i) {
    llvm::PHINode* phi = builder_.CreatePHI(ways.front().second[i]->getType(), static_cast<unsigned>(ways.size()));
    for (const auto& [block, values] : ways) phi->addIncoming(values[i], block);
    joined.push_back(phi);
  }
  return joined;
}

void RowTable::store(const Record& record, Value* place) {
  const auto words = static_cast<unsigned>(record_words(vector_.schedule()));
  Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt32Ty(), words));
  for (std::size_t i = 0; i < record.size(); ++i) made = builder_.CreateInsertElement(made, record[i], i);
  builder_.CreateAlignedStore(made, place, llvm::Align(4 * words));
}

RowTable::Record RowTable::load(Value* place) {
  const auto words = static_cast<unsigned>(record_words(vector_.schedule()));
  auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), words);
  Value* loaded = builder_.CreateAlignedLoad(type, place, llvm::Align(4 * words));
  Record record;
  for (std::size_t i = 0; i <= most_bases(vector_.schedule()); ++i)
    record.push_back(builder_.CreateExtractElement(loaded, i));
  return record;
}

void RowTable::find(Value* row, Value* number) { found_ = load(place_of(row, number)); }

void RowTable::emit_row(llvm::function_ref<void(const ScheduledCase&)> emit_segments) {
  BasicBlock* next = vector_.block("next");
  llvm::SwitchInst* choice = nullptr;
  BasicBlock* from = builder_.GetInsertBlock();
  const std::vector<ScheduledCase>& cases = vector_.schedule().cases;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].is_test()) continue;
    BasicBlock* place = vector_.block("case");
    if (choice == nullptr)
      choice = llvm::IRBuilder<>(from).CreateSwitch(found_[0], place);  // one of them it is
    else
      choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(i)), place);
    builder_.SetInsertPoint(place);
    const std::vector<Expr> bases = bases_of(cases[i]);
    for (std::size_t base = 0; base < bases.size(); ++base) rows_.give_base(bases[base], found_[1 + base]);
    emit_segments(cases[i]);
    builder_.CreateBr(next);
  }
  rows_.forget_bases();
  builder_.SetInsertPoint(next);
}

}  // namespace padlock::compiler
