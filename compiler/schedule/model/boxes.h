#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/schedule/model/body.h"
#include "ir/expr/expr.h"
#include "ir/layout.h"
#include "ir/program.h"

// Boxes of a GPU's output. A block makes one: it copies what the box reads of an input to shared memory, and makes the
// output's vectors from there, whatever rows they lie in. One description serves the code and the proof.
//
// Where the innermost axes of input and output are the same, a box has some rows that follow each other. Rows of the
// input follow each other, too, so that one run of its storage has all that the block reads. Where they are not, a box
// has some coordinates of three axes, and the copy turns the input's order into the output's.
namespace padlock::compiler {

/// Bytes of a stage before and after the elements that a box may read. A vector is read where it has one of those
/// elements: it begins at most a vector before it, and ends with the word after it.
inline constexpr int kStageMargin = 32;
/// Bytes that are copied at a time, at multiples of as many.
inline constexpr int kStageVectorBytes = 16;

/// Of a turned stage: what goes with the slices of a box, its rows and its columns.
enum BoxAxis : std::uint8_t { kBoxSlice = 0, kBoxRow = 1, kBoxColumn = 2 };
/// A thread copies four columns at a time, of some words of elements that lie across.
inline constexpr int kTurnedElements = 4;

[[nodiscard]] constexpr int turned_words(BoxAxis across, int lanes) { return across == kBoxRow && lanes == 1 ? 4 : 2; }

/// A stage whose elements are in the output's order: a tensor of slices, rows and columns.
struct BoxTurn {
  std::array<int, 3> axes = {-1, -1, -1};  ///< of the tensor, by BoxAxis; -1: no axis
  /// The tensor's coordinates that index 0 of the stage stands for; over the variables of a box.
  std::array<ir::Expr, 3> origin = {};
  ir::Layout layout;           ///< of the stage, in elements; over the steps of a launch
  BoxAxis across = kBoxSlice;  ///< what is contiguous in the tensor
  int lanes = 1;               ///< elements of a word: so many lie together across
};

/// The part of an input that a box reads, in memory that a block's threads share.
struct BoxStage {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// For each axis of the tensor the first coordinate that is copied, and the last. Over the variables of a box, and
  /// symbols. Where the first is after the last, nothing is.
  std::vector<ir::Expr> from, last;
  // A run of the input's storage:
  ir::Expr first = {};     ///< the element at `from`
  ir::Expr elements = {};  ///< from it to that at `last`: none where it is below 1
  ir::Expr columns = {};   ///< of a row that are read: nothing is where there are less than 1
  ir::Expr capacity = {};  ///< elements of any stage, at most
  // Or turned:
  std::optional<BoxTurn> turn = std::nullopt;
  ir::Expr place = {}, bytes = {};  ///< where shared memory has the stage, and how large it is
};

/// Something of which each box has a part: rows, slices or columns.
struct BoxPart {
  ir::Expr total;       ///< of the output
  ir::Expr step;        ///< variable: how many a box has, the last one fewer
  ir::Expr number;      ///< variable: of the part
  ir::Expr from, last;  ///< variables: the first of the part, and the last
  // Over step and number:
  ir::Expr first, count;
  ir::Expr parts;     ///< of a launch
  ir::Expr launched;  ///< the step of a launch, over symbols
};

/// What a block's number says: the digit that changes first is the first of several.
struct BoxDigit {
  ir::Expr value, count;
};

/// How the axes of the output are those of its boxes: the last is the columns, or the last two are; or the last is, and
/// the last but one is that of slices.
enum class BoxKind : std::uint8_t { none, rows, joined, slices };
/// "boxes", "boxes_joined" or "boxes_slices".
[[nodiscard]] std::string_view name_of(BoxKind kind);

struct Boxes {
  BoxKind kind = BoxKind::none;
  int threads = 0;  ///< of a block
  int lanes = 1;    ///< elements of a vector that is stored
  /// Axes of the output from this one on, up to the columns, number its rows. A box has one coordinate of each axis
  /// before them, but for `slice`.
  int row_axis = 0;
  int column_axis = 0;  ///< the axes from this one on are a row's columns: the last, or the last two
  int slice = -1;       ///< axis of the output of which a box has some coordinates; -1: none
  BoxPart rows;
  /// A box has all columns, or a part along the first of their axes.
  std::optional<BoxPart> slices = std::nullopt, columns = std::nullopt;
  std::vector<ir::Expr> first = {}, last = {};  ///< variables: coordinates of a box's first and last row
  std::vector<BoxDigit> digits = {};            ///< of a block's number; over symbols and steps
  std::vector<BoxStage> stages = {};
  std::vector<int> stage_of =
      {};                      ///< of each load of the body; -1: one element a row, which is read where it is needed
  ir::Expr shared_bytes = {};  ///< of a block
};

/// Returns the columns of a row, and how many of them one coordinate of their first axis has.
[[nodiscard]] ir::Expr box_columns(const Kernel& kernel, const Boxes& boxes);
[[nodiscard]] ir::Expr box_column_unit(const Kernel& kernel, const Boxes& boxes);
/// Returns the axes that number the rows.
[[nodiscard]] std::vector<int> box_row_axes(const Boxes& boxes);
/// Returns what goes along an axis of the output in a turned stage; nothing where a box has one coordinate of it.
[[nodiscard]] std::optional<BoxAxis> box_axis(const Kernel& kernel, const Boxes& boxes, int axis);

/// A condition on the column of a row: slope * column + rest >= 0, or == 0 where the slope is 0 and it says so.
struct BoxCondition {
  int slope = 0;  ///< -1, 0 or 1
  ir::Expr rest;  ///< over the coordinates of rows
};
/// Returns a condition so; nothing where it is not.
[[nodiscard]] std::optional<BoxCondition> box_condition(const Kernel& kernel, const Boxes& boxes,
                                                        const Condition& condition);
/// Returns an expression for column 0 of a row.
[[nodiscard]] ir::Expr at_first_column(const Kernel& kernel, const Boxes& boxes, ir::Expr e);

/// Makes what each box has of so many, with variables of these names, of which the first has this order.
[[nodiscard]] BoxPart make_box_part(ir::ExprContext& exprs, ir::Expr total, const std::array<const char*, 4>& names,
                                    int order);

/// Returns an expression of the boxes for the steps of a launch.
[[nodiscard]] ir::Expr at_launch(ir::ExprContext& exprs, const Boxes& boxes, ir::Expr e);
/// Returns the boxes of a launch, over symbols.
[[nodiscard]] ir::Expr box_count(ir::ExprContext& exprs, const Boxes& boxes);
/// Returns the vectors of a slice of a launch that begin with its first element, over symbols.
[[nodiscard]] ir::Expr box_slice_vectors(const Kernel& kernel, const Boxes& boxes);
/// Returns the number of the first element that a box has in a slice, over the coordinates before its rows.
[[nodiscard]] ir::Expr box_first_element(const Kernel& kernel, const Boxes& boxes);

/// Returns what is at most 0 where the rows of a box follow each other in the output: there is one, or they are whole.
/// Precondition: a box may have some of the columns.
[[nodiscard]] ir::Expr box_rows_apart(const Kernel& kernel, const Boxes& boxes);

/// The coordinates of an axis of a tensor at which what is copied begins and ends: both are copied.
struct RunEnds {
  ir::Expr from, last;
};
/// Returns them for coordinates `first` to `last` of the output that read those `moved` further on, as far as the axis
/// has them: `from` is at most the extent, and `last` at least -1. There are no more than of the output.
[[nodiscard]] RunEnds run_ends(ir::ExprContext& exprs, ir::Expr first, ir::Expr last, ir::Expr moved, ir::Expr extent);
/// Returns the coordinates of an axis of the output that a box has, the columns among them.
[[nodiscard]] RunEnds box_range(const Kernel& kernel, const Boxes& boxes, int axis);

/// Returns how many rows of a tensor the run of a stage has at most, for a load whose coordinates move as the output's
/// do: one for each row of a box, and, where the output lacks some rows of the tensor's last but one axis, these as
/// often as a box goes on from one coordinate of the axis before to the next. (docs/proofs.md, the lemma of boxes.)
[[nodiscard]] ir::Expr box_stage_rows(ir::ExprContext& exprs, const Kernel& kernel, const Boxes& boxes,
                                      const LoadSource& source, const ir::Layout& layout);

/// Returns the bytes of a stage's room: of whole vectors, for a run that begins as far past one as it does in the
/// tensor, and for the margins.
[[nodiscard]] ir::Expr box_stage_bytes(ir::ExprContext& exprs, const BoxStage& stage, ir::DType dtype);

/// Returns the layout of a turned stage. Words begin at multiples of their elements in the tensor, and groups of them
/// are whole, and so are the rows, to what a thread turns; what lies across is an odd number of words apart, in
/// different banks. Where a box's columns have two axes, the rows of the stage are the first of them, and follow each
/// other as the columns do.
[[nodiscard]] ir::Layout turned_layout(const Kernel& kernel, const Boxes& boxes, BoxAxis across, int lanes);
/// Returns the element of a stage that a load reads, over the coordinates of the output and of the box.
[[nodiscard]] ir::Expr turned_element(ir::ExprContext& exprs, const BoxTurn& turn, const LoadSource& source);

}  // namespace padlock::compiler
