#include "compiler/targets/cost.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

namespace padlock::compiler {
namespace {

double value_of(ir::Expr e, const ir::Binding& binding) {
  const Result<Int128> value = ir::evaluate(binding.program().exprs(), e, binding.values());
  return value ? std::max(0.0, static_cast<double>(*value)) : 0;
}

/// Returns the lanes of the vectors for so many columns of a body: those of a box if there are enough columns.
double lanes_of(const Body& body, double columns) {
  for (const Turn& turn : body.turns)
    if (!turn.few_rows && columns >= turn.lanes) return turn.lanes;
  return body.lanes;
}

/// Counts the vectors of one row of the case. A short row counts as a part of a vector.
double chunks_of(const Schedule& schedule, std::size_t row_case, const ir::Binding& binding) {
  double chunks = 0;
  const double row = value_of(schedule.columns, binding);
  if (makes_plan(schedule, binding)) return row / schedule.row_chunks()->loop.lanes;
  for (const SegmentCall& call : schedule.cases[row_case].calls) {
    const double columns = value_of(call.end, binding) - value_of(call.begin, binding);
    const Body& body = schedule.bodies[static_cast<std::size_t>(call.body)];
    if (columns <= 0) continue;
    // A peeled vector at either end goes element by element.
    const double lanes = lanes_of(body, columns);
    chunks += std::ceil(columns / lanes) + (lanes > 1 ? 1 : 0);
  }
  return chunks;
}

double read_bytes(const Schedule& schedule, const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  std::set<ir::ValueId> tensors;
  for (const ScheduledCase& scheduled : schedule.cases)
    for (const SegmentCall& call : scheduled.calls)
      for (const LoadSource& source : call.sources) tensors.insert(source.tensor);
  double bytes = 0;
  for (const ir::ValueId id : tensors)
    bytes += value_of(program.value(id).layout.element_count(), binding) * ir::byte_size(program.value(id).dtype);
  return bytes;
}

/// Counts the work of a GPU's threads.
class GpuCost {
 public:
  GpuCost(const Schedule& schedule, const ir::Binding& binding, KernelCost& cost)
      : schedule_(schedule), binding_(binding), cost_(cost) {
    for (std::size_t i = 0; i < schedule.bodies.size(); ++i) {
      if (schedule.is_row_data(i)) continue;
      loads_ = std::max(loads_, static_cast<double>(schedule.bodies[i].loads.size()));
      nodes_ = std::max(nodes_, static_cast<double>(schedule.bodies[i].nodes.size()));
    }
  }

  void count() {
    cost_.blocks = value_of(schedule_.blocks(), binding_);
    if (const VectorGrid* const grid = schedule_.grid()) return count_vectors(*grid);
    if (const Boxes* const boxes = schedule_.boxes()) return count_boxes(*boxes);
    const std::vector<TransposeTile>& shapes = schedule_.tiles()->shapes;
    const TransposeTile* taken = &shapes.front();
    for (const TransposeTile& smaller : shapes | std::views::drop(1)) {
      const double tiles = value_of(smaller.tiles, binding_);
      if (tiles > static_cast<double>(smaller.most_tiles)) break;  // same rule as the launch
      taken = &smaller;
      cost_.blocks = tiles;
    }
    count_tiles(*taken);
  }

 private:
  // Instructions of a warp, measured from the PTX of pads, and limits of a multiprocessor.
  static constexpr double kWarp = 32, kWholeVector = 130, kElement = 60;
  static constexpr double kVectorByElement = 30, kLane = 25;               // a vector made element by element
  static constexpr double kRowData = 150;                                  // for a row's values that a search finds
  static constexpr double kTurnedWord = 15;                                // for a word of a box's stage
  static constexpr double kLoadedWord = 6, kStoredWord = 5, kThread = 90;  // instructions of a tile
  static constexpr double kTileWordsInFlight = 20, kWordRegisters = 2;
  static constexpr double kThreads = 2048, kRegisters = 65536, kSharedBytes = 200e3;
  static constexpr double kOwnRegisters = 24, kVectorRegisters = 8;

