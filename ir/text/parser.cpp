#include <fmt/format.h>

#include "ir/text/parse_dim.h"
#include "ir/text/recovery.h"
#include "ir/text/syntax.h"
#include "support/limits.h"

namespace padlock::ir::syntax {
namespace {

/// Recursive descent, one function a rule of the grammar. Only expressions nest; parse_dim parses them. After an error
/// it continues at the next parameter, constraint or statement.
class Parser {
 public:
  Parser(std::string_view text, ErrorList& errors) : text_(text), cursor_(text), errors_(errors) {}

  std::optional<Program> run() && {
    program_.source = std::string(text_.size() <= limits::kTextBytes ? text_ : std::string_view{});
    if (!parse_header()) return std::nullopt;
    parse_parameters();
    if (cursor_.accept("where")) parse_all_constraints();
    if (!parse_begin()) return std::nullopt;
    parse_statements();
    if (!note(parse_return())) skip_results(cursor_);
    if (cursor_.accept("}") && cursor_.peek().kind != TokenKind::end)
      note(cursor_.unexpected("the end of the program"));
    program_.has_unread_parts = !errors_.is_empty();
    return std::move(program_);
  }

 private:
  /// Lists an error. Returns whether there was none.
  bool note(const Status& status) { return errors_.note(status).has_value(); }

  /// Without "program NAME(" nothing can be parsed; errors in the two words do not stop the rest.
  bool parse_header() {
    if (!note(cursor_.expect("program", Place::word))) {
      if (cursor_.peek(1).kind != TokenKind::identifier || !cursor_.at(2, "(")) return false;
      cursor_.take();
    }
    if (auto name = cursor_.identifier("the name of the program"); name) {
      program_.name = *std::move(name);
    } else {
      note(std::unexpected(std::move(name).error()));
      if (!cursor_.at(1, "(")) return false;
      cursor_.take();
    }
    return note(cursor_.expect("("));
  }

  void parse_parameters() {
    if (cursor_.accept(")")) return;
    bool is_read = true;
    do {
      const std::size_t begin = cursor_.position();
      is_read = note(parse_parameter());
      if (!is_read) skip_parameter(cursor_, begin, program_.unread_names);
    } while (goes_on_with_parameter(is_read) && !errors_.is_final());
    note(cursor_.accept(")") ? Status() : cursor_.unexpected("',' or ')'"));
  }

  /// Takes the ',' after a parameter that was parsed, or reports that it is missing.
  bool goes_on_with_parameter(bool is_read) {
    if (cursor_.accept(",")) return true;
    if (cursor_.peek().kind != TokenKind::identifier || !cursor_.at(1, ":")) return false;
    if (is_read) note(cursor_.unexpected("',' or ')'"));
    return true;
  }

  void parse_all_constraints() {
    do {
      const std::size_t begin = cursor_.position();
      Status read = parse_constraint(cursor_, program_.constraints);
      if (read && !cursor_.at(",") && !cursor_.at("{"))
        read = cursor_.unexpected("an operator, a comparison, ',' or '{'", Place::dim);
      if (note(read)) continue;
      program_.has_unread_constraints = true;
      skip_constraint(cursor_, begin);
    } while (cursor_.accept(",") && !errors_.is_final());
  }

  /// Takes '{'. If it is missing, parsing continues if a statement follows, or else at the next statement.
  bool parse_begin() {
    if (cursor_.accept("{")) return true;
    if (errors_.is_empty() || !cursor_.is_at_end()) note(cursor_.expect("{", Place::dim));
    if (cursor_.at(1, "=") || cursor_.at("return")) return true;
    program_.has_unread_constraints = true;
    while (!cursor_.is_at_end() && !cursor_.at("{")) cursor_.take();
    return cursor_.accept("{");
  }

  void parse_statements() {
    while (!cursor_.at("return") && !cursor_.at("}") && !cursor_.is_at_end() && !errors_.is_final()) {
      const std::size_t begin = cursor_.position();
      if (note(parse_statement())) continue;
      skip_statement(cursor_, begin, program_.unread_names);
    }
  }

