#include <algorithm>

#include <fmt/format.h>

#include "ir/text/literal.h"
#include "ir/verify/verifier.h"
#include "ir/verify/verify_arguments.h"
#include "ir/verify/verify_operands.h"
#include "support/limits.h"

namespace padlock::ir {
namespace {

using Dims = std::vector<syntax::Dim>;

/// One statement of a movement operation: one function a row of the language's table.
class MovementRule {
 public:
  MovementRule(Verifier& verifier, const syntax::Statement& statement, Op op, const Arguments& arguments)
      : verifier_(verifier), exprs_(verifier.exprs()), statement_(statement), op_(op), arguments_(arguments) {}

  Result<Value> verify() {
    for (const syntax::Argument* argument : arguments_.operands()) {
      PADLOCK_TRY(const ValueId id, tensor_operand(verifier_, *argument));
      operands_.push_back(id);
    }
    x_ = &verifier_.value(operands_[0]);
    switch (op_) {
      case Op::pad:
        return pad();
      case Op::slice:
        return slice();
      case Op::concat:
        return concat();
      case Op::transpose:
        return transpose();
      default:
        return broadcast();
    }
  }

 private:
  [[nodiscard]] const Diagnostics& diagnostics() const { return verifier_.diagnostics(); }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(x_->rank()); }

  [[nodiscard]] Result<Value> result(std::vector<Expr> extents, Attributes attributes) {
    PADLOCK_TRY(Value value, make_result(verifier_, statement_, op_, x_->dtype, std::move(extents)));
    for (const ValueId id : operands_) value.operands.emplace_back(id);
    value.attributes = std::move(attributes);
    return value;
  }

  Status require(Expr lhs, Comparison comparison, Expr rhs, std::string what, Location where) {
    return verifier_.require({.kind = Requirement::Kind::statement,
                              .constraint = {lhs, comparison, rhs},
                              .what = std::move(what),
                              .where = where});
  }

  /// A list argument, one entry for each axis of the operand unless `any_length`.
  Result<const Dims*> list(std::string_view keyword, bool any_length = false) {
    const syntax::Argument& argument = *arguments_.find(keyword);
    const Dims& dims = std::get<Dims>(argument.value);
    if (!any_length && dims.size() != rank())
      return diagnostics().error(argument.where,
                                 fmt::format("expected {} entries in '{}', one for each axis of '{}', found {}", rank(),
                                             keyword, x_->name, dims.size()));
    return &dims;
  }

  Result<std::vector<Expr>> exprs(std::string_view keyword, bool any_length = false) {
    PADLOCK_TRY(const Dims* dims, list(keyword, any_length));
    if (dims->size() > limits::kRank)
      return diagnostics().too_large(arguments_.find(keyword)->where,
                                     fmt::format("expected a rank of at most {}", limits::kRank));
    std::vector<Expr> result;
    for (const syntax::Dim& dim : *dims) {
      PADLOCK_TRY(const Expr e, verifier_.dim(dim));
      result.push_back(e);
    }
    return result;
  }

  /// Integer literals in [least, limit); where the argument is absent, `least` for each axis.
  Result<std::vector<std::int64_t>> integers(std::string_view keyword, std::int64_t least, Int128 limit) {
    if (arguments_.find(keyword) == nullptr) return std::vector<std::int64_t>(rank(), least);
    PADLOCK_TRY(const Dims* dims, list(keyword));
    std::vector<std::int64_t> result;
    for (const syntax::Dim& dim : *dims) {
      const bool literal = dim.nodes.size() == 1 && dim.nodes[0].kind == syntax::DimNode::Kind::integer;
      if (!literal || dim.nodes[0].value < least || dim.nodes[0].value >= limit)
        return diagnostics().error(dim.where(), fmt::format("expected integer literals {} in '{}'{}",
                                                            range_text(least, limit), keyword, found_text(dim)));
      result.push_back(static_cast<std::int64_t>(dim.nodes[0].value));
    }
    return result;
  }
  static std::string range_text(std::int64_t least, Int128 limit) {
    if (limit > kInt64Max) return fmt::format("of at least {}", least);
    return fmt::format("in [{}, {})", least, padlock::to_string(limit));
  }
  static std::string found_text(const syntax::Dim& dim) {
    if (dim.nodes.size() != 1) return ", found an expression";
    const syntax::DimNode& node = dim.nodes[0];
    return fmt::format(", found {}", node.kind == syntax::DimNode::Kind::name ? "'" + node.name + "'"
                                                                              : padlock::to_string(node.value));
  }

  /// Returns the location of entry `axis` of a list argument.
  [[nodiscard]] Location entry_where(std::string_view keyword, std::size_t axis) const {
    return std::get<Dims>(arguments_.find(keyword)->value)[axis].where();
  }

