#include "ir/reference/interpreter_plan.h"

#include <algorithm>

namespace padlock::ir {
namespace {

bool is_movement(const Value& value) {
  return value.kind == ValueKind::operation && info_of(value.op).op_class == OpClass::movement;
}

DType dtype_of(const Program& program, const Operand& operand) {
  if (const auto* literal = std::get_if<Scalar>(&operand)) return literal->dtype;
  return program.value(std::get<ValueId>(operand)).dtype;
}

/// Returns whether an operand's axis is broadcast: its extent is 1 for every binding. Otherwise extents are equal.
bool is_broadcast(const Value& operand, std::size_t axis) { return operand.extents()[axis].is_constant(1); }

/// Precondition: the tensor has elements, so that its offsets fit in 64 bits.
AffineOffset affine_offset_of(const Binding& binding, const Layout& layout, std::span<const std::int64_t> extents) {
  ExprContext& exprs = binding.program().exprs();
  std::vector<Expr> coordinates;
  for (int axis = 0; axis < layout.rank(); ++axis) coordinates.push_back(exprs.coordinate(axis));
  const Expr offset = layout.offset_of(exprs, coordinates);

  std::vector<std::int64_t> values(binding.values().begin(), binding.values().end());
  values.resize(exprs.symbol_count());
  for (const Expr c : coordinates) values[c.symbol()] = 0;
  const auto evaluated = [&] { return evaluate_int64(exprs, offset, values).value_or(-1); };
  AffineOffset result{.origin = evaluated(), .steps = std::vector<std::int64_t>(extents.size())};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] <= 1) continue;
    std::int64_t& coordinate = values[coordinates[axis].symbol()];
    coordinate = 1;
    result.steps[axis] = evaluated() - result.origin;
    coordinate = 0;
  }
  return result;
}

std::vector<PadAxis> pad_axes(const Binding& binding, const PadAttributes& pad, std::vector<std::int64_t> extents) {
  std::vector<PadAxis> axes;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    axes.push_back({.mode = pad.mode,
                    .extent = extents[axis],
                    .low = binding(pad.low[axis]),
                    .interior = pad.interior.empty() ? 0 : pad.interior[axis]});
  return axes;
}

/// Appends the coordinates in an operand that broadcasts as in NumPy; none for a scalar.
void append_broadcast(const Program& program, const Operand& which, std::span<const std::int64_t> coordinates,
                      std::vector<std::int64_t>& out) {
  const auto* id = std::get_if<ValueId>(&which);
  if (id == nullptr) return;
  const Value& operand = program.value(*id);
  const auto rank = static_cast<std::size_t>(operand.rank());
  const std::size_t missing = coordinates.size() - rank;
  for (std::size_t axis = 0; axis < rank; ++axis)
    out.push_back(is_broadcast(operand, axis) ? 0 : coordinates[missing + axis]);
}

/// Returns the source of a pad's element: the fill if any axis of it lies in the padding.
Operand pad_source_of(const Program& program, const Value& value, const ValuePlan& plan,
                      std::span<const std::int64_t> coordinates, std::vector<std::int64_t>& out) {
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    const auto source = pad_source(plan.pad[axis], coordinates[axis]);
    if (!source) {
      out.clear();
      if (value.operands.size() < 2) return Operand{Scalar{.dtype = value.dtype, .bits = 0}};
      append_broadcast(program, value.operands[1], coordinates, out);
      return value.operands[1];
    }
    out.push_back(*source);
  }
  return value.operands[0];
}

Operand concat_source_of(const Value& value, const ValuePlan& plan, std::span<const std::int64_t> coordinates,
                         std::vector<std::int64_t>& out) {
  const auto axis = static_cast<std::size_t>(std::get<ConcatAttributes>(value.attributes).axis);
  const auto& limits = plan.concat_limits;
  const auto piece = std::upper_bound(limits.begin(), limits.end(), coordinates[axis]) - limits.begin();
  out.assign(coordinates.begin(), coordinates.end());
  if (piece > 0) out[axis] -= limits[static_cast<std::size_t>(piece) - 1];
  return value.operands[static_cast<std::size_t>(piece)];
}

/// Appends the coordinates of the element with the same number, counted row by row.
void append_reshaped(std::span<const std::int64_t> from, std::span<const std::int64_t> coordinates,
                     std::span<const std::int64_t> to, std::vector<std::int64_t>& out) {
  std::int64_t number = 0;
  for (std::size_t axis = 0; axis < from.size(); ++axis) number = number * from[axis] + coordinates[axis];
  out.resize(to.size());
  for (std::size_t axis = to.size(); axis-- > 0; number /= to[axis]) out[axis] = number % to[axis];
}

}  // namespace

std::int64_t AffineOffset::at(std::span<const std::int64_t> coordinates) const {
  std::int64_t offset = origin;
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) offset += coordinates[axis] * steps[axis];
  return offset;
}

InterpreterPlan::InterpreterPlan(const Binding& binding) : program_(&binding.program()) {
  values_.resize(program_->values().size());
  for (ValueId id = 0; id < values_.size(); ++id) {
    const Value& value = program_->value(id);
    values_[id].extents = binding.extents_of(value);
    if (value.kind == ValueKind::operation) plan_operation(binding, value, values_[id]);
    if (value.kind == ValueKind::size) values_[id].size = binding(value.size);
  }
  for (std::size_t i = 0; i < program_->scalar_parameters().size(); ++i)
    values_[program_->scalar_parameters()[i]].parameter = i;
  for (std::size_t i = 0; i < program_->tensor_parameters().size(); ++i) {
    const ValueId id = program_->tensor_parameters()[i];
    ValuePlan& plan = values_[id];
    plan.parameter = i;
    if (std::ranges::find(plan.extents, 0) == plan.extents.end())
      plan.offset = affine_offset_of(binding, program_->value(id).layout, plan.extents);
  }
  count_users();
}

