#include "compiler/schedule/index/index32_variant.h"

#include <cstdint>
#include <map>
#include <utility>

#include "ir/expr/affine.h"
#include "support/steps.h"

namespace padlock::compiler {
namespace {

/// Returns whether the coordinate of a read element is a sum of literal multiples of the outer coordinates.
bool moves_with_rows(const Kernel& kernel, Expr coordinate) {
  for (int axis = 0; axis + 1 < kernel.rank(); ++axis) {
    const auto form = ir::linear_in(kernel.program->exprs(), coordinate, kernel.coordinate(axis));
    if (!form) return false;
    coordinate = form->rest;
  }
  return !coordinate.has_coordinate();
}

/// Makes the reach of one source, one tensor axis after the other.
class ReachMaker {
 public:
  ReachMaker(const Kernel& kernel, int lanes)
      : exprs_(kernel.program->exprs()), kernel_(kernel), around_(exprs_.constant(2 * (lanes - 1))) {}

  TensorReach make(const LoadSource& source) {
    const ir::Layout& layout = kernel_.graph.layout(source.layout);
    reach_ = {.tensor = source.tensor,
              .steps = {},
              .least = exprs_.sub(layout.offset(), around_),
              .most = exprs_.add(layout.offset(), around_)};
    reach_.steps.assign(static_cast<std::size_t>(kernel_.rank() - 1), exprs_.constant(0));
    for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis)
      add_axis(source.coordinates[axis], layout.extents()[axis], layout.strides()[axis]);
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
  // Elements before the first needed element and after the last: the rest of the vector, and of its granules.
  Expr around_;
  TensorReach reach_;
};

}  // namespace

TensorReach reach_of(const Kernel& kernel, const LoadSource& source, int lanes) {
  return ReachMaker(kernel, lanes).make(source);
}

std::vector<TensorReach> set_reaches(Schedule& schedule) {
  std::vector<TensorReach> all;
  std::map<std::vector<std::uint32_t>, int> places;  // index in `all`, by tensor and Expr::id
  for (ScheduledCase& row : schedule.cases)
    for (SegmentCall& call : row.calls)
      for (LoadSource& source : call.sources) {
        TensorReach reach = reach_of(schedule.kernel, source, schedule.grid()->lanes);
        take_steps(reach.steps.size());
        std::vector<std::uint32_t> key = {reach.tensor, reach.least.id(), reach.most.id()};
        for (const Expr step : reach.steps) key.push_back(step.id());
        const auto [place, is_new] = places.try_emplace(std::move(key), static_cast<int>(all.size()));
        source.reach = place->second;
        if (is_new) all.push_back(std::move(reach));
      }
  return all;
}

}  // namespace padlock::compiler
