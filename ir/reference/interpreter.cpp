#include "ir/reference/interpreter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ir/reference/accumulator.h"
#include "ir/reference/element_memo.h"
#include "ir/reference/interpreter_plan.h"
#include "ir/reference/numeric.h"
#include "ir/reference/pad_preimage.h"
#include "support/fp_environment.h"

namespace padlock::ir {
namespace {

/// Steps that one element may take. ElementMemo makes sharing free, but distinct coordinates may still multiply: 40
/// levels of two different pads of one value need 2^40 different elements.
constexpr std::size_t kMaxSteps = std::size_t{1} << 16;
constexpr std::size_t kMaxOperands = 3;  // of an elementwise operation

/// Reads the element at byte address `from`, whatever its alignment.
std::uint64_t read_bits(const std::byte* from, int bytes) {
  const auto read = [from]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<std::uint64_t>(value);
  };
  switch (bytes) {
    case 1:
      return read(std::uint8_t{});
    case 2:
      return read(std::uint16_t{});
    case 4:
      return read(std::uint32_t{});
    default:
      return read(std::uint64_t{});
  }
}

void write_bits(std::byte* to, int bytes, std::uint64_t bits) {
  const auto write = [to](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (bytes) {
    case 1:
      return write(static_cast<std::uint8_t>(bits));
    case 2:
      return write(static_cast<std::uint16_t>(bits));
    case 4:
      return write(static_cast<std::uint32_t>(bits));
    default:
      return write(bits);
  }
}

/// Advances to the next coordinates in row-major order.
void step(std::vector<std::int64_t>& coordinates, std::span<const std::int64_t> extents) {
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    if (++coordinates[axis] < extents[axis]) return;
    coordinates[axis] = 0;
  }
}

}  // namespace

struct Interpreter::Impl {
  /// An operation whose operands are being evaluated. Its coordinates are coordinates[base, base + rank).
  struct Frame {
    ValueId value = 0;
    std::size_t base = 0;
    std::size_t operands_done = 0;
    std::array<Element, kMaxOperands> operands = {};
  };

  /// A sum whose terms are being evaluated: for each axis the operand's coordinates to add up, and the current
  /// combination of them. Combinations go row by row.
  struct Sum {
    std::vector<std::vector<std::int64_t>> choices;
    std::vector<std::int64_t> counts, at;
    Accumulator total;
    bool done = false;
  };

  /// A search in progress: the value to compare with, and the state of its loop.
  struct Search {
    std::optional<std::int64_t> wanted;
    std::int64_t low = 0, high = 0;
    [[nodiscard]] std::int64_t middle() const { return low + (high - low) / 2; }
  };

  Impl(const Binding& binding, std::vector<std::span<const std::byte>> input_storage,
       std::vector<std::uint64_t> scalar_bits);

  InterpreterPlan plan;
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::uint64_t> scalars;
  std::vector<std::int64_t> element_counts;
  ElementMemo memo;
  std::vector<Frame> frames;              // an explicit stack: nesting costs no machine stack
  std::vector<Sum> sums;                  // the frames that are sums
  std::vector<Search> searches;           // the frames that are searches
  std::vector<std::int64_t> indices;      // values of the indices so far, of frames that are takes
  std::vector<std::int64_t> coordinates;  // of all frames, and of the element to enter
  std::vector<std::int64_t> scratch;
  std::size_t steps = 0;

  const Program& program() const { return plan.program(); }
  std::span<const std::int64_t> coordinates_at(std::size_t base, ValueId id) const {
    return std::span(coordinates).subspan(base, plan[id].extents.size());
  }

  Status check_nesting(ValueId id) const;
  Status check_coordinates(ValueId id, std::span<const std::int64_t> at) const;
  Result<Element> run(ValueId id, std::span<const std::int64_t> at);
  Result<std::optional<Element>> enter(Operand operand, std::size_t base);
  Result<std::optional<Element>> enter_next_operand(const Frame& frame);
  Element finish(const Frame& frame);
  Sum begin_sum(ValueId id, std::span<const std::int64_t> at) const;
  Result<std::optional<Element>> enter_next_term(const Frame& frame);
  Result<std::optional<Element>> go_on_with_take(const std::optional<Element>& found);
  Result<std::optional<Element>> go_on_with_search(const std::optional<Element>& found);
  [[nodiscard]] std::int64_t integer(ValueId id, const Element& element) const {
    return static_cast<std::int64_t>(extend_from(program().value(id).dtype, element.bits));
  }
  [[nodiscard]] bool is_sum(ValueId id) const {
    return std::holds_alternative<PadAdjointAttributes>(program().value(id).attributes);
  }
  Result<Element> load(ValueId id, std::span<const std::int64_t> at) const;
  Result<Element> scalar(ValueId id) const;
};

