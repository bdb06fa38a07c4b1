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
// each of its cases a list of segments of the innermost axis. Each segment calls a body with its bounds. A cover says
// who makes which elements; docs/architecture.md names the file of each in every room.
namespace padlock::compiler {

/// Rows of one case that lie next to each other along the last outer axis are taken together on the host: a body is
/// called once for a run of each, and moves its addresses from row to row. A group of rows has some bytes of the
/// output, so that what several bodies write of it is still in the first cache.
inline constexpr std::int64_t kGroupBytes = 16 << 10;

struct SegmentCall {
  ir::Expr begin, end;                    ///< columns of the segment, over symbols
  ir::Expr run_begin = {}, run_end = {};  ///< those of them that belong to a task
  std::vector<Segment> pieces;            ///< adjacent, that it consists of; without their roots
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
/// (compiler/schedule/model/vector_grid.h): those of [least + offset, most + offset] that the tensor's storage has,
/// where `offset` is the sum of step i times outer coordinate i.
struct TensorReach {
  ir::ValueId tensor = 0;
  std::vector<ir::Expr> steps;  ///< elements, one for each outer axis; over symbols, as all of it
  ir::Expr least, most;
};

/// A GPU's index arithmetic that is done in 32 bits where the guards hold: in 64 everything takes several times as
/// long.
struct Index32Variant {
  /// The variant has no index of 64 bits, but offsets of elements: the sizes that are compared, divided or divided by,
  /// each of which lies between -bound and bound. A bound of 0: there is no such variant. One more has no such offsets
  /// either: for tensors that have so many `elements`, at most kMostElements. A grid has but that one: more elements
  /// are several launches', of which each reaches so many of a tensor (abi::LaunchParts).
  std::int64_t bound = 0;
  std::vector<ir::Expr> sizes = {};
  std::vector<ir::Expr> elements = {};
  bool in_parts = false;                  ///< a grid's, of which some `elements` may be more
  std::vector<TensorReach> reaches = {};  ///< then: of its sources
  /// Comparisons of sizes with constants, of Assumption::index32; of Assumption::offset32 those of `elements`.
  std::vector<abi::Guard> guards;

  /// Some less than 2^31, since the last block of a grid may reach past the last element.
  static constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - (std::int64_t{1} << 17);
};

/// The host's: tasks of rows and columns, which a caller distributes. A task takes its rows by runs, and those of a
/// kernel that has row chunks by them where they, or their planes, are short.
struct HostCover {
  std::optional<RowChunks> row_chunks = {};
};

using Cover = std::variant<HostCover, VectorGrid, Tiles, Boxes>;

/// How output bytes are written: `plain` through the caches, `nontemporal` past them (whole cache lines only), or
/// `automatic`, past them if the output is too large for them, which the launch knows.
enum class StoreKind : std::uint8_t { plain, nontemporal, automatic };

/// The bytes from which on results are too large for the caches. With inputs of the same size they would take half of
/// the last one, which others use, too; and of a last cache much larger than a core's own a core gets little more than
/// of memory (docs/host-kernels.md). `core_bytes`: of the core's own cache; 0: unknown.
[[nodiscard]] constexpr std::int64_t nontemporal_bytes(std::int64_t cache_bytes, std::int64_t core_bytes) {
  return core_bytes == 0 ? cache_bytes / 4 : std::min(cache_bytes / 4, 8 * core_bytes);
}

struct Schedule {
  Kernel kernel;
  std::string config;  // as text
  StoreKind store = StoreKind::plain;
  /// Operations of its exact indices (compiler/schedule/index/exact_indices.h), to one beyond limits::kIndexOperations:
  /// then no widths of indices are chosen, since the program is refused.
  std::uint32_t index_operations = 0;
  ir::Expr rows = {}, columns = {};  // what a launch covers: flattened outer axes x innermost axis
  /// The outer axis along which rows follow each other: the last one but on a host. -1 where there is none.
  int row_axis = -1;
  std::vector<Body> bodies = {};
  std::vector<ScheduledCase> cases = {};  // the first is the root
  /// The data of rows (Graph::row_data): a case that no test leads to, with one call, whose body is made once a row,
  /// before the tests, and stores nothing. -1: there is none.
  int row_data = -1;
  Cover cover = HostCover{};
  /// Bounds of sizes under which the indices fit 64 bits that ranges do not bound
  /// (compiler/schedule/index/index64_bounds.h). The prover asks a launch for those that are needed.
  std::vector<ir::Constraint> index64_bounds = {};
  Index32Variant index32 = {};
  /// Not empty for one that serves some sizes better than the schedule before it: those for which the guards hold.
  std::vector<abi::Guard> serves = {};

