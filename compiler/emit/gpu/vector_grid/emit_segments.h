#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/schedule/model/blend.h"

namespace padlock::compiler {

/// The segments of all rows that one body makes: for each the block that its arguments come from, which has no end yet.
using SegmentSite = std::vector<std::pair<llvm::BasicBlock*, BodyArguments>>;

/// The same of the cases that one blend makes: of each of its segments.
struct BlendSite {
  Blend blend;
  std::vector<std::pair<llvm::BasicBlock*, std::vector<BodyArguments>>> rows = {};
};

/// What may make a vector whole.
struct WholeSites {
  std::vector<SegmentSite> bodies;
  std::vector<BlendSite> blends = {};
};

/// Emits which segment an element lies in.
class SegmentEmitter {
 public:
  explicit SegmentEmitter(const VectorContext& vector)
      : vector_(vector), rows_(vector.context, vector.builder, vector.exprs), run_(vector.context.exprs()) {}

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// Gives the coordinates those of an element of the flattened output, counted from the launch's first. Returns its
  /// column.
  llvm::Value* place(llvm::Value* element);
  /// Emits the choice of the segment, of the row that was placed, that has a column, if a vector that begins there lies
  /// in it and its body takes vectors; or of the row's blend, if such a vector lies in the row. Returns for each body
  /// the segments that it makes, and the blends. The builder stands where there is none.
  [[nodiscard]] WholeSites dispatch_whole(llvm::Value* column) { return dispatch(column, true); }
  /// The same for one element, which a body makes.
  [[nodiscard]] std::vector<SegmentSite> dispatch_element(llvm::Value* column) {
    return dispatch(column, false).bodies;
  }
  /// Emits where the segments of a site meet. Returns the arguments of the one that is made.
  [[nodiscard]] BodyArguments enter(SegmentSite& site, std::size_t body);
  /// The same of a blend's, for each of its segments.
  [[nodiscard]] std::vector<BodyArguments> enter(BlendSite& site);

 private:
  WholeSites dispatch(llvm::Value* column, bool whole);
  void choose(const ScheduledCase& row, llvm::Value* column, bool whole, std::vector<SegmentSite>& sites);
  void choose_blend(const ScheduledCase& row, Blend blend, llvm::Value* column, std::vector<BlendSite>& sites);

  const VectorContext& vector_;
  RowEmitter rows_;
  RunVariables run_;
};

}  // namespace padlock::compiler
