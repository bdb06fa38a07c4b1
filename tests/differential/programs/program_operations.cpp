// The part of ProgramBuilder that applies operations: data movement, and the helpers of all operations.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tests/differential/programs/program_builder.h"
#include "tests/differential/random_data.h"

namespace padlock::differential {

using ir::Comparison;
using ir::DType;
using ir::Op;
using ir::OpClass;
using ir::PadMode;

namespace {

Dim sum_of(Dim a, Dim b) {
  if (is_literal(a, 0)) return b;
  if (is_literal(b, 0)) return a;
  return std::move(a) + std::move(b);
}

std::int64_t random_amount(std::int64_t n, testing::Rng& rng) {
  const std::int64_t form = rng.between(0, 99);
  if (form < 35) return 0;
  if (form < 58) return rng.between(1, 4);
  if (form < 80) return -rng.between(1, std::max<std::int64_t>(1, std::min<std::int64_t>(n + 1, 4)));
  if (form < 90) return rng.between(1, 3 * n + 5);  // several laps
  if (form < 95) return -n;
  static constexpr std::array<std::int64_t, 6> kVectors = {8, 16, 32, -8, -16, 15};
  return rng.pick(kVectors);
}

/// The one constraint that an empty axis puts on every mode but constant: its result is empty too (m <= n * m).
Condition empty_stays_empty(const Dim& n, const Dim& m) { return {m, Comparison::le, n * m, "empty axis"}; }

}  // namespace

std::string ProgramBuilder::fresh_value_name() {
  // Names of operations, modes and arguments are no reserved words.
  static constexpr std::array kAwkward = {"pad", "constant", "axis", "edge", "value", "low", "cast", "wrap", "_", "e1"};
  if (rng_.chance(4)) {
    const std::string name = rng_.pick(kAwkward);
    if (std::ranges::none_of(values_, [&](const Value& v) { return v.name == name; })) return name;
  }
  return fmt::format("v{}", counter_++);
}

std::size_t ProgramBuilder::add_statement(GeneratedStatement statement, const std::string& arguments) {
  statement.name = fresh_value_name();
  statement.text = fmt::format("{} = {}({})", statement.name, ir::name_of(statement.op), arguments);
  Value value{statement.name, statement.dtype, statement.extents, {}, false, false};
  for (const Dim& e : statement.extents) value.sizes.push_back(value_of(e));
  for (Value& v : values_)
    if (std::ranges::find(statement.operands, v.name) != statement.operands.end()) v.used = true;
  program_.statements.push_back(std::move(statement));
  values_.push_back(std::move(value));
  return values_.size() - 1;
}

PadSite ProgramBuilder::pad_axis(const Dim& extent, std::int64_t n, std::int64_t budget, PadMode mode) {
  std::int64_t low = random_amount(n, rng_);
  std::int64_t high = random_amount(n, rng_);
  std::int64_t interior = mode == PadMode::constant && rng_.chance(30) ? rng_.between(1, 3) : 0;
  const auto size = [&] { return low + n + std::max<std::int64_t>(n - 1, 0) * interior + high; };
  if (size() > budget) low = std::min<std::int64_t>(low, 1), high = std::min<std::int64_t>(high, 1);
  if (size() > budget) low = high = interior = 0;
  if (size() < 0) high += rng_.between(0, 2) - size();
  if (n == 0 && mode != PadMode::constant) high = -low;

  Dim low_dim = express(low);
  Dim high_dim = express(high);
  if (rng_.chance(12) && low + n >= 0) {  // up to a multiple
    const std::int64_t multiple = 4 << rng_.between(0, 2);
    Dim rest = dim_node(Dim::Kind::neg, {extent + low_dim});
    Dim to_multiple = dim_node(Dim::Kind::mod, {std::move(rest), dim_integer(multiple)});
    if (interior == 0 && (n > 0 || mode == PadMode::constant || low == 0) && low + n + multiple <= budget)
      high_dim = std::move(to_multiple);
  }
  return {std::move(low_dim), std::move(high_dim), extent, mode, interior};
}

std::size_t ProgramBuilder::pad(std::size_t x) {
  const Value source = values_[x];
  const PadMode mode = rng_.chance(70) ? main_mode_ : rng_.pick(ir::kPadModes);
  GeneratedStatement s{"", Op::pad, source.dtype, {source.name}, {}, {}, ""};
  std::vector<Dim> low, high, interior;
  std::int64_t elements = std::max<std::int64_t>(1, source.elements());
  for (std::size_t i = 0; i < source.extents.size(); ++i) {
    const std::int64_t n = source.sizes[i];
    const std::int64_t others = std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, n));
    PadSite site = pad_axis(source.extents[i], n, std::max(n, kMaxElements / 2 / others), mode);
    Dim m = sum_of(sum_of(site.low, site.extent), site.high);
    if (site.interior > 0) {
      Dim gaps = dim_node(Dim::Kind::max, {site.extent - dim_integer(1), dim_integer(0)});
      m = std::move(m) + std::move(gaps) * dim_integer(site.interior);
    }
    require(m, Comparison::ge, dim_integer(0), "pad extent");
    if (mode != PadMode::constant) program_.implied.push_back(empty_stays_empty(site.extent, m));
    elements = others * std::max<std::int64_t>(1, value_of(m));
    low.push_back(site.low);
    high.push_back(site.high);
    interior.push_back(dim_integer(site.interior));
    s.extents.push_back(std::move(m));
    s.pads.push_back(std::move(site));
  }
  std::vector<std::string> named = {"low = " + to_text(low), "high = " + to_text(high)};
  const bool dilated = std::ranges::any_of(interior, [](const Dim& d) { return !is_literal(d, 0); });
  if (dilated || (mode == PadMode::constant && rng_.chance(20))) named.push_back("interior = " + to_text(interior));
  if (mode != PadMode::constant || rng_.chance(20)) named.push_back(fmt::format("mode = {}", ir::name_of(mode)));
  if (mode == PadMode::constant && rng_.chance(80)) named.push_back("value = " + fill(s, source.dtype, s.operands));
  if (rng_.chance(20)) std::ranges::reverse(named);  // named arguments come in any order
  return add_statement(std::move(s), fmt::format("{}, {}", source.name, fmt::join(named, ", ")));
}