  Status parse_parameter() {
    Parameter parameter;
    parameter.where = cursor_.peek().where;
    PADLOCK_TRY(parameter.name, cursor_.identifier("the name of a parameter"));
    PADLOCK_CHECK(cursor_.expect(":"));
    if (cursor_.accept("dim")) {
      parameter.kind = Parameter::Kind::dim;
    } else {
      PADLOCK_CHECK(parse_type(parameter));
      PADLOCK_CHECK(parse_shape(parameter));
    }
    program_.parameters.push_back(std::move(parameter));
    return {};
  }

  /// The shape is parsed even if the type is unknown.
  Status parse_type(Parameter& parameter) {
    const bool is_reserved_word = cursor_.peek().kind == TokenKind::reserved;
    if (const auto dtype = is_reserved_word ? dtype_from_name(cursor_.peek().text) : std::nullopt) {
      cursor_.take();
      parameter.dtype = *dtype;
      return {};
    }
    parameter.is_in_error = true;
    note(cursor_.unexpected("a type or 'dim'", Place::type));
    cursor_.take();
    if (cursor_.at("[") || cursor_.at(",") || cursor_.at(")")) return {};
    return ErrorList::consequence();
  }

  Status parse_shape(Parameter& parameter) {
    if (!cursor_.at("[")) {
      parameter.kind = Parameter::Kind::scalar;
      return {};
    }
    PADLOCK_TRY(parameter.extents, parse_dim_list(cursor_));
    if (!cursor_.accept("strides")) return {};
    PADLOCK_TRY(parameter.strides, parse_dim_list(cursor_));
    return {};
  }

  Status parse_statement() {
    Statement statement;
    statement.where = cursor_.peek().where;
    PADLOCK_TRY(statement.name, cursor_.identifier("a statement or 'return'", Place::statement));
    PADLOCK_CHECK(cursor_.expect("="));
    statement.operation_where = cursor_.peek().where;
    PADLOCK_TRY(statement.operation, cursor_.identifier("the name of an operation", Place::operation));
    PADLOCK_CHECK(cursor_.expect("(", Place::call));
    if (!cursor_.accept(")")) {
      do PADLOCK_CHECK(parse_argument(statement.arguments));
      while (cursor_.accept(","));
      if (!cursor_.accept(")")) return cursor_.unexpected("',' or ')'", Place::argument);
    }
    program_.statements.push_back(std::move(statement));
    return {};
  }

  Status parse_argument(std::vector<Argument>& arguments) {
    Argument argument;
    const TokenKind kind = cursor_.peek().kind;
    if (kind == TokenKind::reserved && cursor_.at(1, "="))
      return cursor_.unexpected("the name of an argument", Place::keyword);
    if (kind == TokenKind::identifier && cursor_.at(1, "=")) {
      argument.keyword_where = cursor_.peek().where;
      argument.keyword = std::string(cursor_.peek().text);
      cursor_.take();
      cursor_.take();
    } else if (!arguments.empty() && !arguments.back().keyword.empty()) {
      return cursor_.unexpected("a named argument after a named one");
    }
    argument.where = cursor_.peek().where;
    if (!argument.keyword.empty() && cursor_.at("[")) {
      PADLOCK_TRY(argument.value, parse_dim_list(cursor_));
    } else {
      PADLOCK_CHECK(parse_operand(argument));
    }
    arguments.push_back(std::move(argument));
    return {};
  }

  Status parse_operand(Argument& argument) {
    const Token& token = cursor_.peek();
    const auto dtype = token.kind == TokenKind::reserved ? dtype_from_name(token.text) : std::nullopt;
    if (token.kind == TokenKind::identifier || dtype) {
      std::string name(token.text);
      cursor_.take();
      if (dtype && cursor_.accept("(")) {
        const DType type = *dtype;
        return is_at_literal() ? parse_typed_literal(argument, type) : parse_size(argument, type);
      }
      argument.value = std::move(name);
      return {};
    }
    const Place place = argument.keyword == "mode" ? Place::mode : Place::operand;
    PADLOCK_TRY(argument.value,
                literal(argument.keyword.empty() ? "a value or a literal" : "a value, a literal or '['", place));
    return {};
  }

