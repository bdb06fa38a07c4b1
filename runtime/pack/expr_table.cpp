#include "runtime/pack/expr_table.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "ir/binding/symbol_binding.h"
#include "runtime/pack/pack_header.h"
#include "support/limits.h"

namespace padlock::runtime {
namespace {

using ir::Expr;
using ir::ExprKind;

/// Recursion is safe up to this depth: a schedule's expressions nest little deeper than the program's.
constexpr std::uint32_t kMaxDepth = 2 * limits::kExprDepth;

class ExprReader {
 public:
  ExprReader(const ir::Program& program, ByteReader& from)
      : program_(program), exprs_(program.exprs()), from_(from), symbols_(ir::symbols_of(program)) {}

  Result<std::vector<Expr>> run() {
    PADLOCK_TRY(const std::size_t count, from_.count());
    made_.reserve(count);
    while (made_.size() < count) {
      PADLOCK_TRY(const Expr e, node());
      if (e.depth() > kMaxDepth) return damaged_pack("an expression is nested too deeply");
      made_.push_back(e);
    }
    return std::move(made_);
  }

 private:
  Result<Expr> node() {
    PADLOCK_TRY(const ExprKind kind, from_.choice(ExprKind::max));
    switch (kind) {
      case ExprKind::constant:
        return constant();
      case ExprKind::symbol:
        return symbol();
      case ExprKind::sum:
        return sum();
      case ExprKind::floordiv:
      case ExprKind::mod:
        return quotient(kind);
      default:
        return joined(kind);
    }
  }

  Result<Expr> constant() {
    PADLOCK_TRY(const Int128 value, from_.number());
    // The only number whose negative does not fit.
    if (value == std::numeric_limits<Int128>::min()) return damaged_pack("a constant is too large");
    return exprs_.constant(value);
  }

  Result<Expr> symbol() {
    PADLOCK_TRY(const std::int64_t index, from_.number(0, std::ssize(symbols_) - 1));
    const auto found = exprs_.find_symbol(symbols_[static_cast<std::size_t>(index)]->name);
    if (!found) return damaged_pack("an unknown symbol");
    return *found;
  }

  /// Returns an expression that was read before.
  Result<Expr> operand() {
    PADLOCK_TRY(const std::int64_t slot, from_.number(0, std::ssize(made_) - 1));
    return made_[static_cast<std::size_t>(slot)];
  }

  Result<Expr> sum() {
    PADLOCK_TRY(const Expr first, constant());
    PADLOCK_TRY(const std::size_t count, from_.count());
    std::vector<Expr> terms = {first};
    for (std::size_t i = 0; i < count; ++i) {
      PADLOCK_TRY(const Expr coefficient, constant());
      PADLOCK_TRY(const Expr term, operand());
      terms.push_back(exprs_.mul(coefficient, term));
    }
    return fold(ExprKind::sum, terms);
  }

  Result<Expr> joined(ExprKind kind) {
    PADLOCK_TRY(const std::size_t count, from_.count());
    if (count == 0) return damaged_pack("an operation has no operands");
    std::vector<Expr> operands;
    for (std::size_t i = 0; i < count; ++i) {
      PADLOCK_TRY(const Expr e, operand());
      operands.push_back(e);
    }
    return fold(kind, operands);
  }

  Result<Expr> quotient(ExprKind kind) {
    PADLOCK_TRY(const Expr a, operand());
    PADLOCK_TRY(const Expr b, operand());
    // Check what the simplifier assumes.
    if (b.range().lo < 1 && !program_.facts().proves_positive(b))
      return damaged_pack(fmt::format("the divisor {} may not be positive", ir::to_string(exprs_, b, 200)));
    return kind == ExprKind::mod ? exprs_.mod(a, b) : exprs_.floordiv(a, b);
  }

  /// Folds by halves, so that a long operation costs little more than its length.
  Expr fold(ExprKind kind, std::span<const Expr> operands) {
    if (operands.size() == 1) return operands[0];
    const Expr a = fold(kind, operands.first(operands.size() / 2));
    const Expr b = fold(kind, operands.subspan(operands.size() / 2));
    switch (kind) {
      case ExprKind::sum:
        return exprs_.add(a, b);
      case ExprKind::product:
        return exprs_.mul(a, b);
      case ExprKind::min:
        return exprs_.min(a, b);
      default:
        return exprs_.max(a, b);
    }
  }

  const ir::Program& program_;
  ir::ExprContext& exprs_;
  ByteReader& from_;
  std::vector<const ir::Symbol*> symbols_;
  std::vector<Expr> made_;
};

void write_node(Expr e, const ir::Order& order, ByteWriter& to) {
  to.number(static_cast<int>(e.kind()));
  const auto operands = e.operands();
  if (e.is_constant()) return to.number(e.constant());
  if (e.kind() == ExprKind::symbol) return to.number(e.symbol());
  if (e.kind() == ExprKind::sum) to.number(e.constant());
  if (e.kind() != ExprKind::floordiv && e.kind() != ExprKind::mod) to.number(static_cast<Int128>(operands.size()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (e.kind() == ExprKind::sum) to.number(e.coefficients()[i]);
    to.number(order.slot(operands[i]));
  }
}

}  // namespace

Result<ir::Order> write_exprs(std::span<const Expr> roots, ByteWriter& to) {
  ir::Order order(roots);
  to.number(static_cast<Int128>(order.nodes.size()));
  for (const Expr e : order.nodes) {
    if (e.has_coordinate()) return internal_error("a launch contract names a coordinate, which is not bound");
    write_node(e, order, to);
  }
  return order;
}

Result<std::vector<Expr>> read_exprs(const ir::Program& program, ByteReader& from) {
  return ExprReader(program, from).run();
}

}  // namespace padlock::runtime
