#include "solver/binding_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <ranges>
#include <utility>

#include "solver/ordinary_sizes.h"
#include "support/messages/suggestion.h"

namespace padlock::solver {

using ir::Expr;

namespace {

constexpr int kScattered = 4000;                           // random tries after solving finds nothing
constexpr std::int64_t kFarthest = std::int64_t{1} << 40;  // distance from the wanted value

/// Draws a value for a symbol wanted at `value`: itself, near it, or smaller.
std::int64_t scattered(std::int64_t value, std::mt19937_64& random) {
  const auto draw = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  switch (draw(0, 4)) {
    case 0:
    case 1:
      return value;
    case 2:
      return value + draw(-16, 16);
    case 3:
      return value >> draw(1, 12);
    default:
      return draw(std::min<std::int64_t>(value, -8), std::max<std::int64_t>(value, 8));
  }
}

std::unexpected<Error> none_found(std::string message) {
  return std::unexpected(Error{.code = Code::not_found, .blame = Blame::user, .message = std::move(message)});
}

double distance(std::int64_t a, std::int64_t b) {
  const auto scaled = [](std::int64_t v) {
    return std::copysign(std::log2(1.0 + std::abs(static_cast<double>(v))), v);
  };
  return std::abs(scaled(a) - scaled(b));
}

}  // namespace

BindingSearch::BindingSearch(const ir::Program& program)
    : program_(&program), feasibility_(std::make_unique<Feasibility>(program.exprs())) {
  const ir::ExprContext& exprs = program.exprs();
  for (std::uint32_t i = 0; i < exprs.symbol_count(); ++i)
    if (exprs.symbol(i).kind != ir::SymbolKind::coordinate)
      symbols_.push_back(*exprs.find_symbol(exprs.symbol(i).name));
}

Result<BindingSearch> BindingSearch::create(const ir::Program& program, SizeLimits limits) {
  BindingSearch search(program);
  for (const auto* const part : {&limits.min, &limits.max})
    for (const auto& [name, value] : *part)
      if (std::ranges::none_of(search.symbols_, [&](Expr e) { return search.symbol(e).name == name; }))
        return invalid_argument(
            fmt::format("program '{}' has no symbol '{}'{}", program.name(), name,
                        did_you_mean(name, search.symbols_ | std::views::transform([&](Expr e) -> const std::string& {
                                             return search.symbol(e).name;
                                           }))));
  for (const auto& [name, value] : limits.min)
    if (const auto most = limits.max.find(name); most != limits.max.end() && most->second < value)
      return invalid_argument(fmt::format("the minimum of {} is {}, above its maximum {}", name, value, most->second));
  search.limits_ = std::move(limits);
  for (const ir::Requirement& requirement : program.requirements()) {
    if (requirement.kind == ir::Requirement::Kind::parameter_stride) continue;
    const auto [e, is_equality] = as_expression(program.exprs(), requirement.constraint);
    search.feasibility_->assume(e, is_equality);
  }
  search.determined_ = search.feasibility_->determined();
  return search;
}

const ir::Symbol& BindingSearch::symbol(Expr e) const { return program_->exprs().symbol(e.symbol()); }

/// Returns the range of one symbol by its declaration and the limits alone.
ir::Range BindingSearch::limits_of(Expr e) const {
  ir::Range range = symbol(e).range;
  if (const auto least = limits_.min.find(symbol(e).name); least != limits_.min.end())
    range.lo = std::max<Int128>(range.lo, least->second);
  if (const auto most = limits_.max.find(symbol(e).name); most != limits_.max.end())
    range.hi = std::min<Int128>(range.hi, most->second);
  return range;
}

/// Returns the value nearest to `value`, or the next one below it, among those that the symbol alone admits. Returns
/// `value` itself if there is none.
std::int64_t BindingSearch::admissible(Expr e, std::int64_t value) const {
  const ir::Range range = limits_of(e);
  if (range.lo > range.hi) return value;
  const Int128 modulus = std::max<std::int64_t>(symbol(e).congruence.modulus, 1);
  const Int128 residue = symbol(e).congruence.residue;
  Int128 near = std::clamp<Int128>(value, range.lo, range.hi);
  near -= floor_mod<Int128>(near - residue, modulus);
  if (near < range.lo) near += modulus;
  return range.contains(near) && fits_int64(near) ? static_cast<std::int64_t>(near) : value;
}

SymbolValues BindingSearch::values_of(const ir::Binding& binding) const {
  SymbolValues values;
  for (const Expr e : symbols_) values[symbol(e).name] = binding.values()[e.symbol()];
  return values;
}

Values64 BindingSearch::complete(const SymbolValues& wanted, std::int64_t other) const {
  Values64 values(program_->exprs().symbol_count(), 0);
  for (const Expr e : symbols_) {
    const auto given = wanted.find(symbol(e).name);
    const std::int64_t usual = symbol(e).kind == ir::SymbolKind::dim ? 1 : other;
    values[e.symbol()] = admissible(e, given != wanted.end() ? given->second : usual);
  }
  for (const auto& [index, e] : determined_)
    if (const auto value = ir::evaluate_int64(program_->exprs(), e, values); value) values[index] = *value;
  set_dense_strides(wanted, values);
  return values;
}

void BindingSearch::set_dense_strides(const SymbolValues& wanted, Values64& values) const {
  ir::ExprContext& exprs = program_->exprs();
  for (const ir::ValueId id : program_->tensor_parameters()) {
    const ir::Layout& layout = program_->value(id).layout;
    const ir::Layout dense = ir::Layout::dense(exprs, {layout.extents().begin(), layout.extents().end()});
    for (std::size_t axis = 0; axis < layout.strides().size(); ++axis) {
      const Expr stride = layout.strides()[axis];
      if (stride.kind() != ir::ExprKind::symbol || symbol(stride).kind != ir::SymbolKind::stride) continue;
      const auto value = ir::evaluate_int64(exprs, dense.strides()[axis], values);
      if (value && !wanted.contains(symbol(stride).name)) values[stride.symbol()] = admissible(stride, *value);
    }
  }
}

Result<ir::Binding> BindingSearch::bind(const Values64& values) const {
  ir::BindRequest request{.tensors = {}, .symbols = {}};
  request.tensors.resize(program_->tensor_parameters().size());
  for (const Expr e : symbols_) {
    if (!limits_of(e).contains(values[e.symbol()])) return failed_precondition("a symbol beyond its limits");
    request.symbols[symbol(e).name] = values[e.symbol()];
  }
  return ir::Binding::bind(*program_, request);
}

/// Solves symbol by symbol: each value is as near to the wanted one as the symbols before it allow. Sets `none` if
/// there is no point at all.
std::optional<Values64> BindingSearch::solve(const Values64& wanted, bool& none) {
  ir::ExprContext& exprs = program_->exprs();
  Values64 values = wanted;
  Region region;
  const auto at_least = [&](Expr e, Int128 least) { return exprs.sub(e, exprs.constant(least)); };
  const auto at_most = [&](Expr e, Int128 most) { return exprs.sub(exprs.constant(most), e); };
  for (const Expr e : symbols_) {
    const ir::Range range = limits_of(e);
    if (range.lo > ir::Range::kMin) region.nonnegative.push_back(at_least(e, range.lo));
    if (range.hi < ir::Range::kMax) region.nonnegative.push_back(at_most(e, range.hi));
  }
  none = feasibility_->linear_part(region) == Answer::Kind::empty;
  if (none) return std::nullopt;
  for (const Expr e : symbols_) {
    bool found = false;
    for (std::int64_t radius = 0; !found && radius < kFarthest; radius = 4 * radius + 1) {
      Region here = region;
      here.nonnegative.push_back(at_least(e, Int128{wanted[e.symbol()]} - radius));
      here.nonnegative.push_back(at_most(e, Int128{wanted[e.symbol()]} + radius));
      const Answer answer = feasibility_->ask(here, {}, Feasibility::Effort::point);
      found = answer.kind == Answer::Kind::found && answer.point.contains(e.symbol());
      if (found) values[e.symbol()] = admissible(e, answer.point.at(e.symbol()));
    }
    if (!found) return std::nullopt;
    region.zero.push_back(at_least(e, values[e.symbol()]));
  }
  return values;
}

/// Returns the nearest of the first few bindings that random values give.
std::optional<ir::Binding> BindingSearch::scatter(const Values64& wanted, std::uint64_t seed) const {
  constexpr int kEnough = 8;
  std::mt19937_64 random(seed);
  std::optional<ir::Binding> best;
  double nearest = 0;
  for (int i = 0, found = 0; i < kScattered && found < kEnough; ++i) {
    Values64 values = wanted;
    for (const Expr e : symbols_) values[e.symbol()] = admissible(e, scattered(wanted[e.symbol()], random));
    for (const auto& [index, e] : determined_)
      if (const auto value = ir::evaluate_int64(program_->exprs(), e, values); value) values[index] = *value;
    auto binding = bind(values);
    if (!binding) continue;
    ++found;
    double sum = 0;
    for (const Expr e : symbols_) sum += distance(values[e.symbol()], wanted[e.symbol()]);
    if (best && sum >= nearest) continue;
    best = *std::move(binding);
    nearest = sum;
  }
  return best;
}

Result<ir::Binding> BindingSearch::nearest(const SymbolValues& wanted, std::int64_t other, std::uint64_t seed) {
  const Values64 values = complete(wanted, other);
  if (auto binding = bind(values)) return binding;
  bool none = false;
  if (const auto solved = solve(values, none))
    if (auto binding = bind(*solved)) return binding;
  if (none) return none_found(fmt::format("program '{}' admits no sizes within these limits", program_->name()));
  if (auto binding = scatter(values, seed)) return *std::move(binding);
  return none_found(fmt::format("no sizes of program '{}' were found within these limits", program_->name()));
}

}  // namespace padlock::solver
