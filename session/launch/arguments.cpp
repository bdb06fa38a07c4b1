#include "session/launch/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/layout.h"

namespace padlock::session {
namespace {

using ir::Expr;
using ir::ExprKind;

/// Values of symbols while they are being collected.
class KnownSymbols {
 public:
  explicit KnownSymbols(const ir::ExprContext& context) : context_(&context), values_(context.symbol_count()) {}

  [[nodiscard]] bool has(std::uint32_t symbol) const { return values_[symbol].has_value(); }
  void offer(std::uint32_t symbol, std::int64_t value) {
    if (!has(symbol)) values_[symbol] = value;
  }

  /// Evaluates if every symbol of the expression is known and the value fits.
  [[nodiscard]] std::optional<std::int64_t> evaluate(Expr e) const {
    std::unordered_set<std::uint32_t> seen;
    if (!known(e, seen)) return std::nullopt;
    std::vector<std::int64_t> values(values_.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values_[i].value_or(0);
    const auto value = ir::evaluate_int64(*context_, e, values);
    return value ? std::optional(*value) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> evaluate(std::span<const Expr> list) const {
    std::vector<std::int64_t> values;
    for (const Expr e : list) {
      const auto value = evaluate(e);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

 private:
  bool known(Expr e, std::unordered_set<std::uint32_t>& seen) const {
    if (e.kind() == ExprKind::symbol) return has(e.symbol());
    if (e.kind() == ExprKind::constant || !seen.insert(e.id()).second) return true;
    return std::all_of(e.operands().begin(), e.operands().end(), [&](Expr operand) { return known(operand, seen); });
  }

  const ir::ExprContext* context_;
  std::vector<std::optional<std::int64_t>> values_;
};

/// Gives bare symbols in `list` without a value the value at the same position.
void offer_all(KnownSymbols& known, std::span<const Expr> list, std::span<const std::int64_t> values) {
  for (std::size_t axis = 0; axis < std::min(list.size(), values.size()); ++axis)
    if (list[axis].kind() == ExprKind::symbol) known.offer(list[axis].symbol(), values[axis]);
}

/// The same for strides, except of axes without a second element, whose strides mean nothing.
Status offer_strides(KnownSymbols& known, std::span<const Expr> strides, const TensorSource& source) {
  std::vector<std::int64_t> values = source.strides.value_or(std::vector<std::int64_t>());
  if (!source.strides) {
    PADLOCK_TRY(values, dense_strides(source.extents, source.order));
  }
  const bool empty = std::find(source.extents.begin(), source.extents.end(), 0) != source.extents.end();
  for (std::size_t axis = 0; axis < std::min(strides.size(), values.size()); ++axis)
    if (strides[axis].kind() == ExprKind::symbol && source.extents[axis] > 1 && !empty)
      known.offer(strides[axis].symbol(), values[axis]);
  return {};
}

/// Gives strides that nothing else determines their dense value.
Status offer_dense_strides(KnownSymbols& known, const ir::Value& parameter) {
  const auto extents = known.evaluate(parameter.extents());
  if (!extents) return {};
  const auto strides = dense_strides(*extents, ElementOrder::row_major);
  if (strides) offer_all(known, parameter.layout.strides(), *strides);
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> dense_strides(const std::vector<std::int64_t>& extents, ElementOrder order) {
  constexpr Int128 kMost = Int128{1} << 62;
  ir::ExprContext context;
  std::vector<Expr> list;
  Int128 count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0) return invalid_argument(fmt::format("expected an extent >= 0, found {}", extent));
    count *= std::max<std::int64_t>(extent, 1);
    if (count >= kMost) return invalid_argument("expected an array of fewer than 2^62 elements");
    list.push_back(context.constant(extent));
  }
  // Column-major is row-major backwards; only Layout computes strides.
  if (order == ElementOrder::column_major) std::reverse(list.begin(), list.end());
  const ir::Layout layout = ir::Layout::dense(context, std::move(list));
  std::vector<std::int64_t> strides;
  for (const Expr stride : layout.strides()) strides.push_back(static_cast<std::int64_t>(stride.constant()));
  if (order == ElementOrder::column_major) std::reverse(strides.begin(), strides.end());
  return strides;
}

Result<SourceRequest> request_for(const ir::Program& program, const std::vector<std::optional<TensorSource>>& sources,
                                  const std::map<std::string, std::int64_t>& symbols) {
  const auto& parameters = program.tensor_parameters();
  if (sources.size() != parameters.size())
    return invalid_argument(fmt::format("expected {} tensors, found {}", parameters.size(), sources.size()));
  const ir::ExprContext& context = program.exprs();
  KnownSymbols known(context);
  for (const auto& [name, value] : symbols)
    if (const auto symbol = context.find_symbol(name)) known.offer(symbol->symbol(), value);
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i]) offer_all(known, program.value(parameters[i]).extents(), sources[i]->extents);
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i]) PADLOCK_CHECK(offer_strides(known, program.value(parameters[i]).layout.strides(), *sources[i]));
  for (const ir::ValueId id : parameters) PADLOCK_CHECK(offer_dense_strides(known, program.value(id)));

  SourceRequest result;
  result.request.symbols = symbols;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::optional<ir::ArgumentShape> shape;
    if (sources[i])
      shape = {.extents = sources[i]->extents,
               .strides = known.evaluate(program.value(parameters[i]).layout.strides())};
    result.request.tensors.push_back(std::move(shape));
  }
  for (std::uint32_t symbol = 0; symbol < context.symbol_count(); ++symbol) {
    const ir::Symbol& info = context.symbol(symbol);
    if (info.kind == ir::SymbolKind::coordinate) continue;
    if (!known.has(symbol)) result.missing.push_back(info.name);
  }
  // A stride may belong only to arrays that do not exist yet: their binding has no tensor to take it from.
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i]) continue;
    for (const Expr stride : program.value(parameters[i]).layout.strides())
      if (stride.kind() == ExprKind::symbol && known.has(stride.symbol()))
        if (const ir::Symbol& info = context.symbol(stride.symbol()); info.kind == ir::SymbolKind::stride)
          result.request.symbols.try_emplace(info.name, *known.evaluate(stride));
  }
  return result;
}

}  // namespace padlock::session
