#include "compiler/emit/gpu/vector_grid/emit_row_table.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsNVPTX.h>

namespace padlock::compiler {
namespace {

constexpr int kMostBytes = 16;  // of a record: what one instruction loads

/// The sources of a case that start from different elements, in the order of a record.
std::vector<const LoadSource*> bases_of(const ScheduledCase& row) {
  std::vector<const LoadSource*> bases;
  for (const SegmentCall& call : row.calls)
    for (const LoadSource& source : call.sources)
      if (std::ranges::none_of(bases, [&](const LoadSource* other) {
            return other->base == source.base && other->tensor == source.tensor;
          }))
        bases.push_back(&source);
  return bases;
}

std::size_t most_bases(const Schedule& schedule) {
  std::size_t most = 0;
  for (const ScheduledCase& row : schedule.cases) most = std::max(most, bases_of(row).size());
  return most;
}

/// Returns how many offsets a record has room for: a case and the bases.
int record_offsets(const Schedule& schedule) {
  return std::max(2, static_cast<int>(llvm::PowerOf2Ceil(1 + most_bases(schedule))));
}

/// Offsets of a kernel that has tables have 32 bits.
int record_bytes(const Schedule& schedule) { return 4 * record_offsets(schedule); }

}  // namespace

std::vector<abi::Guard> RowTableEmitter::guards(const ProvenKernel& kernel) {
  const Schedule& schedule = kernel.schedule();
  std::vector<abi::Guard> guards;
  if (!kernel.has_row_tables() || record_bytes(schedule) > kMostBytes) return guards;
  const RowTable& rows = *schedule.grid()->row_table;
  const auto of_launch = [&](Expr e) { return replaced(schedule.exprs(), e, rows.columns, schedule.columns); };
  const Expr elements = schedule.exprs().mul(schedule.rows, schedule.columns);
  guards.push_back(
      {abi::Assumption::short_rows, {elements, ir::Comparison::ge, schedule.exprs().constant(rows.fewest)}});
  for (const ir::Constraint& test : rows.tests)
    guards.push_back({abi::Assumption::short_rows, {of_launch(test.lhs), test.comparison, of_launch(test.rhs)}});
  return guards;
}

int RowTableEmitter::block_words(const KernelContext& context) {
  return context.uses_row_table ? context.schedule.grid()->threads * record_bytes(context.schedule) / 4 : 0;
}

RowTableEmitter::RowTableEmitter(const VectorContext& vector, RowEmitter& rows, Value* thread)
    : vector_(vector), builder_(vector.builder), rows_(rows), short_(*vector.grid().row_table) {
  lane_ = builder_.CreateAnd(thread, vector.context.index(short_.vectors - 1));
  first_slot_ = builder_.CreateSub(thread, lane_);
  table_ = record_at(vector.shared, first_slot_);
}

Value* RowTableEmitter::record_at(Value* first, Value* number) {
  Value* words = builder_.CreateMul(number, vector_.index(record_bytes(vector_.schedule()) / 4));
  return builder_.CreateGEP(builder_.getInt32Ty(), first, words);
}

Value* RowTableEmitter::place_of(Value* row, Value* number) {
  Value* low = builder_.CreateAnd(row, vector_.index(short_.places - 1));
  Value* first = builder_.CreateMul(builder_.CreateZExtOrTrunc(number, vector_.context.index_type()),
                                    vector_.index(short_.places));
  return record_at(table_, builder_.CreateAdd(first, low));
}

void RowTableEmitter::fill(llvm::function_ref<Value*(Value*)> row_of) {
  Value* places = vector_.index(short_.places);
  Value* number = builder_.CreateUDiv(lane_, places);
  Value* threads = vector_.index(vector_.grid().threads);
  Value* slot = builder_.CreateAdd(first_slot_, builder_.CreateMul(number, threads));
  Value* row = builder_.CreateAdd(row_of(slot), builder_.CreateURem(lane_, places));
  store(compute(row), place_of(row, number));
  if (vector_.interval == nullptr)
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~0U)});
}

RowTableEmitter::Record RowTableEmitter::compute(Value* row) {
  rows_.set_row(vector_.row_of_output(row), vector_.context.offset_type());
  const Record none(1 + most_bases(vector_.schedule()), llvm::PoisonValue::get(vector_.context.offset_type()));
  return rows_.emit_row([&](const ScheduledCase& row_case) {
    Record record = none;
    record[0] = vector_.context.offset(&row_case - vector_.schedule().cases.data());
    const std::vector<const LoadSource*> bases = bases_of(row_case);
    for (std::size_t i = 0; i < bases.size(); ++i) record[1 + i] = rows_.base_of(*bases[i]);
    return record;
  });
}

llvm::FixedVectorType* RowTableEmitter::record_type() const {
  return llvm::FixedVectorType::get(vector_.context.offset_type(),
                                    static_cast<unsigned>(record_offsets(vector_.schedule())));
}

llvm::Align RowTableEmitter::record_align() const {
  return llvm::Align(static_cast<std::uint64_t>(record_bytes(vector_.schedule())));
}

void RowTableEmitter::store(const Record& record, Value* place) {
  Value* vector = llvm::PoisonValue::get(record_type());
  for (std::size_t i = 0; i < record.size(); ++i) vector = builder_.CreateInsertElement(vector, record[i], i);
  builder_.CreateAlignedStore(vector, place, record_align());
}

RowTableEmitter::Record RowTableEmitter::load(Value* place) {
  Value* loaded = builder_.CreateAlignedLoad(record_type(), place, record_align());
  Record record;
  for (std::size_t i = 0; i <= most_bases(vector_.schedule()); ++i)
    record.push_back(builder_.CreateExtractElement(loaded, i));
  return record;
}

void RowTableEmitter::find(Value* row, Value* number) { found_ = load(place_of(row, number)); }

void RowTableEmitter::emit_row(RowEmitter::EmitCase emit_case) {
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
      choice->addCase(vector_.context.offset(static_cast<std::int64_t>(i)), place);
    builder_.SetInsertPoint(place);
    const std::vector<const LoadSource*> bases = bases_of(cases[i]);
    for (std::size_t base = 0; base < bases.size(); ++base) rows_.give_base(*bases[base], found_[1 + base]);
    (void)emit_case(cases[i]);
    builder_.CreateBr(next);
  }
  rows_.forget_bases();
  builder_.SetInsertPoint(next);
}

}  // namespace padlock::compiler
