#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ir/expr/expr_tape.h"
#include "tests/compiler/schedule/interpreter_state.h"

namespace padlock::compiler {

/// The reads of an interpreted schedule's chunks.
class InterpretedLoads {
 public:
  /// Borrows the state.
  explicit InterpretedLoads(InterpreterState& state);

  /// Called before the chunks of the call.
  void enter(const SegmentCall& call);
  /// Reads all elements of the chunk that begins at this column.
  void load_chunk(const Body& body, const VectorLoop& loop, std::int64_t first);

 private:
  /// The elements that a source needs, evaluated together, and facts about all of them.
  struct Prepared {
    ir::ExprTape coordinates;
    std::vector<std::int64_t> extents;
    std::int64_t used = 0, stored = 0;  // numbers of elements: of the view, of the tensor
  };

  /// Does a load for every value of the walks; the last is the innermost loop.
  void load_in(std::span<const Walk> walks, const BodyLoad& how, std::size_t index, std::int64_t column);
  void load(const BodyLoad& how, std::size_t index, std::int64_t column);
  void check_coordinates(const LoadSource& source, const Prepared& prepared, std::int64_t column);
  void check_storage(const BodyLoad& how, const LoadSource& source, const Prepared& prepared, std::int64_t column);
  std::int64_t element_of(const BodyLoad& how, const LoadSource& source, std::int64_t column);

  InterpreterState& state_;
  ir::Expr column_;
  const SegmentCall* call_ = nullptr;
  std::map<const SegmentCall*, std::vector<Prepared>> prepared_;
};

}  // namespace padlock::compiler
