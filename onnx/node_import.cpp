#include "onnx/node_import.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text/literal.h"
#include "onnx/limits.h"
#include "onnx/operators/shapes.h"

namespace padlock::onnx {

using ir::DType;

std::unexpected<Error> refused(std::string reason) {
  return std::unexpected(Error{.code = Code::unimplemented, .blame = Blame::user, .message = std::move(reason)});
}

std::string typed_literal(const ir::Scalar& scalar) {
  return fmt::format("{}({})", name_of(scalar.dtype), to_string(scalar));
}

// ---- inputs

namespace {

std::string reason_of(const Value& data) { return data.origin.empty() ? "" : fmt::format(" ({})", data.origin); }

}  // namespace

Result<Value*> NodeImport::input(std::size_t i) {
  if (has_input(i)) return values_[i];
  return refused(fmt::format("input {} is left out", i));
}

Result<SizeArray> NodeImport::size_array(std::size_t i) {
  PADLOCK_TRY(const Value* const value, input(i));
  if (!value->sizes)
    return refused(fmt::format("input {} is data, known only when the model runs{}", i, reason_of(*value)));
  SizeArray array{.dims = {}, .elements = *value->sizes};
  for (const Expr n : value->shape) array.dims.push_back(literal(n).value_or(0));
  return array;
}

Result<std::vector<Expr>> NodeImport::size_list(std::size_t i, std::string_view what) {
  PADLOCK_TRY(const Value* const value, input(i));
  if (!value->sizes)
    return refused(
        fmt::format("{} '{}' are data, known only when the model runs{}", what, node_.inputs[i], reason_of(*value)));
  return *value->sizes;
}

Result<std::vector<std::int64_t>> NodeImport::literal_list(std::size_t i, std::string_view what) {
  PADLOCK_TRY(const std::vector<Expr> list, size_list(i, what));
  std::vector<std::int64_t> numbers;
  for (const Expr e : list) {
    const auto number = literal(e);
    if (!number) return refused(fmt::format("{} '{}' are no constants", what, node_.inputs[i]));
    numbers.push_back(*number);
  }
  return numbers;
}

bool NodeImport::has_sizes_alone() const {
  bool any = false;
  for (const Value* const value : values_) {
    if (value == nullptr) continue;
    if (!value->sizes) return false;
    any = true;
  }
  return any;
}

Result<FractionArray> NodeImport::fraction_array(std::size_t i) {
  PADLOCK_TRY(const Value* const value, input(i));
  FractionArray array;
  for (const Expr n : value->shape) array.dims.push_back(literal(n).value_or(-1));
  if (value->fractions) {
    array.elements = *value->fractions;
    return array;
  }
  // A repeated constant stores one element; its shape has the count.
  const auto count = size_count(array.dims);
  if (value->constant == nullptr || !count)
    return refused(fmt::format("input {} is data, known only when the model runs{}", i, reason_of(*value)));
  const FractionMath math(sizes_, value->dtype);
  for (std::size_t k = 0; k < *count; ++k) {
    PADLOCK_TRY(array.elements.emplace_back(), math.from_constant(value->constant->at(k)));
  }
  return array;
}

std::string NodeImport::origin() const {
  for (const Value* const value : values_)
    if (value != nullptr && !value->origin.empty()) return value->origin;
  return {};
}

bool NodeImport::has_fraction() const {
  return std::ranges::any_of(values_, [](const Value* value) { return value != nullptr && value->fractions; });
}

bool NodeImport::has_fractions_alone() const {
  bool any = false;
  for (const Value* const value : values_) {
    if (value == nullptr) continue;
    if (!value->fractions && (value->constant == nullptr || !is_float(value->dtype))) return false;
    any = true;
  }
  return any;
}

std::optional<std::string> NodeImport::scalar(const Value& value) {
  if (value.is_scalar) return value.name;
  if (value.constant != nullptr && value.constant->count == 0) return typed_literal({value.dtype, 0});
  if (value.sizes && value.sizes->empty()) return typed_literal({value.dtype, 0});
  if (value.constant != nullptr && value.constant->is_uniform()) return typed_literal(value.constant->at(0));
  if (value.sizes && value.sizes->size() == 1)
    if (const auto number = literal(value.sizes->front())) return fmt::format("{}({})", name_of(value.dtype), *number);
  return std::nullopt;
}

Result<std::vector<std::string>> NodeImport::operands(std::span<Value* const> values, bool literals) {
  std::vector<std::string> names;
  for (Value* const value : values) {
    if (auto text = literals ? scalar(*value) : std::nullopt) {
      names.push_back(*std::move(text));
    } else {
      PADLOCK_TRY(names.emplace_back(), tensor(*value));
    }
  }
  return names;
}

/// Makes a tensor whose one element is `size`: the last coordinate of `size` + 1 elements.
std::string NodeImport::tensor_of_size(Expr size, DType dtype) {
  const Expr after = sizes_.add(size, sizes_.constant(1));
  const std::string numbers = part(fmt::format("iota({}, shape = [{}], axis = 0)", name_of(dtype), sizes_.text(after)));
  return part(fmt::format("slice({}, start = [{}], limit = [{}])", numbers, sizes_.text(size), sizes_.text(after)));
}

Result<std::string> NodeImport::tensor_of_sizes(const Value& value) {
  if (value.sizes->size() > limits::kLiterals)
    return refused(
        fmt::format("{} sizes are used as data; expected at most {}", value.sizes->size(), limits::kLiterals));
  std::vector<std::string> parts;
  const Expr zero = sizes_.constant(0);
  for (const Expr size : *value.sizes) {
    const auto number = literal(size);
    if (number) {
      const std::string scalar = fmt::format("{}({})", name_of(value.dtype), *number);
      const std::string one = part(fmt::format("cast({}, {})", scalar, name_of(value.dtype)));
      parts.push_back(part(fmt::format("broadcast({}, shape = [1], axes = [])", one)));
    } else if (sizes_.is_nonnegative(size)) {
      parts.push_back(tensor_of_size(size, value.dtype));
    } else {
      const std::string above = tensor_of_size(sizes_.max(size, zero), value.dtype);
      const std::string below = tensor_of_size(sizes_.max(sizes_.neg(size), zero), value.dtype);
      parts.push_back(part(fmt::format("sub({}, {})", above, below)));
    }
  }
  const std::string all = part(fmt::format("concat({}, axis = 0)", fmt::join(parts, ", ")));
  return part(fmt::format("reshape({}, shape = {})", all, sizes_.text(value.shape)));
}

/// Makes quotients of integers. Guards keep them within the bounds, where they equal what the model computes.
Result<std::string> NodeImport::tensor_of_fractions(const Value& value) {
  Value above{.dtype = DType::i64, .shape = value.shape, .name = {}, .sizes = std::vector<Expr>()};
  std::int64_t below = 1;
  for (const Fraction& one : *value.fractions) {
    PADLOCK_CHECK(require(sizes_, one.bounds));
    if (!above.sizes->empty() && one.denominator != below)
      return refused("sizes as floats, of different denominators, are used as data");
    below = one.denominator;
    above.sizes->push_back(one.numerator);
  }
  PADLOCK_TRY(const std::string whole, tensor_of_sizes(above));
  const std::string as_floats = part(fmt::format("cast({}, {})", whole, name_of(value.dtype)));
  return below == 1 ? as_floats : part(fmt::format("div({}, {})", as_floats, below));
}

/// Makes a tensor of distinct elements, each a literal.
Result<std::string> NodeImport::tensor_of_literals(const Value& value) {
  const Elements& constant = *value.constant;
  if (constant.count == 0 || constant.bits.size() > limits::kLiterals)
    return refused(fmt::format("a constant of {} different elements; expected one value, or at most {} elements",
                               constant.count, limits::kLiterals));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < constant.bits.size(); ++i) {
    const std::string one = part(fmt::format("cast({}, {})", typed_literal(constant.at(i)), name_of(value.dtype)));
    parts.push_back(part(fmt::format("broadcast({}, shape = [1], axes = [])", one)));
  }
  const std::string all = part(fmt::format("concat({}, axis = 0)", fmt::join(parts, ", ")));
  return part(fmt::format("reshape({}, shape = {})", all, sizes_.text(value.shape)));
}