/// A literal, a scalar, or a tensor that broadcasts to the padded shape.
std::string ProgramBuilder::fill(const GeneratedStatement& pad, DType type, std::vector<std::string>& operands) {
  if (!rng_.chance(20)) return literal_or_scalar(type);
  std::vector<Dim> extents(pad.extents.begin() + rng_.between(0, static_cast<std::int64_t>(pad.extents.size())),
                           pad.extents.end());
  for (Dim& e : extents)
    if (rng_.chance(60)) e = dim_integer(1);
  const std::size_t index = new_tensor(type, std::move(extents));
  operands.push_back(values_[index].name);
  return values_[index].name;
}

std::pair<Dim, Dim> ProgramBuilder::slice_axis(const Dim& extent, std::int64_t n) {
  const std::int64_t form = rng_.between(0, 99);
  if (form < 20) return {dim_integer(0), extent};
  const std::int64_t start = rng_.chance(40) ? 0 : rng_.between(0, std::min<std::int64_t>(n, 9));
  if (form < 40) return {express(start), extent};
  if (form < 55)
    return {dim_integer(start), extent - dim_integer(rng_.between(0, std::min<std::int64_t>(n - start, 5)))};
  const std::int64_t limit =
      rng_.chance(60) ? n - rng_.between(0, std::min<std::int64_t>(n - start, 5)) : rng_.between(start, n);
  if (form < 80) return {express(start), express(limit)};
  // Legal for all symbols.
  Dim low = dim_node(Dim::Kind::min, {dim_node(Dim::Kind::max, {express(start, 1), dim_integer(0)}), extent});
  Dim high = dim_node(Dim::Kind::max, {low, dim_node(Dim::Kind::min, {express(limit, 1), extent})});
  return {std::move(low), std::move(high)};
}

