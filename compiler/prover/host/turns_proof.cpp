#include "compiler/prover/host/turns_proof.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {
namespace {

enum VariableOrder { kBlock = 1410, kBlockLane, kLastOfRun };  // numbered after the variables of turns

class TurnProver : private ScheduleProof {
 public:
  TurnProver(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, int body, Proof& proof)
      : ScheduleProof(session, schedule, proof), lemmas_(lemmas), body_(body) {}

  void run() {
    for (const Turn& turn : schedule_.bodies[static_cast<std::size_t>(body_)].turns) {
      prove_boxes("rows", turn.along_rows, turn.rows);
      prove_boxes("columns", turn.along_columns, turn.lanes);
      for (const TurnedLoad& load : turn.loads) prove_load(turn, load);
    }
    for (const Interleave& all : schedule_.bodies[static_cast<std::size_t>(body_)].interleaves) prove_interleave(all);
  }

 private:
  /// Proves that boxes stay in their run and cover it.
  void prove_boxes(const char* of, const LoopStrategy& along, int size) {
    const std::string access = fmt::format("boxes of {} {} in body {}", size, of, body_);
    const VectorLoop& loop = along.loops.front();
    const bool is_box = along.loops.size() == 1 && loop.step() == size;
    if (is_box && lemmas_.stays_inside({along}) && lemmas_.covers({along}))
      return record({.kind = ObligationKind::cover, .access = access});
    const RunVariables run(exprs_);
    const VectorLanes lanes = lanes_of(exprs_, along, loop);
    const auto outside_of = [=](const Evaluate& at) {
      return fmt::format("number {} is taken of [{}, {})", at(lanes.column), at(run.begin), at(run.end));
    };
    std::vector<Goal> goals = outside(lanes.column, run.begin, run.end, outside_of);
    if (!is_box) goals.push_back(fault("vectors are no boxes"));
    decide(ObligationKind::store, access, lanes.region, goals);
    const Expr number = exprs_.coordinate(0);
    for (const Uncovered& way : uncovered_by(exprs_, along, number)) {
      const auto left_out = [=](const Evaluate& at) {
        return fmt::format("number {} of [{}, {}) is in no box", at(number), at(run.begin), at(run.end));
      };
      decide(ObligationKind::cover, access, way.region, {{way.goal, left_out}});
    }
  }

  void prove_load(const Turn& turn, const TurnedLoad& load) {
    std::vector<Goal> goals;
    std::string tensor;
    for (const SegmentCall& call : schedule_.calls()) {
      if (call.body != body_) continue;
      const LoadSource& source = call.sources[static_cast<std::size_t>(load.load)];
      tensor = kernel_.program->value(source.tensor).name;
      if (!source.step.valid() || !source.step.is_constant(1))
        goals.push_back(fault("the element after one is not that of the next row"));
    }
    add_group_faults(turn, load, goals);
    add_shuffle_faults(turn, load, goals);
    if (turn.few_rows &&
        (turn.loads.size() != 1 || turn.rows != load.rows || !has_test(turn, load, exprs_.constant(1))))
      goals.push_back(fault("columns may be in another order"));
    decide(ObligationKind::load, fmt::format("{} turned into {} lanes in body {}", tensor, turn.lanes, body_), {},
           goals);
    if (turn.few_rows) prove_blocks(turn, load, fmt::format("blocks of {} in body {}", tensor, body_));
  }

  /// Returns whether a test ensures that a column lies at least `least` elements after the one before.
  [[nodiscard]] bool has_test(const Turn& turn, const TurnedLoad& load, Expr least) const {
    const BodyLoad& loaded =
        schedule_.bodies[static_cast<std::size_t>(body_)].loads[static_cast<std::size_t>(load.load)];
    return std::ranges::find(turn.tests, exprs_.sub(loaded.step, least)) != turn.tests.end();
  }

