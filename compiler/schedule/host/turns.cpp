#include <algorithm>
#include <numeric>
#include <vector>

#include "compiler/schedule/cases/row_recurrence.h"
#include "compiler/schedule/host/covers.h"

namespace padlock::compiler {
namespace {

constexpr int kTurnedBytes = 64;  // of a row of an input: a line
// The code of a box repeats the body for each of its rows.
constexpr std::size_t kMostOperations = 8;

/// Makes the boxes of one body.
class TurnMaker {
 public:
  TurnMaker(Schedule& schedule, const ScheduleOptions& options, std::size_t body)
      : schedule_(schedule), options_(options), index_(body), body_(schedule.bodies[body]) {}

  void make() {
    for (std::size_t i = 0; i < body_.loads.size(); ++i) {
      if (body_.loads[i].kind != LoadKind::strided) continue;
      if (!is_adjacent_in_rows(i)) return;
      loads_.push_back(static_cast<int>(i));
      narrowest_ = std::min(narrowest_, ir::byte_size(body_.loads[i].dtype));
    }
    if (loads_.empty() || body_.uses_rows || body_.is_pointwise || !is_small()) return;
    const int widest = std::min(options_.vector_bytes, options_.permutes.blocks);
    for (int bytes = widest; bytes >= kBlockBytes; bytes = bytes > kBlockBytes ? kBlockBytes : 0) {
      // Of each load there is a block at least.
      const int lanes = std::max(bytes / widest_bytes(body_, /*for_threads=*/false), kBlockBytes / narrowest_);
      if (body_.turns.empty() || body_.turns.back().lanes != lanes) body_.turns.push_back(turn_of(lanes));
    }
  }

 private:
  [[nodiscard]] bool is_small() const {
    const auto is_long = [](const BodyNode& node) {
      return node.kind == NodeKind::operation && ir::info_of(node.op).op_class == ir::OpClass::activation;
    };
    return operation_count(body_) <= kMostOperations && std::ranges::none_of(body_.nodes, is_long);
  }

  [[nodiscard]] bool is_adjacent_in_rows(std::size_t load) const {
    return std::ranges::all_of(schedule_.calls(), [&](const SegmentCall& call) {
      if (static_cast<std::size_t>(call.body) != index_) return true;
      const Expr step = call.sources[load].step;
      return step.valid() && step.is_constant(1);
    });
  }

  [[nodiscard]] Turn turn_of(int lanes) const {
    Turn turn{.rows = kBlockBytes / narrowest_,
              .lanes = lanes,
              .line = kTurnedBytes / narrowest_,
              .along_rows = whole_vectors(schedule_.exprs(), kBlockBytes / narrowest_),
              .along_columns = whole_vectors(schedule_.exprs(), lanes),
              .loads = {}};
    for (const int load : loads_) {
      const int rows = kBlockBytes / ir::byte_size(body_.loads[static_cast<std::size_t>(load)].dtype);
      TurnedLoad turned{.load = load, .rows = rows};
      std::vector<int> vectors(static_cast<std::size_t>(rows));
      std::iota(vectors.begin(), vectors.end(), 0);
      add_block_transpose(turned.shuffles, std::move(vectors), lanes, rows);
      turn.loads.push_back(std::move(turned));
    }
    return turn;
  }

  Schedule& schedule_;
  const ScheduleOptions& options_;
  std::size_t index_;
  Body& body_;
  std::vector<int> loads_;
  int narrowest_ = kBlockBytes;  // bytes of their elements
};

}  // namespace

void choose_row_axis(Schedule& schedule) {
  std::vector<int> loads(static_cast<std::size_t>(schedule.kernel.rank() - 1));  // adjacent along each outer axis
  for (const SegmentCall& call : schedule.calls())
    for (std::size_t i = 0; i < call.sources.size(); ++i) {
      if (schedule.body_of(call).loads[i].kind != LoadKind::strided) continue;
      for (std::size_t axis = 0; axis < loads.size(); ++axis) {
        const Expr row = schedule.kernel.coordinate(static_cast<int>(axis));
        const auto recurrence = recurrence_in(schedule.exprs(), call.sources[i].base, row);
        if (recurrence && recurrence->step.is_constant(1)) ++loads[axis];
      }
    }
  for (std::size_t axis = loads.size(); axis-- > 0;)
    if (loads[axis] > loads[static_cast<std::size_t>(schedule.row_axis)]) schedule.row_axis = static_cast<int>(axis);
}

void make_turns(Schedule& schedule, const ScheduleOptions& options) {
  if (options.permutes.blocks == 0 || schedule.kernel.rank() == 1) return;
  for (std::size_t body = 0; body < schedule.bodies.size(); ++body) TurnMaker(schedule, options, body).make();
}

}  // namespace padlock::compiler
