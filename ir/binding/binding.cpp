#include "ir/binding/binding.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "ir/binding/symbol_binding.h"
#include "support/stack_array.h"

namespace padlock::ir {
namespace {

std::unexpected<Error> failure(std::string message, Location where) {
  auto error = failed_precondition(std::move(message));
  error.error().where = {.line = where.line, .column = where.column, .source_line = {}};
  return error;
}

std::unexpected<Error> about(std::unexpected<Error> error, ErrorSubject subject) {
  error.error().subject = std::move(subject);
  return error;
}

bool is_congruent(const Congruence& known, std::int64_t value) {
  if (known.modulus == 1) return true;
  return known.modulus == 0 ? value == known.residue : floor_mod(value, known.modulus) == known.residue;
}

/// Checks symbols first: the context simplifies expressions under the symbols' ranges and congruences, so for other
/// values the expressions mean nothing.
Status check_symbols(std::span<const Symbol* const> symbols, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const auto& [name, kind, range, congruence, is_data] = *symbols[i];
    if (kind == SymbolKind::coordinate) continue;
    if (!range.contains(values[i]))
      return about(failed_precondition(fmt::format("'{}' is {}, outside its bounds {} <= {} <= {}", name, values[i],
                                                   padlock::to_string(range.lo), name, padlock::to_string(range.hi))),
                   {.axis = -1,
                    .expression =
                        fmt::format("{} <= {} <= {}", padlock::to_string(range.lo), name, padlock::to_string(range.hi)),
                    .values = {{name, values[i]}}});
    if (!is_congruent(congruence, values[i])) {
      const std::string constraint = fmt::format("{} mod {} == {}", name, congruence.modulus, congruence.residue);
      return about(failed_precondition(fmt::format("constraint '{}': {} mod {} == {} is false ({} = {})", constraint,
                                                   values[i], congruence.modulus, congruence.residue, name, values[i])),
                   {.axis = -1, .expression = constraint, .values = {{name, values[i]}}});
    }
  }
  return {};
}

/// Strides of axes of extent 0 or 1 and of empty tensors are never checked.
bool applies(const Binding& binding, const Requirement& requirement) {
  if (requirement.kind != Requirement::Kind::parameter_stride || requirement.parameter < 0) return true;
  const auto extents = binding.extents_of(binding.program().value(static_cast<ValueId>(requirement.parameter)));
  return std::ranges::find(extents, 0) == extents.end() && extents[static_cast<std::size_t>(requirement.axis)] != 1;
}

/// Evaluates one side of a requirement. A side of a stated constraint must also fit in 64 bits.
Result<Int128> side_of(const Binding& binding, const Requirement& requirement, Expr side) {
  const ExprContext& exprs = binding.program().exprs();
  auto value = evaluate(exprs, side, binding.values());
  const Expr roots[] = {side};
  if (!value)
    return failure(fmt::format("{}: {}{}", requirement.what, value.error().message,
                               values_of_symbols(exprs, roots, binding.values())),
                   requirement.where);
  if (requirement.kind == Requirement::Kind::constraint && !fits_int64(*value))
    return failure(fmt::format("{}: {} is {}, which does not fit 64 bits{}", requirement.what, to_string(exprs, side),
                               padlock::to_string(*value), values_of_symbols(exprs, roots, binding.values())),
                   requirement.where);
  return value;
}

Status check_requirement(const Binding& binding, const Requirement& requirement) {
  if (!applies(binding, requirement)) return {};
  const auto& [lhs, comparison, rhs] = requirement.constraint;
  PADLOCK_TRY(const Int128 left, side_of(binding, requirement, lhs));
  PADLOCK_TRY(const Int128 right, side_of(binding, requirement, rhs));
  if (holds(left, comparison, right)) return {};
  const ExprContext& exprs = binding.program().exprs();
  const Expr roots[] = {lhs, rhs};
  const std::string constraint = to_string(exprs, requirement.constraint);
  return about(failure(fmt::format("{}: {} does not hold, {} {} {} is false{}", requirement.what, constraint,
                                   padlock::to_string(left), name_of(comparison), padlock::to_string(right),
                                   values_of_symbols(exprs, roots, binding.values())),
                       requirement.where),
               {requirement.axis, constraint, symbol_values(exprs, roots, binding.values())});
}

/// Visits every stated expression that must fit in 64 bits, with a maker of its description. Leaves out constants,
/// which the verifier has checked, and strides, because a used stride fits if the storage does.
template <class Visit>
void for_each_stated(const Program& program, Visit&& visit) {
  const auto visit_axes = [&](std::span<const Expr> axes, std::string_view what, const Value& value) {
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      if (!axes[axis].is_constant())
        visit(axes[axis], [&, axis] { return fmt::format("{} of axis {} of '{}'", what, axis, value.name); });
  };
  for (const Constraint& constraint : program.constraints())
    for (const Expr side : {constraint.lhs, constraint.rhs})
      visit(side, [&] { return fmt::format("constraint {}", to_string(program.exprs(), constraint)); });
  for (const Value& value : program.values()) {
    visit_axes(value.extents(), "extent", value);
    if (const auto* pad = std::get_if<PadAttributes>(&value.attributes)) {
      visit_axes(pad->low, "low", value);
      visit_axes(pad->high, "high", value);
    } else if (const auto* slice = std::get_if<SliceAttributes>(&value.attributes)) {
      visit_axes(slice->start, "start", value);
      visit_axes(slice->limit, "limit", value);
    }
  }
}

Status check_stated(const Binding& binding) {
  const ExprContext& exprs = binding.program().exprs();
  Status status;
  for_each_stated(binding.program(), [&](Expr e, const auto& describe) {
    if (!status) return;
    if (const auto value = evaluate_int64(exprs, e, binding.values()); !value) {
      const Expr roots[] = {e};
      status = failed_precondition(fmt::format("{}: {}{}", describe(), value.error().message,
                                               values_of_symbols(exprs, roots, binding.values())));
    }
  });
  return status;
}

}  // namespace