  /// Bounds the words that a thread has on their way; a tile with more takes more trips. Words of the halo are loaded,
  /// but not stored. Tiles that a launch leaves out count, too: which ones depends on addresses.
  void count_tiles(const TransposeTile& tile) {
    const double loaded = tile.squares() * tile.lanes;
    const double each = std::min(kTileWordsInFlight, std::ceil(loaded / tile.threads));
    cost_.flight_bytes = each * tile.threads * tile.word_bytes * tile.array_count;
    const double registers = kOwnRegisters + kWordRegisters * each * tile.array_count;
    cost_.resident_blocks =
        std::max(1.0, std::min(std::floor(std::min(kThreads, kRegisters / registers) / tile.threads),
                               std::floor(kSharedBytes / tile.shared_bytes())));
    cost_.trips = std::ceil(loaded / tile.threads / each) + 1;  // one more after the barrier
    const double words = loaded * (kLoadedWord + nodes_) + tile.words() * kStoredWord;
    cost_.instructions = cost_.blocks * (tile.threads * kThread + words * tile.array_count) / kWarp;
  }

  /// All vectors of a box take the same path, for each row that a vector may have elements of: 1 + lanes / columns. A
  /// thread has a word of each of its columns of a turned stage on its way, or more.
  void count_boxes(const Boxes& boxes) {
    ir::ExprContext& exprs = schedule_.exprs();
    const double columns = value_of(schedule_.columns, binding_);
    const double vectors = std::ceil(value_of(schedule_.rows, binding_) * columns / boxes.lanes);
    const double bytes = value_of(at_launch(exprs, boxes, boxes.shared_bytes), binding_);
    const double rows = 1 + boxes.lanes / std::max(columns, 1.0);
    const std::optional<BoxTurn>& turn = boxes.stages.front().turn;
    const double turned = turn ? loads_ * boxes.lanes / turn->columns : 0;
    cost_.flight_bytes = turn ? boxes.threads * turn->columns * 4.0 : bytes;
    const double registers = kOwnRegisters + kVectorRegisters * std::max(loads_, 1.0);
    cost_.resident_blocks =
        std::max(1.0, std::min(std::floor(std::min(kThreads, kRegisters / registers) / boxes.threads),
                               std::floor(kSharedBytes / std::max(bytes, 1.0))));
    cost_.trips = 2 + std::ceil(vectors * (1 + turned) / std::max(cost_.blocks, 1.0) / boxes.threads);
    cost_.instructions = vectors / kWarp * (kWholeVector * rows + kTurnedWord * turned + nodes_ * boxes.lanes);
  }

  void count_vectors(const VectorGrid& grid) {
    const double used = value_of(schedule_.used_vectors(), binding_);
    const double rows = value_of(schedule_.rows, binding_);
    const double vectors = std::ceil(rows * value_of(schedule_.columns, binding_) / grid.lanes);
    double row = 0;  // the dearest case counts for all rows
    for (const ScheduledCase& scheduled : schedule_.cases) row = std::max(row, edges_of(scheduled, grid));
    const double edges = std::min(row * rows, vectors);
    const double registers = kOwnRegisters + kVectorRegisters * used * std::max(loads_, 1.0);
    cost_.flight_bytes = grid.threads * used * grid.lanes * loaded_bytes();
    cost_.resident_blocks = std::max(1.0, std::floor(std::min(kThreads, kRegisters / registers) / grid.threads));
    // A warp's threads share the elements of the warp's edges, one after the other.
    cost_.trips = grid.by_element ? 1 : 1 + std::ceil(edges / std::max(vectors, 1.0) * used * grid.lanes);
    cost_.instructions = grid.by_element ? vectors / kWarp * (kVectorByElement + grid.lanes * (kLane + nodes_))
                                         : (vectors - edges) / kWarp * (kWholeVector + nodes_ * grid.lanes) +
                                               edges * grid.lanes / kWarp * (kElement + nodes_);
    if (grid.table)
      count_table(grid, used);
    else if (const SegmentCall* const data = schedule_.row_data_call())
      cost_.instructions += vectors / kWarp * static_cast<double>(schedule_.body_of(*data).nodes.size());
  }

