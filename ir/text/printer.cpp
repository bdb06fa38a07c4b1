#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/program.h"
#include "ir/text/literal.h"

namespace padlock::ir {
namespace {

/// Writes the statements of one program.
class StatementPrinter {
 public:
  explicit StatementPrinter(const Program& program) : program_(program) {}

  [[nodiscard]] std::string print(const Value& value) const {
    std::string arguments;
    const auto append = [&](const std::string& text) { arguments += (arguments.empty() ? "" : ", ") + text; };
    const std::size_t positional = positional_count(value);
    for (std::size_t i = 0; i < positional; ++i) {
      const auto* scalar = std::get_if<Scalar>(&value.operands[i]);
      append(scalar != nullptr && states_type(value, i)
                 ? fmt::format("{}({})", name_of(scalar->dtype), to_string(*scalar))
                 : operand(value.operands[i]));
    }
    for (const std::string& text : named_arguments(value)) append(text);
    return fmt::format("  {} = {}({})\n", value.name, name_of(value.op), arguments);
  }

 private:
  /// Returns whether the literal operand must state its type: it is the first of those that share a type, and all of
  /// them are literals.
  static bool states_type(const Value& value, std::size_t index) {
    const std::size_t typed = value.op == Op::select ? 1 : 0;  // after the condition
    return index == typed &&
           std::all_of(value.operands.begin() + static_cast<std::ptrdiff_t>(typed), value.operands.end(),
                       [](const Operand& o) { return std::holds_alternative<Scalar>(o); });
  }
  static std::size_t positional_count(const Value& value) {
    if (value.op == Op::take) return value.operands.size() - 1;  // the last is the fill
    const int arity = info_of(value.op).arity;
    return arity < 0 ? value.operands.size() : static_cast<std::size_t>(arity);
  }

  [[nodiscard]] std::string operand(const Operand& operand) const {
    if (const auto* scalar = std::get_if<Scalar>(&operand)) return to_string(*scalar);
    return program_.value(std::get<ValueId>(operand)).name;
  }

  [[nodiscard]] std::string list(std::string_view keyword, const std::vector<Expr>& exprs) const {
    std::vector<std::string> texts;
    for (const Expr e : exprs) texts.push_back(whole(program_.exprs(), e));
    return fmt::format("{} = [{}]", keyword, fmt::join(texts, ", "));
  }
  template <class Int>
  static std::string list(std::string_view keyword, const std::vector<Int>& integers) {
    return fmt::format("{} = [{}]", keyword, fmt::join(integers, ", "));
  }

  [[nodiscard]] std::vector<std::string> named_arguments(const Value& value) const {
    switch (value.op) {
      case Op::pad:
        return pad(value);
      case Op::slice:
        return slice(std::get<SliceAttributes>(value.attributes));
      case Op::concat:
        return {fmt::format("axis = {}", std::get<ConcatAttributes>(value.attributes).axis)};
      case Op::transpose:
        return {list("perm", std::get<TransposeAttributes>(value.attributes).permutation)};
      case Op::broadcast:
        return {list("shape", {value.extents().begin(), value.extents().end()}),
                list("axes", std::get<BroadcastAttributes>(value.attributes).axes)};
      case Op::reshape:
        return {list("shape", {value.extents().begin(), value.extents().end()})};
      case Op::iota:
        return {std::string(name_of(value.dtype)), list("shape", {value.extents().begin(), value.extents().end()}),
                fmt::format("axis = {}", std::get<IotaAttributes>(value.attributes).axis)};
      case Op::pad_adjoint: {
        std::vector<std::string> texts{list("extent", {value.extents().begin(), value.extents().end()})};
        std::ranges::move(pad(std::get<PadAdjointAttributes>(value.attributes).pad), std::back_inserter(texts));
        return texts;
      }
      case Op::take:
        return take(value);
      case Op::leaky_relu:
        return {"alpha = " + operand(value.operands[1])};
      case Op::clamp:
        return {"lo = " + operand(value.operands[1]), "hi = " + operand(value.operands[2])};
      case Op::cast:
        return {std::string(name_of(value.dtype))};
      default:
        return {};
    }
  }