  /// Returns whether "T( )" contains a literal. An integer with more behind it begins a size expression.
  [[nodiscard]] bool is_at_literal() const {
    const std::size_t sign = cursor_.at("-") ? 1 : 0;
    const Token& token = cursor_.peek(sign);
    if (token.kind == TokenKind::integer) return cursor_.at(sign + 1, ")");
    const bool begins_size = token.kind == TokenKind::identifier || cursor_.at(sign, "(") || cursor_.at(sign, "-") ||
                             cursor_.at(sign, "min") || cursor_.at(sign, "max");
    return !begins_size;
  }

  /// Parses the rest of "i64(S + 1)", from the expression on.
  Status parse_size(Argument& argument, DType dtype) {
    SizeOperand made{.dtype = dtype, .size = {}};
    PADLOCK_TRY(made.size, parse_dim(cursor_));
    if (!cursor_.accept(")")) return cursor_.unexpected("an operator or ')'", Place::dim);
    argument.value = std::move(made);
    return {};
  }

  /// Parses the rest of "f32(-1.5)", from the literal on.
  Status parse_typed_literal(Argument& argument, DType dtype) {
    PADLOCK_TRY(Literal typed, literal("a literal", Place::operand));
    typed.dtype = dtype;
    PADLOCK_CHECK(cursor_.expect(")"));
    argument.value = std::move(typed);
    return {};
  }

  Result<Literal> literal(std::string_view expected, Place place) {
    Literal result;
    const bool negative = cursor_.accept("-");
    const Token& token = cursor_.peek();
    const bool number = token.kind == TokenKind::integer || token.kind == TokenKind::floating || cursor_.at("inf");
    if (!number && negative) return cursor_.unexpected("a number or 'inf'");
    if (!number && cursor_.at("bits")) return bits_literal();
    if (!number && !cursor_.at("nan") && !cursor_.at("true") && !cursor_.at("false"))
      return cursor_.unexpected(expected, place);
    result.text = (negative ? "-" : "") + std::string(token.text);
    cursor_.take();
    return result;
  }

  Result<Literal> bits_literal() {
    PADLOCK_CHECK(cursor_.expect("bits"));
    PADLOCK_CHECK(cursor_.expect("("));
    if (cursor_.peek().kind != TokenKind::hexadecimal)
      return cursor_.unexpected("a hexadecimal number such as 0x7fc00000");
    Literal result{fmt::format("bits({})", cursor_.peek().text)};
    cursor_.take();
    PADLOCK_CHECK(cursor_.expect(")"));
    return result;
  }

  Status parse_return() {
    if (!cursor_.accept("return")) return cursor_.unexpected("a statement or 'return'");
    do {
      const Location where = cursor_.peek().where;
      PADLOCK_TRY(std::string name, cursor_.identifier("the name of a value"));
      program_.results.emplace_back(std::move(name), where);
    } while (cursor_.accept(","));
    if (cursor_.at("}")) return {};
    program_.results.pop_back();  // the result may be no name, as in 'return relu(x)'
    return cursor_.unexpected("',' or '}'", Place::argument);
  }

  std::string_view text_;
  TokenCursor cursor_;
  ErrorList& errors_;  // borrowed (outlives the parser)
  Program program_;
};

}  // namespace

std::optional<Program> parse(std::string_view text, ErrorList& errors) {
  return Parser(without_byte_order_mark(text), errors).run();
}

Result<Program> parse(std::string_view text) {
  ErrorList errors;
  auto program = parse(text, errors);
  if (!errors.is_empty()) return std::move(errors).take();
  return *std::move(program);
}

}  // namespace padlock::ir::syntax
