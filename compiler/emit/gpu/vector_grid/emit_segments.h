#pragma once

#include <optional>
#include <vector>

#include "compiler/emit/gpu/vector_grid/row_values.h"
#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/schedule/model/blend.h"

namespace padlock::compiler {

/// The segments of all rows that one body computes: for each the block that its arguments come from, still open.
using SegmentSite = std::vector<std::pair<llvm::BasicBlock*, BodyArguments>>;

/// As SegmentSite, for the cases that one blend computes: each has the arguments of all the blend's segments.
struct BlendSite {
  Blend blend;
  std::vector<std::pair<llvm::BasicBlock*, std::vector<BodyArguments>>> rows = {};
};

/// All that may compute a whole vector.
struct WholeSites {
  std::vector<SegmentSite> bodies;
  std::vector<BlendSite> blends = {};
};

/// Emits which segment an element lies in.
class SegmentEmitter {
 public:
  explicit SegmentEmitter(const VectorContext& vector)
      : vector_(vector), rows_(vector.context, vector.builder, vector.exprs), run_(vector.context.exprs()) {
    if (vector.table != nullptr) values_.emplace(vector, rows_);
  }

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// Returns the emitter of the grid's table of rows, or null for code without one.
  [[nodiscard]] RowValues* row_values() { return values_ ? &*values_ : nullptr; }
  /// Sets the coordinates to those of an element of the flattened output, counted from the launch's first, and the data
  /// of its row. Returns its column.
  llvm::Value* place(llvm::Value* element);
  /// Sets the outer coordinates to those of the row after the one placed last, which may be past the output.
  void enter_next_row() { rows_.set_next_row(vector_.builder.getTrue(), vector_.context.offset_type()); }
  /// Emits the choice for a vector that begins at a column of the placed row. A segment is chosen if the vector lies in
  /// it and its body takes vectors. If the row has a blend, the blend is chosen if the vector lies in the row. Returns
  /// the segments of each body, and the blends. The builder stands where nothing was chosen.
  [[nodiscard]] WholeSites dispatch_whole(llvm::Value* column) { return dispatch(column, true); }
  /// As dispatch_whole, for one element, which a body computes.
  [[nodiscard]] std::vector<SegmentSite> dispatch_element(llvm::Value* column) {
    return dispatch(column, false).bodies;
  }
  /// Emits the block where a site's segments meet. Returns the arguments of the chosen segment.
  [[nodiscard]] BodyArguments enter(SegmentSite& site, std::size_t body);
  /// As `enter` of a body, for each segment of a blend.
  [[nodiscard]] std::vector<BodyArguments> enter(BlendSite& site);

 private:
  WholeSites dispatch(llvm::Value* column, bool whole);
  void choose(const ScheduledCase& row, llvm::Value* column, bool whole, std::vector<SegmentSite>& sites);
  void choose_either(llvm::Value* condition, llvm::function_ref<void()> first, llvm::function_ref<void()> second);
  void choose_blend(const ScheduledCase& row, Blend blend, llvm::Value* column, std::vector<BlendSite>& sites);

  const VectorContext& vector_;
  RowEmitter rows_;
  RunVariables run_;
  std::optional<RowValues> values_ = {};
};

}  // namespace padlock::compiler