  Result<Value> pad() {
    PadAttributes attributes;
    PADLOCK_TRY(attributes.mode, pad_mode());
    PADLOCK_TRY(attributes.low, exprs("low"));
    PADLOCK_TRY(attributes.high, exprs("high"));
    PADLOCK_TRY(attributes.interior, integers("interior", 0, kInt64Max + 1));
    std::vector<Expr> extents;
    for (std::size_t axis = 0; axis < rank(); ++axis) {
      const Expr extent = padded_extent(attributes, axis);
      PADLOCK_CHECK(require_padded_extent(attributes.mode, extent, axis));
      extents.push_back(extent);
    }
    const bool constant = attributes.mode == PadMode::constant;
    PADLOCK_TRY(Value value, result(std::move(extents), std::move(attributes)));
    if (!constant) return value;
    PADLOCK_TRY(const Operand fill, pad_fill());
    value.operands.push_back(fill);
    return value;
  }

  Result<PadMode> pad_mode() {
    const syntax::Argument* argument = arguments_.find("mode");
    if (argument == nullptr) return PadMode::constant;
    const auto* name = std::get_if<std::string>(&argument->value);
    const auto mode = name != nullptr ? pad_mode_from_name(*name) : std::nullopt;
    if (!mode)
      return diagnostics().error(argument->where,
                                 fmt::format("expected a mode: constant, edge, reflect, symmetric or wrap{}",
                                             name != nullptr ? fmt::format(", found '{}'", *name) : ""));
    if (*mode == PadMode::constant) return *mode;
    for (const std::string_view keyword : {"interior", "value"})
      if (const auto* extra = arguments_.find(keyword))
        return diagnostics().error(
            extra->keyword_where,
            fmt::format("expected no '{}' in mode {}: it is for mode constant", keyword, name_of(*mode)));
    return *mode;
  }

  Result<Operand> pad_fill() {
    if (const auto* argument = arguments_.find("value")) return scalar_operand(verifier_, *argument, x_->dtype);
    return Operand(Scalar{x_->dtype, 0});
  }

  /// low + n + max(n - 1, 0) * interior + high.
  Expr padded_extent(const PadAttributes& attributes, std::size_t axis) {
    const Expr n = x_->extents()[axis];
    Expr extent = exprs_.add(attributes.low[axis], n);
    if (attributes.interior[axis] != 0) {
      const Expr gaps = exprs_.max(exprs_.sub(n, exprs_.constant(1)), exprs_.constant(0));
      extent = exprs_.add(extent, exprs_.mul(gaps, exprs_.constant(attributes.interior[axis])));
    }
    return exprs_.add(extent, attributes.high[axis]);
  }

  Status require_padded_extent(PadMode mode, Expr m, std::size_t axis) {
    const Expr zero = exprs_.constant(0);
    const Location where = entry_where("low", axis);
    PADLOCK_CHECK(require(m, Comparison::ge, zero, fmt::format("padded extent on axis {}", axis), where));
    const Expr n = x_->extents()[axis];
    if (mode == PadMode::constant || m == n || verifier_.facts().proves_positive(n)) return {};
    // m = 0 or n > 0; m >= 0 is required above.
    return require(exprs_.min(m, exprs_.constant(1)), Comparison::le, n,
                   fmt::format("elements that mode {} needs of '{}' on axis {}", name_of(mode), x_->name, axis), where);
  }

  Result<Value> slice() {
    SliceAttributes attributes;
    PADLOCK_TRY(attributes.start, exprs("start"));
    PADLOCK_TRY(attributes.limit, exprs("limit"));
    PADLOCK_TRY(attributes.step, integers("step", 1, kInt64Max + 1));
    std::vector<Expr> extents;
    for (std::size_t axis = 0; axis < rank(); ++axis) {
      const Expr start = attributes.start[axis], limit = attributes.limit[axis], n = x_->extents()[axis];
      const auto start_where = entry_where("start", axis), limit_where = entry_where("limit", axis);
      const auto what = [&](std::string_view side) { return fmt::format("{} on axis {}", side, axis); };
      PADLOCK_CHECK(require(start, Comparison::ge, exprs_.constant(0), what("start"), start_where));
      PADLOCK_CHECK(require(start, Comparison::le, limit, what("start"), start_where));
      PADLOCK_CHECK(require(limit, Comparison::le, n, what("limit"), limit_where));
      extents.push_back(exprs_.ceildiv(exprs_.sub(limit, start), exprs_.constant(attributes.step[axis])));
    }
    return result(std::move(extents), std::move(attributes));
  }

