#include "ir/verify/verifier.h"

#include "support/limits.h"

#include <ranges>

#include <fmt/format.h>

#include "support/messages/suggestion.h"

namespace padlock::ir {

std::optional<Program> Verifier::run() && {
  ErrorList& errors = diagnostics_.errors();
  errors.note(read_name());
  auto names = NameTable::make(syntax_, diagnostics_);
  if (!errors.note(names)) return std::nullopt;
  names_ = *std::move(names);
  for (const syntax::Statement& statement : syntax_.statements) statement_names_.emplace(statement.name, 0);
  if (!errors.note(declare_symbols())) return std::nullopt;
  for (void (Verifier::* const part)() :
       {&Verifier::add_constraints, &Verifier::add_parameters, &Verifier::add_statements, &Verifier::add_results,
        &Verifier::require_storage})
    if (!errors.is_final()) (this->*part)();
  if (!errors.is_empty()) return std::nullopt;
  return std::move(program_);
}

Status Verifier::read_name() {
  program_.name_ = syntax_.name;
  program_.exprs_ = std::make_unique<ExprContext>();
  program_.facts_ = std::make_unique<Facts>(*program_.exprs_);
  if (syntax_.has_unread_parts || syntax::is_identifier(syntax_.name)) return {};
  return diagnostics_.error(
      {}, fmt::format("expected a name for the program that is not reserved, found '{}'", syntax_.name));
}

Status Verifier::declare_symbols() {
  PADLOCK_TRY(SymbolFacts known, analyze_constraints(syntax_, names_, diagnostics_));
  program_.constraint_texts_ = std::move(known.texts);
  for (std::size_t i = 0; i < names_.symbols().size(); ++i) {
    const SymbolInfo& info = names_.symbols()[i];
    const Range& range = known.ranges[i];
    const Expr symbol = exprs().declare({info.name, info.kind(), range, known.congruences[i]});
    const auto bound = [&](Comparison comparison, Int128 limit, std::string_view side) {
      program_.requirements_.push_back({.kind = Requirement::Kind::bound,
                                        .constraint = {symbol, comparison, exprs().constant(limit)},
                                        .what = fmt::format("{} bound of '{}'", side, info.name),
                                        .where = info.where});
    };
    bound(Comparison::ge, range.lo, "lower");
    bound(Comparison::le, range.hi, "upper");
  }
  return {};
}

void Verifier::add_constraints() {
  for (std::size_t i = 0; i < syntax_.constraints.size(); ++i) {
    const std::string& text = program_.constraint_texts_[i];
    if (text.empty()) continue;  // the constraint has an error, which is listed
    if (!diagnostics_.errors().note(add_constraint(syntax_.constraints[i], text.substr(0, 200))))
      diagnostics_.doubt_constraints();
  }
}

Status Verifier::add_constraint(const syntax::Constraint& stated, const std::string& text) {
  // analyze_constraints has shown that divisors are positive
  const DimBuilder builder(exprs(), names_, diagnostics_);
  const auto shown = [](Expr) { return true; };
  PADLOCK_TRY(const Expr lhs, builder.build(stated.lhs, shown));
  PADLOCK_TRY(const Expr rhs, builder.build(stated.rhs, shown));
  const Constraint constraint{lhs, stated.comparison, rhs};
  for (const Expr side : {lhs, rhs})
    if (side.range().lo > kInt64Max || side.range().hi < kInt64Min)
      return diagnostics_.error(
          stated.where, fmt::format("expected a constraint whose sides fit 64 bits, found {}", brief(exprs(), side)));
  if (spend(constraint) && facts().refutes(constraint))
    return diagnostics_.error(
        stated.where,
        fmt::format("expected constraints that some binding satisfies, found '{}', which none does", text));
  program_.requirements_.push_back({.kind = Requirement::Kind::constraint,
                                    .constraint = constraint,
                                    .what = fmt::format("constraint '{}'", text),
                                    .where = stated.where});
  program_.constraints_.push_back(constraint);
  program_.facts_->add(constraint);
  return {};
}

void Verifier::add_parameters() {
  for (const syntax::Parameter& parameter : syntax_.parameters) {
    if (diagnostics_.errors().is_final()) return;
    const Status added = diagnostics_.errors().note(add_parameter(parameter));
    if (!added || parameter.is_in_error) diagnostics_.excuse(parameter.name);
  }
}

Status Verifier::add_parameter(const syntax::Parameter& parameter) {
  switch (parameter.kind) {
    case syntax::Parameter::Kind::tensor:
      return add_tensor(parameter);
    case syntax::Parameter::Kind::scalar:
      program_.parameter_order_.emplace_back(static_cast<ValueId>(program_.values_.size()));
      program_.scalar_parameters_.push_back(static_cast<ValueId>(program_.values_.size()));
      add_value({.kind = ValueKind::scalar_parameter,
                 .name = parameter.name,
                 .dtype = parameter.dtype,
                 .layout = Layout::dense(exprs(), {}),
                 .where = parameter.where});
      return {};
    case syntax::Parameter::Kind::dim:
      break;
  }
  const auto symbol = exprs().find_symbol(parameter.name);
  if (!symbol) return ErrorList::consequence();  // the name is taken
  program_.parameter_order_.emplace_back(*symbol);
  program_.dim_parameters_.push_back(*symbol);
  return {};
}

Status Verifier::add_tensor(const syntax::Parameter& parameter) {
  if (parameter.extents.size() > limits::kRank)
    return diagnostics_.too_large(parameter.where, fmt::format("expected a tensor of rank at most {}", limits::kRank));
  if (parameter.strides && parameter.strides->size() != parameter.extents.size())
    return diagnostics_.error(parameter.where,
                              fmt::format("expected {} strides of '{}', one for each axis, found {}",
                                          parameter.extents.size(), parameter.name, parameter.strides->size()));
  Program::TensorText text;
  text.states_strides = parameter.strides.has_value();
  PADLOCK_TRY(Layout layout, parameter_layout(parameter, text));
  const auto id = static_cast<ValueId>(program_.values_.size());
  program_.parameter_order_.emplace_back(id);
  program_.tensor_parameters_.push_back(id);
  program_.tensor_texts_.push_back(std::move(text));
  if (parameter.is_in_error) return {};  // its type is unknown
  add_value({.kind = ValueKind::tensor_parameter,
             .name = parameter.name,
             .dtype = parameter.dtype,
             .layout = std::move(layout),
             .where = parameter.where});
  return {};
}

Result<Layout> Verifier::parameter_layout(const syntax::Parameter& parameter, Program::TensorText& text) {
  using Kind = Requirement::Kind;
  auto extents = parameter_dims(parameter.extents, text.extents_declare);
  if (extents) PADLOCK_CHECK(require_nonnegative(parameter, *extents, parameter.extents, Kind::parameter_extent));
  if (!parameter.strides) {
    PADLOCK_CHECK(diagnostics_.all(extents));
    return Layout::dense(exprs(), *std::move(extents));
  }
  auto strides = parameter_dims(*parameter.strides, text.strides_declare);
  PADLOCK_CHECK(diagnostics_.all(extents, strides));
  PADLOCK_CHECK(require_nonnegative(parameter, *strides, *parameter.strides, Kind::parameter_stride));
  return Layout(exprs(), *std::move(extents), *std::move(strides), exprs().constant(0));
}

Result<std::vector<Expr>> Verifier::parameter_dims(const std::vector<syntax::Dim>& dims,
                                                   std::vector<std::uint8_t>& declares) {
  std::vector<Expr> result;
  Status every;
  for (const syntax::Dim& stated : dims) {
    const auto e = dim(stated);
    diagnostics_.collect(every, e);
    if (e) result.push_back(*e);
    declares.push_back(stated.lone_name() != nullptr);
  }
  PADLOCK_CHECK(every);
  return result;
}

Status Verifier::require_nonnegative(const syntax::Parameter& parameter, const std::vector<Expr>& dims,
                                     const std::vector<syntax::Dim>& stated, Requirement::Kind kind) {
  const bool stride = kind == Requirement::Kind::parameter_stride;
  Status every;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    Requirement requirement{
        .kind = kind,
        .constraint = {dims[axis], Comparison::ge, exprs().constant(0)},
        .what = fmt::format("{} of '{}' on axis {}", stride ? "stride" : "extent", parameter.name, axis),
        .where = stated[axis].where()};
    if (stride) requirement.parameter = static_cast<int>(program_.values_.size());
    if (stride) requirement.axis = static_cast<int>(axis);
    diagnostics_.collect(every, require(std::move(requirement)));
  }
  return every;
}