Result<std::string> NodeImport::tensor(Value& value) {
  if (!value.name.empty() && !value.is_scalar) return value.name;
  if (const auto text = scalar(value)) {
    value.name = part(fmt::format("cast({}, {})", *text, name_of(value.dtype)));
    if (!value.shape.empty())
      value.name = part(fmt::format("broadcast({}, shape = {}, axes = [])", value.name, sizes_.text(value.shape)));
    value.is_scalar = false;
    return value.name;
  }
  if (value.constant != nullptr) {
    PADLOCK_TRY(value.name, tensor_of_literals(value));
    return value.name;
  }
  if (value.fractions) {
    PADLOCK_TRY(value.name, tensor_of_fractions(value));
    return value.name;
  }
  if (!value.sizes) return internal_error("a value of a model that is nothing");
  PADLOCK_TRY(value.name, tensor_of_sizes(value));
  return value.name;
}

// ---- attributes

const Attribute* NodeImport::attribute(std::string_view name) const {
  const auto found = std::ranges::find(node_.attributes, name, &Attribute::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

std::int64_t NodeImport::integer(std::string_view name, std::int64_t otherwise) const {
  const Attribute* const found = attribute(name);
  return found != nullptr ? found->integer : otherwise;
}

float NodeImport::number(std::string_view name, float otherwise) const {
  const Attribute* const found = attribute(name);
  return found != nullptr ? found->number : otherwise;
}

std::string_view NodeImport::word(std::string_view name, std::string_view otherwise) const {
  const Attribute* const found = attribute(name);
  return found != nullptr ? found->text : otherwise;
}

Result<std::size_t> NodeImport::axis(std::int64_t given, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  if (given < -axes || given >= axes) return refused(fmt::format("axis {} of a tensor of rank {}", given, rank));
  return static_cast<std::size_t>(given < 0 ? given + axes : given);
}

Result<std::vector<std::size_t>> NodeImport::axes(std::span<const std::int64_t> given, std::size_t rank) const {
  std::vector<std::size_t> result;
  for (const std::int64_t number : given) {
    PADLOCK_TRY(const std::size_t found, axis(number, rank));
    if (std::ranges::find(result, found) != result.end()) return refused(fmt::format("axis {} twice", number));
    result.push_back(found);
  }
  return result;
}

// ---- results

std::string NodeImport::output_name(std::size_t output) {
  if (output < names_.size() && !names_[output].empty()) return names_[output];
  return text_.take_name(output < node_.outputs.size() ? node_.outputs[output] : "part");
}

std::string NodeImport::part(std::string_view text) {
  const std::string_view stem = node_.outputs.empty() ? std::string_view("part") : node_.outputs[0];
  std::string name = text_.take_name(fmt::format("{}_part", stem.substr(0, limits::kNameBytes - 10)));
  text_.add_statement(name, text, index_);
  return name;
}

void NodeImport::finish(std::string_view text, DType dtype, std::vector<Expr> shape, std::size_t output) {
  std::string name = output_name(output);
  text_.add_statement(name, text, index_);
  finish(Value{.dtype = dtype, .shape = std::move(shape), .name = std::move(name), .sizes = {}, .constant = {}},
         output);
}

void NodeImport::finish(Value value, std::size_t output) {
  if (output < results_.size()) results_[output] = std::move(value);
}

void NodeImport::finish(SizeArray array, DType dtype, std::size_t output) {
  Value value{.dtype = dtype, .shape = {}, .name = {}, .sizes = std::move(array.elements), .constant = {}};
  for (const std::int64_t n : array.dims) value.shape.push_back(sizes_.constant(n));
  finish(std::move(value), output);
}

void NodeImport::finish(FractionArray array, DType dtype, std::size_t output) {
  Value value{.dtype = dtype, .shape = {}, .name = {}, .sizes = {}, .fractions = std::move(array.elements)};
  for (const std::int64_t n : array.dims) value.shape.push_back(sizes_.constant(n));
  finish(std::move(value), output);
}

}  // namespace padlock::onnx
