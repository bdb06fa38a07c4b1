#include "compiler/emit/gpu/vector_grid/row_values.h"

namespace padlock::compiler {
namespace {

/// Returns an expression of the grid in this code, over the elements of a launch.
Expr in_launch(const VectorContext& vector, Expr e) {
  ir::ExprContext& exprs = vector.context.exprs();
  return at_launch(exprs, vector.grid(), e, vector.grid().elements, exprs.constant(vector.context.vectors));
}

}  // namespace

RowValues::RowValues(const VectorContext& vector, RowEmitter& rows)
    : vector_(vector),
      builder_(vector.builder),
      table_(*vector.context.row_table()),
      rows_(rows),
      memory_(vector, vector.table, in_launch(vector, table_.bytes)) {}

Value* RowValues::row_of(Expr element) {
  Value* at = vector_.exact(in_launch(vector_, element));
  return vector_.exprs.divide(builder_, at, vector_.schedule().columns).quotient;
}

void RowValues::locate(Value* elements) {
  vector_.set(vector_.grid().elements, elements);
  first_ = row_of(table_.first);
  last_ = row_of(table_.last);
  vector_.set(table_.first_row, first_);
}

Value* RowValues::place_of(Value* row) {
  vector_.set(table_.row, row);
  return builder_.CreateAdd(memory_.first(), vector_.exact(table_.place));
}

/// Unrolled by ptxas, the loop would take half as many registers again as the rest, for turns that few blocks have.
void RowValues::write(Value* thread) {
  Value* count = builder_.CreateAdd(builder_.CreateSub(last_, first_), vector_.index(1));
  const auto write_row = [&](Value* number) { write_values(builder_.CreateAdd(first_, number)); };
  counted_loop(builder_, thread, count, vector_.grid().threads, write_row, /*rolled=*/true);
}

void RowValues::write_values(Value* row) {
  rows_.set_row(vector_.row_of_output(row), vector_.context.offset_type());
  rows_.set_row_data();
  Value* place = place_of(row);
  for (const Expr value : table_.values) {
    memory_.store(place, vector_.exact(value));
    place = builder_.CreateAdd(place, builder_.getInt32(4));
  }
}

void RowValues::read(Value* row) {
  Value* place = place_of(row);
  const auto count = static_cast<int>(table_.values.size());
  const std::vector<Value*> words =
      memory_.load_words(place, count, [&] { return memory_.is_written(place, table_.row_bytes()); });
  for (std::size_t i = 0; i < words.size(); ++i) vector_.set(table_.values[i], words[i]);
}

}  // namespace padlock::compiler
