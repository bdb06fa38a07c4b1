#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ir/program.h"
#include "ir/verify/verify_constraints.h"
#include "ir/verify/verify_dims.h"
#include "ir/verify/verify_symbols.h"

// The program under construction, and the functions that the rules of operations call. Internal to the verifier.
namespace padlock::ir {

/// Makes one Program, as its only friend.
class Verifier {
 public:
  /// Borrows both.
  Verifier(const syntax::Program& syntax, ErrorList& errors) : syntax_(syntax), diagnostics_(syntax, errors) {}

  /// Lists the errors. Returns the program if there are none.
  [[nodiscard]] std::optional<Program> run() &&;

  [[nodiscard]] ExprContext& exprs() const { return *program_.exprs_; }
  [[nodiscard]] const Facts& facts() const { return *program_.facts_; }
  [[nodiscard]] const std::vector<Constraint>& constraints() const { return program_.constraints_; }
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const NameTable& names() const { return names_; }
  [[nodiscard]] const Value& value(ValueId id) const { return program_.values_[id]; }
  [[nodiscard]] std::optional<ValueId> find(const std::string& name) const { return program_.find(name); }
  [[nodiscard]] bool is_later_statement(const std::string& name) const;
  /// Returns "; did you mean 'x'?" for a name that is almost a value's.
  [[nodiscard]] std::string value_hint(std::string_view name) const;

  /// Builds a stated expression. Errors: those of DimBuilder; and a value that fits in 64 bits for no binding.
  [[nodiscard]] Result<Expr> dim(const syntax::Dim& dim) const;

  /// Adds a requirement unless it is shown to hold. Error at `where` if it fails for every binding. `what` describes
  /// it; within a statement the statement's name is added.
  [[nodiscard]] Status require(Requirement requirement);

  /// Error: resource_exhausted, naming the statement, for extents that are too deep or too long, or for too many steps.
  [[nodiscard]] Status check_extents(const syntax::Statement& statement, const std::vector<Expr>& extents) const;

  /// Returns the value of rank 0 for a size, and makes it if there is none. Invalidates references to values. Error: a
  /// size that fits in 64 bits for no binding.
  [[nodiscard]] Result<ValueId> size_value(DType dtype, Expr size, Location where);

  /// The current statement's name.
  [[nodiscard]] const std::string& statement() const { return statement_; }

 private:
  // Each lists its errors, and stops once the list is final.
  Status read_name();
  Status declare_symbols();
  void add_constraints();
  Status add_constraint(const syntax::Constraint& stated, const std::string& text);
  void add_parameters();
  Status add_parameter(const syntax::Parameter& parameter);
  Status add_tensor(const syntax::Parameter& parameter);
  void add_statements();
  void add_results();
  Status add_result(const std::string& name, Location where);
  void require_storage();
  Result<Layout> parameter_layout(const syntax::Parameter& parameter, Program::TensorText& text);
  Result<std::vector<Expr>> parameter_dims(const std::vector<syntax::Dim>& dims, std::vector<std::uint8_t>& declares);
  Status require_nonnegative(const syntax::Parameter& parameter, const std::vector<Expr>& dims,
                             const std::vector<syntax::Dim>& stated, Requirement::Kind kind);
  void add_value(Value value);
  /// Returns true if a constraint is shown to hold for every binding, false if for none, else nullopt. Spends from
  /// kProofBudget.
  std::optional<bool> decide(const Constraint& constraint);
  bool spend(const Constraint& question);

  const syntax::Program& syntax_;
  Diagnostics diagnostics_;
  NameTable names_;
  Program program_;
  std::string statement_;
  std::unordered_map<std::string, std::size_t> statement_names_;
  std::size_t spent_ = 0;  // part of kProofBudget used
  using Key = std::tuple<std::uint32_t, Comparison, std::uint32_t>;
  std::map<Key, std::optional<bool>> decided_;  // answers under all constraints
  std::set<Key> required_;
  mutable std::unordered_map<std::uint32_t, bool> positive_;  // whether each divisor is positive; keys are Expr::id
};

/// Turns one statement into a Value: arguments, types, shapes and requirements (verify_operations.cpp).
[[nodiscard]] Result<Value> verify_statement(Verifier& verifier, const syntax::Statement& statement);

}  // namespace padlock::ir
