#include "compiler/prover/host/turns_proof.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {
namespace {

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
  }

 private:
  /// No box leaves its run, and none of the run is left out.
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
    add_shuffle_faults(turn, load, goals);
    decide(ObligationKind::load, fmt::format("{} turned into {} lanes in body {}", tensor, turn.lanes, body_), {},
           goals);
  }

  /// Lane `lane` of row `row` has the column of that number: part `row` of its block, which is one of those of vector
  /// `lane % load.rows`.
  void add_shuffle_faults(const Turn& turn, const TurnedLoad& load, std::vector<Goal>& goals) const {
    int known = load.rows;
    for (const Shuffle& shuffle : load.shuffles) {
      const bool has_lanes =
          std::ssize(shuffle.lanes) == turn.lanes &&
          std::ranges::all_of(shuffle.lanes, [&](int lane) { return lane >= 0 && lane < 2 * turn.lanes; });
      if (!has_lanes || std::max(shuffle.first, shuffle.second) >= known)
        return goals.push_back(fault("a shuffle takes lanes that there are not"));
      ++known;
    }
    const auto vectors = shuffled_lanes(load.rows, turn.lanes, load.shuffles);
    const std::size_t first = vectors.size() - static_cast<std::size_t>(load.rows);
    if (turn.lanes % load.rows != 0 || turn.rows % load.rows != 0) goals.push_back(fault("blocks are no box"));
    for (int row = 0; row < load.rows; ++row)
      for (int lane = 0; lane < turn.lanes; ++lane) {
        const ShuffledLane& taken = vectors[first + static_cast<std::size_t>(row)][static_cast<std::size_t>(lane)];
        const ShuffledLane named{.vector = lane % load.rows, .element = lane - lane % load.rows + row};
        if (taken != named)
          goals.push_back(
              fault(fmt::format("lane {} of row {} has column {} of row {}", lane, row,
                                taken.vector + taken.element - taken.element % load.rows, taken.element % load.rows)));
      }
  }

  /// What is wrong whatever the sizes are.
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
