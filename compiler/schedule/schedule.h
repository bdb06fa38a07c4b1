#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/index/tensor_reach.h"
#include "compiler/schedule/loop_strategy.h"
#include "compiler/schedule/permuted/chunk_loop.h"
#include "compiler/schedule/permuted/interleave.h"
#include "compiler/schedule/segments.h"
#include "compiler/schedule/short_rows.h"
#include "compiler/schedule/transpose_tile.h"
#include "compiler/schedule/vector_grid.h"

// A kernel turned into loops: rows (the flattened outer axes), a decision tree over the predicates of a row, and for
// each of its cases a list of segments of the innermost axis. Each segment calls a body with its bounds;
// segments whose code differs only in addresses share one body.
namespace padlock::compiler {

/// How a body's load moves as the innermost coordinate does.
enum class LoadKind : std::uint8_t {
  invariant,   ///< the same element
  contiguous,  ///< the next element
  reversed,    ///< the element before
  strided,     ///< `step` elements on
  general,     ///< element `offset` of the tensor, an expression over all coordinates; may have a guard
};

struct BodyLoad {
  LoadKind kind = LoadKind::invariant;
  ir::DType dtype = ir::DType::f32;
  ir::Expr step;                // strided: elements for each step of the innermost coordinate; over symbols
  ir::Expr offset;              // general; in the walks of a sum what they add to its stream's `base`
  PredicateId guard = kAlways;  // general
  int scope = -1;               ///< the sum in whose walks it is done, an index into the body's nodes; else -1
};

/// Returns whether the load starts `offset` elements after its stream's `base`.
[[nodiscard]] inline bool has_offset(const BodyLoad& load) { return load.offset.valid(); }

/// Returns whether the load's elements are adjacent in memory.
[[nodiscard]] inline bool is_vector(const BodyLoad& load) {
  return load.kind == LoadKind::contiguous || load.kind == LoadKind::reversed;
}

struct BodyNode {
  NodeKind kind = NodeKind::constant;
  ir::DType dtype = ir::DType::f32;
  ir::Op op = ir::Op::relu;
  std::uint64_t bits = 0;
  ir::ValueId scalar = 0;
  int load = 0;                 // load
  ir::Expr index = {};          // index
  PredicateId guard = kAlways;  // when
  std::vector<int> operands = {};
  std::vector<Walk> walks = {};  // sum
  int scope = -1;                // the innermost sum in whose walks it is made, an index into the body's nodes
};

/// Rows of one case that lie next to each other along the last outer axis are taken together on the host: a body is
/// called once for a run of each, and moves its addresses from row to row. A group of rows has some bytes of the
/// output, so that what several bodies write of it is still in the first cache.
inline constexpr std::int64_t kGroupBytes = 16 << 10;

/// Straight-line code for a run of innermost coordinates.
struct Body {
  std::vector<BodyNode> nodes;  // operands first
  std::vector<int> roots;       // one for each result
  std::vector<BodyLoad> loads;
  int lanes = 1;              ///< elements of one vector; 1 where it is pointwise
  bool uses_rows = false;     ///< reads the outer coordinates
  bool is_pointwise = false;  ///< has a predicate, or an index that is not linear in the innermost coordinate
  std::vector<LoopStrategy> strategies;  ///< the first takes any run

  /// Returns the type that an operation computes on, which a comparison's or a cast's own type is not.
  [[nodiscard]] ir::DType operand_type(const BodyNode& operation) const {
    const std::size_t typed = operation.op == ir::Op::select ? 1 : 0;  // after the condition
    return nodes[static_cast<std::size_t>(operation.operands[typed])].dtype;
  }
};

/// Returns whether coordinates are among the values that it computes with, or it adds up.
[[nodiscard]] inline bool reads_indices(const Body& body) {
  return std::ranges::any_of(
      body.nodes, [](const BodyNode& node) { return node.kind == NodeKind::index || node.kind == NodeKind::sum; });
}

/// Returns whether it adds up (NodeKind::sum).
[[nodiscard]] inline bool has_sums(const Body& body) {
  return std::ranges::find(body.nodes, NodeKind::sum, &BodyNode::kind) != body.nodes.end();
}

/// Returns whether it adds up along the columns, each by itself: where its walks begin and end depends on the column.
[[nodiscard]] inline bool sums_by_column(const Body& body) { return body.lanes == 1 && has_sums(body); }

/// Returns whether the body may write whole cache lines past the caches.
[[nodiscard]] bool may_stream(const Body& body);

/// A load as one segment does it.
struct Stream {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// Coordinates of the element read at an output coordinate, for the proof.
  std::vector<ir::Expr> coordinates;
  /// The element offset at innermost coordinate 0, over the outer coordinates (0 where the load's kind is general),
  /// from which the code starts.
  ir::Expr base;
  /// The recurrence of `base` along the last outer axis (compiler/schedule/row_recurrence.h). `step` is not valid where
  /// no recurrence is known; `rows` is not valid where the step is the same in all rows.
  ir::Expr step = {}, rows = {};
  std::vector<ir::Expr> facts = {}, read_facts = {};  ///< of the load's node
  int reach = -1;                                     ///< a grid's: among Index32Variant::reaches
};

struct SegmentCall {
  ir::Expr begin, end;                    ///< columns of the segment, over symbols
  ir::Expr run_begin = {}, run_end = {};  ///< those of them that belong to a task
  std::vector<Segment> pieces;            ///< adjacent, that it consists of; without their roots
  int body = 0;
  std::vector<Stream> streams;  // one for each of the body's loads
};

/// A selection by column among loads that lie apart, one for each, which shuffles make instead for all vectors of a
/// chunk.
struct InterleavedColumns {
  int node = 0;            ///< of the body, whose operands nothing else uses
  std::vector<int> loads;  ///< of the columns, in order
  std::vector<Shuffle> shuffles;
};

/// Short rows of a case, taken together by permutation (compiler/schedule/permuted/permute_rows.h).
struct PermutedRows {
  /// A whole row: its predicates are of the column alone, and load i's element is `offset`, over the column, after its
  /// stream's `base`, over the outer coordinates.
  Body body;
  std::vector<Stream> streams;
  ChunkLoop loop;
  std::vector<InterleavedColumns> interleaved;
};

struct ScheduledCase {
  PredicateId test = kAlways;
  int holds = -1;
  int fails = -1;
  std::vector<SegmentCall> calls;
  std::optional<PermutedRows> permuted = {};  ///< another way to take its rows, where they are short