  Result<Value> concat() {
    PADLOCK_TRY(const int axis, concat_axis());
    std::vector<Expr> extents(x_->extents().begin(), x_->extents().end());
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      const Value& other = verifier_.value(operands_[i]);
      const Location where = arguments_.operands()[i]->where;
      PADLOCK_CHECK(check_alike(other, where));
      for (std::size_t j = 0; j < rank(); ++j)
        if (j == static_cast<std::size_t>(axis))
          extents[j] = exprs_.add(extents[j], other.extents()[j]);
        else
          PADLOCK_CHECK(
              require_equal_extents(verifier_, {x_->name, extents[j]}, {other.name, other.extents()[j]}, j, where));
    }
    return result(std::move(extents), ConcatAttributes{axis});
  }

  Result<int> concat_axis() {
    if (rank() == 0)
      return diagnostics().error(arguments_.operands()[0]->where,
                                 fmt::format("expected tensors of rank at least 1, found '{}' of rank 0", x_->name));
    const syntax::Argument& argument = *arguments_.find("axis");
    const auto* literal = std::get_if<syntax::Literal>(&argument.value);
    const auto number = literal != nullptr ? parse_literal(literal->text, DType::i64) : std::unexpected(Error{});
    const bool is_decimal = literal != nullptr && literal->text.find('(') == std::string::npos;
    const auto axis = number && is_decimal ? static_cast<std::int64_t>(number->bits) : -1;
    if (axis >= 0 && axis < x_->rank()) return static_cast<int>(axis);
    const std::string found = literal != nullptr ? literal->text : std::get<std::string>(argument.value);
    return diagnostics().error(
        argument.where,
        fmt::format("expected an integer literal in [0, {}) for 'axis', found '{}'", x_->rank(), found));
  }

  Status check_alike(const Value& other, Location where) {
    if (other.dtype != x_->dtype)
      return diagnostics().error(where, fmt::format("expected a tensor of type {} like '{}', found '{}' of type {}",
                                                    name_of(x_->dtype), x_->name, other.name, name_of(other.dtype)));
    if (other.rank() != x_->rank())
      return diagnostics().error(where, fmt::format("expected a tensor of rank {} like '{}', found '{}' of rank {}",
                                                    x_->rank(), x_->name, other.name, other.rank()));
    return {};
  }

  /// Axis numbers, all different, below `limit`; one for each axis of the operand.
  Result<std::vector<int>> different_axes(std::string_view keyword, std::size_t limit) {
    PADLOCK_TRY(const std::vector<std::int64_t> entries, integers(keyword, 0, static_cast<Int128>(limit)));
    std::vector<int> axes;
    for (const std::int64_t entry : entries) {
      if (std::ranges::find(axes, static_cast<int>(entry)) != axes.end())
        return diagnostics().error(entry_where(keyword, axes.size()),
                                   fmt::format("expected axes that differ in '{}', found {} again", keyword, entry));
      axes.push_back(static_cast<int>(entry));
    }
    return axes;
  }

  Result<Value> transpose() {
    TransposeAttributes attributes;
    PADLOCK_TRY(attributes.permutation, different_axes("perm", rank()));
    std::vector<Expr> extents;
    for (const int axis : attributes.permutation) extents.push_back(x_->extents()[static_cast<std::size_t>(axis)]);
    return result(std::move(extents), std::move(attributes));
  }

  Result<Value> broadcast() {
    PADLOCK_TRY(std::vector<Expr> shape, exprs("shape", true));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      PADLOCK_CHECK(require(shape[axis], Comparison::ge, exprs_.constant(0), fmt::format("shape on axis {}", axis),
                            entry_where("shape", axis)));
    BroadcastAttributes attributes;
    PADLOCK_TRY(attributes.axes, different_axes("axes", shape.size()));
    for (std::size_t i = 0; i < rank(); ++i) {
      const auto axis = static_cast<std::size_t>(attributes.axes[i]);
      if (x_->extents()[i].is_constant(1)) continue;
      PADLOCK_CHECK(require_equal_extents(verifier_, {x_->name, x_->extents()[i]}, {"shape", shape[axis]}, axis,
                                          entry_where("axes", i)));
    }
    return result(std::move(shape), std::move(attributes));
  }

  Verifier& verifier_;
  ExprContext& exprs_;
  const syntax::Statement& statement_;
  Op op_;
  const Arguments& arguments_;
  std::vector<ValueId> operands_;
  const Value* x_ = nullptr;  // the first operand; the verifier adds no value meanwhile
};

}  // namespace

Result<Value> verify_statement(Verifier& verifier, const syntax::Statement& statement) {
  const auto op = op_from_name(statement.operation);
  if (!op)
    return verifier.diagnostics().error(statement.operation_where,
                                        fmt::format("expected an operation, found '{}'", statement.operation));
  PADLOCK_TRY(const Arguments arguments, Arguments::match(statement, *op, verifier.diagnostics()));
  if (info_of(*op).op_class == OpClass::movement) return MovementRule(verifier, statement, *op, arguments).verify();
  return verify_elementwise(verifier, statement, *op, arguments);
}

}  // namespace padlock::ir
