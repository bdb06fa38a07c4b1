#include "tuner/trial/edge_elements.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/pipeline.h"
#include "support/int128.h"
#include "support/split_mix.h"
#include "tuner/trial/scratch_data.h"

namespace padlock::tuner {
namespace {

/// A kernel's output coordinates under a binding, for evaluating its expressions at a point.
class Point {
 public:
  Point(const compiler::Kernel& kernel, const ir::Binding& binding) : exprs_(kernel.program->exprs()) {
    for (int axis = 0; axis < kernel.rank(); ++axis) symbols_.push_back(kernel.coordinate(axis).symbol());
    values_.assign(binding.values().begin(), binding.values().end());
    values_.resize(exprs_.symbol_count());
  }
  void move(std::size_t axis, std::int64_t to) { values_[symbols_[axis]] = to; }
  [[nodiscard]] std::optional<std::int64_t> evaluate(ir::Expr e) const {
    const auto value = ir::evaluate_int64(exprs_, e, values_);
    return value ? std::optional(*value) : std::nullopt;
  }

 private:
  const ir::ExprContext& exprs_;
  std::vector<std::uint32_t> symbols_;
  std::vector<std::int64_t> values_;
};

/// Finds where a condition changes its value along an axis in which it is affine, with the other coordinates 0.
std::optional<std::int64_t> crossing(Point& point, std::size_t axis, ir::Expr condition) {
  const auto at_zero = point.evaluate(condition);
  point.move(axis, 1);
  const auto at_one = point.evaluate(condition);
  point.move(axis, 0);
  if (!at_zero || !at_one || *at_zero == *at_one) return std::nullopt;
  // In 128 bits: a value may be near the limit of 64.
  const Int128 root = -Int128{*at_zero} / (Int128{*at_one} - *at_zero);
  return fits_int64(root) ? std::optional(static_cast<std::int64_t>(root)) : std::nullopt;
}

std::vector<std::int64_t> edges_of(const compiler::Kernel& kernel, Point& point, std::size_t axis,
                                   std::int64_t extent) {
  std::set<std::int64_t> edges;
  const auto add = [&](std::int64_t center) {
    for (std::int64_t step = -1; step <= 1; ++step)
      if (center > -2 && center <= extent && center + step >= 0 && center + step < extent) edges.insert(center + step);
  };
  add(0);
  add(extent - 1);
  for (compiler::NodeId id = 0; id < kernel.graph.size(); ++id)
    for (const compiler::ConditionId condition : kernel.graph.conditions_of(kernel.graph.node(id).guard))
      if (const auto at = crossing(point, axis, kernel.graph.condition(condition).expr)) add(*at);
  return {edges.begin(), edges.end()};
}

Result<compiler::Kernel> kernel_of(const Problem& problem, std::size_t result) {
  PADLOCK_TRY(auto kernels, compiler::lower(problem.program()));
  for (compiler::Kernel& kernel : kernels)
    if (std::ranges::count(kernel.results, problem.program().results()[result]) > 0) return std::move(kernel);
  return internal_error("no kernel computes " + problem.program().value(problem.program().results()[result]).name);
}

}  // namespace

Result<std::vector<std::int64_t>> edge_and_random_elements(const Problem& problem, std::size_t result,
                                                           std::size_t most) {
  PADLOCK_TRY(const compiler::Kernel kernel, kernel_of(problem, result));
  Point point(kernel, problem.binding());
  std::vector<std::vector<std::int64_t>> edges;
  std::vector<std::int64_t> extents;
  std::size_t combinations = 1;
  std::int64_t elements = 1;
  for (const ir::Expr extent : kernel.extents) {
    extents.push_back(problem.binding()(extent));
    edges.push_back(edges_of(kernel, point, edges.size(), extents.back()));
    combinations = std::min(combinations * edges.back().size(), most + 1);
    elements *= extents.back();
  }
  std::vector<std::int64_t> chosen;
  if (elements == 0) return chosen;
  SplitMix random(problem.seed());
  // All combinations if there is room, else random ones. A kernel merges axes, which changes no index.
  const bool all = combinations <= most / 2;
  for (std::size_t i = 0; i < (all ? combinations : most / 2); ++i) {
    std::uint64_t rest = i;
    std::int64_t index = 0;
    for (std::size_t axis = 0; axis < edges.size(); ++axis) {
      if (!all) rest = random.next() >> 8;
      index = index * extents[axis] + edges[axis][rest % edges[axis].size()];
      rest /= edges[axis].size();
    }
    chosen.push_back(index);
  }
  while (chosen.size() < most)
    chosen.push_back(static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(elements)));
  return chosen;
}

}  // namespace padlock::tuner
