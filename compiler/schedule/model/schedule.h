#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/model/body.h"
#include "compiler/schedule/model/boxes.h"
#include "compiler/schedule/model/row_chunks.h"
#include "compiler/schedule/model/segments.h"
#include "compiler/schedule/model/tiles.h"
#include "compiler/schedule/model/vector_grid.h"

// A kernel turned into loops: rows (the flattened outer axes), a decision tree over the predicates of a row, and for
// each case a list of segments of the innermost axis. Each segment calls a body with its bounds. A cover says who makes
// which elements; docs/architecture.md lists the files.
namespace padlock::compiler {

/// Bytes of the output in a group of rows on the host. Rows of one case that are adjacent along the last outer axis are
/// taken together: a body is called once for a run of each, and moves its addresses from row to row. What several
/// bodies write of a group stays in the first cache.
inline constexpr std::int64_t kGroupBytes = 16 << 10;

struct SegmentCall {
  ir::Expr begin, end;                    ///< columns of the segment, over symbols
  ir::Expr run_begin = {}, run_end = {};  ///< the columns of the segment that belong to a task
  std::vector<Segment> pieces;            ///< adjacent segments that it consists of; without their roots
  int body = 0;
  std::vector<LoadSource> sources;  // one for each of the body's loads
};

struct ScheduledCase {
  PredicateId test = kAlways;
  int holds = -1;
  int fails = -1;
  std::vector<SegmentCall> calls;

  [[nodiscard]] bool is_test() const { return holds >= 0; }
};

/// Bounds the elements that a load reads for a row of the output, with the granules around its vectors
/// (compiler/schedule/model/vector_grid.h): [least + offset, most + offset], as far as the tensor's storage has them.
/// `offset` is the sum of step i times outer coordinate i.
struct TensorReach {
  ir::ValueId tensor = 0;
  std::vector<ir::Expr> steps;  ///< elements, one for each outer axis; over symbols, as the bounds
  ir::Expr least, most;
};

/// A GPU's index arithmetic in 32 bits, for sizes that satisfy the guards: in 64 bits everything takes several times as
/// long.
struct Index32Variant {
  /// The variant has 64-bit offsets of elements, but no other 64-bit index: sizes that are compared, divided or divided
  /// by lie between -bound and bound. Bound 0: no variant. A second variant has 32-bit offsets, too, for tensors of at
  /// most kMostElements `elements`. Covers without tiles have only the second. A grid of whole vectors has it for more
  /// elements, too, in several launches, each with a bounded reach in a tensor (abi::LaunchParts).
  std::int64_t bound = 0;
  std::vector<ir::Expr> sizes = {};
  std::vector<ir::Expr> elements = {};
  bool in_parts = false;                  ///< of a grid: some `elements` may exceed the limit
  std::vector<TensorReach> reaches = {};  ///< of a grid's sources
  /// Comparisons of sizes with constants, for Assumption::index32; for Assumption::offset32 those of `elements`.
  std::vector<abi::Guard> guards;

  /// A little less than 2^31, since the last block of a grid may reach past the last element.
  static constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - (std::int64_t{1} << 17);
};

/// The host's cover: tasks of rows and columns, which a caller distributes. A task takes its rows by runs. If the
/// kernel has row chunks, short rows, or rows of small planes, are taken by chunks.
struct HostCover {
  std::optional<RowChunks> row_chunks = {};
};

using Cover = std::variant<HostCover, VectorGrid, Tiles, Boxes>;

/// How output bytes are written: `plain` through the caches, `nontemporal` past them (whole cache lines only).
/// `automatic` goes past the caches if the output is too large for them, which the launch knows.
enum class StoreKind : std::uint8_t { plain, nontemporal, automatic };

/// Bytes from which on results are too large for the caches. Inputs of the same size would take half of the last cache,
/// which others use, too. A core gets little more from a last cache much larger than its own than from memory
/// (docs/host-kernels.md). `core_bytes`: of the core's own cache; 0: unknown.
[[nodiscard]] constexpr std::int64_t nontemporal_bytes(std::int64_t cache_bytes, std::int64_t core_bytes) {
  return core_bytes == 0 ? cache_bytes / 4 : std::min(cache_bytes / 4, 8 * core_bytes);
}

struct Schedule {
  Kernel kernel;
  std::string config;  // as text
  StoreKind store = StoreKind::plain;
  /// Operations of its exact indices (compiler/schedule/index/exact_indices.h), counted to one beyond
  /// limits::kIndexOperations. Beyond the limit no index widths are chosen, since the program is refused.
  std::uint32_t index_operations = 0;
  ir::Expr rows = {}, columns = {};  // of a launch: flattened outer axes x innermost axis
  /// The outer axis along which rows follow each other: the last one, except on a host. -1: none.
  int row_axis = -1;
  std::vector<Body> bodies = {};
  std::vector<ScheduledCase> cases = {};  // the first is the root
  /// The data of rows (Graph::row_data): a case that no test leads to, with one call. Its body runs once a row, before
  /// the tests, and stores nothing. -1: none.
  int row_data = -1;
  Cover cover = HostCover{};
  /// Bounds of sizes under which indices fit 64 bits, for indices that ranges do not bound
  /// (compiler/schedule/index/index64_bounds.h). The prover asks a launch to check the bounds that are needed.
  std::vector<ir::Constraint> index64_bounds = {};
  Index32Variant index32 = {};
  /// Sizes that this schedule serves better than the one before it: those that satisfy the guards. Empty: all sizes.
  std::vector<abi::Guard> serves = {};