std::size_t ProgramBuilder::slice(std::size_t x) {
  const Value source = values_[x];
  GeneratedStatement s{"", Op::slice, source.dtype, {source.name}, {}, {}, ""};
  std::vector<Dim> starts, limits, steps;
  for (std::size_t i = 0; i < source.extents.size(); ++i) {
    auto [start, limit] = slice_axis(source.extents[i], source.sizes[i]);
    const std::int64_t step = rng_.chance(65) ? 1 : rng_.between(2, 4);
    require(start, Comparison::ge, dim_integer(0), "slice start");
    require(start, Comparison::le, limit, "slice start and limit");
    require(limit, Comparison::le, source.extents[i], "slice limit");
    Dim length = is_literal(start, 0) ? limit : limit - start;
    if (step != 1) length = dim_node(Dim::Kind::ceildiv, {std::move(length), dim_integer(step)});
    s.extents.push_back(std::move(length));
    starts.push_back(std::move(start));
    limits.push_back(std::move(limit));
    steps.push_back(dim_integer(step));
  }
  std::string arguments = fmt::format("{}, start = {}, limit = {}", source.name, to_text(starts), to_text(limits));
  if (rng_.chance(20) || std::ranges::any_of(steps, [](const Dim& d) { return !is_literal(d, 1); }))
    arguments += ", step = " + to_text(steps);
  return add_statement(std::move(s), arguments);
}

std::size_t ProgramBuilder::concat(std::size_t x) {
  const Value source = values_[x];
  const auto axis = static_cast<std::size_t>(rng_.between(0, source.rank() - 1));
  const std::int64_t across =
      std::max<std::int64_t>(1, source.elements() / std::max<std::int64_t>(1, source.sizes[axis]));
  std::vector<std::size_t> parts = {x};
  std::int64_t budget = kMaxElements - source.elements();
  for (std::int64_t more = rng_.between(0, 3); more > 0; --more) {
    if (rng_.chance(15)) {
      if (source.elements() <= budget) parts.push_back(x), budget -= source.elements();
      continue;
    }
    std::vector<Dim> extents = source.extents;
    const std::int64_t length = awkward_extent(std::clamp<std::int64_t>(budget / across, 0, 40), rng_);
    extents[axis] = rng_.chance(30) ? source.extents[axis] : parameter_extent(length);
    parts.push_back(new_tensor(source.dtype, std::move(extents)));
    budget -= values_.back().elements();
    if (budget < 0) break;
  }
  std::ranges::reverse(parts);
  if (rng_.chance(50)) std::swap(parts.front(), parts.back());
  GeneratedStatement s{"", Op::concat, source.dtype, {}, source.extents, {}, ""};
  std::string arguments;
  s.extents[axis] = values_[parts[0]].extents[axis];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value& part = values_[parts[i]];
    s.operands.push_back(part.name);
    if (i > 0) s.extents[axis] = sum_of(std::move(s.extents[axis]), part.extents[axis]);
    arguments += part.name + ", ";
  }
  return add_statement(std::move(s), fmt::format("{}axis = {}", arguments, axis));
}

std::size_t ProgramBuilder::transpose(std::size_t x) {
  const Value source = values_[x];
  std::vector<std::size_t> perm(source.extents.size());
  std::iota(perm.begin(), perm.end(), std::size_t{0});
  for (std::size_t i = perm.size(); i-- > 1;)
    std::swap(perm[i], perm[static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(i)))]);
  GeneratedStatement s{"", Op::transpose, source.dtype, {source.name}, {}, {}, ""};
  for (const std::size_t axis : perm) s.extents.push_back(source.extents[axis]);
  return add_statement(std::move(s), fmt::format("{}, perm = [{}]", source.name, fmt::join(perm, ", ")));
}

std::size_t ProgramBuilder::broadcast(std::size_t x) {
  const Value source = values_[x];
  // A reshape may have made more axes than six.
  const int rank =
      static_cast<int>(rng_.between(source.rank(), std::max(source.rank(), std::min(6, source.rank() + 2))));
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = axes.size(); i-- > 1;)
    std::swap(axes[i], axes[static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(i)))]);
  axes.resize(source.extents.size());
  if (rng_.chance(60)) std::ranges::sort(axes);
  std::vector<std::optional<Dim>> shape(static_cast<std::size_t>(rank));
  std::int64_t budget = kMaxElements / std::max<std::int64_t>(1, source.elements());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t n = source.sizes[i];
    if (is_literal(source.extents[i], 1) && rng_.chance(60)) continue;
    // Another symbol with the same value gives an equality; not for 1, where the axis might count as literally 1.
    const bool by_equality = n != 1 && rng_.chance(25);
    shape[static_cast<std::size_t>(axes[i])] = by_equality ? express(n, 1) : source.extents[i];
    if (by_equality) require(*shape[static_cast<std::size_t>(axes[i])], Comparison::eq, source.extents[i], "broadcast");
  }
  GeneratedStatement s{"", Op::broadcast, source.dtype, {source.name}, {}, {}, ""};
  for (std::optional<Dim>& d : shape) {
    if (!d) {
      const std::int64_t n = awkward_extent(std::min<std::int64_t>(budget, 17), rng_);
      budget /= std::max<std::int64_t>(1, n);
      d = express(n, 1);
    }
    require(*d, Comparison::ge, dim_integer(0), "broadcast extent");
    s.extents.push_back(*d);
  }
  const std::string shape_text = to_text(s.extents);
  return add_statement(std::move(s),
                       fmt::format("{}, shape = {}, axes = [{}]", source.name, shape_text, fmt::join(axes, ", ")));
}

