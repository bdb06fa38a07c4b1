#include <fmt/format.h>

#include "ir/expr/product_form.h"
#include "ir/expr/simplify.h"
#include "ir/text/foreign.h"
#include "ir/verify/read_arguments.h"
#include "ir/verify/verify_operands.h"
#include "support/limits.h"

namespace padlock::ir {
namespace {

/// One statement that moves data, or makes data from coordinates: one function for each row of the language's table.
class MovementRule {
 public:
  MovementRule(Verifier& verifier, const syntax::Statement& statement, Op op, const Arguments& arguments)
      : verifier_(verifier),
        exprs_(verifier.exprs()),
        statement_(statement),
        op_(op),
        arguments_(arguments),
        read_(verifier, arguments) {}

  Result<Value> verify() {
    if (op_ == Op::iota) return iota();
    Status every;
    for (const syntax::Argument* argument : arguments_.operands()) {
      const auto id = tensor_operand(verifier_, *argument);
      diagnostics().collect(every, id);
      if (id) operands_.push_back(*id);
    }
    if (!every) diagnostics().collect(every, check_argument_names(verifier_, statement_));
    PADLOCK_CHECK(every);
    x_ = &verifier_.value(operands_[0]);
    read_.set_tensor(*x_);
    switch (op_) {
      case Op::pad:
        return pad();
      case Op::slice:
        return slice();
      case Op::concat:
        return concat();
      case Op::transpose:
        return transpose();
      case Op::reshape:
        return reshape();
      case Op::pad_adjoint:
        return pad_adjoint();
      case Op::take:
        return take();
      case Op::search:
        return search();
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

  Result<PadAttributes> pad_attributes() {
    const auto mode = pad_mode();
    auto low = read_.exprs("low"), high = read_.exprs("high");
    auto interior = read_.integers("interior", 0, kInt64Max + 1);
    PADLOCK_CHECK(diagnostics().all(mode, low, high, interior));
    return PadAttributes{*std::move(low), *std::move(high), *std::move(interior), *mode};
  }

  /// Returns the extents after a pad, and requires them to be possible.
  Result<std::vector<Expr>> padded_extents(const PadAttributes& attributes, std::span<const Expr> from,
                                           const std::string& name) {
    std::vector<Expr> extents;
    Status every;
    for (std::size_t axis = 0; axis < rank(); ++axis) {
      const Expr extent = padded_extent(attributes, from[axis], axis);
      diagnostics().collect(every, require_padded_extent(attributes.mode, extent, {name, from[axis]}, axis));
      extents.push_back(extent);
    }
    PADLOCK_CHECK(every);
    return extents;
  }

  Result<Value> pad() {
    PADLOCK_TRY(PadAttributes attributes, pad_attributes());
    PADLOCK_TRY(std::vector<Expr> extents, padded_extents(attributes, x_->extents(), x_->name));
    const bool constant = attributes.mode == PadMode::constant;
    PADLOCK_TRY(Value value, result(std::move(extents), std::move(attributes)));
    if (!constant) return value;
    PADLOCK_TRY(const Operand fill, fill_of(value));
    value.operands.push_back(fill);
    return value;
  }

  Result<PadMode> pad_mode() {
    const syntax::Argument* argument = arguments_.find("mode");
    if (argument == nullptr) return PadMode::constant;
    const auto* name = std::get_if<std::string>(&argument->value);
    const auto mode = name != nullptr ? pad_mode_from_name(*name) : std::nullopt;
    if (!mode) {
      const std::string found =
          name != nullptr ? fmt::format(", found '{}'{}", *name, spelling_hint(Vocabulary::mode, *name)) : "";
      return diagnostics().error(argument->where,
                                 "expected a mode: constant, edge, reflect, symmetric or wrap" + found);
    }
    if (*mode == PadMode::constant) return *mode;
    for (const std::string_view keyword : {"interior", "value"})
      if (const auto* extra = arguments_.find(keyword))
        return diagnostics().error(
            extra->keyword_where,
            fmt::format("expected no '{}' in mode {}: it is for mode constant", keyword, name_of(*mode)));
    return *mode;
  }

  /// Reads a fill: a literal, a size, a run-time scalar, or a tensor that broadcasts to the result like elementwise
  /// operands. Ends the use of x_.
  Result<Operand> fill_of(const Value& padded) {
    const syntax::Argument* argument = arguments_.find("value");
    if (argument == nullptr) return Operand(Scalar{x_->dtype, 0});
    if (!std::holds_alternative<std::string>(argument->value)) return scalar_operand(verifier_, *argument, x_->dtype);
    PADLOCK_TRY(const ValueId id, value_operand(verifier_, *argument));
    const Value& fill = verifier_.value(id);
    if (fill.kind == ValueKind::scalar_parameter) return scalar_operand(verifier_, *argument, x_->dtype);
    PADLOCK_CHECK(check_type(fill, argument->where));
    if (fill.rank() > padded.rank())
      return diagnostics().error(argument->where,
                                 fmt::format("expected a fill of rank at most {}, found '{}' of rank {}", padded.rank(),
                                             fill.name, fill.rank()));
    const auto missing = static_cast<std::size_t>(padded.rank() - fill.rank());
    for (std::size_t axis = 0; axis < fill.extents().size(); ++axis)
      if (!fill.extents()[axis].is_constant(1))
        PADLOCK_CHECK(require_equal_extents(verifier_, {fill.name, fill.extents()[axis]},
                                            {padded.name, padded.extents()[missing + axis]}, missing + axis,
                                            argument->where));
    return Operand(id);
  }

  /// The operand of a pad's adjoint has the extents of the pad's result.
  Result<Value> pad_adjoint() {
    if (kind_of(x_->dtype) == DTypeKind::truth)
      return diagnostics().error(
          arguments_.operands()[0]->where,
          fmt::format("expected a type other than bool for 'pad_adjoint', found '{}' of type bool", x_->name));
    PADLOCK_TRY(std::vector<Expr> extent, read_.exprs("extent"));
    for (std::size_t axis = 0; axis < extent.size(); ++axis)
      PADLOCK_CHECK(require(extent[axis], Comparison::ge, exprs_.constant(0), fmt::format("extent on axis {}", axis),
                            read_.entry_where("extent", axis)));
    PADLOCK_TRY(PadAttributes attributes, pad_attributes());
    PADLOCK_TRY(const std::vector<Expr> padded, padded_extents(attributes, extent, "extent"));
    for (std::size_t axis = 0; axis < rank(); ++axis)
      PADLOCK_CHECK(require_equal_extents(verifier_, {x_->name, x_->extents()[axis]}, {"pad", padded[axis]}, axis,
                                          arguments_.operands()[0]->where));
    return result(std::move(extent), PadAdjointAttributes{std::move(attributes)});
  }

  /// low + n + max(n - 1, 0) * interior + high.
  Expr padded_extent(const PadAttributes& attributes, Expr n, std::size_t axis) {
    Expr extent = exprs_.add(attributes.low[axis], n);
    if (attributes.interior[axis] != 0) {
      const Expr gaps = exprs_.max(exprs_.sub(n, exprs_.constant(1)), exprs_.constant(0));
      extent = exprs_.add(extent, exprs_.mul(gaps, exprs_.constant(attributes.interior[axis])));
    }
    return exprs_.add(extent, attributes.high[axis]);
  }

  Status require_padded_extent(PadMode mode, Expr m, const NamedExtent& from, std::size_t axis) {
    const Expr zero = exprs_.constant(0);
    const Location where = read_.entry_where("low", axis);
    PADLOCK_CHECK(require(m, Comparison::ge, zero, fmt::format("padded extent on axis {}", axis), where));
    const Expr n = from.extent;
    if (mode == PadMode::constant || m == n || verifier_.facts().proves_positive(n)) return {};
    // m = 0 or n > 0; m >= 0 is required above.
    return require(exprs_.min(m, exprs_.constant(1)), Comparison::le, n,
                   fmt::format("elements that mode {} needs of '{}' on axis {}", name_of(mode), from.name, axis),
                   where);
  }

  Result<Value> slice() {
    auto starts = read_.exprs("start"), limits = read_.exprs("limit");
    auto steps = read_.integers("step", 1, kInt64Max + 1);
    PADLOCK_CHECK(diagnostics().all(starts, limits, steps));
    SliceAttributes attributes{*std::move(starts), *std::move(limits), *std::move(steps)};
    std::vector<Expr> extents;
    Status every;
    for (std::size_t axis = 0; axis < rank(); ++axis) {
      const Expr start = attributes.start[axis], limit = attributes.limit[axis], n = x_->extents()[axis];
      const auto start_where = read_.entry_where("start", axis), limit_where = read_.entry_where("limit", axis);
      const auto what = [&](std::string_view side) { return fmt::format("{} on axis {}", side, axis); };
      const auto require_entry = [&]() -> Status {
        PADLOCK_CHECK(require(start, Comparison::ge, exprs_.constant(0), what("start"), start_where));
        PADLOCK_CHECK(require(start, Comparison::le, limit, what("start"), start_where));
        return require(limit, Comparison::le, n, what("limit"), limit_where);
      };
      diagnostics().collect(every, require_entry());
      extents.push_back(exprs_.ceildiv(exprs_.sub(limit, start), exprs_.constant(attributes.step[axis])));
    }
    PADLOCK_CHECK(every);
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
    if (rank() > 0) return read_.axis(x_->rank());
    return diagnostics().error(arguments_.operands()[0]->where,
                               fmt::format("expected tensors of rank at least 1, found '{}' of rank 0", x_->name));
  }

  Status check_type(const Value& other, Location where) {
    if (other.dtype == x_->dtype) return {};
    return diagnostics().error(where, fmt::format("expected a tensor of type {} like '{}', found '{}' of type {}",
                                                  name_of(x_->dtype), x_->name, other.name, name_of(other.dtype)));
  }

  Status check_alike(const Value& other, Location where) {
    PADLOCK_CHECK(check_type(other, where));
    if (other.rank() != x_->rank())
      return diagnostics().error(where, fmt::format("expected a tensor of rank {} like '{}', found '{}' of rank {}",
                                                    x_->rank(), x_->name, other.name, other.rank()));
    return {};
  }

  Result<Value> transpose() {
    TransposeAttributes attributes;
    PADLOCK_TRY(attributes.permutation, read_.different_axes("perm", rank()));
    std::vector<Expr> extents;
    for (const int axis : attributes.permutation) extents.push_back(x_->extents()[static_cast<std::size_t>(axis)]);
    return result(std::move(extents), std::move(attributes));
  }

  /// Reads the argument 'shape': extents >= 0.
  Result<std::vector<Expr>> shape() {
    PADLOCK_TRY(std::vector<Expr> extents, read_.exprs("shape", true));
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      PADLOCK_CHECK(require(extents[axis], Comparison::ge, exprs_.constant(0), fmt::format("shape on axis {}", axis),
                            read_.entry_where("shape", axis)));
    return extents;
  }

  Result<Value> broadcast() {
    PADLOCK_TRY(std::vector<Expr> shape, this->shape());
    BroadcastAttributes attributes;
    PADLOCK_TRY(attributes.axes, read_.different_axes("axes", shape.size()));
    for (std::size_t i = 0; i < rank(); ++i) {
      const auto axis = static_cast<std::size_t>(attributes.axes[i]);
      if (x_->extents()[i].is_constant(1)) continue;
      PADLOCK_CHECK(require_equal_extents(verifier_, {x_->name, x_->extents()[i]}, {"shape", shape[axis]}, axis,
                                          read_.entry_where("axes", i)));
    }
    return result(std::move(shape), std::move(attributes));
  }

  Result<Value> reshape() {
    PADLOCK_TRY(std::vector<Expr> shape, this->shape());
    if (!Products(exprs_, verifier_.constraints()).equal(x_->extents(), shape)) {
      const auto elements = [&](std::span<const Expr> extents) { return Simplifier::product(exprs_, extents); };
      PADLOCK_CHECK(require(elements(x_->extents()), Comparison::eq, elements(shape),
                            fmt::format("numbers of elements of '{}' and 'shape'", x_->name),
                            arguments_.find("shape")->where));
    }
    return result(std::move(shape), {});
  }

  Result<Value> take() {
    if (operands_.size() < 2)
      return diagnostics().error(
          statement_.operation_where,
          "expected 2 or more operands of 'take' (a tensor and an index for each axis), found 1");
    if (rank() == 0)
      return diagnostics().error(arguments_.operands()[0]->where,
                                 fmt::format("expected a tensor of rank at least 1, found '{}' of rank 0", x_->name));
    std::vector<Operand> indices;
    std::vector<Location> wheres;
    for (std::size_t i = 1; i < operands_.size(); ++i) {
      wheres.push_back(arguments_.operands()[i]->where);
      PADLOCK_CHECK(check_integer(operands_[i], operands_[1], wheres.back()));
      indices.emplace_back(operands_[i]);
    }
    PADLOCK_TRY(const int first, taken_axis(indices.size()));
    PADLOCK_TRY(std::vector<Expr> extents, broadcast_extents(verifier_, indices, wheres));
    const auto axis = static_cast<std::ptrdiff_t>(first);
    extents.insert(extents.begin(), x_->extents().begin(), x_->extents().begin() + axis);
    extents.insert(extents.end(), x_->extents().begin() + axis + std::ssize(indices), x_->extents().end());
    if (extents.size() > limits::kRank)
      return diagnostics().too_large(statement_.where,
                                     fmt::format("expected a result of rank at most {}", limits::kRank));
    PADLOCK_TRY(Value value, result(std::move(extents), TakeAttributes{first}));
    PADLOCK_TRY(const Operand fill, fill_of(value));
    value.operands.push_back(fill);
    return value;
  }

  /// An index is an i32 or an i64, and all are of one type.
  Status check_integer(ValueId id, ValueId first, Location where) {
    const Value& index = verifier_.value(id);
    if (index.dtype != DType::i32 && index.dtype != DType::i64)
      return diagnostics().error(where, fmt::format("expected i32 or i64 for '{}', found '{}' of type {}", name_of(op_),
                                                    index.name, name_of(index.dtype)));
    if (const DType type = verifier_.value(first).dtype; index.dtype != type)
      return diagnostics().error(where, fmt::format("expected the type {}, found '{}' of type {}", name_of(type),
                                                    index.name, name_of(index.dtype)));
    return {};
  }

  /// Returns the first of the `count` axes that are indexed: from 'axis', or from 'axes', which are adjacent.
  Result<int> taken_axis(std::size_t count) {
    const syntax::Argument *one = arguments_.find("axis"), *several = arguments_.find("axes");
    if ((one == nullptr) == (several == nullptr))
      return diagnostics().error(statement_.operation_where,
                                 fmt::format("expected either 'axis' or 'axes' among the arguments of 'take', found {}",
                                             one == nullptr ? "none" : "both"));
    if (one != nullptr && count > 1)
      return diagnostics().error(one->keyword_where,
                                 fmt::format("expected 'axes', one for each of {} indices, found 'axis'", count));
    if (one != nullptr) return read_.axis(x_->rank());
    PADLOCK_TRY(const std::vector<int> axes, read_.different_axes("axes", rank(), /*any_length=*/true));
    if (axes.size() != count)
      return diagnostics().error(
          several->where,
          fmt::format("expected {} entries in 'axes', one for each index, found {}", count, axes.size()));
    for (std::size_t i = 1; i < axes.size(); ++i)
      if (axes[i] != axes[0] + static_cast<int>(i))
        return diagnostics().error(
            read_.entry_where("axes", i),
            fmt::format("expected adjacent axes in their order in 'axes', found {} after {}", axes[i], axes[i - 1]));
    return axes[0];
  }

  Result<Value> search() {
    PADLOCK_CHECK(check_integer(operands_[0], operands_[0], arguments_.operands()[0]->where));
    PADLOCK_CHECK(check_integer(operands_[1], operands_[0], arguments_.operands()[1]->where));
    if (rank() != 1)
      return diagnostics().error(arguments_.operands()[0]->where,
                                 fmt::format("expected a tensor of rank 1, found '{}' of rank {}", x_->name, rank()));
    const auto extents = verifier_.value(operands_[1]).extents();
    PADLOCK_TRY(Value value, result({extents.begin(), extents.end()}, {}));
    value.dtype = DType::i64;
    return value;
  }

  Result<Value> iota() {
    const syntax::Argument& type = *arguments_.operands()[0];
    PADLOCK_TRY(const DType dtype, read_type(verifier_, type, "iota", "first"));
    if (kind_of(dtype) == DTypeKind::truth)
      return diagnostics().error(type.where, "expected a type other than bool for 'iota'");
    PADLOCK_TRY(std::vector<Expr> shape, this->shape());
    PADLOCK_TRY(const int axis, read_.axis(static_cast<int>(shape.size())));
    PADLOCK_TRY(Value value, make_result(verifier_, statement_, op_, dtype, std::move(shape)));
    value.attributes = IotaAttributes{axis};
    return value;
  }

  Verifier& verifier_;
  ExprContext& exprs_;
  const syntax::Statement& statement_;
  Op op_;
  const Arguments& arguments_;
  ArgumentReader read_;
  std::vector<ValueId> operands_;
  const Value* x_ = nullptr;  // the first operand; valid while the verifier adds no value
};

}  // namespace

Result<Value> verify_statement(Verifier& verifier, const syntax::Statement& statement) {
  const auto op = op_from_name(statement.operation);
  const Diagnostics& diagnostics = verifier.diagnostics();
  if (!op) {
    const Status unknown = diagnostics.error(statement.operation_where,
                                             fmt::format("expected an operation, found '{}'{}", statement.operation,
                                                         spelling_hint(Vocabulary::operation, statement.operation)));
    return std::unexpected(diagnostics.all(unknown, check_argument_names(verifier, statement)).error());
  }
  auto matched = Arguments::match(statement, *op, diagnostics);
  if (!matched) {
    diagnostics.errors().note(check_argument_names(verifier, statement));
    return std::unexpected(std::move(matched).error());
  }
  const Arguments& arguments = *matched;
  const OpClass op_class = info_of(*op).op_class;
  if (op_class == OpClass::movement || op_class == OpClass::coordinate || op_class == OpClass::adjoint ||
      op_class == OpClass::by_data)
    return MovementRule(verifier, statement, *op, arguments).verify();
  return verify_elementwise(verifier, statement, *op, arguments);
}

}  // namespace padlock::ir
