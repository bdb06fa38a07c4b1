#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/operation.h"
#include "ir/verify/verify_symbols.h"

// Which arguments an operation takes. Internal to the verifier.
namespace padlock::ir {

/// What a named argument holds.
enum class KeywordKind : std::uint8_t { dims, integers, integer, mode, scalar };

struct Keyword {
  std::string_view name;
  KeywordKind kind;
  bool required;
};

/// The named arguments of an operation.
[[nodiscard]] std::span<const Keyword> keywords_of(Op op);

/// A statement's arguments sorted out: the right number of operands, the right names, each once, each holding a list
/// or not as it should. Borrows the statement.
class Arguments {
 public:
  [[nodiscard]] static Result<Arguments> match(const syntax::Statement& statement, Op op,
                                               const Diagnostics& diagnostics);

  /// Positional ones; names or literals.
  [[nodiscard]] const std::vector<const syntax::Argument*>& operands() const { return operands_; }
  /// A named one, or nullptr.
  [[nodiscard]] const syntax::Argument* find(std::string_view keyword) const;

 private:
  std::vector<const syntax::Argument*> operands_, named_;
};

}  // namespace padlock::ir
