#include "compiler/schedule/index/tensor_reach.h"

#include <cstdint>
#include <map>
#include <utility>

#include "compiler/schedule/schedule.h"
#include "ir/expr/affine.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

/// Makes the reach of one stream, a tensor's axis after the other.
class ReachMaker {
 public:
  ReachMaker(const Kernel& kernel, int lanes)
      : exprs_(kernel.program->exprs()), kernel_(kernel), around_(exprs_.constant(lanes - 1)) {}

  TensorReach make(const Stream& stream) {
    const ir::Layout& layout = kernel_.graph.layout(stream.layout);
    reach_ = {.tensor = stream.tensor,
              .steps = {},
              .least = exprs_.sub(layout.offset(), around_),
              .most = exprs_.add(layout.offset(), around_)};
    reach_.steps.assign(static_cast<std::size_t>(kernel_.rank() - 1), exprs_.constant(0));
    for (std::size_t axis = 0; axis < stream.coordinates.size(); ++axis)
      add_axis(stream.coordinates[axis], layout.extents()[axis], layout.strides()[axis]);
    return std::move(reach_);
  }

 private:
  void add_axis(Expr coordinate, Expr extent, Expr stride) {
    const auto add = [&](Expr& to, Expr times) { to = exprs_.add(to, exprs_.mul(times, stride)); };
    if (!moves_with_rows(kernel_, coordinate)) return add(reach_.most, exprs_.sub(extent, exprs_.constant(1)));
    for (std::size_t axis = 0; axis < reach_.steps.size(); ++axis) {
      const auto form = *ir::linear_in(exprs_, coordinate, kernel_.coordinate(static_cast<int>(axis)));
      add(reach_.steps[axis], exprs_.constant(form.slope));
      coordinate = form.rest;
    }
    for (Expr* bound : {&reach_.least, &reach_.most}) add(*bound, coordinate);
  }

  ir::ExprContext& exprs_;
  const Kernel& kernel_;
  Expr around_;  // elements of granules before a vector's first, and after its last
  TensorReach reach_;
};

}  // namespace

bool moves_with_rows(const Kernel& kernel, Expr coordinate) {
  for (int axis = 0; axis + 1 < kernel.rank(); ++axis) {
    const auto form = ir::linear_in(kernel.program->exprs(), coordinate, kernel.coordinate(axis));
    if (!form) return false;
    coordinate = form->rest;
  }
  return !coordinate.has_coordinate();
}

TensorReach reach_of(const Kernel& kernel, const Stream& stream, int lanes) {
  return ReachMaker(kernel, lanes).make(stream);
}

std::vector<TensorReach> set_reaches(Schedule& schedule) {
  std::vector<TensorReach> all;
  std::map<std::vector<std::uint32_t>, int> places;  // in `all`, by tensor and Expr::id
  for (ScheduledCase& row : schedule.cases)
    for (SegmentCall& call : row.calls)
      for (Stream& stream : call.streams) {
        TensorReach reach = reach_of(schedule.kernel, stream, schedule.grid->lanes);
        take_steps(reach.steps.size());
        std::vector<std::uint32_t> key = {reach.tensor, reach.least.id(), reach.most.id()};
        for (const Expr step : reach.steps) key.push_back(step.id());
        const auto [place, is_new] = places.try_emplace(std::move(key), static_cast<int>(all.size()));
        stream.reach = place->second;
        if (is_new) all.push_back(std::move(reach));
      }
  return all;
}

}  // namespace padlock::compiler