void Verifier::add_value(Value value) {
  program_.index_.emplace(value.name, static_cast<ValueId>(program_.values_.size()));
  program_.values_.push_back(std::move(value));
}

Result<ValueId> Verifier::size_value(DType dtype, Expr size, Location where) {
  // "i64(3)" would be parsed as a literal, so a constant size is printed as an expression.
  std::string name = fmt::format("{}({}{})", name_of(dtype), whole(exprs(), size), size.is_constant() ? " + 0" : "");
  if (const auto known = find(name)) return *known;
  const auto require_bound = [&](Comparison comparison, Int128 bound) {
    return require({.kind = Requirement::Kind::statement,
                    .constraint = {size, comparison, exprs().constant(bound)},
                    .what = fmt::format("value of '{}'", name),
                    .where = where});
  };
  PADLOCK_CHECK(require_bound(Comparison::ge, kInt64Min));
  PADLOCK_CHECK(require_bound(Comparison::le, kInt64Max));
  const auto id = static_cast<ValueId>(program_.values_.size());
  add_value({.kind = ValueKind::size,
             .name = std::move(name),
             .dtype = dtype,
             .layout = Layout::dense(exprs(), {}),
             .size = size,
             .where = where});
  return id;
}

Result<Expr> Verifier::dim(const syntax::Dim& stated) const {
  const DimBuilder builder(exprs(), names_, diagnostics_);
  const auto positive = [this](Expr divisor) {
    if (divisor.range().lo > 0) return true;
    const auto [known, is_new] = positive_.try_emplace(divisor.id(), false);
    if (is_new) known->second = facts().proves_positive(divisor);
    return known->second;
  };
  PADLOCK_TRY(const Expr e, builder.build(stated, positive));
  if (e.range().lo > kInt64Max || e.range().hi < kInt64Min)
    return diagnostics_.error(stated.where(),
                              fmt::format("expected a value that fits 64 bits, found {}", brief(exprs(), e)));
  return e;
}

