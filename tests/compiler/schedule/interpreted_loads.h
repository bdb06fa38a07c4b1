#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ir/expr/expr_tape.h"
#include "tests/compiler/schedule/interpreter_state.h"

namespace padlock::compiler {

/// What the chunks of an interpreted schedule read.
class InterpretedLoads {
 public:
  /// Borrows the state.
  explicit InterpretedLoads(InterpreterState& state);

  /// Before chunks of the call.
  void enter(const SegmentCall& call);
  /// Reads all that a chunk does, which begins at that column.
  void load_chunk(const Body& body, const VectorLoop& loop, std::int64_t first);

 private:
  /// What a source needs for each element, evaluated together, and what holds of all elements.
  struct Prepared {
    ir::ExprTape coordinates;
    std::vector<std::int64_t> extents;
    std::int64_t used = 0, stored = 0;  // elements: of the view, of the tensor
  };

  /// Does a load at every value of the walks, of which the last is the innermost loop.
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