Interpreter::Impl::Impl(const Binding& binding, std::vector<std::span<const std::byte>> input_storage,
                        std::vector<std::uint64_t> scalar_bits)
    : plan(binding), inputs(std::move(input_storage)), scalars(std::move(scalar_bits)) {
  for (const Value& value : binding.program().values()) element_counts.push_back(binding(value.layout.element_count()));
}

Status Interpreter::Impl::check_nesting(ValueId id) const {
  if (plan[id].depth <= kMaxNesting) return {};
  return resource_exhausted(fmt::format("statement '{}' nests {} operations deep; the interpreter takes {}",
                                        program().value(id).name, plan[id].depth, kMaxNesting));
}

Status Interpreter::Impl::check_coordinates(ValueId id, std::span<const std::int64_t> at) const {
  const std::string& name = program().value(id).name;
  const auto& extents = plan[id].extents;
  if (at.size() != extents.size())
    return invalid_argument(
        fmt::format("'{}' has rank {}, but {} coordinates are given", name, extents.size(), at.size()));
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    if (at[axis] < 0 || at[axis] >= extents[axis])
      return invalid_argument(
          fmt::format("coordinate {} on axis {} of '{}' is outside [0, {})", at[axis], axis, name, extents[axis]));
  return {};
}

Result<Element> Interpreter::Impl::load(ValueId id, std::span<const std::int64_t> at) const {
  const Value& value = program().value(id);
  const std::size_t index = plan[id].parameter;
  if (index >= inputs.size()) return internal_error(fmt::format("no input is given for '{}'", value.name));
  const auto bytes = static_cast<std::size_t>(byte_size(value.dtype));
  const std::size_t elements = inputs[index].size() / bytes;
  const std::int64_t offset = plan[id].offset.at(at);
  if (offset < 0 || static_cast<std::uint64_t>(offset) >= elements)
    return internal_error(
        fmt::format("element {} of '{}' is outside its storage of {} elements", offset, value.name, elements));
  return Element{
      .bits = read_bits(inputs[index].data() + static_cast<std::size_t>(offset) * bytes, byte_size(value.dtype))};
}

Result<Element> Interpreter::Impl::scalar(ValueId id) const {
  const Value& value = program().value(id);
  const std::size_t index = plan[id].parameter;
  if (index >= scalars.size()) return internal_error(fmt::format("no value is given for '{}'", value.name));
  return Element{.bits = truncate_to(value.dtype, scalars[index])};
}

/// Returns the operand's element at coordinates[base...], or pushes a frame and returns nullopt. Walks at once through
/// data movement with one user.
Result<std::optional<Element>> Interpreter::Impl::enter(Operand operand, std::size_t base) {
  while (true) {
    if (const auto* literal = std::get_if<Scalar>(&operand)) return Element{.bits = literal->bits};
    const ValueId id = std::get<ValueId>(operand);
    const Value& value = program().value(id);
    const auto at = coordinates_at(base, id);
    if (value.kind == ValueKind::tensor_parameter) return load(id, at);
    if (value.kind == ValueKind::scalar_parameter) return scalar(id);
    if (value.kind == ValueKind::size)
      return Element{.bits = convert(DType::i64, value.dtype, static_cast<std::uint64_t>(plan[id].size))};
    if (const auto* iota = std::get_if<IotaAttributes>(&value.attributes))
      return Element{.bits = convert(DType::i64, value.dtype,
                                     static_cast<std::uint64_t>(at[static_cast<std::size_t>(iota->axis)]))};
    if (++steps > kMaxSteps)
      return resource_exhausted(
          fmt::format("an element takes more than {} steps, at statement '{}'", kMaxSteps, value.name));
    if (plan[id].shared)
      if (const auto known = memo.find(id, at)) return *known;
    if (plan[id].shared || !plan[id].movement) {
      if (is_sum(id)) sums.push_back(begin_sum(id, at));
      if (value.op == Op::search)
        searches.push_back({.wanted = {}, .low = 0, .high = plan[std::get<ValueId>(value.operands[0])].extents[0]});
      frames.push_back({.value = id, .base = base});
      return std::nullopt;
    }
    PADLOCK_TRY(operand, plan.source_of(id, at, scratch));
    coordinates.resize(base);
    coordinates.insert(coordinates.end(), scratch.begin(), scratch.end());
  }
}

Result<std::optional<Element>> Interpreter::Impl::enter_next_operand(const Frame& frame) {
  const ValueId id = frame.value;
  const std::size_t index = frame.operands_done;
  const std::size_t base = frame.base + plan[id].extents.size();
  coordinates.resize(base);
  scratch.clear();
  Operand operand = program().value(id).operands[index];
  if (plan[id].movement) {
    PADLOCK_TRY(operand, plan.source_of(id, coordinates_at(frame.base, id), scratch));
  } else {
    plan.append_operand_coordinates(id, index, coordinates_at(frame.base, id), scratch);
  }
  coordinates.insert(coordinates.end(), scratch.begin(), scratch.end());
  return enter(operand, base);
}

