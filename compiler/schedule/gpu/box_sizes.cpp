#include "compiler/schedule/gpu/box_sizes.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/model/tiles.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

constexpr int kVectorBytes = 16;
/// Bytes of a box's rows, in the output or the input, whichever are more. A multiprocessor's 12 boxes then have as much
/// on their way as its memory takes.
constexpr std::int64_t kBoxBytes = 12 << 10;
/// Bytes of a box with slices, which lie across. They are more, since each slice has ends of its own.
constexpr std::int64_t kSlicedBoxBytes = 16 << 10;
/// Fewest bytes that a turned stage takes of the tensor together, if there are as many: for slices of bytes, for other
/// slices, and for rows.
constexpr std::int64_t kBytesAcross = 64, kWideBytesAcross = 128, kFewestBytesAcross = 32;
/// Bytes of a box of parts, and those that its stage takes of the tensor together, if there are as many: for bytes, and
/// for wider elements. The rest of the box is columns, in multiples of a cache line. (An H200, pixels
/// of 28 x 28 of 512 floats: 128 bytes together and strips of 352 .75 of a copy, of 256 .85, tiles .52; 256 together
/// and strips of 256 .82. Of 17 x 19 of 96 floats 128 together .71, 256 .78. Of 40 x 40 of 128 floats boxes of 16 KiB
/// .83, of 8 KiB, which is one line, .92; of f16 such boxes would have to be 128 together: .72, .80 before.)
constexpr std::int64_t kPartsBytes = 16 << 10, kPartsBytesOfWords = 8 << 10;
constexpr std::int64_t kBytesAcrossParts = 128, kWideBytesAcrossParts = 256, kLineBytes = 128;
/// Shortest rows of parts, of bytes and of wider elements: shorter ones are as good whole. (An H200, whole over parts:
/// bytes of 64 and 96 1.16 and 1.13; f16 of 48 and 64 1.22 and 1.20, of 32 .79.)
constexpr std::int64_t kFewestPartedRow = 96, kFewestPartedBytes = 64;
/// Shared memory of a block, and what all stages of parts have of it without their margins.
constexpr std::int64_t kMostSharedBytes = 40 << 10, kStagesBytes = 30 << 10;
/// Longest rows, in bytes, for boxes: a grid of vectors has most of longer rows whole, and is no slower. For each
/// segment of a row, whose ends are edges of the grid, and for all of them. (An H100, 96 MiB, of a copy in a grid and
/// in boxes: f32 rows of 14, cropped, 1.11 and .93, of 20 with two ends .89 and .94; f16 rows of 33 with one end .96
/// and .87, of 30 with two .82 and .92; bytes of 54, cropped, .87 and .93. An H200: bytes of 118 with three segments
/// .69 and .88, of 102 .82 and .91, of 202 .89 and .92, of 303 .92 both, of 502 .94 and .90.)
struct LongestRow {
  std::int64_t of_segment, of_all;
};
constexpr LongestRow kBytes = {100, 256}, kHalves = {28, 96}, kWords = {38, 128};
/// Longest rows if several tensors are joined along them. (An H200, a grid and boxes: bytes of 13 and 22 .55 and .59,
/// of 32 twice .98 and .96.)
constexpr std::int64_t kLongestJoinedTensors = 48;
/// Fewest bytes of an output for boxes. Outputs that fit a cache are slower in boxes, which wait for a whole run before
/// the first store, unless hardly a vector lies in one row. Without boxes an H100 takes 1.0 to 3.3 times as long from
/// 24 MiB on, and 0.6 to 2.2 times below.
constexpr std::int64_t kFewestBytes = 24 << 20, kFewestBytesOfShortest = 16 << 10, kShortestRow = 48;
/// Smaller outputs are not worth a turned stage.
constexpr std::int64_t kFewestTurnedBytes = 1 << 20;
/// Boxes of a launch, if the output has enough bytes for as many: 8 for each multiprocessor of an H100 or H200.
constexpr std::int64_t kManyBoxes = 1056, kFewestBoxBytes = 1 << 10;
/// Bytes of the longest rows that a turned stage has whole: of one axis, and of two. (An H100, 96 MiB, of a copy: u8 of
/// 3, 8 and 24 channels .79, .85 and .85 with rows of two axes, .36, .77 and .74 with rows of one.)
constexpr std::int64_t kLongestTurnedRow = 1024, kLongestJoinedRow = 63;
/// Rows of at least kTiledRow bytes are left to tiles, which are faster, if along both axes at most one tile in
/// kTilesOfAnEdge is at an edge. (An H200, batched transposes of a copy in tiles and in boxes: floats of 300 x 301 .75
/// and .46, halves of 256 x 256 .98 and .78, bytes .97 and .76. Images to the innermost axis, which are padded: floats
/// of 200 x 200 x 128 .83 and .89, halves .50 and .88.)
constexpr std::int64_t kTiledRow = 256, kTilesOfAnEdge = 5;
/// With fewer columns, rows of whole vectors are as fast in a grid of vectors, which gathers them in registers. (For
/// u8, f16 and f32 of 16 channels a grid has .85, .93 and 1.00 of a copy's speed, boxes .85, .83 and .98.)
constexpr std::int64_t kFewestTurnedColumns = 33;
/// Fewer channels are as fast in a grid, too, if the input has its channels together. (f16 of 3 channels .84, in boxes
/// .73; of 4 .63 both.)
constexpr std::int64_t kFewestAcross = 4;

