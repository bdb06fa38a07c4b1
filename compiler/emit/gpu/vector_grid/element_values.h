#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "compiler/emit/gpu/vector_grid/emit_segments.h"
#include "compiler/emit/rows/body_values.h"
#include "compiler/schedule/model/row_columns.h"

namespace padlock::compiler {

/// Emits the values of vectors that are made element by element. A vector lies in at most two rows. What a row decides
/// is computed once for each of them: in which lanes each condition holds, and where lane 0 would be loaded from. A
/// lane then takes those of its own row.
class ElementValues {
 public:
  /// Borrows both. Loads what is the same for all vectors where the builder stands.
  ElementValues(const VectorContext& vector, SegmentEmitter& segments);

  /// Emits the results of the vector from an element of the output on, which has all its lanes. Waits for earlier grids
  /// before the loads.
  [[nodiscard]] std::vector<Value*> emit(Value* first);

 private:
  /// How a load moves from one column of a row to the next, and what its start in a row then is.
  enum class Move {
    none,    ///< the row's value: one load for all lanes
    unit,    ///< lane 0's element, or its address if no access is tested: the others are constants from it
    even,    ///< lane 0's element, from which each lane is a step further
    uneven,  ///< column 0's element, to which each column adds something else
  };
  struct Load {
    Move move = Move::none;
    Access access;
    llvm::Type* type = nullptr;
    PredicateId guard = kAlways;
    SplitByColumn split;
    const BodyNode* filled = nullptr;  // fill_of
  };
  /// Describes the lanes of one row.
  struct Row {
    Value* column = nullptr;                   // of lane 0, as if it were in this row
    std::map<PredicateId, Value*> lanes = {};  // bit i: the predicate holds in lane i, which is in this row
    std::vector<Value*> starts = {};           // of each load (Move)
  };

  void add_load(std::size_t number);
  void add_start(Row& row, const Load& load);
  void add_predicate(PredicateId predicate);
  [[nodiscard]] Row row_of(Value* column, Value* begin, Value* end);
  [[nodiscard]] Value* lanes_of(PredicateId predicate, Value* column, Value* begin, Value* end);
  void load_of_rows(const Load& load, std::size_t number);
  [[nodiscard]] Value* load(const Load& load, std::size_t number, int lane);
  [[nodiscard]] Value* vector_of(llvm::ArrayRef<Value*> lanes, const Load& load);
  [[nodiscard]] std::vector<Value*> compute(const std::vector<Value*>& loaded);
  [[nodiscard]] Value* holds(PredicateId predicate, int lane);
  [[nodiscard]] Value* of_row(int lane, Value* first, Value* second);

  [[nodiscard]] const Kernel& kernel() const { return vector_.schedule().kernel; }
  [[nodiscard]] const Body& body() const { return vector_.schedule().bodies[0]; }

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SegmentEmitter& segments_;
  AccessEmitter accesses_;
  BodyValues nodes_;
  std::vector<Load> loads_;
  std::vector<PredicateId> predicates_;
  std::array<Row, 2> rows_;
  std::map<PredicateId, Value*> lanes_;                  // of both rows
  std::map<std::pair<PredicateId, int>, Value*> tests_;  // of lanes
  Value* own_ = nullptr;                                 // lanes in the first row
};

}  // namespace padlock::compiler