/// Returns extents of any form whose product is that number under the seed binding.
std::vector<Dim> ProgramBuilder::factored_shape(std::int64_t elements) {
  std::vector<Dim> shape;
  if (elements == 0) shape = {express(rng_.between(0, 5), 1), dim_integer(0)};
  for (std::int64_t rest = elements; rest > 1;) {
    std::int64_t factor = rest;
    for (std::int64_t d = rng_.between(2, 9); d > 1; --d)
      if (rest % d == 0 && rng_.chance(80)) factor = d;
    shape.push_back(express(factor, 1));
    rest /= factor;
    if (shape.size() == 4 && rest > 1) shape.push_back(express(std::exchange(rest, 1), 1));
  }
  for (std::size_t i = shape.size(); i-- > 1;)
    std::swap(shape[i], shape[static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(i)))]);
  if (rng_.chance(20)) shape.insert(shape.begin() + rng_.between(0, std::ssize(shape)), dim_integer(1));
  return shape;
}

/// Axes merged with the next, split by a divisor, or of extent 1 that come and go.
std::vector<Dim> ProgramBuilder::new_shape(const Value& x) {
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < x.extents.size(); ++i) {
    const Dim& n = x.extents[i];
    const std::int64_t form = rng_.between(0, 99);
    const std::int64_t divisor = rng_.between(2, 8);
    if (form < 15 && shape.size() < 5) shape.push_back(dim_integer(1));
    if (is_literal(n, 1) && form < 60) continue;
    if (form < 45 && !shape.empty() && !is_literal(shape.back(), 1)) {
      shape.back() = shape.back() * n;
    } else if (form < 75 && x.sizes[i] % divisor == 0 && shape.size() < 5) {
      Dim parts = dim_node(Dim::Kind::floordiv, {n, dim_integer(divisor)});
      shape.push_back(form < 60 ? parts : dim_integer(divisor));
      shape.push_back(form < 60 ? dim_integer(divisor) : parts);
    } else {
      shape.push_back(n);
    }
  }
  return shape;
}

std::size_t ProgramBuilder::reshape(std::size_t x) {
  const Value source = values_[x];
  GeneratedStatement s{"", Op::reshape, source.dtype, {source.name}, {}, {}, ""};
  s.extents = rng_.chance(70) ? new_shape(source) : factored_shape(source.elements());
  Dim before = dim_integer(1), after = dim_integer(1);
  for (const Dim& e : source.extents) before = before * e;
  for (const Dim& e : s.extents) {
    require(e, Comparison::ge, dim_integer(0), "reshape extent");
    after = after * e;
  }
  require(std::move(before), Comparison::eq, std::move(after), "reshape elements");
  const std::string shape = to_text(s.extents);
  return add_statement(std::move(s), fmt::format("{}, shape = {}", source.name, shape));
}