void InterpreterPlan::plan_operation(const Binding& binding, const Value& value, ValuePlan& plan) const {
  plan.movement = is_movement(value);
  const std::size_t typed = value.op == Op::select ? 1 : 0;
  if (value.operands.size() > typed) plan.operand_type = dtype_of(*program_, value.operands[typed]);
  for (const Operand& operand : value.operands)
    if (const auto* id = std::get_if<ValueId>(&operand)) plan.depth = std::max(plan.depth, values_[*id].depth + 1);

  if (value.op == Op::take)
    for (std::size_t i = 1; i + 1 < value.operands.size(); ++i)
      plan.index_axes = std::max(plan.index_axes, values_[std::get<ValueId>(value.operands[i])].extents.size());
  if (const auto* pad = std::get_if<PadAttributes>(&value.attributes)) {
    if (const auto* x = std::get_if<ValueId>(&value.operands[0]))
      plan.pad = pad_axes(binding, *pad, values_[*x].extents);
  } else if (const auto* adjoint = std::get_if<PadAdjointAttributes>(&value.attributes)) {
    plan.pad = pad_axes(binding, adjoint->pad, plan.extents);
  } else if (const auto* slice = std::get_if<SliceAttributes>(&value.attributes)) {
    for (const Expr start : slice->start) plan.start.push_back(binding(start));
  } else if (const auto* concat = std::get_if<ConcatAttributes>(&value.attributes)) {
    std::int64_t limit = 0;
    for (const Operand& operand : value.operands) {
      if (const auto* id = std::get_if<ValueId>(&operand))
        limit += values_[*id].extents[static_cast<std::size_t>(concat->axis)];
      plan.concat_limits.push_back(limit);
    }
  }
}

void InterpreterPlan::count_users() {
  std::vector<bool> used(values_.size());
  for (const Value& value : program_->values()) {
    for (const Operand& operand : value.operands) {
      const auto* id = std::get_if<ValueId>(&operand);
      if (id == nullptr || program_->value(*id).kind != ValueKind::operation) continue;
      if (used[*id]) values_[*id].shared = true;
      used[*id] = true;
    }
  }
}

Result<Operand> InterpreterPlan::source_of(ValueId id, std::span<const std::int64_t> coordinates,
                                           std::vector<std::int64_t>& out) const {
  const Value& value = program_->value(id);
  const ValuePlan& plan = values_[id];
  out.clear();
  switch (value.op) {
    case Op::pad:
      return pad_source_of(*program_, value, plan, coordinates, out);
    case Op::concat:
      return concat_source_of(value, plan, coordinates, out);
    case Op::slice: {
      const auto& step = std::get<SliceAttributes>(value.attributes).step;
      for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
        out.push_back(plan.start[axis] + coordinates[axis] * (step.empty() ? 1 : step[axis]));
      return value.operands[0];
    }
    case Op::transpose: {
      const auto& permutation = std::get<TransposeAttributes>(value.attributes).permutation;
      out.resize(coordinates.size());
      for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
        out[static_cast<std::size_t>(permutation[axis])] = coordinates[axis];
      return value.operands[0];
    }
    case Op::broadcast: {
      const auto& axes = std::get<BroadcastAttributes>(value.attributes).axes;
      if (const auto* x = std::get_if<ValueId>(&value.operands[0]))
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
          out.push_back(is_broadcast(program_->value(*x), axis) ? 0
                                                                : coordinates[static_cast<std::size_t>(axes[axis])]);
      return value.operands[0];
    }
    case Op::reshape: {
      if (const auto* x = std::get_if<ValueId>(&value.operands[0]))
        append_reshaped(plan.extents, coordinates, values_[*x].extents, out);
      return value.operands[0];
    }
    default:
      return internal_error("statement '" + value.name + "' is not data movement");
  }
}

Operand InterpreterPlan::taken_from(ValueId id, std::span<const std::int64_t> coordinates,
                                    std::span<const std::int64_t> indices, std::vector<std::int64_t>& out) const {
  const Value& value = program_->value(id);
  const auto first = static_cast<std::size_t>(std::get<TakeAttributes>(value.attributes).axis);
  const auto& extents = values_[std::get<ValueId>(value.operands[0])].extents;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= 0 && indices[i] < extents[first + i]) continue;
    append_broadcast(*program_, value.operands.back(), coordinates, out);
    return value.operands.back();
  }
  out.assign(coordinates.begin(), coordinates.begin() + static_cast<std::ptrdiff_t>(first));
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), coordinates.begin() + static_cast<std::ptrdiff_t>(first + values_[id].index_axes),
             coordinates.end());
  return value.operands[0];
}

void InterpreterPlan::append_operand_coordinates(ValueId id, std::size_t index,
                                                 std::span<const std::int64_t> coordinates,
                                                 std::vector<std::int64_t>& out) const {
  const Value& value = program_->value(id);
  if (const auto* take = std::get_if<TakeAttributes>(&value.attributes))
    coordinates = coordinates.subspan(static_cast<std::size_t>(take->axis), values_[id].index_axes);
  append_broadcast(*program_, value.operands[index], coordinates, out);
}

}  // namespace padlock::ir