  [[nodiscard]] ir::ExprContext& exprs() const { return kernel.exprs(); }
  /// Lists the outer axes in the order in which rows are counted: the row axis after all others.
  [[nodiscard]] std::vector<int> row_order() const;
  [[nodiscard]] ir::Expr row_coordinate() const { return kernel.coordinate(row_axis); }
  [[nodiscard]] ir::Expr row_step() const;  ///< elements of the output from a row to the next along the row axis
  /// Lists the segments of all cases, with their loads.
  [[nodiscard]] auto calls() const { return cases | std::views::transform(&ScheduledCase::calls) | std::views::join; }
  [[nodiscard]] auto sources() const {
    return calls() | std::views::transform(&SegmentCall::sources) | std::views::join;
  }
  [[nodiscard]] std::size_t segments() const { return static_cast<std::size_t>(std::ranges::distance(calls())); }
  /// Returns the body of the rows' data, or null.
  [[nodiscard]] const SegmentCall* row_data_call() const {
    return row_data < 0 ? nullptr : &cases[static_cast<std::size_t>(row_data)].calls.front();
  }
  [[nodiscard]] bool is_row_data(std::size_t body) const {
    return row_data >= 0 && static_cast<std::size_t>(row_data_call()->body) == body;
  }
  [[nodiscard]] const Body& body_of(const SegmentCall& call) const {
    return bodies[static_cast<std::size_t>(call.body)];
  }
  /// Returns the cover as a grid, or null for another kind.
  [[nodiscard]] const VectorGrid* grid() const { return std::get_if<VectorGrid>(&cover); }
  [[nodiscard]] VectorGrid* grid() { return std::get_if<VectorGrid>(&cover); }
  [[nodiscard]] const Tiles* tiles() const { return std::get_if<Tiles>(&cover); }
  [[nodiscard]] Tiles* tiles() { return std::get_if<Tiles>(&cover); }
  [[nodiscard]] const Boxes* boxes() const { return std::get_if<Boxes>(&cover); }
  [[nodiscard]] Boxes* boxes() { return std::get_if<Boxes>(&cover); }
  [[nodiscard]] bool is_for_gpu() const { return !std::holds_alternative<HostCover>(cover); }
  /// Returns the row chunks, or null without any.
  [[nodiscard]] const RowChunks* row_chunks() const {
    const auto* const host = std::get_if<HostCover>(&cover);
    return host != nullptr && host->row_chunks ? &*host->row_chunks : nullptr;
  }
  [[nodiscard]] RowChunks* row_chunks() { return const_cast<RowChunks*>(std::as_const(*this).row_chunks()); }
  // Of a schedule for a GPU:
  [[nodiscard]] ir::Expr blocks() const;                    ///< of a launch, in the largest tiles
  [[nodiscard]] ir::Expr at_grid_launch(ir::Expr e) const;  ///< a grid's expression, for the elements of the output
  [[nodiscard]] ir::Expr at_grid_launch(ir::Expr e, int used) const;  ///< also for as many vectors of a thread
  [[nodiscard]] ir::Expr used_vectors() const;  ///< vectors of each thread of a launch, for a grid of vectors
};

/// Returns whether consecutive rows of this load may leave a gap in memory (a crop), for rows that a body of the host
/// takes together.
[[nodiscard]] bool has_row_gap(const Schedule& schedule, int body, std::size_t load);

/// Prints a schedule for people and golden tests: its size first, then its cases with their segments, and its bodies
/// with their loops.
[[nodiscard]] std::string to_string(const Schedule& schedule);

}  // namespace padlock::compiler
