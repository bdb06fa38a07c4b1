// The part of ProgramBuilder that makes symbols, expressions with a given value, and parameters.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/differential/programs/program_builder.h"

namespace padlock::differential {

using ir::SymbolKind;

std::int64_t awkward_extent(std::int64_t limit, testing::Rng& rng) {
  static constexpr std::array<std::int64_t, 34> kExtents = {0,  1,  2,   3,   4,   5,   7,   8,   9,   11, 13, 15,
                                                            16, 17, 19,  23,  31,  32,  33,  37,  47,  63, 64, 65,
                                                            67, 97, 127, 128, 129, 131, 255, 256, 257, 263};
  const auto usable = std::ranges::upper_bound(kExtents, limit) - kExtents.begin();
  const auto least = rng.chance(6) ? 0 : std::min<std::int64_t>(1, usable - 1);  // empty axes hide everything else
  return kExtents[static_cast<std::size_t>(rng.between(least, usable - 1))];
}

std::int64_t ProgramBuilder::Value::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

Dim ProgramBuilder::new_symbol(SymbolKind kind, std::int64_t value) {
  static constexpr std::array kPrefixes = {"N", "s", "d"};
  std::string name = fmt::format("{}{}", kPrefixes[static_cast<std::size_t>(kind)], program_.symbols.size());
  program_.symbols.push_back({name, kind});
  program_.seed_values[name] = value;
  if (kind == SymbolKind::dim) program_.parameters.push_back(name + ": dim");
  return dim_name(std::move(name));
}

Dim ProgramBuilder::dim_with_value(std::int64_t value) {
  std::vector<std::string> same;
  for (const GeneratedSymbol& s : program_.symbols)
    if (s.kind != SymbolKind::stride && program_.seed_values[s.name] == value) same.push_back(s.name);
  if (!same.empty() && rng_.chance(40)) return dim_name(rng_.pick(same));
  return new_symbol(SymbolKind::dim, value);
}

Dim ProgramBuilder::express_around_symbol(std::int64_t value) {
  std::vector<std::string> names;
  for (const GeneratedSymbol& s : program_.symbols)
    if (s.kind != SymbolKind::stride) names.push_back(s.name);
  if (names.empty()) return dim_with_value(value);
  const std::string name = rng_.pick(names);
  const std::int64_t coefficient = rng_.chance(70) ? 1 : rng_.between(-2, 3);
  const std::int64_t rest = value - coefficient * program_.seed_values[name];
  Dim term = dim_name(name);
  if (coefficient != 1) term = dim_integer(coefficient) * std::move(term);
  if (rest == 0) return term;
  return rest > 0 ? std::move(term) + dim_integer(rest) : std::move(term) - dim_integer(-rest);
}

/// A product of two sizes or, now and then, of three, and the rest, which a symbol may have to hold.
Dim ProgramBuilder::express_by_product(std::int64_t value, int depth) {
  std::vector<std::string> names;
  for (const GeneratedSymbol& s : program_.symbols)
    if (s.kind != SymbolKind::stride) names.push_back(s.name);
  if (names.empty()) return dim_with_value(value);
  Dim product = dim_name(rng_.pick(names));
  for (std::int64_t factors = rng_.chance(15) ? 2 : 1; factors > 0; --factors) {
    Dim factor = dim_name(rng_.pick(names));
    if (rng_.chance(25)) factor = std::move(factor) + dim_integer(rng_.between(-3, 3));
    product = std::move(product) * std::move(factor);
  }
  constexpr Int128 kMostToMakeUp = Int128{1} << 33;
  const Int128 made = evaluate(product, program_.seed_values).value_or(kMostToMakeUp);
  if (made >= kMostToMakeUp || made <= -kMostToMakeUp) return dim_with_value(value);
  const std::int64_t rest = value - static_cast<std::int64_t>(made);
  return rest == 0 ? product : std::move(product) + express(rest, depth - 1);
}

Dim ProgramBuilder::express_by_division(std::int64_t value, int depth) {
  const std::int64_t divisor = rng_.between(2, 9);
  switch (rng_.between(0, 2)) {
    case 0:
      return dim_node(Dim::Kind::floordiv,
                      {express(value * divisor + rng_.between(0, divisor - 1), depth - 1), dim_integer(divisor)});
    case 1:
      return dim_node(Dim::Kind::ceildiv,
                      {express(value * divisor - rng_.between(0, divisor - 1), depth - 1), dim_integer(divisor)});
    default: {
      if (value < 0) return dim_with_value(value);
      const std::int64_t modulus = value + rng_.between(1, 8);
      Dim bound = dim_integer(modulus);
      // A divisor that is an expression, provably positive.
      if (rng_.chance(30)) bound = dim_node(Dim::Kind::max, {express(modulus, 0), dim_integer(1)});
      return dim_node(Dim::Kind::mod, {express(value + modulus * rng_.between(-1, 1), depth - 1), std::move(bound)});
    }
  }
}

Dim ProgramBuilder::express(std::int64_t value, int depth) {
  if (sizes_ == Sizes::free && depth > 0 && rng_.chance(30)) return express_by_product(value, depth);
  const std::int64_t form = depth <= 0 ? rng_.between(0, 5) : rng_.between(0, 11);
  if (form <= 1) return dim_integer(value);
  if (form <= 3) return dim_with_value(value);
  if (form <= 6) return express_around_symbol(value);
  if (form == 7) return dim_node(Dim::Kind::neg, {express(-value, depth - 1)});
  if (form == 8) {
    const std::int64_t part = rng_.between(-5, 5);
    return express(value - part, depth - 1) + express(part, depth - 1);
  }
  if (form <= 10) {
    const bool is_min = form == 9;
    const std::int64_t other = is_min ? value + rng_.between(0, 9) : value - rng_.between(0, 9);
    std::vector<Dim> operands = {express(value, depth - 1), express(other, depth - 1)};
    if (rng_.chance(50)) std::swap(operands[0], operands[1]);
    return dim_node(is_min ? Dim::Kind::min : Dim::Kind::max, std::move(operands));
  }
  return express_by_division(value, depth);
}

std::int64_t ProgramBuilder::value_of(const Dim& dim) const {
  return static_cast<std::int64_t>(evaluate(dim, program_.seed_values).value());
}

void ProgramBuilder::require(Dim lhs, ir::Comparison comparison, Dim rhs, std::string why) {
  program_.implied.push_back({std::move(lhs), comparison, std::move(rhs), std::move(why)});
}

Dim ProgramBuilder::parameter_extent(std::int64_t value) {
  const std::int64_t form = rng_.between(0, 99);
  if (form < 15) return dim_integer(value);
  if (form < 30) return dim_with_value(value);
  if (form < 40) return express_around_symbol(value);
  if (sizes_ == Sizes::free && form < 50) return express_by_product(value, 1);
  return new_symbol(SymbolKind::extent, value);
}

/// Returns strides that nest the axes in `order` (outermost first), with gaps between rows if `pitched`.
std::vector<Dim> ProgramBuilder::nested_strides(const std::vector<Dim>& extents, const std::vector<std::size_t>& order,
                                                bool pitched) {
  std::vector<Dim> strides(extents.size());
  Dim step = dim_integer(pitched && rng_.chance(20) ? 2 : 1);
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::size_t axis = order[k];
    strides[axis] = step;
    const bool unit = step.kind == Dim::Kind::integer && step.value == 1;
    step = unit ? extents[axis] : extents[axis] * step;
    if (!pitched || !rng_.chance(60)) continue;
    if (rng_.chance(50)) {
      step = std::move(step) + dim_integer(rng_.between(1, 9));
    } else {
      step = dim_node(Dim::Kind::ceildiv, {std::move(step), dim_integer(8)}) * dim_integer(8);
    }
  }
  return strides;
}

