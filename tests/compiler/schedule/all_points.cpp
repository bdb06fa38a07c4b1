#include "tests/compiler/schedule/all_points.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/expr/expr_tape.h"

namespace padlock::compiler {

using ir::Expr;

namespace {

using Values = std::span<const std::int64_t>;

/// Evaluates expressions at each point of a map.
class PointWalk {
 public:
  PointWalk(const ir::ExprContext& exprs, const Points& points, std::vector<Expr> asked)
      : exprs_(exprs), points_(points), values_(exprs.symbol_count()) {
    for (const auto& [variable, value] : points.lets)
      lets_.emplace_back(variable.symbol(), ir::ExprTape(exprs, {value}));
    asked.insert(asked.begin(), points.conditions.begin(), points.conditions.end());
    out_.resize(asked.size());
    asked_ = ir::ExprTape(exprs, std::move(asked));
  }

  /// Returns the first text that `visit` returns of a point's number and the values there.
  template <class Visit>
  std::string first(Visit&& visit) {
    std::int64_t count = 1;
    for (const Loop& loop : points_.loops) count *= loop.count;
    for (std::int64_t point = 0; point < count; ++point) {
      std::string mistake = at(point, visit);
      if (!mistake.empty()) return mistake;
    }
    return {};
  }

  /// Says the values of all variables at a point.
  [[nodiscard]] std::string text(std::int64_t point) {
    std::string text;
    const auto add = [&](Expr variable) {
      text +=
          fmt::format("{}{} = {}", text.empty() ? "" : ", ", to_string(exprs_, variable), values_[variable.symbol()]);
    };
    if (const Status known = enter(point); !known) return known.error().message;
    for (const Loop& loop : points_.loops) add(loop.variable);
    for (const auto& [variable, value] : points_.lets) add(variable);
    return text;
  }

 private:
  template <class Visit>
  std::string at(std::int64_t point, Visit&& visit) {
    if (const Status known = enter(point); !known) return known.error().message;
    if (const Status known = asked_.evaluate(values_, out_); !known) return known.error().message;
    const std::size_t conditions = points_.conditions.size();
    for (std::size_t i = 0; i < conditions; ++i)
      if (out_[i] < 0) return {};
    return visit(point, Values(out_).subspan(conditions));
  }

  /// Gives the variables their values.
  Status enter(std::int64_t point) {
    for (std::size_t i = points_.loops.size(); i-- > 0; point /= points_.loops[i].count)
      values_[points_.loops[i].variable.symbol()] = point % points_.loops[i].count;
    for (const auto& [symbol, value] : lets_) PADLOCK_CHECK(value.evaluate(values_, {&values_[symbol], 1}));
    return {};
  }

  const ir::ExprContext& exprs_;
  const Points& points_;
  std::vector<std::int64_t> values_, out_;
  std::vector<std::pair<std::uint32_t, ir::ExprTape>> lets_;
  ir::ExprTape asked_;
};

/// Numbers the positions of a box, the last axis the fastest.
class Positions {
 public:
  explicit Positions(const Box& box) : box_(box) {
    for (const Box::Axis& axis : box.axes) count_ *= axis.end - axis.begin;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Returns -1 of a position outside of the box.
  [[nodiscard]] std::int64_t number(Values position) const {
    std::int64_t number = 0;
    for (std::size_t i = 0; i < position.size(); ++i) {
      const Box::Axis& axis = box_.axes[i];
      if (position[i] < axis.begin || position[i] >= axis.end) return -1;
      number = number * (axis.end - axis.begin) + position[i] - axis.begin;
    }
    return number;
  }
  [[nodiscard]] std::vector<std::int64_t> position(std::int64_t number) const {
    std::vector<std::int64_t> position(box_.axes.size());
    for (std::size_t i = position.size(); i-- > 0;) {
      const std::int64_t extent = box_.axes[i].end - box_.axes[i].begin;
      position[i] = box_.axes[i].begin + number % extent;
      number /= extent;
    }
    return position;
  }

 private:
  const Box& box_;
  std::int64_t count_ = 1;
};

std::string text_of(Values position) { return fmt::format("({})", fmt::join(position, ", ")); }

}  // namespace

std::string check_places(const ir::ExprContext& exprs, const Points& points, const Box& box, Times times) {
  std::vector<Expr> coordinates;
  for (const Box::Axis& axis : box.axes) coordinates.push_back(axis.coordinate);
  PointWalk walk(exprs, points, coordinates);
  const Positions positions(box);
  std::vector<std::int64_t> points_of(static_cast<std::size_t>(positions.count()), -1);
  std::string mistake = walk.first([&](std::int64_t point, Values position) -> std::string {
    const std::int64_t number = positions.number(position);
    if (number < 0) return fmt::format("{} at {} lies outside", text_of(position), walk.text(point));
    std::int64_t& before = points_of[static_cast<std::size_t>(number)];
    if (before >= 0 && times != Times::any)
      return fmt::format("{} is at {} and at {}", text_of(position), walk.text(before), walk.text(point));
    before = point;
    return {};
  });
  if (!mistake.empty() || times != Times::once) return mistake;
  const auto missing = std::ranges::find(points_of, -1);
  if (missing == points_of.end()) return {};
  return fmt::format("{} is at no point", text_of(positions.position(missing - points_of.begin())));
}

std::string check_equal(const ir::ExprContext& exprs, const Points& points, const std::vector<Equation>& equations) {
  std::vector<Expr> asked;
  for (const Equation& equation : equations) asked.insert(asked.end(), {equation.one, equation.other});
  PointWalk walk(exprs, points, asked);
  return walk.first([&](std::int64_t point, Values values) -> std::string {
    for (std::size_t i = 0; i < equations.size(); ++i)
      if (values[2 * i] != values[2 * i + 1])
        return fmt::format("{} is {} or {} at {}", equations[i].what, values[2 * i], values[2 * i + 1],
                           walk.text(point));
    return {};
  });
}

}  // namespace padlock::compiler
