#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/text/syntax.h"
#include "support/error.h"
#include "support/limits.h"
#include "support/steps.h"

// The first part of verification: the meaning of each name. Internal to the verifier.
namespace padlock::ir {

/// Makes errors that carry a position of the text, or of a built program the statement's name.
class Diagnostics {
 public:
  explicit Diagnostics(const syntax::Program& program) : program_(&program) {}
  [[nodiscard]] std::unexpected<Error> error(Location where, std::string message) const;
  /// Makes the error for something refused for its size (resource_exhausted).
  [[nodiscard]] std::unexpected<Error> too_large(Location where, std::string message) const;
  /// Makes later errors name this statement; empty: none.
  void enter_statement(std::string name) { statement_ = std::move(name); }

  /// Error (resource_exhausted): verification has taken more than limits::kVerifySteps since this was made.
  [[nodiscard]] Status check_steps(Location where) const;

 private:
  StepBudget steps_{limits::kVerifySteps};
  const syntax::Program* program_;  // borrowed
  std::string statement_;
};

/// A symbol as declared: an extent or stride that stands alone, or a `dim` parameter, or several of these.
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

  /// Reads the parameters. Errors: a name that is none, is reserved, or means two things.
  [[nodiscard]] static Result<NameTable> make(const syntax::Program& program, const Diagnostics& diagnostics);

  [[nodiscard]] Kind kind_of(const std::string& name) const;
  /// Describes a name for messages: "the tensor 'x'".
  [[nodiscard]] std::string describe(const std::string& name) const;
  /// The symbols in the order of declaration, which is that of their indices in every context.
  [[nodiscard]] const std::vector<SymbolInfo>& symbols() const { return symbols_; }

  [[nodiscard]] Status add_statement(const std::string& name, Location where, const Diagnostics& diagnostics);

 private:
  Status declare(const std::string& name, Kind kind, Location where, const Diagnostics& diagnostics);
  Status declare_symbols(const std::vector<syntax::Dim>& dims, bool strides, const Diagnostics& diagnostics);
  SymbolInfo& symbol(const std::string& name, Location where);

  std::unordered_map<std::string, Kind> kinds_;
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::vector<SymbolInfo> symbols_;
};

}  // namespace padlock::ir
