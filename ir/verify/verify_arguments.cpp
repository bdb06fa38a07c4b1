#include "ir/verify/verify_arguments.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/text/foreign.h"
#include "support/messages/suggestion.h"

namespace padlock::ir {
namespace {

using enum KeywordKind;
constexpr std::array kPad = {Keyword{"low", dims, true}, Keyword{"high", dims, true},
                             Keyword{"interior", integers, false}, Keyword{"mode", mode, false},
                             Keyword{"value", scalar, false}};
constexpr std::array kSlice = {Keyword{"start", dims, true}, Keyword{"limit", dims, true},
                               Keyword{"step", integers, false}};
constexpr std::array kConcat = {Keyword{"axis", integer, true}};
constexpr std::array kTranspose = {Keyword{"perm", integers, true}};
constexpr std::array kBroadcast = {Keyword{"shape", dims, true}, Keyword{"axes", integers, true}};
constexpr std::array kReshape = {Keyword{"shape", dims, true}};
constexpr std::array kIota = {Keyword{"shape", dims, true}, Keyword{"axis", integer, true}};
constexpr std::array kPadAdjoint = {Keyword{"extent", dims, true}, Keyword{"low", dims, true},
                                    Keyword{"high", dims, true}, Keyword{"interior", integers, false},
                                    Keyword{"mode", mode, false}};
constexpr std::array kTake = {Keyword{"axis", integer, false}, Keyword{"axes", integers, false},
                              Keyword{"value", scalar, false}};
constexpr std::array kLeakyRelu = {Keyword{"alpha", scalar, true}};
constexpr std::array kClamp = {Keyword{"lo", scalar, true}, Keyword{"hi", scalar, true}};

bool takes_type(Op op) { return op == Op::cast || op == Op::iota; }

/// Returns the number of positional operands; -1: one or more. The type of a cast and an iota is one of them.
int operand_count(Op op) { return info_of(op).arity + (takes_type(op) ? 1 : 0); }

/// Returns how many operands an operation takes, for messages.
std::string operands_text(Op op) {
  const int wanted = operand_count(op);
  const std::string count = wanted < 0    ? "one or more operands"
                            : wanted == 1 ? "1 operand"
                                          : fmt::format("{} operands", wanted);
  const char* types = op == Op::cast     ? " (a value and a type)"
                      : op == Op::iota   ? " (a type)"
                      : op == Op::search ? " (ascending integers, and what to search for)"
                                         : "";
  return fmt::format("{} of '{}'{}", count, name_of(op), types);
}

std::string list_of(std::span<const Keyword> keywords) {
  std::string text;
  for (const Keyword& keyword : keywords) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", keyword.name);
  return text.empty() ? "no named argument" : text;
}

const Keyword* keyword_of(Op op, std::string_view name) {
  const auto all = keywords_of(op);
  const auto found = std::ranges::find(all, name, &Keyword::name);
  return found == all.end() ? nullptr : &*found;
}

/// Returns a hint for an unknown argument: another language's name for an argument of this operation, else one of its
/// own with a similar name.
std::string keyword_hint(Op op, std::string_view name) {
  const auto all = keywords_of(op);
  const std::string foreign = foreign_hint(Vocabulary::argument, name);
  for (const Keyword& keyword : all)
    if (foreign.find(fmt::format("'{}'", keyword.name)) != std::string::npos) return foreign;
  return did_you_mean(name, all | std::views::transform(&Keyword::name));
}

bool holds_list(const syntax::Argument& argument) {
  return std::holds_alternative<std::vector<syntax::Dim>>(argument.value);
}

Status check_named(const syntax::Argument& argument, Op op, const Diagnostics& diagnostics) {
  const Keyword* keyword = keyword_of(op, argument.keyword);
  if (keyword == nullptr)
    return diagnostics.error(argument.keyword_where,
                             fmt::format("expected {} of '{}', found '{}'{}", list_of(keywords_of(op)), name_of(op),
                                         argument.keyword, keyword_hint(op, argument.keyword)));
  const bool wants_list = keyword->kind == dims || keyword->kind == integers;
  if (wants_list == holds_list(argument)) return {};
  return diagnostics.error(
      argument.where,
      fmt::format("expected {} for '{}'", wants_list ? "a list in brackets" : "no list", argument.keyword));
}

}  // namespace

std::span<const Keyword> keywords_of(Op op) {
  switch (op) {
    case Op::pad:
      return kPad;
    case Op::slice:
      return kSlice;
    case Op::concat:
      return kConcat;
    case Op::transpose:
      return kTranspose;
    case Op::broadcast:
      return kBroadcast;
    case Op::reshape:
      return kReshape;
    case Op::iota:
      return kIota;
    case Op::pad_adjoint:
      return kPadAdjoint;
    case Op::take:
      return kTake;
    case Op::leaky_relu:
      return kLeakyRelu;
    case Op::clamp:
      return kClamp;
    default:
      return {};
  }
}

const syntax::Argument* Arguments::find(std::string_view keyword) const {
  const auto found =
      std::ranges::find(named_, keyword, [](const auto* argument) { return std::string_view(argument->keyword); });
  return found == named_.end() ? nullptr : *found;
}

Result<Arguments> Arguments::match(const syntax::Statement& statement, Op op, const Diagnostics& diagnostics) {
  Arguments result;
  Status every;
  for (const syntax::Argument& argument : statement.arguments) {
    if (diagnostics.errors().is_final()) break;
    diagnostics.collect(every, result.add(argument, op, diagnostics));
  }
  const int wanted = operand_count(op);
  const std::size_t found = result.operands_.size();
  if (wanted < 0 ? found == 0 : found != static_cast<std::size_t>(wanted))
    diagnostics.collect(every,
                        Status(diagnostics.error(statement.operation_where,
                                                 fmt::format("expected {}, found {}", operands_text(op), found))));
  PADLOCK_CHECK(every);  // A missing argument may be one whose name is misspelt, which is already listed.
  std::vector<std::string> missing;
  for (const Keyword& keyword : keywords_of(op))
    if (keyword.required && result.find(keyword.name) == nullptr) missing.push_back(fmt::format("'{}'", keyword.name));
  if (!missing.empty())
    return diagnostics.error(statement.operation_where, fmt::format("expected {} among the arguments of '{}'",
                                                                    fmt::join(missing, " and "), name_of(op)));
  return result;
}

Status Arguments::add(const syntax::Argument& argument, Op op, const Diagnostics& diagnostics) {
  if (argument.keyword.empty()) {
    operands_.push_back(&argument);
    if (holds_list(argument)) return diagnostics.error(argument.where, "expected a value or a literal, found a list");
    return {};
  }
  PADLOCK_CHECK(check_named(argument, op, diagnostics));
  if (find(argument.keyword) != nullptr)
    return diagnostics.error(argument.keyword_where,
                             fmt::format("expected '{}' once, found it again", argument.keyword));
  named_.push_back(&argument);
  return {};
}

}  // namespace padlock::ir