  [[nodiscard]] ir::ExprContext& exprs() const { return kernel.exprs(); }
  /// The outer axes as rows are counted over them: the row axis after all others.
  [[nodiscard]] std::vector<int> row_order() const;
  [[nodiscard]] ir::Expr row_coordinate() const { return kernel.coordinate(row_axis); }
  [[nodiscard]] ir::Expr row_step() const;  ///< elements of the output from a row to the next along the row axis
  /// The segments of all cases, and what they load.
  [[nodiscard]] auto calls() const { return cases | std::views::transform(&ScheduledCase::calls) | std::views::join; }
  [[nodiscard]] auto sources() const {
    return calls() | std::views::transform(&SegmentCall::sources) | std::views::join;
  }
  [[nodiscard]] std::size_t segments() const { return static_cast<std::size_t>(std::ranges::distance(calls())); }
  /// The body of the rows' data, or null.
  [[nodiscard]] const SegmentCall* row_data_call() const {
    return row_data < 0 ? nullptr : &cases[static_cast<std::size_t>(row_data)].calls.front();
  }
  [[nodiscard]] bool is_row_data(std::size_t body) const {
    return row_data >= 0 && static_cast<std::size_t>(row_data_call()->body) == body;
  }
  [[nodiscard]] const Body& body_of(const SegmentCall& call) const {
    return bodies[static_cast<std::size_t>(call.body)];
  }
  /// The cover, or null where it is another.
  [[nodiscard]] const VectorGrid* grid() const { return std::get_if<VectorGrid>(&cover); }
  [[nodiscard]] VectorGrid* grid() { return std::get_if<VectorGrid>(&cover); }
  [[nodiscard]] const Tiles* tiles() const { return std::get_if<Tiles>(&cover); }
  [[nodiscard]] Tiles* tiles() { return std::get_if<Tiles>(&cover); }
  [[nodiscard]] const Boxes* boxes() const { return std::get_if<Boxes>(&cover); }
  [[nodiscard]] Boxes* boxes() { return std::get_if<Boxes>(&cover); }
  [[nodiscard]] bool is_for_gpu() const { return !std::holds_alternative<HostCover>(cover); }
  /// The row chunks, or null where there are none.
  [[nodiscard]] const RowChunks* row_chunks() const {
    const auto* const host = std::get_if<HostCover>(&cover);
    return host != nullptr && host->row_chunks ? &*host->row_chunks : nullptr;
  }
  [[nodiscard]] RowChunks* row_chunks() { return const_cast<RowChunks*>(std::as_const(*this).row_chunks()); }
  // Of a schedule for a GPU:
  [[nodiscard]] ir::Expr blocks() const;        ///< of a launch, in the largest tiles
  [[nodiscard]] ir::Expr used_vectors() const;  ///< of each thread of a launch, where there is a grid of vectors
};

/// Returns whether consecutive rows of this load may leave a gap in memory (a crop), in rows that a body of the host
/// takes together.
[[nodiscard]] bool has_row_gap(const Schedule& schedule, int body, std::size_t load);

/// Prints a schedule for people and golden tests: its size first, then its cases with their segments, and its bodies
/// with their loops.
[[nodiscard]] std::string to_string(const Schedule& schedule);

}  // namespace padlock::compiler