std::string Verifier::value_hint(std::string_view name) const {
  return did_you_mean(name, program_.values_ | std::views::transform(&Value::name));
}

bool Verifier::is_later_statement(const std::string& name) const {
  return statement_names_.contains(name) && !program_.index_.contains(name);
}

// If intervals do not answer a question, it costs a search over the constraints: about 0.3 ms, and more with more
// constraints and terms. A budget keeps the verification of a program with thousands of them within about a second.
// Beyond it, binding checks what could have been shown, which is sound.
bool Verifier::spend(const Constraint& question) {
  constexpr std::size_t kProofBudget = 1600;
  const std::size_t terms = question.lhs.operands().size() + question.rhs.operands().size();
  spent_ += (1 + program_.constraints_.size() / 85) * (1 + terms / 4);
  return spent_ <= kProofBudget;
}

Status Verifier::check_extents(const syntax::Statement& statement, const std::vector<Expr>& extents) const {
  for (const Expr extent : extents) {
    if (extent.depth() > limits::kExprDepth)
      return diagnostics_.too_large(
          statement.where,
          fmt::format("expected extents at most {} operators deep, found deeper ones in statement '{}'",
                      limits::kExprDepth, statement.name));
    if (extent.operands().size() > limits::kOperands)
      return diagnostics_.too_large(statement.where,
                                    fmt::format("expected extents of at most {} terms, found {} in statement '{}'",
                                                limits::kOperands, extent.operands().size(), statement.name));
  }
  return diagnostics_.check_steps(statement.where);
}

std::optional<bool> Verifier::decide(const Constraint& constraint) {
  const auto& [lhs, comparison, rhs] = constraint;
  const Range difference = exprs().sub(lhs, rhs).range();
  if (comparison == Comparison::le && difference.hi <= 0) return true;
  if (comparison == Comparison::ge && difference.lo >= 0) return true;
  if (comparison == Comparison::lt && difference.hi < 0) return true;
  if (lhs == rhs && comparison == Comparison::eq) return true;
  const auto [known, is_new] = decided_.try_emplace({lhs.id(), comparison, rhs.id()});
  if (!is_new || !spend(constraint)) return known->second;
  if (facts().refutes(constraint)) return known->second = false;
  if (spend(constraint) && facts().proves(constraint)) known->second = true;
  return known->second;
}

