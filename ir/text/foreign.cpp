#include "ir/text/foreign.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "ir/dtype.h"
#include "ir/operation.h"
#include "support/messages/suggestion.h"

namespace padlock::ir {
namespace {

struct Spelling {
  std::string_view theirs;  ///< in lower case
  std::string_view ours;    ///< what to write; one word is in quotes
};

constexpr auto kTypes = std::to_array<Spelling>({
    {"float", "'f32'"},     {"float32", "'f32'"}, {"fp32", "'f32'"},         {"single", "'f32'"},  {"double", "'f64'"},
    {"float64", "'f64'"},   {"fp64", "'f64'"},    {"half", "'f16'"},         {"float16", "'f16'"}, {"fp16", "'f16'"},
    {"bfloat16", "'bf16'"}, {"bfloat", "'bf16'"}, {"int", "'i32' or 'i64'"}, {"int64", "'i64'"},   {"long", "'i64'"},
    {"int32", "'i32'"},     {"int16", "'i16'"},   {"short", "'i16'"},        {"int8", "'i8'"},     {"char", "'i8'"},
    {"uint64", "'u64'"},    {"uint32", "'u32'"},  {"uint16", "'u16'"},       {"uint8", "'u8'"},    {"byte", "'u8'"},
    {"boolean", "'bool'"},  {"bool_", "'bool'"},  {"i1", "'bool'"},          {"pred", "'bool'"},   {"size_t", "'dim'"},
    {"index", "'dim'"},     {"symbol", "'dim'"},
});

constexpr auto kModes = std::to_array<Spelling>({
    {"replicate", "'edge'"},
    {"replication", "'edge'"},
    {"nearest", "'edge'"},
    {"border", "'edge'"},
    {"clamp", "'edge'"},
    {"circular", "'wrap'"},
    {"periodic", "'wrap'"},
    {"reflection", "'reflect'"},
    {"reflect101", "'reflect'"},
    {"mirror", "'reflect', or 'symmetric' where the edge repeats"},
    {"zero", "'constant'"},
    {"zeros", "'constant'"},
    {"fill", "'constant'"},
    {"empty", "'constant'"},
});

constexpr auto kOperationNames = std::to_array<Spelling>({
    {"cat", "'concat'"},
    {"concatenate", "'concat'"},
    {"stack", "'concat'"},
    {"permute", "'transpose'"},
    {"arange", "'iota'"},
    {"range", "'iota'"},
    {"expand", "'broadcast'"},
    {"broadcast_to", "'broadcast'"},
    {"broadcast_in_dim", "'broadcast'"},
    {"view", "'reshape'"},
    {"flatten", "'reshape'"},
    {"where", "'select'"},
    {"max", "'maximum'"},
    {"min", "'minimum'"},
    {"multiply", "'mul'"},
    {"divide", "'div'"},
    {"truediv", "'div'"},
    {"true_divide", "'div'"},
    {"subtract", "'sub'"},
    {"plus", "'add'"},
    {"minus", "'sub'"},
    {"times", "'mul'"},
    {"negative", "'neg'"},
    {"negate", "'neg'"},
    {"absolute", "'abs'"},
    {"fabs", "'abs'"},
    {"less", "'lt'"},
    {"less_equal", "'le'"},
    {"lessorequal", "'le'"},
    {"greater", "'gt'"},
    {"greater_equal", "'ge'"},
    {"greaterorequal", "'ge'"},
    {"equal", "'eq'"},
    {"not_equal", "'ne'"},
    {"logical_and", "'and'"},
    {"logical_or", "'or'"},
    {"logical_not", "'not'"},
    {"swish", "'silu'"},
    {"logistic", "'sigmoid'"},
    {"clip", "'clamp'"},
    {"hardtanh", "'clamp'"},
    {"relu6", "'clamp'"},
    {"astype", "'cast'"},
    {"convert", "'cast'"},
    {"to", "'cast'"},
    {"leakyrelu", "'leaky_relu'"},
    {"crop", "'slice', or 'pad' with a negative 'low' or 'high'"},
    {"zero_pad", "'pad'"},
    {"pad2d", "'pad'"},
    {"mod", "a size's 'mod': tensors have none"},
    {"sum", "what stands around it: programs have no reductions"},
    {"mean", "what stands around it: programs have no reductions"},
    {"softmax", "what stands around it: programs have no reductions"},
    {"layer_norm", "what stands around it: programs have no reductions"},
    {"matmul", "what stands around it: programs have no products of matrices"},
    {"dot", "what stands around it: programs have no products of matrices"},
    {"conv", "what stands around it: programs have no convolutions"},
    {"conv2d", "what stands around it: programs have no convolutions"},
    {"gather", "'take'"},
    {"gather_nd", "'take'"},
    {"index", "'take'"},
    {"index_select", "'take'"},
    {"embedding", "'take'"},
    {"lookup", "'take'"},
    {"dynamic_slice", "'take'"},
    {"searchsorted", "'search'"},
    {"bucketize", "'search'"},
    {"upper_bound", "'search'"},
});

constexpr auto kArguments = std::to_array<Spelling>({
    {"pad", "'low' and 'high'"},
    {"pads", "'low' and 'high'"},
    {"padding", "'low' and 'high'"},
    {"paddings", "'low' and 'high'"},
    {"pad_width", "'low' and 'high'"},
    {"before", "'low'"},
    {"after", "'high'"},
    {"constant_value", "'value'"},
    {"constant_values", "'value'"},
    {"fill", "'value'"},
    {"fill_value", "'value'"},
    {"padding_value", "'value'"},
    {"padding_mode", "'mode'"},
    {"dilation", "'interior'"},
    {"dim", "'axis'"},
    {"stop", "'limit'"},
    {"end", "'limit'"},
    {"ends", "'limit'"},
    {"starts", "'start'"},
    {"begin", "'start'"},
    {"stride", "'step'"},
    {"steps", "'step'"},
    {"strides", "'step'"},
    {"dims", "'perm' or 'axes'"},
    {"permutation", "'perm'"},
    {"sizes", "'shape'"},
    {"size", "'shape'"},
    {"negative_slope", "'alpha'"},
    {"slope", "'alpha'"},
    {"min", "'lo'"},
    {"max", "'hi'"},
    {"min_val", "'lo'"},
    {"max_val", "'hi'"},
    {"a_min", "'lo'"},
    {"a_max", "'hi'"},
});

constexpr auto kValues = std::to_array<Spelling>({
    {"infinity", "'inf'"},
    {"infty", "'inf'"},
    {"true", "'true'"},
    {"false", "'false'"},
    {"nan", "'nan'"},
    {"inf", "'inf'"},
    {"none", "a literal, or leave the argument out"},
    {"null", "a literal, or leave the argument out"},
});

std::span<const Spelling> spellings(Vocabulary vocabulary) {
  switch (vocabulary) {
    case Vocabulary::operation:
      return kOperationNames;
    case Vocabulary::type:
      return kTypes;
    case Vocabulary::mode:
      return kModes;
    case Vocabulary::argument:
      return kArguments;
    case Vocabulary::value:
      return kValues;
  }
  return {};
}

std::vector<std::string_view> own_names(Vocabulary vocabulary) {
  std::vector<std::string_view> names;
  if (vocabulary == Vocabulary::operation)
    for (const OpInfo& info : kOperations) names.push_back(info.name);
  if (vocabulary == Vocabulary::type)
    for (const DType type : kAllDTypes) names.push_back(name_of(type));
  if (vocabulary == Vocabulary::mode)
    for (const PadMode mode : kPadModes) names.push_back(name_of(mode));
  return names;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace

std::string foreign_hint(Vocabulary vocabulary, std::string_view name) {
  const std::span<const Spelling> all = spellings(vocabulary);
  const auto found = std::ranges::find(all, lower_case(name), &Spelling::theirs);
  return found == all.end() ? std::string() : fmt::format("; write {}", found->ours);
}

std::string spelling_hint(Vocabulary vocabulary, std::string_view name) {
  std::string hint = foreign_hint(vocabulary, name);
  return hint.empty() ? did_you_mean(name, own_names(vocabulary)) : hint;
}

}  // namespace padlock::ir

namespace padlock::ir::syntax {
namespace {

struct SignHint {
  std::string_view sign;
  std::string_view hint;
};

constexpr auto kInDims = std::to_array<SignHint>({
    {"%", "write 'mod'"},
    {"/", "write 'floordiv' or 'ceildiv'"},
    {"**", "write a product"},
    {"^", "write a product"},
    {".", "write the symbol of the extent"},
    {"&&", "write ','"},
    {"&", "write ','"},
    {"and", "write ','"},
    {"!=", "write '<' or '>'"},
    {";", "write ','"},
});

/// Operations by the arithmetic sign that other languages have for them.
constexpr auto kOperators = std::to_array<SignHint>({{"+", "add"},
                                                     {"-", "sub"},
                                                     {"*", "mul"},
                                                     {"/", "div"},
                                                     {"<", "lt"},
                                                     {"<=", "le"},
                                                     {">", "gt"},
                                                     {">=", "ge"},
                                                     {"==", "eq"},
                                                     {"!=", "ne"},
                                                     {"&", "and"},
                                                     {"&&", "and"},
                                                     {"|", "or"},
                                                     {"||", "or"}});

std::string_view find(std::span<const SignHint> all, std::string_view sign) {
  const auto found = std::ranges::find(all, sign, &SignHint::sign);
  return found == all.end() ? std::string_view() : found->hint;
}

std::string dim_hint(const Token& token) {
  if (token.follows_comment) return "; '//' begins a comment: write 'floordiv' to divide";
  const std::string_view hint = find(kInDims, token.text);
  return hint.empty() ? std::string() : fmt::format("; {}", hint);
}

/// Returns a hint for an unexpected token: where an operation, the end of a statement or an argument was expected.
std::string operator_hint(const Token& token) {
  const std::string_view operation = find(kOperators, token.text);
  if (!operation.empty()) return fmt::format("; write '{}(a, b)', each operation as a statement of its own", operation);
  if (token.text == ";") return "; a statement ends without ';'";
  if (token.text == "#") return "; a comment begins with '//'";
  if (token.text == "[") return "; write 'slice' to take a part of a tensor";
  if (token.text == ".") return "; a name has no '.'";
  return {};
}

bool is_quoted(std::string_view text) { return text.size() > 2 && (text[0] == '"' || text[0] == '\''); }

std::string quoted_hint(Place place, std::string_view text) {
  const std::string_view inside = text.substr(1, text.size() - 2);
  const std::string spelling = place == Place::mode   ? spelling_hint(Vocabulary::mode, inside)
                               : place == Place::type ? spelling_hint(Vocabulary::type, inside)
                                                      : std::string();
  return spelling.empty() ? fmt::format("; write {} without quotes", inside) : spelling;
}

std::string operand_hint(Place place, const Token& token) {
  if (is_quoted(token.text)) return quoted_hint(place, token.text);
  if (token.text == ".") return "; a number begins with a digit";
  if (token.text == "(" && place == Place::operand) return "; a list stands in brackets, as the argument of a name";
  if (token.text == "[" && place == Place::operand) return "; a list is an argument by name, as in 'shape = [...]'";
  return {};
}

}  // namespace

std::string place_hint(Place place, const Token& token) {
  switch (place) {
    case Place::comparison:
      if (token.text == "=") return "; write '=='";
      return dim_hint(token);
    case Place::dim:
      return dim_hint(token);
    case Place::type:
      return is_quoted(token.text) ? quoted_hint(place, token.text) : spelling_hint(Vocabulary::type, token.text);
    case Place::operation:
      return spelling_hint(Vocabulary::operation, token.text);
    case Place::keyword:
      return foreign_hint(Vocabulary::argument, token.text);
    case Place::argument:
      if (token.text == "(") return "; a call is a statement of its own: t = pad(...), then relu(t)";
      return operator_hint(token);
    case Place::call:
    case Place::statement:
      return operator_hint(token);
    case Place::operand:
    case Place::mode:
      return operand_hint(place, token);
    case Place::word:
    case Place::other:
      break;
  }
  return token.text == "#" ? "; a comment begins with '//'" : "";
}

}  // namespace padlock::ir::syntax
