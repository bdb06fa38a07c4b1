#include "ir/binding/symbol_binding.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "support/messages/suggestion.h"
#include "support/stack_array.h"

namespace padlock::ir {
namespace {

bool is_empty(const ArgumentShape& shape) { return std::ranges::find(shape.extents, 0) != shape.extents.end(); }

/// The row-major dense stride of an axis, or nullopt beyond 64 bits.
std::optional<std::int64_t> dense_stride(const ArgumentShape& shape, std::size_t axis) {
  const auto inner = std::span(shape.extents).subspan(axis + 1);
  if (std::ranges::find(inner, 0) != inner.end()) return 0;
  std::int64_t stride = 1;
  for (const std::int64_t extent : inner) {
    const auto product = checked_mul(stride, extent);
    if (!product) return std::nullopt;
    stride = *product;
  }
  return stride;
}

std::unexpected<Error> negative(const char* what, const Value& parameter, std::size_t axis, std::int64_t found) {
  auto error = invalid_argument(fmt::format("{0} of axis {1} of '{2}' is {3}; {4} {0} is at least 0", what, axis,
                                            parameter.name, found, *what == 'e' ? "an" : "a"));
  error.error().subject.axis = static_cast<int>(axis);
  return error;
}

Status check_shape(const Value& parameter, const ArgumentShape& shape) {
  const auto rank = static_cast<std::size_t>(parameter.rank());
  if (shape.extents.size() != rank)
    return invalid_argument(
        fmt::format("'{}' has rank {}, but a tensor of rank {} is given", parameter.name, rank, shape.extents.size()));
  if (shape.strides && shape.strides->size() != rank)
    return invalid_argument(
        fmt::format("'{}' has rank {}, but {} strides are given", parameter.name, rank, shape.strides->size()));
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (shape.extents[axis] < 0) return negative("extent", parameter, axis, shape.extents[axis]);
    // The stride of an axis with one element is never used.
    if (shape.strides && (*shape.strides)[axis] < 0 && is_significant(shape, axis))
      return negative("stride", parameter, axis, (*shape.strides)[axis]);
  }
  return {};
}

/// Collects symbols' values from one request. The first source with a value for a symbol gives it.
class SymbolBinder {
 public:
  SymbolBinder(const Program& program, std::span<const Symbol* const> symbols, const BindRequest& request)
      : program_(program),
        symbols_(symbols),
        request_(request),
        values_(program.exprs().symbol_count()),
        bound_(symbols.size()) {
    std::ranges::fill(bound_.span(), false);
  }

  Result<std::vector<std::int64_t>> bind() && {
    PADLOCK_CHECK(check_shapes());
    PADLOCK_CHECK(take_names());
    take_extents();
    take_strides();
    PADLOCK_CHECK(take_dense_strides());
    PADLOCK_CHECK(check_all_bound());
    return std::move(values_);
  }

 private:
  template <class Visit>
  void for_each_tensor(Visit&& visit) const {
    for (std::size_t i = 0; i < request_.tensors.size(); ++i)
      if (const auto& shape = request_.tensors[i]) visit(program_.value(program_.tensor_parameters()[i]), *shape);
  }

  [[nodiscard]] std::string symbol_hint(std::string_view name) const {
    std::vector<std::string_view> names;
    for (std::uint32_t i = 0; i < program_.exprs().symbol_count(); ++i)
      if (program_.exprs().symbol(i).kind != SymbolKind::coordinate)
        names.emplace_back(program_.exprs().symbol(i).name);
    return did_you_mean(name, names);
  }

  Status check_shapes() const {
    const auto& parameters = program_.tensor_parameters();
    if (request_.tensors.size() != parameters.size())
      return invalid_argument(fmt::format("program '{}' takes {} tensors, {} are given", program_.name(),
                                          parameters.size(), request_.tensors.size()));
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (const auto& shape = request_.tensors[i]) PADLOCK_CHECK(check_shape(program_.value(parameters[i]), *shape));
    return {};
  }

  Status take_names() {
    for (const auto& [name, value] : request_.symbols) {
      const auto symbol = program_.exprs().find_symbol(name);
      if (!symbol || symbol->has_coordinate())
        return invalid_argument(
            fmt::format("program '{}' has no symbol '{}'{}", program_.name(), name, symbol_hint(name)));
      take(*symbol, value);
    }
    return {};
  }

  void take_extents() {
    for_each_tensor([this](const Value& parameter, const ArgumentShape& shape) {
      for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
        take(parameter.extents()[axis], shape.extents[axis]);
    });
  }

  void take_strides() {
    for_each_tensor([this](const Value& parameter, const ArgumentShape& shape) {
      for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
        if (const auto stride = stride_of(shape, axis); stride && is_significant(shape, axis))
          take(parameter.layout.strides()[axis], *stride);
    });
  }

  Status take_dense_strides() {
    Status status;
    for_each_tensor([&](const Value& parameter, const ArgumentShape& shape) {
      for (std::size_t axis = 0; axis < shape.extents.size(); ++axis) {
        const Expr stride = parameter.layout.strides()[axis];
        if (!is_free(stride) || symbols_[stride.symbol()]->kind != SymbolKind::stride) continue;
        const auto dense = dense_stride(shape, axis);
        if (!dense && status)
          status = failed_precondition(
              fmt::format("the dense stride of axis {} of '{}', which '{}' takes, does not fit 64 bits", axis,
                          parameter.name, symbols_[stride.symbol()]->name));
        take(stride, dense.value_or(0));
      }
    });
    return status;
  }