/// Makes a pad whose result is x, with some extent and low; its high is the rest of x.
std::size_t ProgramBuilder::pad_adjoint(std::size_t x) {
  const Value source = values_[x];
  const PadMode mode = rng_.chance(70) ? main_mode_ : rng_.pick(ir::kPadModes);
  GeneratedStatement s{"", Op::pad_adjoint, source.dtype, {source.name}, {}, {}, ""};
  std::vector<Dim> low, high, interior;
  std::int64_t others = 1;
  for (std::size_t i = 0; i < source.extents.size(); ++i) {
    const Dim& m = source.extents[i];
    const std::int64_t padded = source.sizes[i];
    const std::int64_t most = std::max<std::int64_t>(1, kMaxElements / 2 / others);
    std::int64_t n = rng_.chance(60) ? padded - rng_.between(-3, 4) : rng_.between(0, padded + 5);
    n = std::clamp<std::int64_t>(n, mode != PadMode::constant && padded > 0 ? 1 : 0, most);
    if (n == 0 && mode != PadMode::constant && padded > 0) n = 1;
    const std::int64_t gaps = mode == PadMode::constant && rng_.chance(30) ? rng_.between(1, 2) : 0;
    Dim extent = rng_.chance(30) ? m : express(n, 1);
    const std::int64_t given = value_of(extent);
    Dim before = express(random_amount(given, rng_), 1);
    Dim spread = gaps > 0
                     ? extent + dim_node(Dim::Kind::max, {extent - dim_integer(1), dim_integer(0)}) * dim_integer(gaps)
                     : extent;
    high.push_back(m - before - std::move(spread));
    low.push_back(std::move(before));
    interior.push_back(dim_integer(gaps));
    require(extent, Comparison::ge, dim_integer(0), "adjoint extent");
    if (mode != PadMode::constant) program_.implied.push_back(empty_stays_empty(extent, m));
    others *= std::max<std::int64_t>(1, given);
    s.extents.push_back(std::move(extent));
  }
  std::string arguments =
      fmt::format("{}, extent = {}, low = {}, high = {}", source.name, to_text(s.extents), to_text(low), to_text(high));
  if (mode == PadMode::constant) arguments += ", interior = " + to_text(interior);
  return add_statement(std::move(s), fmt::format("{}, mode = {}", arguments, ir::name_of(mode)));
}

/// Makes coordinates with the shape of x, whose elements are not read.
std::size_t ProgramBuilder::iota(std::size_t x, std::optional<DType> result) {
  GeneratedStatement s{"", Op::iota, result.value_or(DType::i32), {}, values_[x].extents, {}, ""};
  for (const Dim& e : s.extents) require(e, Comparison::ge, dim_integer(0), "iota extent");
  const std::string arguments = fmt::format("{}, shape = {}, axis = {}", ir::name_of(s.dtype), to_text(s.extents),
                                            rng_.between(0, values_[x].rank() - 1));
  return add_statement(std::move(s), arguments);
}

/// Returns few extents, so that the taken data stay small.
std::vector<Dim> ProgramBuilder::index_extents(std::int64_t elements) {
  std::vector<Dim> extents;
  for (std::int64_t rank = rng_.between(0, 2); rank > 0; --rank) {
    const std::int64_t n = awkward_extent(std::clamp<std::int64_t>(elements, 0, 24), rng_);
    extents.push_back(rng_.chance(15) ? dim_integer(1) : parameter_extent(n));
    elements /= std::max<std::int64_t>(1, value_of(extents.back()));
  }
  return extents;
}

/// By indices of their own, along some adjacent axes.
std::size_t ProgramBuilder::take(std::size_t x, std::optional<DType> result) {
  if (is_index(values_[x].dtype) && values_[x].rank() <= 3 && rng_.chance(40))
    return take_by(x, result.value_or(main_type_));
  const Value source = values_[x];
  const std::int64_t count = rng_.chance(70) ? 1 : rng_.between(1, std::min(source.rank(), 3));
  const auto axis = static_cast<std::size_t>(rng_.between(0, source.rank() - count));
  std::int64_t others = 1;
  for (std::size_t i = 0; i < source.extents.size(); ++i)
    if (i < axis || i >= axis + static_cast<std::size_t>(count)) others *= std::max<std::int64_t>(1, source.sizes[i]);
  const DType type = rng_.chance(50) ? DType::i64 : DType::i32;
  std::vector<std::size_t> indices = {new_tensor(type, index_extents(kMaxElements / others))};
  while (std::ssize(indices) < count) {
    std::vector<Dim> extents = values_[indices.front()].extents;
    extents.erase(extents.begin(), extents.begin() + rng_.between(0, std::ssize(extents)));
    for (Dim& e : extents)
      if (rng_.chance(40)) e = dim_integer(1);
    indices.push_back(new_tensor(type, std::move(extents)));
  }
  return add_take(source, indices, axis);
}