Interpreter::Impl::Sum Interpreter::Impl::begin_sum(ValueId id, std::span<const std::int64_t> at) const {
  const auto& padded = plan[std::get<ValueId>(program().value(id).operands[0])].extents;
  Sum sum{.choices = {},
          .counts = {},
          .at = std::vector<std::int64_t>(at.size()),
          .total = Accumulator(program().value(id).dtype)};
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    sum.choices.push_back(pad_preimages(plan[id].pad[axis], padded[axis], at[axis]));
    sum.counts.push_back(std::ssize(sum.choices.back()));
    sum.done |= sum.choices.back().empty();
  }
  return sum;
}

/// Enters the operand at the next combination of coordinates, in row-major order. Precondition: there is one.
Result<std::optional<Element>> Interpreter::Impl::enter_next_term(const Frame& frame) {
  Sum& sum = sums.back();
  const std::size_t base = frame.base + plan[frame.value].extents.size();
  const Operand operand = program().value(frame.value).operands[0];
  coordinates.resize(base);
  for (std::size_t axis = 0; axis < sum.at.size(); ++axis)
    coordinates.push_back(sum.choices[axis][static_cast<std::size_t>(sum.at[axis])]);
  step(sum.at, sum.counts);
  sum.done = std::ranges::all_of(sum.at, [](std::int64_t at) { return at == 0; });
  return enter(operand, base);
}

/// Evaluates the indices one by one, then the element at these indices, or the fill.
Result<std::optional<Element>> Interpreter::Impl::go_on_with_take(const std::optional<Element>& found) {
  Frame& frame = frames.back();
  const ValueId id = frame.value;
  const Value& value = program().value(id);
  const std::size_t count = value.operands.size() - 2;
  if (found && frame.operands_done < count)
    indices.push_back(integer(std::get<ValueId>(value.operands[frame.operands_done + 1]), *found));
  if (found) ++frame.operands_done;
  const std::size_t base = frame.base + plan[id].extents.size();
  coordinates.resize(base);
  scratch.clear();
  if (frame.operands_done > count) {
    frame.operands[0] = *found;
    const Element element = finish(frame);
    frames.pop_back();
    return element;
  }
  Operand operand;
  if (frame.operands_done < count) {
    operand = value.operands[frame.operands_done + 1];
    plan.append_operand_coordinates(id, frame.operands_done + 1, coordinates_at(frame.base, id), scratch);
  } else {
    operand = plan.taken_from(id, coordinates_at(frame.base, id), std::span(indices).last(count), scratch);
    indices.resize(indices.size() - count);
  }
  coordinates.insert(coordinates.end(), scratch.begin(), scratch.end());
  return enter(operand, base);
}

/// Evaluates the sought value, then the elements that the loop compares.
Result<std::optional<Element>> Interpreter::Impl::go_on_with_search(const std::optional<Element>& found) {
  Frame& frame = frames.back();
  const ValueId id = frame.value;
  const auto& operands = program().value(id).operands;
  const ValueId among = std::get<ValueId>(operands[0]);
  Search& search = searches.back();
  if (found && !search.wanted)
    search.wanted = integer(std::get<ValueId>(operands[1]), *found);
  else if (found)
    (integer(among, *found) <= *search.wanted ? search.low : search.high) =
        search.middle() + (integer(among, *found) <= *search.wanted ? 1 : 0);
  const std::size_t base = frame.base + plan[id].extents.size();
  coordinates.resize(base);
  if (!search.wanted) {
    const auto at = coordinates_at(frame.base, id);
    scratch.assign(at.begin(), at.end());
    coordinates.insert(coordinates.end(), scratch.begin(), scratch.end());
    return enter(operands[1], base);
  }
  if (search.low < search.high) {
    coordinates.push_back(search.middle());
    return enter(among, base);
  }
  frame.operands[0] = {.bits = static_cast<std::uint64_t>(search.low)};
  const Element element = finish(frame);
  searches.pop_back();
  frames.pop_back();
  return element;
}

Element Interpreter::Impl::finish(const Frame& frame) {
  const Value& value = program().value(frame.value);
  const ValuePlan& planned = plan[frame.value];
  const Element element = is_sum(frame.value) ? sums.back().total.sum()
                          : planned.movement || info_of(value.op).op_class == OpClass::by_data
                              ? frame.operands[0]
                              : apply_elementwise(value.op, planned.operand_type, value.dtype,
                                                  std::span(frame.operands).first(value.operands.size()));
  if (is_sum(frame.value)) sums.pop_back();
  if (planned.shared) memo.insert(frame.value, coordinates_at(frame.base, frame.value), element);
  return element;
}

