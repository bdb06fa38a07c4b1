#pragma once

#include <utility>
#include <vector>

#include "compiler/llvm/emit/emit_row_dispatch.h"
#include "compiler/llvm/emit/grid/emit_stream_body.h"

namespace padlock::compiler {

/// The runs of columns that one body may make, each with the block that its arguments come from, which has no end yet.
struct SegmentSite {
  struct Run {
    llvm::BasicBlock* from;
    BodyArguments arguments;
    llvm::Value* resume;  // the column from which on there is more to make of the row
  };
  std::vector<Run> runs;
};

/// Emits which segment an element of a tile lies in.
class SegmentEmitter {
 public:
  explicit SegmentEmitter(const VectorContext& vector)
      : vector_(vector), rows_(vector.context, vector.builder, vector.exprs), run_(vector.context.exprs()) {}

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// A tile begins at element `origin` (i64).
  void enter_tile(llvm::Value* origin);
  /// Gives the coordinates those of an element, from the tile's first on. Returns its column.
  llvm::Value* place(llvm::Value* local);
  /// Emits the choice of a segment, of the row that was placed, in columns [column, last): the one that has `column`,
  /// if all of them are its and a body's vectors apply. Returns for each body the runs that it is to make. The builder
  /// stands where there is none.
  [[nodiscard]] std::vector<SegmentSite> dispatch_whole(llvm::Value* column, llvm::Value* last);
  /// The same for the first segment that has any of them and is not made by body number `known`.
  [[nodiscard]] std::vector<SegmentSite> dispatch_part(llvm::Value* column, llvm::Value* last, int known);
  /// Returns the column up to which was chosen last: no more than the row has.
  [[nodiscard]] llvm::Value* last() const { return last_; }
  /// Emits where the runs of a site meet. Returns the run that is made.
  [[nodiscard]] SegmentSite::Run enter(SegmentSite& site, std::size_t body);

 private:
  void enter_row(llvm::Value* column, llvm::Value* last);
  void choose_whole(const ScheduledCase& row, llvm::Value* column, std::vector<SegmentSite>& sites);
  void choose_part(const ScheduledCase& row, llvm::Value* column, int known, std::vector<SegmentSite>& sites);
  void add_run(const SegmentCall& call, llvm::Value* begin, llvm::Value* resume, std::vector<SegmentSite>& sites);

  const VectorContext& vector_;
  RowEmitter rows_;
  RunVariables run_;
  llvm::Value *row0_ = nullptr, *column0_ = nullptr;  // of the tile's first element
  llvm::Value* last_ = nullptr;                       // column, of what is chosen from
};

}  // namespace padlock::compiler