  /// Proves that blocks larger than their box lie in the storage. (They begin with an element of the run.) If the last
  /// block does not, blocks that begin some columns before the run's last element do: that element is in the tensor,
  /// and one column less is at least one element less.
  void prove_blocks(const Turn& turn, const TurnedLoad& load, const std::string& access) {
    const Expr storage = TurnVariables(exprs_).storage;
    const Expr first = exprs_.variable("block", kBlock);
    const Expr lane = exprs_.variable("lane_of_block", kBlockLane);
    const Expr last = exprs_.variable("last_of_run", kLastOfRun);
    const Expr element = exprs_.add(first, lane);
    const auto past = [=](const Evaluate& at) {
      return fmt::format("element {} is read where the storage has {}", at(element), at(storage));
    };
    solver::Region lanes;
    lanes.nonnegative = {less(lane, exprs_.constant(Int128{load.rows} * load.columns))};
    const Expr between = exprs_.constant(turn.left_out + load.columns - 1);  // columns, from the block to the last
    decide(ObligationKind::load, access, joined(lanes, {exprs_.sub(load.last_block, first)}),
           {{{at_least(element, storage)}, past}});
    decide(ObligationKind::load, access + " before the end of a run",
           joined(lanes, {less(last, storage), exprs_.sub(exprs_.sub(last, between), first)}),
           {{{at_least(element, storage)}, past}});
  }

  /// Adds a fault for each byte of a block of fixed columns that is not of its row and column, for every column step
  /// that such boxes allow.
  void add_group_faults(const Turn& turn, const TurnedLoad& load, std::vector<Goal>& goals) const {
    const BodyLoad& loaded =
        schedule_.bodies[static_cast<std::size_t>(body_)].loads[static_cast<std::size_t>(load.load)];
    const int size = ir::byte_size(loaded.dtype);
    if (load.rows * load.columns * size != kBlockBytes) goals.push_back(fault("blocks have other elements"));
    if (load.columns == 1) return;
    const Expr most = exprs_.sub(exprs_.constant(load.rows), loaded.step);
    if (!turn.few_rows || std::ranges::find(turn.tests, most) == turn.tests.end() ||
        std::ssize(load.grouped) != load.rows)
      return goals.push_back(fault("a block may lack rows of its columns"));
    for (int step = 1; step <= load.rows; ++step) {
      std::vector<int> named;
      for (int row = 0; row < load.rows; ++row)
        for (int column = 0; column < load.columns; ++column) named.push_back(column * step + row);
      add_byte_faults(load.grouped[static_cast<std::size_t>(step) - 1], named, size, goals);
    }
  }

  /// Adds a fault for each byte of a regrouped block that is not of the element in `named` for it.
  void add_byte_faults(const std::vector<int>& bytes, const std::vector<int>& named, int size,
                       std::vector<Goal>& goals) const {
    if (std::ssize(bytes) != kBlockBytes) return goals.push_back(fault("a block has other bytes"));
    for (std::size_t i = 0; i < named.size() * static_cast<std::size_t>(size); ++i) {
      const int element = named[i / static_cast<std::size_t>(size)];
      if (bytes[i] != element * size + static_cast<int>(i) % size)
        goals.push_back(fault(fmt::format("byte {} of a block is byte {}, not of element {}", i, bytes[i], element)));
    }
  }

  /// Adds a fault unless lane `lane` of row `row` is part `row` of the block of column number `lane`, in the vector
  /// that begins with that column or one before it.
  void add_shuffle_faults(const Turn& turn, const TurnedLoad& load, std::vector<Goal>& goals) const {
    if (turn.rows % load.rows != 0) goals.push_back(fault("blocks are no box"));
    add_transpose_faults(load.rows, load.columns, turn.lanes, load.shuffles, goals);
  }