Status Verifier::require(Requirement requirement) {
  PADLOCK_CHECK(diagnostics_.check_steps(requirement.where));
  const auto& [lhs, comparison, rhs] = requirement.constraint;
  const std::optional<bool> holds = decide(requirement.constraint);
  if (holds == true) return {};
  if (holds == false) {
    const std::string left = brief(exprs(), lhs), right = brief(exprs(), rhs);
    return diagnostics_.error(
        requirement.where,
        comparison == Comparison::eq
            ? fmt::format("expected equal {}, found {} and {}", requirement.what, left, right)
            : fmt::format("expected {} {} {}, found {}", requirement.what, name_of(comparison), right, left));
  }
  // Of two equal requirements the first fails, so the second is left out. A stride's requirement is not always checked,
  // so it is kept.
  const bool stride = requirement.kind == Requirement::Kind::parameter_stride;
  if (!stride && !required_.emplace(lhs.id(), comparison, rhs.id()).second) return {};
  if (!statement_.empty()) requirement.what += fmt::format(" (statement '{}')", statement_);
  program_.requirements_.push_back(std::move(requirement));
  return {};
}

void Verifier::add_statements() {
  for (const syntax::Statement& statement : syntax_.statements) {
    if (diagnostics_.errors().is_final()) return;
    statement_ = statement.name;
    diagnostics_.enter_statement(statement.name);
    // The name is checked first, so that later statements can use it even if this one has an error.
    const Status named = names_.add_statement(statement.name, statement.where, diagnostics_);
    auto value = verify_statement(*this, statement);
    if (diagnostics_.all(named, value))
      add_value(*std::move(value));
    else if (!find(statement.name))
      diagnostics_.excuse(statement.name);
  }
  statement_.clear();
  diagnostics_.enter_statement({});
}

void Verifier::add_results() {
  if (syntax_.results.empty() && !syntax_.has_unread_parts)
    diagnostics_.errors().note(Status(diagnostics_.error({}, "expected at least one result")));
  std::set<std::string> seen;
  for (const auto& [name, where] : syntax_.results) {
    if (diagnostics_.errors().is_final()) return;
    Status added = add_result(name, where);
    if (added && !seen.insert(name).second)
      added = diagnostics_.error(where, fmt::format("expected results that differ, found '{}' again", name));
    diagnostics_.errors().note(added);
  }
}

Status Verifier::add_result(const std::string& name, Location where) {
  if (diagnostics_.is_excused(name)) return ErrorList::consequence();
  if (names_.kind_of(name) == NameTable::Kind::unknown)
    return diagnostics_.unknown_name(
        name, where, fmt::format("expected a tensor, found the unknown name '{}'{}", name, value_hint(name)));
  const auto id = find(name);
  if (!id || value(*id).kind == ValueKind::scalar_parameter)
    return diagnostics_.error(where, fmt::format("expected a tensor, found {}", names_.describe(name)));
  program_.results_.push_back(*id);
  return {};
}

// A value computed from a tensor that is too large is too large as well, so only the first statement is reported.
void Verifier::require_storage() {
  bool is_one_too_large = false;
  for (ValueId id = 0; id < program_.values_.size(); ++id) {
    const Value& tensor = program_.values_[id];
    if (tensor.kind == ValueKind::scalar_parameter || tensor.kind == ValueKind::size) continue;
    const Expr bytes = exprs().mul(tensor.layout.storage_extent(), exprs().constant(byte_size(tensor.dtype)));
    const bool is_statement = tensor.kind == ValueKind::operation;
    const Status fits = require({.kind = Requirement::Kind::storage,
                                 .constraint = {bytes, Comparison::lt, exprs().constant(kMaxStorageBytes)},
                                 .what = fmt::format("bytes of {}'{}'", is_statement ? "statement " : "", tensor.name),
                                 .where = tensor.where,
                                 .parameter = static_cast<int>(id)});
    if (!fits && is_statement && is_one_too_large) continue;
    is_one_too_large = !diagnostics_.errors().note(fits) || is_one_too_large;
    if (diagnostics_.errors().is_final()) return;
  }
}

std::optional<ValueId> Program::find(std::string_view name) const {
  const auto found = index_.find(std::string(name));
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

}  // namespace padlock::ir