  [[nodiscard]] bool is_test() const { return holds >= 0; }
};

/// Index arithmetic that is done in 32 bits where the guards hold: in 64 a division takes several times as long on the
/// host, and everything does on a GPU.
struct Index32Variant {
  /// A host's: the divisions done in 32 bits.
  std::vector<ir::Expr> divisions;
  /// A GPU's, whose variant has no index of 64 bits, but offsets of elements: the sizes that are compared, divided or
  /// divided by, each of which lies between -bound and bound. A bound of 0: there is no such variant. One more has no
  /// such offsets either: for tensors that have so many `elements`, at most kMostElements. A grid has but that one:
  /// more elements are several launches', of which each reaches so many of a tensor (abi::LaunchParts).
  std::int64_t bound = 0;
  std::vector<ir::Expr> sizes = {};
  std::vector<ir::Expr> elements = {};
  bool in_parts = false;                  ///< a grid's, of which some `elements` may be more
  std::vector<TensorReach> reaches = {};  ///< then: of its streams
  /// Comparisons of sizes with constants, of Assumption::index32; of Assumption::offset32 those of `elements`.
  std::vector<abi::Guard> guards;

  /// Some less than 2^31, since the last tile of a grid may reach past the last element.
  static constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - (std::int64_t{1} << 17);
};

/// How output bytes are written: `plain` through the caches, `nontemporal` past them (whole cache lines only), or
/// `automatic`, past them if the output is too large for them, which the launch knows.
enum class StoreKind : std::uint8_t { plain, nontemporal, automatic };

/// The bytes from which on results are too large for a last cache of so many: with inputs of the same size they would
/// take half of a cache that others use, too (docs/host-kernels.md).
[[nodiscard]] constexpr std::int64_t streamed_bytes(std::int64_t cache_bytes) { return cache_bytes / 4; }

struct Schedule {
  Kernel kernel;
  std::string config;  // as text
  StoreKind store = StoreKind::plain;
  /// Operations of its exact indices (compiler/schedule/index/exact_indices.h), to one beyond limits::kIndexOperations:
  /// then no widths of indices are chosen, since the program is refused.
  std::uint32_t index_operations = 0;
  ir::Expr rows = {}, columns = {};  // what a launch covers: flattened outer axes x innermost axis
  std::vector<Body> bodies = {};
  std::vector<ScheduledCase> cases = {};  // the first is the root
  /// Bounds of sizes under which the indices fit 64 bits that ranges do not bound
  /// (compiler/schedule/index/index64_bounds.h). The prover asks a launch for those that are needed.
  std::vector<ir::Constraint> index64_bounds = {};
  Index32Variant index32 = {};
  int threads = 0;                         // of a GPU's block; 0 where a caller distributes rows and columns
  std::optional<VectorGrid> grid = {};     // of `threads`, where they walk over the flattened output
  std::optional<TransposeTile> tile = {};  // of `threads`, where they make tiles of it through shared memory instead
  /// The same in smaller and smaller tiles, for outputs that have few: a launch takes the last ones of which its output
  /// has at most TransposeTile::most_tiles.
  std::vector<TransposeTile> smaller_tiles = {};
  /// Not empty for one that serves some sizes better than the schedule before it: those for which the guards hold.
  std::vector<abi::Guard> serves = {};
  Granules granules = {};                    // of a `grid`: how it loads neighbouring elements
  std::optional<ShortRows> short_rows = {};  // of a `grid` where they are worth tables

  [[nodiscard]] ir::ExprContext& exprs() const { return kernel.program->exprs(); }
  [[nodiscard]] std::size_t segments() const;  ///< of all cases
  // Where there are `threads`:
  [[nodiscard]] ir::Expr tiles() const;                               ///< of the grid
  [[nodiscard]] ir::Expr used_vectors() const;                        ///< of each thread, where there is a `grid`
  [[nodiscard]] std::vector<const TransposeTile*> all_tiles() const;  ///< each shape
};

/// Returns whether consecutive rows of this load may leave a gap in memory (a crop), in rows that a body of the host
/// takes together.
[[nodiscard]] bool has_row_gap(const Schedule& schedule, int body, std::size_t load);

/// Prints a schedule for people and golden tests: its size first, then its cases with their segments, and its bodies
/// with their loops.
[[nodiscard]] std::string to_string(const Schedule& schedule);

}  // namespace padlock::compiler