void ProgramBuilder::choose_strides(GeneratedTensor& tensor) {
  const std::size_t rank = tensor.extents.size();
  const std::int64_t form = rng_.between(0, 99);
  if (form < 40 || rank == 0) return;
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (form < 58) {
    tensor.stride_kind = StrideKind::pitched;
    tensor.strides = nested_strides(tensor.extents, order, true);
    return;
  }
  if (form < 70 && rank >= 2) {
    tensor.stride_kind = StrideKind::transposed;
    for (std::size_t i = rank - 1; i > 0; --i)
      std::swap(order[i], order[static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(i)))]);
    if (std::ranges::is_sorted(order)) std::rotate(order.begin(), order.begin() + 1, order.end());
    tensor.strides = nested_strides(tensor.extents, order, false);
    return;
  }
  tensor.strides = nested_strides(tensor.extents, order, false);
  if (form < 80) {
    tensor.stride_kind = StrideKind::zero;
    rng_.pick(*tensor.strides) = dim_integer(0);
  } else if (form < 94) {
    tensor.stride_kind = StrideKind::symbolic;
    for (Dim& stride : *tensor.strides)
      if (rng_.chance(70)) stride = new_symbol(SymbolKind::stride, value_of(stride) + rng_.between(0, 3));
  } else {
    tensor.stride_kind = StrideKind::overlapping;
    for (Dim& stride : *tensor.strides) stride = dim_integer(rng_.between(0, 2));
  }
}

std::size_t ProgramBuilder::new_tensor(ir::DType type, std::vector<Dim> extents) {
  GeneratedTensor tensor{fmt::format("p{}", counter_++), type, std::move(extents), std::nullopt, StrideKind::dense};
  choose_strides(tensor);
  Value value{tensor.name, type, tensor.extents, {}, true, false};
  for (const Dim& e : tensor.extents) {
    value.sizes.push_back(value_of(e));
    if (has_names(e)) require(e, ir::Comparison::ge, dim_integer(0), "extent of " + tensor.name);
  }
  std::string text = fmt::format("{}: {}{}", tensor.name, ir::name_of(type), to_text(tensor.extents));
  if (tensor.strides) text += " strides " + to_text(*tensor.strides);
  program_.parameters.push_back(std::move(text));
  program_.tensors.push_back(std::move(tensor));
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

std::size_t ProgramBuilder::random_tensor(ir::DType type, int min_rank) {
  static constexpr std::array kRanks = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6};
  static constexpr std::array<std::int64_t, 7> kLimits = {1, 300, 70, 17, 9, 5, 4};
  const int rank = std::max(min_rank, rng_.pick(kRanks));
  std::int64_t budget = 1024;
  std::vector<Dim> extents(static_cast<std::size_t>(rank));
  for (std::size_t i = extents.size(); i-- > 0;) {
    std::int64_t limit = std::min(budget, kLimits[static_cast<std::size_t>(rank)]);
    if (rng_.chance(15)) limit = std::min<std::int64_t>(budget, 300);
    const std::int64_t n = rng_.chance(8) ? 1 : awkward_extent(limit, rng_);
    extents[i] = n == 1 && rng_.chance(50) ? dim_integer(1) : parameter_extent(n);
    budget /= std::max<std::int64_t>(1, n);
  }
  return new_tensor(type, std::move(extents));
}

std::string ProgramBuilder::new_scalar(ir::DType type) {
  std::string name = fmt::format("c{}", counter_++);
  program_.parameters.push_back(fmt::format("{}: {}", name, ir::name_of(type)));
  return name;
}

}  // namespace padlock::differential
