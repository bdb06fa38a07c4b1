#include "ir/expr/expr.h"

namespace padlock::ir {

namespace {

/// Appends text up to the limit; after that every call returns at once. So the cost follows the limit, not the number
/// of paths through the DAG.
class Printer {
 public:
  Printer(const ExprContext& context, std::size_t limit) : context_(context), limit_(limit) {}

  std::string text(Expr e) {
    print(e);
    if (!full()) return std::move(out_);
    out_.resize(limit_ < 3 ? 0 : limit_ - 3);
    return std::move(out_) + "...";
  }

 private:
  [[nodiscard]] bool full() const { return out_.size() > limit_; }

  void print(Expr e) {
    if (full()) return;
    switch (e.kind()) {
      case ExprKind::constant:
        out_ += padlock::to_string(e.constant());
        break;
      case ExprKind::symbol:
        out_ += context_.symbol(e.symbol()).name;
        break;
      case ExprKind::sum:
        print_sum(e);
        break;
      case ExprKind::product:
        print_joined(e, "*");
        break;
      case ExprKind::floordiv:
        print_joined(e, " floordiv ");
        break;
      case ExprKind::mod:
        print_joined(e, " mod ");
        break;
      case ExprKind::min:
      case ExprKind::max:
        print_call(e);
        break;
    }
  }

  // Prints symbols, calls and literals without a sign bare, all else in parentheses.
  void print_factor(Expr e) {
    const bool bare = e.kind() == ExprKind::symbol || e.kind() == ExprKind::min || e.kind() == ExprKind::max ||
                      (e.is_constant() && e.constant() >= 0);
    if (!bare) out_ += '(';
    print(e);
    if (!bare) out_ += ')';
  }

  // `*`, floordiv and mod have one precedence and are left-associative.
  void print_joined(Expr e, const char* separator) {
    bool first = true;
    for (const Expr operand : e.operands()) {
      if (full()) return;
      if (!first) out_ += separator;
      first = false;
      print_factor(operand);
    }
  }

  void print_call(Expr e) {
    out_ += e.kind() == ExprKind::min ? "min(" : "max(";
    bool first = true;
    for (const Expr operand : e.operands()) {
      if (full()) return;
      if (!first) out_ += ", ";
      first = false;
      print(operand);
    }
    out_ += ')';
  }

  void print_sum(Expr e) {
    const auto terms = e.operands();
    for (std::size_t i = 0; i < terms.size() && !full(); ++i) print_term(terms[i], e.coefficients()[i], i == 0);
    if (e.constant() != 0) print_signed(padlock::to_string(e.constant()), false);
  }

  void print_signed(std::string_view number, bool first) {
    const bool negative = number.starts_with('-');
    out_ += first ? (negative ? "-" : "") : negative ? " - " : " + ";
    out_ += number.substr(negative ? 1 : 0);
  }

  // A leading minus binds tighter than the operators, so "-a mod b" would be (-a) mod b.
  void print_term(Expr term, Int128 coefficient, bool first) {
    const bool unit = coefficient == 1 || coefficient == -1;
    if (!unit) {
      print_signed(padlock::to_string(coefficient), first);
      out_ += '*';
      if (of_symbols(term)) {
        print(term);
      } else {
        print_factor(term);
      }
      return;
    }
    out_ += first ? (coefficient < 0 ? "-" : "") : coefficient < 0 ? " - " : " + ";
    const bool bare = of_symbols(term) || (!(first && coefficient < 0) && term.kind() != ExprKind::sum);
    bare && !(term.is_constant() && term.constant() < 0) ? print(term) : print_factor(term);
  }

  /// Returns whether it is a symbol or a product of symbols: "2*S*T" and "-S*T" read back as the coefficient times the
  /// whole product.
  static bool of_symbols(Expr term) {
    if (term.kind() == ExprKind::symbol) return true;
    if (term.kind() != ExprKind::product) return false;
    for (const Expr factor : term.operands())
      if (factor.kind() != ExprKind::symbol) return false;
    return true;
  }

  const ExprContext& context_;  // borrowed (outlives the printer)
  std::size_t limit_;
  std::string out_;
};

}  // namespace

std::string to_string(const ExprContext& context, Expr e, std::size_t limit) { return Printer(context, limit).text(e); }

std::string brief(const ExprContext& context, Expr e) { return to_string(context, e, 160); }

std::string whole(const ExprContext& context, Expr e) { return to_string(context, e, std::size_t{1} << 20); }

}  // namespace padlock::ir
