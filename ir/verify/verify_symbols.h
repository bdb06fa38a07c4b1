#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/text/syntax.h"
#include "support/limits.h"
#include "support/messages/error_list.h"
#include "support/steps.h"

// The first part of verification: finds the meaning of each name. Internal to the verifier.
namespace padlock::ir {

/// Makes errors with a position in the text, or for a built program with the statement's name, and lists errors of
/// parts that are checked independently. An error that may only follow from a listed one is a consequence (ErrorList).
class Diagnostics {
 public:
  /// Borrows both.
  Diagnostics(const syntax::Program& program, ErrorList& errors);
  [[nodiscard]] std::unexpected<Error> error(Location where, std::string message) const;
  /// Makes the error for an unknown name, once for each name; a consequence if the name is excused.
  [[nodiscard]] std::unexpected<Error> unknown_name(const std::string& name, Location where, std::string message) const;
  /// Makes the error for a fact that the constraints do not show; a consequence while constraints are in doubt.
  [[nodiscard]] std::unexpected<Error> not_shown(Location where, std::string message) const;
  /// Makes the error for something refused for its size (resource_exhausted).
  [[nodiscard]] std::unexpected<Error> too_large(Location where, std::string message) const;

  [[nodiscard]] ErrorList& errors() const { return *errors_; }
  /// Lists the errors of independent checks. Returns a consequence if there were any.
  template <class... Results>
  [[nodiscard]] Status all(const Results&... results) const {
    Status every;
    (collect(every, results), ...);
    return every;
  }
  /// Lists the error of one more check; then `every` becomes a consequence.
  template <class T>
  void collect(Status& every, const Result<T>& result) const {
    if (Status noted = errors_->note(result); !noted) every = std::move(noted);
  }

  /// Marks a name about which errors have been listed.
  void excuse(const std::string& name) const { excused_.insert(name); }
  /// Returns whether an error about this name would be left out of the list. Ask before making a costly message.
  [[nodiscard]] bool is_excused(const std::string& name) const {
    return errors_->is_final() || excused_.contains(name);
  }
  /// Marks that a constraint has an error, so that the facts it would show are unknown.
  void doubt_constraints() { are_constraints_in_doubt_ = true; }

  /// Makes later errors name this statement; an empty name ends that.
  void enter_statement(std::string name) { statement_ = std::move(name); }

  /// Error: resource_exhausted if verification has taken more than limits::kVerifySteps since this was made.
  [[nodiscard]] Status check_steps(Location where) const;

 private:
  StepBudget steps_{limits::kVerifySteps};
  const syntax::Program* program_;  // borrowed
  [[nodiscard]] Error make(Location where, std::string message) const;

  ErrorList* errors_;  // borrowed
  std::string statement_;
  mutable std::unordered_set<std::string> excused_;
  bool are_constraints_in_doubt_ = false;
};

/// A declared symbol: an extent or stride that is a single name, a `dim` parameter, or several of these.
struct SymbolInfo {
  std::string name;
  bool is_extent = false, is_stride = false, is_dim = false;
  Location where;

  [[nodiscard]] SymbolKind kind() const {
    return is_extent ? SymbolKind::extent : is_dim ? SymbolKind::dim : SymbolKind::stride;
  }
  [[nodiscard]] bool is_nonnegative() const { return is_extent || is_stride; }
};

/// Names that the parameters declare. The verifier adds statements as it meets them.
class NameTable {
 public:
  enum class Kind : std::uint8_t { unknown, tensor, scalar, symbol, statement };

  /// Reads the parameters. Lists errors: a name that is invalid, reserved, or has two meanings. Returns an error for
  /// too many symbols.
  [[nodiscard]] static Result<NameTable> make(const syntax::Program& program, const Diagnostics& diagnostics);

  [[nodiscard]] Kind kind_of(const std::string& name) const;
  /// Describes a name for messages: "the tensor 'x'".
  [[nodiscard]] std::string describe(const std::string& name) const;
  /// Returns the symbols in the order of declaration, which is that of their indices in every context.
  [[nodiscard]] const std::vector<SymbolInfo>& symbols() const { return symbols_; }
  /// Returns "; did you mean 'B'?" for a name that is almost a symbol's.
  [[nodiscard]] std::string symbol_hint(std::string_view name) const;

  [[nodiscard]] Status add_statement(const std::string& name, Location where, const Diagnostics& diagnostics);

 private:
  Status declare(const std::string& name, Kind kind, Location where, const Diagnostics& diagnostics);
  void declare_symbols(const std::vector<syntax::Dim>& dims, bool strides, const Diagnostics& diagnostics);
  SymbolInfo& symbol(const std::string& name, Location where);

  std::unordered_map<std::string, Kind> kinds_;
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::vector<SymbolInfo> symbols_;
};

}  // namespace padlock::ir