/// Of another tensor, by the value.
std::size_t ProgramBuilder::take_by(std::size_t index, DType type) {
  const std::int64_t most = kMaxElements / std::max<std::int64_t>(1, values_[index].elements());
  const std::int64_t rows = awkward_extent(40, rng_);
  std::vector<Dim> extents = {parameter_extent(rows)};
  if (rng_.chance(60)) extents.push_back(parameter_extent(awkward_extent(std::clamp<std::int64_t>(most, 0, 40), rng_)));
  if (rng_.chance(20)) std::ranges::reverse(extents);
  const std::size_t axis = extents.size() == 1 || rng_.chance(70) ? 0 : 1;
  if (axis == 1) std::swap(extents[0], extents[1]);
  const Value source = values_[new_tensor(type, std::move(extents))];
  return add_take(source, {index}, axis);
}

std::size_t ProgramBuilder::add_take(const Value& source, const std::vector<std::size_t>& indices, std::size_t axis) {
  GeneratedStatement s{"", Op::take, source.dtype, {source.name}, {}, {}, ""};
  std::string arguments = source.name;
  std::vector<std::size_t> axes;
  for (const std::size_t index : indices) {
    s.operands.push_back(values_[index].name);
    arguments += ", " + values_[index].name;
    axes.push_back(axis + axes.size());
  }
  const auto first = static_cast<std::ptrdiff_t>(axis);
  std::vector<Dim> taken = values_[indices.front()].extents;
  for (const std::size_t index : indices) taken = broadcast_extents(taken, values_[index].extents);
  s.extents.assign(source.extents.begin(), source.extents.begin() + first);
  s.extents.insert(s.extents.end(), taken.begin(), taken.end());
  s.extents.insert(s.extents.end(), source.extents.begin() + first + std::ssize(indices), source.extents.end());
  std::vector<std::string> named = {indices.size() == 1 && rng_.chance(70)
                                        ? fmt::format("axis = {}", axis)
                                        : fmt::format("axes = [{}]", fmt::join(axes, ", "))};
  if (rng_.chance(60)) named.push_back("value = " + fill(s, source.dtype, s.operands));
  if (rng_.chance(20)) std::ranges::reverse(named);
  return add_statement(std::move(s), fmt::format("{}, {}", arguments, fmt::join(named, ", ")));
}

/// Searches among integers in any order: all devices agree on the loop's result.
std::size_t ProgramBuilder::search(std::size_t x) {
  const std::size_t among = new_tensor(values_[x].dtype, {parameter_extent(awkward_extent(40, rng_))});
  const Value& source = values_[x];
  GeneratedStatement s{"", Op::search, DType::i64, {values_[among].name, source.name}, source.extents, {}, ""};
  const std::string arguments = fmt::format("{}, {}", values_[among].name, source.name);
  return add_statement(std::move(s), arguments);
}

std::size_t ProgramBuilder::emit(Op op, std::size_t x, std::optional<DType> result) {
  // A reshape may have left no axis to name.
  const bool names_axis = op == Op::concat || op == Op::iota || op == Op::take;
  if (names_axis && values_[x].rank() == 0) x = random_tensor(values_[x].dtype, 1);
  switch (op) {
    case Op::pad:
      return pad(x);
    case Op::slice:
      return slice(x);
    case Op::concat:
      return concat(x);
    case Op::transpose:
      return transpose(x);
    case Op::broadcast:
      return broadcast(x);
    case Op::reshape:
      return reshape(x);
    case Op::iota:
      return iota(x, result);
    case Op::pad_adjoint:
      return pad_adjoint(x);
    case Op::take:
      return take(x, result);
    case Op::search:
      return search(x);
    case Op::select:
      return select(x, result);
    default:
      break;
  }
  const OpClass op_class = ir::info_of(op).op_class;
  if (ir::info_of(op).arity == 2) return binary(op, x);
  const Value source = values_[x];
  GeneratedStatement s{"", op, source.dtype, {source.name}, source.extents, {}, ""};
  std::string arguments = source.name;
  if (op_class == OpClass::cast) {
    s.dtype = result ? *result : rng_.pick(ir::kAllDTypes);
    arguments += fmt::format(", {}", ir::name_of(s.dtype));
  } else if (op == Op::leaky_relu) {
    arguments += ", alpha = " + literal_or_scalar(source.dtype);
  } else if (op == Op::clamp) {
    const std::string lo = literal_or_scalar(source.dtype);
    arguments += fmt::format(", lo = {}, hi = {}", lo, literal_or_scalar(source.dtype));
  }
  return add_statement(std::move(s), arguments);
}

}  // namespace padlock::differential
