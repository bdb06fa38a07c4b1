#include "ir/verify/read_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/text/literal.h"
#include "support/limits.h"

namespace padlock::ir {
namespace {

using Dims = std::vector<syntax::Dim>;

std::string range_text(std::int64_t least, Int128 limit) {
  if (limit > kInt64Max) return fmt::format("of at least {}", least);
  return fmt::format("in [{}, {})", least, padlock::to_string(limit));
}

std::string found_text(const syntax::Dim& dim) {
  if (dim.nodes.size() != 1) return ", found an expression";
  const syntax::DimNode& node = dim.nodes[0];
  return fmt::format(", found {}",
                     node.kind == syntax::DimNode::Kind::name ? "'" + node.name + "'" : padlock::to_string(node.value));
}

}  // namespace

Result<const Dims*> ArgumentReader::list(std::string_view keyword, bool any_length) const {
  const syntax::Argument& argument = *arguments_.find(keyword);
  const Dims& dims = std::get<Dims>(argument.value);
  if (!any_length && dims.size() != x_->extents().size())
    return verifier_.diagnostics().error(
        argument.where, fmt::format("expected {} entries in '{}', one for each axis of '{}', found {}", x_->rank(),
                                    keyword, x_->name, dims.size()));
  return &dims;
}

Result<std::vector<Expr>> ArgumentReader::exprs(std::string_view keyword, bool any_length) const {
  PADLOCK_TRY(const Dims* dims, list(keyword, any_length));
  if (dims->size() > limits::kRank)
    return verifier_.diagnostics().too_large(arguments_.find(keyword)->where,
                                             fmt::format("expected a rank of at most {}", limits::kRank));
  std::vector<Expr> result;
  Status every;
  for (const syntax::Dim& dim : *dims) {
    const auto e = verifier_.dim(dim);
    verifier_.diagnostics().collect(every, e);
    if (e) result.push_back(*e);
  }
  PADLOCK_CHECK(every);
  return result;
}

Result<std::vector<std::int64_t>> ArgumentReader::integers(std::string_view keyword, std::int64_t least, Int128 limit,
                                                           bool any_length) const {
  if (arguments_.find(keyword) == nullptr) return std::vector<std::int64_t>(x_->extents().size(), least);
  PADLOCK_TRY(const Dims* dims, list(keyword, any_length));
  std::vector<std::int64_t> result;
  Status every;
  for (const syntax::Dim& dim : *dims) {
    const bool literal = dim.nodes.size() == 1 && dim.nodes[0].kind == syntax::DimNode::Kind::integer;
    if (!literal || dim.nodes[0].value < least || dim.nodes[0].value >= limit)
      verifier_.diagnostics().collect(
          every, Status(verifier_.diagnostics().error(
                     dim.where(), fmt::format("expected integer literals {} in '{}'{}", range_text(least, limit),
                                              keyword, found_text(dim)))));
    else
      result.push_back(static_cast<std::int64_t>(dim.nodes[0].value));
  }
  PADLOCK_CHECK(every);
  return result;
}

Result<std::vector<int>> ArgumentReader::different_axes(std::string_view keyword, std::size_t limit,
                                                        bool any_length) const {
  PADLOCK_TRY(const std::vector<std::int64_t> entries, integers(keyword, 0, static_cast<Int128>(limit), any_length));
  std::vector<int> axes;
  for (const std::int64_t entry : entries) {
    if (std::ranges::find(axes, static_cast<int>(entry)) != axes.end())
      return verifier_.diagnostics().error(
          entry_where(keyword, axes.size()),
          fmt::format("expected axes that differ in '{}', found {} again", keyword, entry));
    axes.push_back(static_cast<int>(entry));
  }
  return axes;
}

Result<int> ArgumentReader::axis(int rank) const {
  const syntax::Argument& argument = *arguments_.find("axis");
  const auto* literal = std::get_if<syntax::Literal>(&argument.value);
  const auto number = literal != nullptr ? parse_literal(literal->text, DType::i64) : std::unexpected(Error{});
  const bool is_decimal = literal != nullptr && !literal->dtype && literal->text.find('(') == std::string::npos;
  const auto axis = number && is_decimal ? static_cast<std::int64_t>(number->bits) : -1;
  if (axis >= 0 && axis < rank) return static_cast<int>(axis);
  const auto* name = std::get_if<std::string>(&argument.value);
  const std::string found = literal != nullptr ? literal->text : name != nullptr ? *name : "a size";
  return verifier_.diagnostics().error(
      argument.where, fmt::format("expected an integer literal in [0, {}) for 'axis', found '{}'", rank, found));
}

Location ArgumentReader::entry_where(std::string_view keyword, std::size_t axis) const {
  return std::get<Dims>(arguments_.find(keyword)->value)[axis].where();
}

}  // namespace padlock::ir