Result<Element> Interpreter::Impl::run(ValueId id, std::span<const std::int64_t> at) {
  memo.clear();
  frames.clear();
  sums.clear();
  searches.clear();
  indices.clear();
  steps = 0;
  coordinates.assign(at.begin(), at.end());
  PADLOCK_TRY(std::optional<Element> found, enter(id, 0));
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (info_of(program().value(frame.value).op).op_class == OpClass::by_data) {
      const bool takes = program().value(frame.value).op == Op::take;
      PADLOCK_TRY(found, takes ? go_on_with_take(found) : go_on_with_search(found));
      continue;
    }
    if (is_sum(frame.value)) {
      if (found) sums.back().total.add(*found);
      if (!sums.back().done) {
        const Frame current = frame;
        PADLOCK_TRY(found, enter_next_term(current));
      } else {
        found = finish(frame);
        frames.pop_back();
      }
      continue;
    }
    if (found) frame.operands[frame.operands_done++] = *found;
    const std::size_t needed = plan[frame.value].movement ? 1 : program().value(frame.value).operands.size();
    if (frame.operands_done < needed) {
      PADLOCK_TRY(found, enter_next_operand(frame));
    } else {
      found = finish(frame);
      frames.pop_back();
    }
  }
  return *found;
}

Interpreter::Interpreter(const Binding& binding, std::vector<std::span<const std::byte>> inputs,
                         std::vector<std::uint64_t> scalars)
    : impl_(std::make_unique<Impl>(binding, std::move(inputs), std::move(scalars))) {}

Interpreter::~Interpreter() = default;
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter& Interpreter::operator=(Interpreter&&) noexcept = default;

Result<Element> Interpreter::element(ValueId value, std::span<const std::int64_t> coordinates) {
  if (value >= impl_->program().values().size()) return invalid_argument(fmt::format("there is no value {}", value));
  PADLOCK_CHECK(impl_->check_nesting(value));
  PADLOCK_CHECK(impl_->check_coordinates(value, coordinates));
  const DefaultFpEnvironment environment;
  return impl_->run(value, coordinates);
}

Status Interpreter::evaluate(ValueId value, std::span<std::byte> out, std::vector<bool>* nan_open) {
  if (value >= impl_->program().values().size()) return invalid_argument(fmt::format("there is no value {}", value));
  const auto bytes = static_cast<std::size_t>(byte_size(impl_->program().value(value).dtype));
  const auto count = static_cast<std::size_t>(impl_->element_counts[value]);
  if (out.size() == count * bytes) return evaluate_part(value, 0, out, nan_open);
  return invalid_argument(
      fmt::format("'{}' takes {} bytes, {} are given", impl_->program().value(value).name, count * bytes, out.size()));
}

Status Interpreter::evaluate_part(ValueId value, std::size_t first, std::span<std::byte> out,
                                  std::vector<bool>* nan_open) {
  if (value >= impl_->program().values().size()) return invalid_argument(fmt::format("there is no value {}", value));
  PADLOCK_CHECK(impl_->check_nesting(value));
  const int bytes = byte_size(impl_->program().value(value).dtype);
  const std::size_t count = out.size() / static_cast<std::size_t>(bytes);
  const auto all = static_cast<std::size_t>(impl_->element_counts[value]);
  if (first > all || count > all - first || out.size() % static_cast<std::size_t>(bytes) != 0)
    return invalid_argument(fmt::format("'{}' has {} elements, {} bytes from number {} on are asked for",
                                        impl_->program().value(value).name, all, out.size(), first));
  if (nan_open != nullptr) nan_open->assign(count, false);
  if (count == 0) return {};

  const DefaultFpEnvironment environment;
  const auto& extents = impl_->plan[value].extents;
  std::vector<std::int64_t> at = coordinates_of(first, extents);
  for (std::size_t i = 0; i < count; ++i, step(at, extents)) {
    PADLOCK_TRY(const Element element, impl_->run(value, at));
    write_bits(out.data() + i * static_cast<std::size_t>(bytes), bytes, element.bits);
    if (nan_open != nullptr) (*nan_open)[i] = element.nan_open;
  }
  return {};
}

std::uint64_t element_bits(std::span<const std::byte> bytes, std::size_t index, DType dtype) {
  const int size = byte_size(dtype);
  return read_bits(bytes.data() + index * static_cast<std::size_t>(size), size);
}

std::vector<std::int64_t> coordinates_of(std::size_t index, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> coordinates(extents.size());
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t i = extents.size(); i-- > 0; rest /= extents[i]) coordinates[i] = rest % extents[i];
  return coordinates;
}

}  // namespace padlock::ir
