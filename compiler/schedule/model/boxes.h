#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "compiler/schedule/model/row_columns.h"
#include "ir/expr/expr.h"
#include "ir/layout.h"
#include "ir/program.h"

// Boxes of a GPU's output. A block makes one box: it copies the input elements that the box reads to shared memory, and
// makes the output's vectors from there, across rows. One description serves the code and the proof.
//
// If input and output have the same innermost axes, a box has some consecutive rows. Its input rows are consecutive,
// too, so one run of the input's storage has all that the block reads. Otherwise a box has some coordinates of three
// axes, and the copy turns the input's order into the output's.
namespace padlock::compiler {

/// Bytes of a stage before and after the elements that a box may read. A vector is read if it has one of those
/// elements: it begins at most a vector before the element, and ends with the word after it.
inline constexpr int kStageMargin = 32;
/// Bytes of one copy; copies begin at multiples of them.
inline constexpr int kStageVectorBytes = 16;

/// Axis of a box that an axis of a turned stage follows: its slices, rows or columns.
enum BoxAxis : std::uint8_t { kBoxSlice = 0, kBoxRow = 1, kBoxColumn = 2 };
/// A stage whose elements are in the output's order: a tensor of slices, rows and columns.
struct BoxTurn {
  std::array<int, 3> axes = {-1, -1, -1};  ///< axes of the tensor, by BoxAxis; -1: none
  /// The coordinates of the tensor at index 0 of the stage; over the variables of a box.
  std::array<ir::Expr, 3> origin = {};
  ir::Layout layout = {};      ///< of the stage, in elements; over the steps of a launch
  BoxAxis across = kBoxSlice;  ///< the axis that is contiguous in the tensor
  int lanes = 1;               ///< elements of a word, which lie together across
  int words = 2, columns = 4;  ///< a thread copies some words of some columns at a time
  int adjacent = 4;            ///< columns of a thread that are adjacent: `columns`, or a divisor of it
};

/// The part of an input that a box reads, in memory that a block's threads share.
struct BoxStage {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// The first and the last coordinate copied, for each axis of the tensor. Over the variables of a box, and symbols.
  /// Nothing is copied if the first is after the last.
  std::vector<ir::Expr> from, last;
  // A run of the input's storage:
  ir::Expr first = {};     ///< the element at `from`
  ir::Expr elements = {};  ///< from `first` to the element at `last`; below 1: none
  ir::Expr columns = {};   ///< read of a row; below 1: nothing is read
  ir::Expr capacity = {};  ///< most elements of any stage
  // Or turned:
  std::optional<BoxTurn> turn = std::nullopt;
  ir::Expr place = {}, bytes = {};  ///< offset of the stage in shared memory, and its size
};

/// The rows, slices or columns of the output, split into one part for each box.
struct BoxPart {
  ir::Expr total;       ///< rows, slices or columns of the whole output
  ir::Expr step;        ///< variable: number that a box has; the last box may have fewer
  ir::Expr number;      ///< variable: of the part
  ir::Expr from, last;  ///< variables: the first of the part, and the last
  // Over step and number:
  ir::Expr first, count;
  ir::Expr parts;     ///< number of parts in a launch
  ir::Expr launched;  ///< the step of a launch, over symbols
};

/// A digit of a block's number; the first of several changes fastest.
struct BoxDigit {
  ir::Expr value, count;
};

/// How the output's axes map to boxes. `rows`: the last axis is the columns. `joined`: the last two are. `parts`: the
/// last is the columns, and a box with several rows may have a part of them.
enum class BoxKind : std::uint8_t { none, rows, joined, parts };
/// Returns "boxes", "boxes_joined" or "boxes_parts".
[[nodiscard]] std::string_view name_of(BoxKind kind);

struct Boxes {
  BoxKind kind = BoxKind::none;
  int threads = 0;  ///< threads per block
  int lanes = 1;    ///< elements of a vector that is stored
  /// First axis of the output that numbers rows; the axes from it up to the columns do. A box has one coordinate of
  /// each axis before, except for `slice`.
  int row_axis = 0;
  int column_axis = 0;  ///< first axis of a row's columns: the last axis, or the last but one
  int slice = -1;       ///< axis of the output with some coordinates in each box; -1: none
  BoxPart rows;
  /// A box has all columns, or a part along their first axis.
  std::optional<BoxPart> slices = std::nullopt, columns = std::nullopt;
  std::vector<ir::Expr> first = {}, last = {};  ///< variables: coordinates of a box's first and last row
  std::vector<BoxDigit> digits = {};            ///< of a block's number; over symbols and steps
  std::vector<BoxStage> stages = {};
  std::vector<int> stage_of = {};  ///< of each load of the body; -1: one element a row, read at its use
  ir::Expr period = {};            ///< of strips (box_strip_period)
  ir::Expr shared_bytes = {};      ///< of a block
};

/// Returns the columns of a row.
[[nodiscard]] ir::Expr box_columns(const Kernel& kernel, const Boxes& boxes);
/// Lists the axes that number the rows.
[[nodiscard]] std::vector<int> box_row_axes(const Boxes& boxes);
/// Returns the axis of a turned stage that follows an axis of the output; nothing if a box has one coordinate of it.
[[nodiscard]] std::optional<BoxAxis> box_axis(const Kernel& kernel, const Boxes& boxes, int axis);

/// Splits a total into parts for boxes. Its variables have these names; the first of them has this order.
[[nodiscard]] BoxPart make_box_part(ir::ExprContext& exprs, ir::Expr total, const std::array<const char*, 4>& names,
                                    int order);

/// Returns a boxes' expression with the steps of a launch.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const Boxes& boxes, ir::Expr e);
/// Returns the number of boxes in a launch, over symbols.
[[nodiscard]] ir::Expr box_count(ir::ExprContext& exprs, const Boxes& boxes);
/// Returns whether a box's elements follow each other in the output in strips: one for each row of parts, else one for
/// each slice. Otherwise all do.
[[nodiscard]] bool has_strips(const Boxes& boxes);
/// Returns the most elements of a strip, over steps and symbols.
[[nodiscard]] ir::Expr box_strip_elements(const Kernel& kernel, const Boxes& boxes);
/// Returns the most whole vectors in a strip of a launch, at least 1, over symbols.
[[nodiscard]] ir::Expr box_strip_vectors(const Kernel& kernel, const Boxes& boxes);
/// Returns the most strips of a box, over steps. Strips of parts are numbered by slice and row, the row changes faster.
[[nodiscard]] ir::Expr box_strips(const Kernel& kernel, const Boxes& boxes);
/// Returns the number of steps after which one ends at the same lane again: `lanes`, a power of two, over its largest
/// divisor that divides the step.
[[nodiscard]] ir::Expr lane_period(ir::ExprContext& exprs, ir::Expr step, int lanes);
/// Returns the elements of the output from one slice to the next.
[[nodiscard]] ir::Expr box_slice_step(const Kernel& kernel, const Boxes& boxes);
/// Returns a number of strips after which one begins at the same lane again; more than a box has if that is not so.
/// Rows of several slices may lie anywhere, so theirs must be whole vectors.
[[nodiscard]] ir::Expr box_strip_period(const Kernel& kernel, const Boxes& boxes);
/// Returns the index of the first element of a box's first row, over the coordinates before its rows.
[[nodiscard]] ir::Expr box_first_element(const Kernel& kernel, const Boxes& boxes);

/// Returns an expression that is <= 0 if the rows of a box follow each other in the output: it has one row, or whole
/// rows. Precondition: a box may have some of the columns.
[[nodiscard]] ir::Expr box_rows_apart(const Kernel& kernel, const Boxes& boxes);

/// The first and the last copied coordinate of an axis of a tensor, both included.
struct RunEnds {
  ir::Expr from, last;
};
/// Returns the ends for output coordinates `first` to `last`, which read coordinates `moved` further on. They are
/// clamped to the axis: `from` is at most the extent, `last` at least -1. The run is no longer than the output's.
[[nodiscard]] RunEnds run_ends(ir::ExprContext& exprs, ir::Expr first, ir::Expr last, ir::Expr moved, ir::Expr extent);
/// Returns a box's coordinates of an axis of the output; the columns' axes included.
[[nodiscard]] RunEnds box_range(const Kernel& kernel, const Boxes& boxes, int axis);

/// Bounds the tensor rows in a stage's run, for a load whose coordinates move as the output's. Each row of a box counts
/// one. If the output lacks rows of the tensor's last but one axis, they count each time a box steps along the axis
/// before. (docs/proofs.md, the lemma of boxes.)
[[nodiscard]] ir::Expr box_stage_rows(ir::ExprContext& exprs, const Kernel& kernel, const Boxes& boxes,
                                      const LoadSource& source, const ir::Layout& layout);

/// Returns the bytes of a stage: whole vectors for a run that begins at the same offset in a vector as in the tensor,
/// and the margins.
[[nodiscard]] ir::Expr box_stage_bytes(ir::ExprContext& exprs, const BoxStage& stage, ir::DType dtype);

/// Returns the layout of a stage that is turned from a tensor with this layout. Words begin at multiples of their
/// elements in the tensor. Groups of words are whole, and the columns that a row has of the tensor are rounded up to
/// what a thread turns. Across, words are an odd number apart, in different banks. Rows of slices are as far apart as
/// in the output, where that is whole words and leaves room: then a vector of two rows is one load. If a box's columns
/// have two axes, the stage's rows are the first of them, and follow each other as the columns do.
[[nodiscard]] ir::Layout turned_layout(const Kernel& kernel, const Boxes& boxes, const BoxTurn& turn,
                                       const ir::Layout& tensor);
/// Returns the element of a stage that a load reads, over coordinates of the output and the box.
[[nodiscard]] ir::Expr turned_element(ir::ExprContext& exprs, const BoxTurn& turn, const LoadSource& source);

}  // namespace padlock::compiler
