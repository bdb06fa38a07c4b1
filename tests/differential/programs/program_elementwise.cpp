// The part of ProgramBuilder that makes elementwise operations and their further operands.
#include <fmt/format.h>
#include <algorithm>

#include "tests/differential/programs/program_builder.h"
#include "tests/differential/random_data.h"

namespace padlock::differential {

using ir::Comparison;
using ir::DType;
using ir::Op;
using ir::OpClass;

namespace {

bool same_dims(const std::vector<Dim>& a, const std::vector<Dim>& b) { return to_text(a) == to_text(b); }

}  // namespace

std::vector<Dim> broadcast_extents(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const std::vector<Dim>& longer = a.size() >= b.size() ? a : b;
  const std::vector<Dim>& shorter = a.size() >= b.size() ? b : a;
  std::vector<Dim> result = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i)
    if (is_literal(result[shift + i], 1)) result[shift + i] = shorter[i];
  return result;
}

/// Returns a literal, sometimes with its type, which changes nothing if another operand has it; or a size.
std::string ProgramBuilder::literal(DType type) {
  if (rng_.chance(8))
    if (std::string size = size_as_value(type); !size.empty()) return size;
  std::string text = random_literal(type, rng_);
  return rng_.chance(15) ? fmt::format("{}({})", ir::name_of(type), text) : text;
}

/// Returns a size expression as a value; empty if it would be a literal.
std::string ProgramBuilder::size_as_value(DType type) {
  if (program_.symbols.empty()) return {};
  const Dim size = dim_name(rng_.pick(program_.symbols).name) + dim_integer(rng_.between(-3, 70));
  return fmt::format("{}({})", ir::name_of(type), to_text(size));
}

std::string ProgramBuilder::literal_or_scalar(DType type) { return rng_.chance(60) ? literal(type) : new_scalar(type); }

/// Extents that broadcast with those of x: axes missing or literally 1, equal expressions, or symbols of equal value.
std::vector<Dim> ProgramBuilder::similar_extents(const Value& x) {
  std::vector<Dim> extents = x.extents;
  if (rng_.chance(40)) return extents;
  const bool shorter = rng_.chance(40);
  if (shorter) extents.erase(extents.begin(), extents.begin() + rng_.between(0, x.rank()));
  const std::size_t shift = x.extents.size() - extents.size();
  std::int64_t budget = kMaxElements / std::max<std::int64_t>(1, x.elements());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const std::int64_t n = x.sizes[shift + i];
    if (is_literal(extents[i], 1)) {
      const std::int64_t wider = awkward_extent(std::min<std::int64_t>(budget, 20), rng_);
      if (rng_.chance(50)) extents[i] = parameter_extent(wider), budget /= std::max<std::int64_t>(1, wider);
    } else if (rng_.chance(30)) {
      extents[i] = dim_integer(1);
    } else if (n != 1 && rng_.chance(15)) {
      Dim same = new_symbol(ir::SymbolKind::extent, n);
      require(same, Comparison::eq, x.extents[shift + i], "equal extents");
      extents[i] = std::move(same);
    }
  }
  if (!shorter && x.rank() < 6 && budget >= 2 && rng_.chance(15)) extents.insert(extents.begin(), parameter_extent(2));
  return extents;
}

ProgramBuilder::Companion ProgramBuilder::companion(std::size_t x, DType type, bool literal_allowed) {
  if (literal_allowed && rng_.chance(18)) return {literal(type), std::nullopt, {}};
  if (rng_.chance(12)) return {new_scalar(type), std::nullopt, {}};
  std::vector<std::size_t> existing;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].dtype == type && same_dims(values_[i].extents, values_[x].extents)) existing.push_back(i);
  std::size_t index = 0;
  if (!existing.empty() && rng_.chance(45)) {
    index = rng_.pick(existing);
  } else {
    std::vector<Dim> extents = similar_extents(values_[x]);
    index = new_tensor(type, std::move(extents));
  }
  return {values_[index].name, index, values_[index].extents};
}

std::size_t ProgramBuilder::binary(Op op, std::size_t x) {
  const DType type = values_[x].dtype;
  const OpClass op_class = ir::info_of(op).op_class;
  const bool to_bool = op_class == OpClass::comparison || op_class == OpClass::logical2;
  const Companion other = companion(x, type, true);
  GeneratedStatement s{"", op, to_bool ? DType::boolean : type, {values_[x].name}, {}, {}, ""};
  s.extents = broadcast_extents(values_[x].extents, other.extents);
  if (other.value) s.operands.push_back(other.text);
  std::string first = values_[x].name, second = other.text;
  if (rng_.chance(50)) std::swap(first, second);
  return add_statement(std::move(s), first + ", " + second);
}

std::size_t ProgramBuilder::select(std::size_t x, std::optional<DType> result) {
  const std::string name = values_[x].name;
  const bool as_condition = values_[x].dtype == DType::boolean && rng_.chance(70);
  const DType type = as_condition ? result.value_or(main_type_) : values_[x].dtype;
  // A branch that broadcasts must not widen an axis twice, so the other operand takes x's own extents.
  const Companion one = companion(x, as_condition ? type : DType::boolean, false);
  Companion two{literal_or_scalar(type), std::nullopt, {}};
  if (rng_.chance(50)) {
    std::vector<Dim> extents = values_[x].extents;
    const std::size_t index = new_tensor(type, std::move(extents));
    two = {values_[index].name, index, values_[index].extents};
  }
  GeneratedStatement s{"", Op::select, type, {name}, {}, {}, ""};
  s.extents = broadcast_extents(broadcast_extents(values_[x].extents, one.extents), two.extents);
  if (one.value) s.operands.push_back(one.text);
  if (two.value) s.operands.push_back(two.text);
  const std::string condition = as_condition ? name : one.text;
  std::string a = as_condition ? one.text : name, b = two.text;
  if (rng_.chance(50)) std::swap(a, b);
  return add_statement(std::move(s), fmt::format("{}, {}, {}", condition, a, b));
}

}  // namespace padlock::differential