  static bool all_are(const std::vector<std::int64_t>& integers, std::int64_t value) {
    return std::ranges::all_of(integers, [value](std::int64_t i) { return i == value; });
  }

  // Leaves out defaults, so that a program has one text whether or not it states them.
  [[nodiscard]] std::vector<std::string> pad(const PadAttributes& attributes) const {
    std::vector<std::string> texts{list("low", attributes.low), list("high", attributes.high)};
    if (!all_are(attributes.interior, 0)) texts.push_back(list("interior", attributes.interior));
    if (attributes.mode != PadMode::constant) texts.push_back(fmt::format("mode = {}", name_of(attributes.mode)));
    return texts;
  }
  [[nodiscard]] std::vector<std::string> pad(const Value& value) const {
    const auto& attributes = std::get<PadAttributes>(value.attributes);
    std::vector<std::string> texts = pad(attributes);
    if (attributes.mode == PadMode::constant) append_fill(texts, value.operands[1]);
    return texts;
  }
  void append_fill(std::vector<std::string>& texts, const Operand& fill) const {
    const auto* literal = std::get_if<Scalar>(&fill);
    if (literal == nullptr || literal->bits != 0) texts.push_back("value = " + operand(fill));
  }

  [[nodiscard]] std::vector<std::string> take(const Value& value) const {
    std::vector<int> axes;
    for (std::size_t i = 2; i < value.operands.size(); ++i)
      axes.push_back(std::get<TakeAttributes>(value.attributes).axis + static_cast<int>(axes.size()));
    std::vector<std::string> texts{axes.size() == 1 ? fmt::format("axis = {}", axes.front()) : list("axes", axes)};
    append_fill(texts, value.operands.back());
    return texts;
  }

  [[nodiscard]] std::vector<std::string> slice(const SliceAttributes& attributes) const {
    std::vector<std::string> texts{list("start", attributes.start), list("limit", attributes.limit)};
    if (!all_are(attributes.step, 1)) texts.push_back(list("step", attributes.step));
    return texts;
  }

  const Program& program_;
};

/// Prints "[B, S]". A single symbol that does not declare itself here becomes "S + 0", so that it does not on reading.
std::string dims_of(const Program& program, std::span<const Expr> exprs, std::span<const std::uint8_t> declares) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    const bool misleading = exprs[i].kind() == ExprKind::symbol && declares[i] == 0;
    texts.push_back(whole(program.exprs(), exprs[i]) + (misleading ? " + 0" : ""));
  }
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

std::string to_string(const Program& program) {
  std::vector<std::string> parameters;
  std::size_t tensor = 0;
  for (const auto& entry : program.parameter_order_) {
    if (const auto* symbol = std::get_if<Expr>(&entry)) {
      parameters.push_back(program.exprs().symbol(symbol->symbol()).name + ": dim");
      continue;
    }
    const Value& value = program.value(std::get<ValueId>(entry));
    std::string text = fmt::format("{}: {}", value.name, name_of(value.dtype));
    if (value.kind == ValueKind::tensor_parameter) {
      const auto& flags = program.tensor_texts_[tensor];
      text += dims_of(program, value.extents(), flags.extents_declare);
      if (flags.states_strides) text += " strides " + dims_of(program, value.layout.strides(), flags.strides_declare);
      ++tensor;
    }
    parameters.push_back(std::move(text));
  }
  std::string text = fmt::format("program {}({})\n", program.name(), fmt::join(parameters, ", "));
  if (!program.constraint_texts_.empty()) text += fmt::format("where {}\n", fmt::join(program.constraint_texts_, ", "));
  text += "{\n";
  const StatementPrinter printer(program);
  for (const Value& value : program.values())
    if (value.kind == ValueKind::operation) text += printer.print(value);
  std::vector<std::string_view> results;
  for (const ValueId id : program.results()) results.push_back(program.value(id).name);
  return text + fmt::format("  return {}\n}}\n", fmt::join(results, ", "));
}

}  // namespace padlock::ir