  /// Adds a fault unless in each block of vector i part j is part i of vector j. A block has `parts` parts of `size`
  /// elements.
  void add_transpose_faults(int parts, int size, int lanes, const std::vector<Shuffle>& shuffles,
                            std::vector<Goal>& goals) const {
    const int block = parts * size;
    if (block <= 0 || lanes % block != 0) return goals.push_back(fault("blocks are no box"));
    int known = parts;
    for (const Shuffle& shuffle : shuffles) {
      const bool has_lanes = std::ssize(shuffle.lanes) == lanes && std::ranges::all_of(shuffle.lanes, [&](int lane) {
                               return lane >= 0 && lane < 2 * lanes;
                             });
      if (!has_lanes || std::max(shuffle.first, shuffle.second) >= known)
        return goals.push_back(fault("a shuffle takes lanes that there are not"));
      ++known;
    }
    const auto vectors = shuffled_lanes(parts, lanes, shuffles);
    const std::size_t first = vectors.size() - static_cast<std::size_t>(parts);
    for (int part = 0; part < parts; ++part)
      for (int lane = 0; lane < lanes; ++lane) {
        const int in_block = lane % block;
        const ShuffledLane named{.vector = in_block / size, .element = lane - in_block + part * size + in_block % size};
        const ShuffledLane& taken = vectors[first + static_cast<std::size_t>(part)][static_cast<std::size_t>(lane)];
        if (taken != named)
          goals.push_back(fault(fmt::format("lane {} of vector {} is element {} of vector {}, not {} of {}", lane, part,
                                            taken.element, taken.vector, named.element, named.vector)));
      }
  }

  // --- rows of few columns ------------------------------------------------------------------------------------------

  void prove_interleave(const Interleave& all) {
    prove_boxes("rows", all.along_rows, all.lanes);
    std::vector<Goal> goals;
    for (const SegmentCall& call : schedule_.calls()) {
      if (call.body != body_) continue;
      for (std::size_t i = 0; i < call.sources.size(); ++i) {
        const bool along = std::ranges::find(all.loads, static_cast<int>(i)) != all.loads.end();
        const Expr step = call.sources[i].step;
        if (!step.valid() || !step.is_constant(along ? 1 : 0))
          goals.push_back(fault(fmt::format("load {} goes on otherwise from row to row", i)));
      }
    }
    add_transpose_faults(all.columns, all.block_rows, all.lanes, all.shuffles, goals);
    for (std::size_t i = 0; i < kernel_.results.size(); ++i) add_order_faults(all, kernel_.result(i).dtype, goals);
    decide(ObligationKind::store, fmt::format("{} columns interleaved in body {}", all.columns, body_), {}, goals);
  }

  /// Adds a fault unless a block's bytes are those of its rows, in order, for any number of columns. A transposed block
  /// of one row has them so. Bytes after its rows belong to rows that are taken after it.
  void add_order_faults(const Interleave& all, ir::DType dtype, std::vector<Goal>& goals) const {
    const int size = ir::byte_size(dtype);
    const auto tested = [&](Expr test) { return std::ranges::find(all.tests, test) != all.tests.end(); };
    const bool is_one_row = all.block_rows == 1 && all.grouped.empty();
    const bool is_grouped =
        std::ssize(all.grouped) == all.columns && all.columns * all.block_rows * size == kBlockBytes;
    if ((!is_one_row && !is_grouped) || std::ssize(all.left_out) != all.columns ||
        !tested(exprs_.sub(exprs_.constant(all.columns), schedule_.columns)) ||
        !tested(exprs_.sub(schedule_.columns, exprs_.constant(1))) || schedule_.row_axis + 2 != kernel_.rank())
      return goals.push_back(fault("a block has other rows"));
    for (int columns = 1; columns <= all.columns; ++columns) {
      const int left_out = all.left_out[static_cast<std::size_t>(columns) - 1];
      if (left_out < 0 || (left_out + all.block_rows) * columns < all.columns * all.block_rows)
        goals.push_back(fault(fmt::format("the last block of {} columns reaches past the rows of a run", columns)));
      if (is_one_row) continue;
      std::vector<int> named;
      for (int row = 0; row < all.block_rows; ++row)
        for (int column = 0; column < columns; ++column) named.push_back(column * all.block_rows + row);
      add_byte_faults(all.grouped[static_cast<std::size_t>(columns) - 1], named, size, goals);
    }
  }

  /// Returns a goal that fails for all sizes.
  [[nodiscard]] Goal fault(std::string what) const {
    return {{exprs_.constant(0)}, [what = std::move(what)](const Evaluate&) { return what; }};
  }

  StrategyLemmas& lemmas_;
  int body_;
};

}  // namespace

void prove_turns(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof) {
  for (int body = 0; body < std::ssize(schedule.bodies); ++body)
    TurnProver(session, lemmas, schedule, body, proof).run();
}

}  // namespace padlock::compiler