class BoxSizes {
 public:
  BoxSizes(Schedule& schedule, Boxes& boxes, int widest)
      : schedule_(schedule),
        boxes_(boxes),
        kernel_(schedule.kernel),
        exprs_(schedule.exprs()),
        one_(exprs_.constant(1)),
        widest_(widest) {}

  void choose() {
    if (turns())
      choose_turned_steps();
    else
      choose_step();
    add_guards();
  }

 private:
  /// Returns whether the stages are turned: all are, or none.
  [[nodiscard]] bool turns() const { return boxes_.stages.front().turn.has_value(); }
  [[nodiscard]] BoxAxis across() const { return boxes_.stages.front().turn->across; }

  /// Returns the elements of a box of this many bytes, or fewer, so that there are many boxes.
  [[nodiscard]] Expr room(std::int64_t bytes) {
    const Expr elements = exprs_.mul(schedule_.rows, schedule_.columns);
    const Expr each = exprs_.floordiv(elements, exprs_.constant(kManyBoxes));
    return exprs_.max(exprs_.min(each, exprs_.constant(bytes / widest_)), exprs_.constant(kFewestBoxBytes / widest_));
  }

  /// Chooses rows of kBoxBytes, in the output or from one input row to the next, whichever is longer. Their number is a
  /// multiple that makes whole vectors, so that boxes begin at a vector if the output does.
  void choose_step() {
    Expr row = exprs_.max(schedule_.columns, one_);
    for (const BoxStage& stage : boxes_.stages) {
      const ir::Layout& layout = kernel_.graph.layout(stage.layout);
      row = exprs_.max(row, layout.strides()[layout.strides().size() - 2]);
    }
    const Expr most = exprs_.max(exprs_.floordiv(room(kBoxBytes), row), one_);
    const Expr multiple = lane_period(exprs_, schedule_.columns, boxes_.lanes);
    const Expr whole = exprs_.sub(most, exprs_.mod(most, multiple));
    boxes_.rows.launched = exprs_.max(exprs_.max(whole, exprs_.min(most, exprs_.sub(multiple, one_))), one_);
  }

  /// Returns about `most` of a total, equal for all boxes but the last: a multiple of `multiple` if there are several
  /// boxes.
  [[nodiscard]] Expr even_part(Expr total, Expr most, int multiple = 1) {
    const Expr some = exprs_.max(total, one_);
    const Expr part = exprs_.ceildiv(some, exprs_.ceildiv(some, exprs_.max(exprs_.min(most, some), one_)));
    const Expr unit = exprs_.constant(multiple);
    const Expr whole = multiple == 1 ? part : exprs_.min(exprs_.mul(exprs_.ceildiv(part, unit), unit), some);
    return exprs_.max(whole, one_);
  }

  /// Returns whether a slice follows the rows of the one before it in what the stages copy.
  [[nodiscard]] bool continues_rows() const {
    return std::ranges::all_of(boxes_.stages, [&](const BoxStage& stage) {
      const int slice = stage.turn->axes[kBoxSlice], row = stage.turn->axes[kBoxRow];
      return slice >= 0 && row == slice + 1 && kernel_.graph.layout(stage.layout).next_axis_continues(exprs_, slice);
    });
  }

