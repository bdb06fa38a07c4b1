#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

namespace padlock::ir {

// An Expr is an integer expression over symbols. It is interned: within one ExprContext equal expressions have equal
// handles. Every expression is in canonical form (below), so equal polynomials are equal handles. One Expr is evaluated
// for allocation, emitted for indexing, proved and printed; no other code may compute a size or an address.
//
// Canonical form. A sum is  c0 + c1*t1 + ... + ck*tk  with non-zero literal coefficients and distinct terms, none of
// which is a constant or a sum. A product is a sorted list of factors (a power repeats its factor), none of which is a
// constant, a product or a sum. Operands are sorted by `structural_order`, which does not depend on the order of
// creation: two contexts with the same symbols print the same text.
//
// Simplifying may remove an overflow and never adds one. Only the value of a sum must fit, not its partial sums, so
// sums are always flattened. Products are distributed up to 64 terms, and only if the ranges show that no partial
// result leaves 126 bits; otherwise a product has sums as factors. If a literal coefficient would not fit in 128 bits,
// a sum has sums or constants as terms ("opaque" operands).

enum class ExprKind : std::uint8_t {
  constant,  ///< value
  symbol,    ///< symbol index
  sum,       ///< value + sum of coefficients[i] * operands[i]
  product,   ///< product of operands
  floordiv,  ///< operands[0] / operands[1], rounded to minus infinity; the divisor is > 0
  mod,       ///< operands[0] mod operands[1], in [0, operands[1]); the divisor is > 0
  min,
  max,
};

/// Inclusive bounds of a value. An unknown side is kMin or kMax, to which arithmetic saturates.
struct Range {
  static constexpr Int128 kMin = -(Int128{1} << 126);
  static constexpr Int128 kMax = Int128{1} << 126;

  Int128 lo = kMin;
  Int128 hi = kMax;