Result<Binding> Binding::bind(const Program& program, const BindRequest& request) {
  return Binder(program).bind(request);
}

std::int64_t Binding::operator()(Expr e) const {
  const auto value = evaluate(program_->exprs(), e, values_);
  if (!value) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(*value, kInt64Min, kInt64Max));
}

std::vector<std::int64_t> Binding::extents_of(const Value& value) const {
  std::vector<std::int64_t> extents;
  for (const Expr e : value.extents()) extents.push_back((*this)(e));
  return extents;
}

std::vector<std::int64_t> Binding::strides_of(const Value& value) const {
  std::vector<std::int64_t> strides;
  for (const Expr e : value.layout.strides()) strides.push_back((*this)(e));
  return strides;
}

std::int64_t Binding::storage_bytes(const Value& value) const {
  return (*this)(value.layout.storage_extent()) * byte_size(value.dtype);
}

Binder::Binder(const Program& program, std::vector<Expr> asked)
    : program_(&program), symbols_(symbols_of(program)), asked_(asked.size()) {
  std::vector<Expr> roots = std::move(asked);
  for (const Requirement& requirement : program.requirements()) {
    roots.push_back(requirement.constraint.lhs);
    roots.push_back(requirement.constraint.rhs);
  }
  for (const ValueId id : program.tensor_parameters()) {
    const Layout& layout = program.value(id).layout;
    roots.insert(roots.end(), layout.extents().begin(), layout.extents().end());
    roots.insert(roots.end(), layout.strides().begin(), layout.strides().end());
  }
  for_each_stated(program, [&](Expr e, const auto&) { roots.push_back(e); });
  tape_ = ExprTape(program.exprs(), std::move(roots));
}

Result<Binding> Binder::bind(const BindRequest& request) const {
  Binding binding;
  binding.program_ = program_;
  PADLOCK_TRY(binding.values_, bind_symbols(*program_, symbols_, request));
  if (!passes(binding, request)) PADLOCK_CHECK(explain(binding, request));
  return binding;
}

/// Checks everything in one pass, in 64 bits. False means that something may fail; `explain` then decides.
bool Binder::passes(Binding& binding, const BindRequest& request) const {
  if (!check_symbols(symbols_, binding.values())) return false;
  StackArray<std::int64_t, 128> numbers(tape_.roots().size());
  if (!tape_.evaluate(binding.values(), numbers.span())) return false;
  const std::int64_t* sides = numbers.data() + asked_;
  for (const Requirement& requirement : program_->requirements()) {
    if (!holds(sides[0], requirement.constraint.comparison, sides[1])) return false;
    sides += 2;
  }
  if (!has_declared_shapes(request, sides)) return false;
  const auto asked = numbers.span().first(asked_);
  binding.asked_.assign(asked.begin(), asked.end());
  return true;
}

bool Binder::has_declared_shapes(const BindRequest& request, const std::int64_t* declared) const {
  for (std::size_t i = 0; i < request.tensors.size(); ++i) {
    const auto rank = static_cast<std::size_t>(program_->value(program_->tensor_parameters()[i]).rank());
    const std::int64_t* const strides = declared + rank;
    if (const std::optional<ArgumentShape>& shape = request.tensors[i])
      for (std::size_t axis = 0; axis < rank; ++axis)
        if (shape->extents[axis] != declared[axis] ||
            (is_significant(*shape, axis) && stride_of(*shape, axis) != strides[axis]))
          return false;
    declared = strides + rank;
  }
  return true;
}

/// Returns the first failure in the language's order, or success.
Status Binder::explain(const Binding& binding, const BindRequest& request) const {
  const auto& requirements = program_->requirements();
  const auto check_while = [&](auto at, auto&& admits) -> Result<decltype(at)> {
    for (; at != requirements.end() && admits(at->kind); ++at) PADLOCK_CHECK(check_requirement(binding, *at));
    return at;
  };
  using Kind = Requirement::Kind;
  PADLOCK_TRY(auto at, check_while(requirements.begin(), [](Kind kind) { return kind == Kind::bound; }));
  PADLOCK_CHECK(check_symbols(symbols_, binding.values()));
  PADLOCK_TRY(at, check_while(at, [](Kind kind) { return kind <= Kind::constraint; }));
  PADLOCK_CHECK(check_parameters(*program_, request, binding.values()));
  PADLOCK_TRY(at, check_while(at, [](Kind) { return true; }));
  return check_stated(binding);
}

}  // namespace padlock::ir