  /// Chooses first the length across that memory likes, then as much of the columns and rows as there is room for.
  void choose_turned_steps() {
    int size = 1;
    for (const BoxStage& stage : boxes_.stages)
      size = std::max(size, ir::byte_size(kernel_.program->value(stage.tensor).dtype));
    const auto stages = std::ssize(boxes_.stages);
    const Expr most = room(across() == kBoxSlice ? kSlicedBoxBytes
                           : boxes_.kind == BoxKind::parts
                               ? std::min(size == 4 ? kPartsBytesOfWords : kPartsBytes, kStagesBytes / stages)
                               : kBoxBytes);
    const Expr columns = exprs_.max(schedule_.columns, one_);
    const Expr rows = exprs_.max(boxes_.rows.total, one_);
    if (boxes_.kind == BoxKind::joined) {
      const Expr fit = exprs_.max(exprs_.floordiv(most, columns), one_);
      boxes_.columns->launched = even_part(boxes_.columns->total, fit, boxes_.lanes);
      boxes_.rows.launched = even_part(rows, exprs_.floordiv(fit, exprs_.max(boxes_.columns->total, one_)));
      return;
    }
    if (boxes_.kind == BoxKind::parts) {
      const Expr together = exprs_.constant((size == 1 ? kBytesAcrossParts : kWideBytesAcrossParts) / size);
      boxes_.rows.launched = even_part(rows, together);
      Expr taken = boxes_.rows.launched;
      if (boxes_.slices) {
        const Expr slices = continues_rows() ? exprs_.floordiv(together, taken) : one_;
        boxes_.slices->launched = even_part(boxes_.slices->total, slices);
        taken = exprs_.mul(taken, boxes_.slices->launched);
      }
      const int line = static_cast<int>(kLineBytes) / widest_;
      const Expr lines = exprs_.floordiv(most, exprs_.mul(taken, exprs_.constant(line)));
      boxes_.columns->launched = even_part(columns, exprs_.mul(exprs_.max(lines, one_), exprs_.constant(line)), line);
      return;
    }
    if (across() == kBoxRow) {
      const Expr fit = exprs_.max(exprs_.floordiv(most, columns), exprs_.constant(kFewestBytesAcross / size));
      boxes_.rows.launched = even_part(rows, fit);
      if (boxes_.slices) boxes_.slices->launched = even_part(boxes_.slices->total, exprs_.floordiv(fit, rows));
      return;
    }
    const Expr together = exprs_.constant((size == 1 ? kBytesAcross : kWideBytesAcross) / size);
    const Expr slices = exprs_.max(together, exprs_.floordiv(most, exprs_.mul(rows, columns)));
    boxes_.slices->launched = even_part(boxes_.slices->total, slices, kVectorBytes / size);
    const Expr left = exprs_.max(exprs_.floordiv(most, boxes_.slices->launched), one_);
    boxes_.rows.launched = even_part(rows, exprs_.floordiv(left, columns));
    boxes_.columns->launched = even_part(columns, left, boxes_.lanes);
  }

  void at_most(Expr e, std::int64_t limit) {
    schedule_.serves.push_back({abi::Assumption::boxes, {e, ir::Comparison::le, exprs_.constant(limit)}});
  }

  void add_guards() {
    const Expr row_bytes = exprs_.mul(schedule_.columns, exprs_.constant(widest_));
    at_most(at_launch(exprs_, boxes_, boxes_.shared_bytes), kMostSharedBytes);
    const Expr fewest = exprs_.constant(turns() ? kFewestTurnedBytes : kFewestBytesOfShortest);
    at_most(exprs_.sub(fewest, exprs_.mul(schedule_.rows, row_bytes)), 0);
    if (turns())
      add_turned_guards(row_bytes);
    else
      add_row_guards(row_bytes);
  }

  /// Returns whether a condition splits rows, as 0 or 1. It holds for the columns from -rest on, or up to rest.
  [[nodiscard]] Expr splits(const ColumnCondition& condition) {
    for (int axis = 0; axis < kernel_.rank(); ++axis)
      if (mentions(condition.rest, kernel_.coordinate(axis))) return one_;
    const Expr zero = exprs_.constant(0);
    const Expr others = condition.slope > 0 ? exprs_.sub(zero, condition.rest)
                                            : exprs_.sub(exprs_.sub(schedule_.columns, one_), condition.rest);
    return exprs_.min(exprs_.max(others, zero), one_);
  }

  [[nodiscard]] std::set<ConditionId> conditions() {
    const Body& body = schedule_.bodies[0];
    std::set<ConditionId> all;
    const auto add = [&](PredicateId guard) {
      const auto some = kernel_.graph.conditions_of(guard);
      all.insert(some.begin(), some.end());
    };
    for (const BodyNode& node : body.nodes) add(node.guard);
    for (const BodyLoad& load : body.loads) add(load.guard);
    return all;
  }

  /// Returns the segments of a row.
  [[nodiscard]] Expr segments() {
    Expr segments = one_;
    for (const ConditionId id : conditions()) {
      const ColumnCondition condition = *column_condition(kernel_, boxes_.column_axis, kernel_.graph.condition(id));
      if (condition.slope != 0) segments = exprs_.add(segments, splits(condition));
    }
    return segments;
  }