  [[nodiscard]] bool bounded() const { return lo > kMin && hi < kMax; }
  [[nodiscard]] bool contains(Int128 v) const { return lo <= v && v <= hi; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// States that a value is `residue` modulo `modulus`, 0 <= residue < modulus. Modulus 0: it is the constant `residue`.
/// Modulus 1: nothing is known.
struct Congruence {
  std::int64_t modulus = 1;
  std::int64_t residue = 0;
  friend bool operator==(const Congruence&, const Congruence&) = default;
};

enum class SymbolKind : std::uint8_t {
  extent,      ///< bound from a tensor's extent; >= 0
  stride,      ///< bound from a tensor's stride; >= 0
  dim,         ///< a run-time integer parameter; any sign
  coordinate,  ///< an output coordinate of a kernel; not bound, ranges over an axis
};

struct Symbol {
  std::string name;
  SymbolKind kind = SymbolKind::extent;
  Range range;
  Congruence congruence;
  bool is_data = false;  ///< a coordinate read from a tensor's data
};

struct ExprNode;
class ExprContext;

/// A handle: one pointer, borrowed from the ExprContext that made it (which outlives it). Copy freely.
class Expr {
 public:
  Expr() = default;
  [[nodiscard]] bool valid() const { return node_ != nullptr; }
  [[nodiscard]] ExprKind kind() const;
  [[nodiscard]] bool is_constant() const { return kind() == ExprKind::constant; }
  [[nodiscard]] bool is_constant(Int128 v) const { return is_constant() && constant() == v; }
  /// The value of a constant, or the constant summand of a sum.
  [[nodiscard]] Int128 constant() const;
  /// The index of a symbol. Precondition: kind() == symbol.
  [[nodiscard]] std::uint32_t symbol() const;
  [[nodiscard]] std::span<const Expr> operands() const;
  /// The coefficients of a sum, one per operand. Precondition: kind() == sum.
  [[nodiscard]] std::span<const Int128> coefficients() const;
  /// Range and congruence are computed once, at creation, from those of the symbols.
  [[nodiscard]] const Range& range() const;
  [[nodiscard]] const Congruence& congruence() const;
  /// Nesting depth (1 for a leaf). Recursive walks are safe because the verifier bounds it.
  [[nodiscard]] std::uint32_t depth() const;
  /// Creation number within the context: operands have smaller ids than their users (a topological order).
  [[nodiscard]] std::uint32_t id() const;
  /// Returns whether the ranges show that evaluation overflows for no admissible values of its symbols.
  [[nodiscard]] bool cannot_overflow() const;
  /// Returns whether it contains a coordinate symbol.
  [[nodiscard]] bool has_coordinate() const;
  /// Returns whether one of its coordinates is data.
  [[nodiscard]] bool has_data() const;
  /// The node behind the handle (expr_node.h), for the sources that make expressions.
  [[nodiscard]] const ExprNode& node() const { return *node_; }

  friend bool operator==(Expr a, Expr b) { return a.node_ == b.node_; }

 private:
  friend class ExprContext;
  explicit Expr(const ExprNode* node) : node_(node) {}
  const ExprNode* node_ = nullptr;
};

/// Compares two expressions of one context: -1, 0 or 1, independent of creation order.
[[nodiscard]] int structural_order(Expr a, Expr b);

/// Owns and makes expressions. Thread-safe: making locks, and nodes are immutable. Not copyable, because handles point
/// into it.
class ExprContext {
 public:
  ExprContext();
  ~ExprContext();
  ExprContext(const ExprContext&) = delete;
  ExprContext& operator=(const ExprContext&) = delete;

  /// Declares a symbol. Its range and congruence hold for every value it is ever evaluated with: binding checks them
  /// first. Precondition: the name is new, the range not empty.
  Expr declare(Symbol symbol);
  /// Returns output coordinate number `axis` of a kernel, "$0" and so on, in [0, 2^47]; the same handle each time.
  Expr coordinate(int axis);
  /// Returns a variable of a schedule (the start of a segment, a lane), "$name", otherwise like a coordinate. `order`,
  /// distinct and above every axis, places it among the coordinates of a canonical form.
  Expr variable(std::string_view name, int order, bool is_data = false);
  [[nodiscard]] std::uint32_t symbol_count() const;
  [[nodiscard]] const Symbol& symbol(std::uint32_t index) const;
  [[nodiscard]] std::optional<Expr> find_symbol(std::string_view name) const;

  Expr constant(Int128 value);
  Expr add(Expr a, Expr b);
  Expr sub(Expr a, Expr b);
  Expr mul(Expr a, Expr b);
  Expr neg(Expr a);
  /// Precondition of the next three: b is positive for every binding (the verifier has shown it).
  Expr floordiv(Expr a, Expr b);
  Expr ceildiv(Expr a, Expr b);  ///< -((-a) floordiv b)
  Expr mod(Expr a, Expr b);
  Expr min(Expr a, Expr b);
  Expr max(Expr a, Expr b);

  /// Replaces each symbol s by `map(s)` where that is a valid expression. Cost: linear in the DAG.
  template <class Map>
  Expr substitute(Expr e, Map&& map) {
    return substitute_impl(
        e, [](void* m, Expr s) { return (*static_cast<std::remove_reference_t<Map>*>(m))(s); },
        const_cast<void*>(static_cast<const void*>(std::addressof(map))));
  }

 private:
  friend class Simplifier;
  Expr substitute_impl(Expr e, Expr (*map)(void*, Expr), void* state);
  Expr rebuild(Expr node, std::span<const Expr> operands, Expr (*map)(void*, Expr), void* state);
  Expr intern(ExprNode node);

  struct Store;
  std::unique_ptr<Store> store_;
};

/// Evaluates an expression with checked arithmetic. `values[i]` is the value of symbol i. Intermediates have 128 bits
/// (absolute values below 2^127); a product with a zero factor is 0 whatever the other factors are. Error:
/// invalid_argument, which names the expression, if an intermediate overflows 128 bits or a divisor is not positive. An
/// ExprTape evaluates an expression repeatedly at lower cost.
[[nodiscard]] Result<Int128> evaluate(const ExprContext& context, Expr e, std::span<const std::int64_t> values);
/// Evaluates an expression whose result must fit in 64 bits, as every stated expression must; else as `evaluate`.
[[nodiscard]] Result<std::int64_t> evaluate_int64(const ExprContext& context, Expr e,
                                                  std::span<const std::int64_t> values);

/// Returns the bounds of an expression when symbol i ranges over ranges[i] instead of its declared range.
[[nodiscard]] Range range_over(const ExprContext& context, Expr e, std::span<const Range> ranges);

/// Prints an expression in the language's own syntax; parsing the text gives the same handle back. Text longer than
/// `limit` characters is cut with "..." (unlike the DAG, text can be exponential in size).
[[nodiscard]] std::string to_string(const ExprContext& context, Expr e, std::size_t limit = 4096);
/// Prints an expression for messages: long text is cut.
[[nodiscard]] std::string brief(const ExprContext& context, Expr e);
/// Prints an expression as canonical text, uncut. A stated expression is a tree, so its text is about as long as its
/// source.
[[nodiscard]] std::string whole(const ExprContext& context, Expr e);

}  // namespace padlock::ir