  /// A block's threads compute the data of its rows before they load. A table past the limit counts as one within it.
  void count_table(const VectorGrid& grid, double used) {
    const int vectors = static_cast<int>(used);
    const double rows = value_of(schedule_.at_grid_launch(grid.table->capacity, vectors), binding_);
    const double bytes = value_of(schedule_.at_grid_launch(grid.table->bytes, vectors), binding_);
    cost_.resident_blocks =
        std::max(1.0, std::min(cost_.resident_blocks, std::floor(kSharedBytes / std::max(bytes, 1.0))));
    cost_.trips += std::ceil(rows / grid.threads);
    cost_.instructions += cost_.blocks * std::ceil(rows / kWarp) * kRowData;
  }

  /// Counts the vectors of a row that are made element by element: all of a body without whole vectors, else those that
  /// contain an end of a segment.
  double edges_of(const ScheduledCase& scheduled, const VectorGrid& grid) {
    const auto cuts = [&](double column) { return std::fmod(column, grid.lanes) != 0; };
    const bool shifts = cuts(value_of(schedule_.columns, binding_));
    double edges = 0;
    for (const SegmentCall& call : scheduled.calls) {
      const double end = value_of(call.end, binding_);
      const double columns = end - value_of(call.begin, binding_);
      if (columns <= 0) continue;
      if (schedule_.bodies[static_cast<std::size_t>(call.body)].lanes < grid.lanes)
        edges += columns / grid.lanes;
      else if (shifts || cuts(end))
        edges += 1;
    }
    return edges;
  }

  /// Returns bytes per column loaded by the body that loads most.
  [[nodiscard]] double loaded_bytes() const {
    double most = 1;
    for (const Body& body : schedule_.bodies) {
      double bytes = 0;
      for (const BodyLoad& load : body.loads) bytes += ir::byte_size(load.dtype);
      most = std::max(most, bytes);
    }
    return most;
  }

  const Schedule& schedule_;
  const ir::Binding& binding_;
  KernelCost& cost_;
  double loads_ = 0, nodes_ = 0;  // loads and nodes of the largest body
};

}  // namespace

bool makes_plan(const Schedule& schedule, const ir::Binding& binding) {
  const RowChunks* const chunks = schedule.row_chunks();
  return chunks != nullptr && value_of(chunks->loop.vectors, binding) > 0;
}

KernelCost cost_of(const Schedule& schedule, const ir::Binding& binding) {
  KernelCost cost{.read_bytes = read_bytes(schedule, binding)};
  const ir::Program& program = binding.program();
  for (const ir::ValueId id : schedule.kernel.results)
    cost.write_bytes +=
        value_of(program.value(id).layout.element_count(), binding) * ir::byte_size(program.value(id).dtype);
  if (schedule.is_for_gpu()) {
    GpuCost(schedule, binding, cost).count();
    return cost;
  }
  double row = 0;  // the dearest case counts for all rows
  for (std::size_t i = 0; i < schedule.cases.size(); ++i) row = std::max(row, chunks_of(schedule, i, binding));
  cost.chunks = row * value_of(schedule.rows, binding);
  cost.nontemporal = makes_plan(schedule, binding) ? schedule.row_chunks()->loop.streams
                                                   : std::ranges::any_of(schedule.bodies, has_nontemporal_stores);
  cost.always_nontemporal = cost.nontemporal && schedule.store == StoreKind::nontemporal;
  return cost;
}

}  // namespace padlock::compiler