  void add_row_guards(Expr row_bytes) {
    const LongestRow longest = widest_ == 1 ? kBytes : widest_ == 2 ? kHalves : kWords;
    at_most(row_bytes, boxes_.stages.size() > 1 ? kLongestJoinedTensors : longest.of_all);
    at_most(exprs_.sub(row_bytes, exprs_.mul(segments(), exprs_.constant(longest.of_segment))), 0);
    if (widest_ < 4) {  // a grid blends the segments of whole vectors
      const Expr left = exprs_.mod(schedule_.columns, exprs_.constant(boxes_.lanes));
      at_most(exprs_.sub(one_, left), 0);
    }
    const Expr shortest = exprs_.constant(widest_ < 4 ? kShortestRow : 0);
    const Expr bytes = exprs_.mul(schedule_.rows, row_bytes);
    // Requires the shortest rows, or large outputs.
    at_most(exprs_.min(exprs_.sub(row_bytes, shortest), exprs_.sub(exprs_.constant(kFewestBytes), bytes)), 0);
  }

  /// Returns a value above 0 if more than one tile in kTilesOfAnEdge is at an edge of an axis: at both ends if a
  /// condition splits the axis, else at its last end if the axis is no whole tiles.
  [[nodiscard]] Expr many_at_edges(int axis) {
    const auto splits_axis = [&](ConditionId id) {
      return mentions(kernel_.graph.condition(id).expr, kernel_.coordinate(axis));
    };
    const Expr extent = kernel_.extent(axis);
    const Expr side =
        exprs_.constant(tile_shape(TileSize::large, widest_, boxes_.threads, /*has_one_result=*/true).side());
    const Expr edges = std::ranges::any_of(conditions(), splits_axis) ? exprs_.constant(2)
                                                                      : exprs_.min(exprs_.mod(extent, side), one_);
    return exprs_.sub(exprs_.mul(exprs_.constant(kTilesOfAnEdge), edges), exprs_.ceildiv(extent, side));
  }

  /// Leaves long rows to tiles if few of these are at an edge.
  void leave_to_tiles(Expr row_bytes) {
    const Expr wide = exprs_.sub(row_bytes, exprs_.constant(kTiledRow - 1));
    const Expr many = exprs_.max(many_at_edges(kernel_.rank() - 1), many_at_edges(boxes_.row_axis));
    at_most(exprs_.min(wide, exprs_.sub(one_, many)), 0);
  }

  void add_turned_guards(Expr row_bytes) {
    const auto is_no_multiple = [&](Expr e, std::int64_t unit) {
      return exprs_.min(exprs_.mod(e, exprs_.constant(unit)), one_);
    };
    if (boxes_.kind == BoxKind::joined) {
      const Expr no_vectors = is_no_multiple(row_bytes, kVectorBytes);
      const std::int64_t more = kLongestJoinedRow - kVectorBytes + 1;
      at_most(exprs_.sub(row_bytes, exprs_.mul(exprs_.constant(more), no_vectors)), kLongestJoinedRow - more);
    } else if (boxes_.kind == BoxKind::parts) {
      at_most(exprs_.sub(exprs_.constant(widest_ == 1 ? kFewestPartedBytes : kFewestPartedRow), row_bytes), 0);
      at_most(exprs_.sub(exprs_.constant(kFewestAcross), boxes_.rows.total), 0);
      // Rows up to kLongestTurnedRow that are no whole vectors go by boxes of whole rows.
      const Expr no_vectors = is_no_multiple(schedule_.columns, boxes_.lanes);
      at_most(exprs_.sub(exprs_.mul(exprs_.constant(kLongestTurnedRow + 1), no_vectors), row_bytes), 0);
      leave_to_tiles(row_bytes);
    } else if (across() == kBoxRow) {
      at_most(row_bytes, kLongestTurnedRow);
      at_most(exprs_.sub(exprs_.constant(kVectorBytes), row_bytes), 0);
      const Expr fewest = exprs_.constant(kFewestTurnedColumns);
      const Expr no_vectors = is_no_multiple(schedule_.columns, boxes_.lanes);
      at_most(exprs_.sub(exprs_.sub(fewest, schedule_.columns), exprs_.mul(fewest, no_vectors)), 0);
      leave_to_tiles(row_bytes);
    } else {
      at_most(exprs_.sub(exprs_.constant(kFewestAcross), boxes_.slices->total), 0);
    }
    // If a box has a part of the columns, several of its rows are not adjacent in the output.
    if (boxes_.columns && boxes_.kind != BoxKind::parts) at_most(box_rows_apart(kernel_, boxes_), 0);
  }

  Schedule& schedule_;
  Boxes& boxes_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Expr one_;
  int widest_;
};

}  // namespace

void choose_box_sizes(Schedule& schedule, Boxes& boxes, int widest) { BoxSizes(schedule, boxes, widest).choose(); }

}  // namespace padlock::compiler