  Status check_all_bound() const {
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
      const Symbol& symbol = *symbols_[i];
      if (!bound_.span()[i] && symbol.kind != SymbolKind::coordinate)
        return invalid_argument(fmt::format("symbol '{}' of program '{}' has no value", symbol.name, program_.name()));
    }
    return {};
  }

  bool is_free(Expr e) const { return e.kind() == ExprKind::symbol && !bound_.span()[e.symbol()]; }

  void take(Expr e, std::int64_t value) {
    if (!is_free(e)) return;
    values_[e.symbol()] = value;
    bound_[e.symbol()] = true;
  }

  const Program& program_;
  std::span<const Symbol* const> symbols_;
  const BindRequest& request_;
  std::vector<std::int64_t> values_;
  StackArray<bool, 64> bound_;
};

/// Checks an axis's extent or stride (`kind`) in the request against the declared expression.
Status check_declared(const Program& program, const Value& parameter, std::string_view kind, std::size_t axis,
                      Expr declared, std::optional<std::int64_t> actual, std::span<const std::int64_t> values) {
  const auto expected = evaluate(program.exprs(), declared, values);
  if (expected && actual && *expected == *actual) return {};
  const Expr roots[] = {declared};
  const std::string found = actual ? fmt::format("{}", *actual) : "beyond 64 bits";
  const std::string wanted = expected ? padlock::to_string(*expected) : expected.error().message;
  const std::string text = to_string(program.exprs(), declared);
  auto error = failed_precondition(
      fmt::format("{} of axis {} of '{}' is {}, expected {}{}{}", kind, axis, parameter.name, found, text,
                  text == wanted ? "" : " = " + wanted,
                  declared.kind() == ExprKind::symbol ? "" : values_of_symbols(program.exprs(), roots, values)) +
      (kind == "stride" ? "; copy the tensor to dense memory, or declare its strides" : ""));
  error.error().where = {.line = parameter.where.line, .column = parameter.where.column, .source_line = {}};
  error.error().subject = {static_cast<int>(axis), text, symbol_values(program.exprs(), roots, values)};
  return error;
}

}  // namespace

bool is_significant(const ArgumentShape& shape, std::size_t axis) {
  return shape.extents[axis] > 1 && !is_empty(shape);
}

std::optional<std::int64_t> stride_of(const ArgumentShape& shape, std::size_t axis) {
  return shape.strides ? (*shape.strides)[axis] : dense_stride(shape, axis);
}

std::vector<const Symbol*> symbols_of(const Program& program) {
  std::vector<const Symbol*> symbols(program.exprs().symbol_count());
  for (std::uint32_t i = 0; i < symbols.size(); ++i) symbols[i] = &program.exprs().symbol(i);
  return symbols;
}

Result<std::vector<std::int64_t>> bind_symbols(const Program& program, std::span<const Symbol* const> symbols,
                                               const BindRequest& request) {
  return SymbolBinder(program, symbols, request).bind();
}

Status check_parameters(const Program& program, const BindRequest& request, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < request.tensors.size(); ++i) {
    if (!request.tensors[i]) continue;
    const ArgumentShape& shape = *request.tensors[i];
    const Value& parameter = program.value(program.tensor_parameters()[i]);
    for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
      PADLOCK_CHECK(
          check_declared(program, parameter, "extent", axis, parameter.extents()[axis], shape.extents[axis], values));
    for (std::size_t axis = 0; axis < shape.extents.size(); ++axis)
      if (is_significant(shape, axis))
        PADLOCK_CHECK(check_declared(program, parameter, "stride", axis, parameter.layout.strides()[axis],
                                     stride_of(shape, axis), values));
  }
  return {};
}

std::vector<NamedValue> symbol_values(const ExprContext& context, std::span<const Expr> expressions,
                                      std::span<const std::int64_t> values) {
  std::set<std::uint32_t> seen, symbols;
  std::vector<Expr> pending(expressions.begin(), expressions.end());
  while (!pending.empty()) {
    const Expr e = pending.back();
    pending.pop_back();
    if (!seen.insert(e.id()).second) continue;
    if (e.kind() == ExprKind::symbol && e.symbol() < values.size()) symbols.insert(e.symbol());
    if (e.kind() != ExprKind::symbol && e.kind() != ExprKind::constant)
      pending.insert(pending.end(), e.operands().begin(), e.operands().end());
  }
  std::vector<NamedValue> found;
  for (const std::uint32_t i : symbols) found.push_back({context.symbol(i).name, values[i]});
  return found;
}

std::string values_of_symbols(const ExprContext& context, std::span<const Expr> expressions,
                              std::span<const std::int64_t> values) {
  std::string text;
  for (const auto& [name, value] : symbol_values(context, expressions, values))
    text += fmt::format("{}{} = {}", text.empty() ? " (" : ", ", name, value);
  return text.empty() ? text : text + ")";
}

}  // namespace padlock::ir
