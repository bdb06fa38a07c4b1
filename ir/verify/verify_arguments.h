#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/operation.h"
#include "ir/verify/verify_symbols.h"

// Arguments that an operation takes. Internal to the verifier.
namespace padlock::ir {

/// The kind of a named argument's value.
enum class KeywordKind : std::uint8_t { dims, integers, integer, mode, scalar };

struct Keyword {
  std::string_view name;
  KeywordKind kind;
  bool required;
};

/// Returns the named arguments that an operation takes.
[[nodiscard]] std::span<const Keyword> keywords_of(Op op);

/// A statement's checked arguments: the right number of operands, the right names, each once, and lists exactly if
/// lists are expected. Borrows the statement.
class Arguments {
 public:
  /// Lists the error of each argument, and returns a consequence if there were any.
  [[nodiscard]] static Result<Arguments> match(const syntax::Statement& statement, Op op,
                                               const Diagnostics& diagnostics);

  /// The positional arguments: names or literals.
  [[nodiscard]] const std::vector<const syntax::Argument*>& operands() const { return operands_; }
  /// Returns a named argument, or nullptr.
  [[nodiscard]] const syntax::Argument* find(std::string_view keyword) const;

 private:
  Status add(const syntax::Argument& argument, Op op, const Diagnostics& diagnostics);

  std::vector<const syntax::Argument*> operands_, named_;
};

}  // namespace padlock::ir
