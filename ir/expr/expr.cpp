#include "ir/expr/expr.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/expr/congruence.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/interval.h"
#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::ir {

ExprKind Expr::kind() const { return node_->kind; }
Int128 Expr::constant() const { return node_->value; }
std::uint32_t Expr::symbol() const { return node_->symbol; }
std::span<const Expr> Expr::operands() const { return node_->operands; }
std::span<const Int128> Expr::coefficients() const { return node_->coefficients; }
const Range& Expr::range() const { return node_->range; }
const Congruence& Expr::congruence() const { return node_->congruence; }
std::uint32_t Expr::depth() const { return node_->depth; }
std::uint32_t Expr::id() const { return node_->id; }
bool Expr::cannot_overflow() const { return node_->cannot_overflow; }
bool Expr::has_coordinate() const { return node_->coordinates != 0; }
bool Expr::has_data() const { return node_->has_data; }

namespace {

template <class T>
int compare(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Orders symbols first and constants last, so that texts read "S + 1", "2*S*T", "min(S, 8)".
int rank_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::symbol:
      return 0;
    case ExprKind::product:
      return 1;
    case ExprKind::floordiv:
      return 2;
    case ExprKind::mod:
      return 3;
    case ExprKind::min:
      return 4;
    case ExprKind::max:
      return 5;
    case ExprKind::sum:
      return 6;
    case ExprKind::constant:
      return 7;
  }
  return 8;
}

// Coordinates are declared on demand, so they are ordered by axis (the node's value) and not by index.
int symbol_order(Expr a, Expr b) {
  if (a.has_coordinate() != b.has_coordinate()) return a.has_coordinate() ? 1 : -1;
  return a.has_coordinate() ? compare(a.constant(), b.constant()) : compare(a.symbol(), b.symbol());
}

}  // namespace

// Equal expressions are one node, so only the first operands that differ are compared: the walk follows one path and is
// linear. Depths are compared first. Otherwise two long chains of nested statements would differ only at the bottom.
int structural_order(Expr a, Expr b) {
  if (a == b) return 0;
  if (a.kind() != b.kind()) return compare(rank_of(a.kind()), rank_of(b.kind()));
  if (a.kind() == ExprKind::symbol) return symbol_order(a, b);
  if (a.depth() != b.depth()) return compare(a.depth(), b.depth());
  const auto x = a.operands(), y = b.operands();
  std::size_t equal = 0;
  while (equal < std::min(x.size(), y.size()) && x[equal] == y[equal]) ++equal;
  take_steps(1 + equal);
  if (equal < std::min(x.size(), y.size())) return structural_order(x[equal], y[equal]);
  if (x.size() != y.size()) return compare(x.size(), y.size());
  if (a.kind() == ExprKind::sum)
    for (std::size_t i = 0; i < x.size(); ++i)
      if (const int order = compare(a.coefficients()[i], b.coefficients()[i])) return order;
  return compare(a.constant(), b.constant());
}

/// The cost of making a node. A new node costs more than a look-up but counts the same, so that a budget does not
/// depend on earlier expressions of the program.
constexpr std::size_t kStepsOfNode = 4;

struct ExprContext::Store {
  struct Hash {
    std::size_t operator()(const ExprNode* node) const { return hash_of(*node); }
  };
  struct Equal {
    bool operator()(const ExprNode* a, const ExprNode* b) const { return same_structure(*a, *b); }
  };

  mutable std::mutex mutex;  // guards everything below; nodes and symbols never change once added
  std::deque<ExprNode> nodes;
  std::unordered_set<const ExprNode*, Hash, Equal> interned;
  std::deque<Symbol> symbols;
  std::vector<const ExprNode*> symbol_nodes;
  std::unordered_map<std::string_view, std::uint32_t> symbol_by_name;  // keys are views of `symbols`

  // Precondition: the mutex is held.
  const ExprNode* add(ExprNode node) {
    node.id = static_cast<std::uint32_t>(nodes.size());
    return &nodes.emplace_back(std::move(node));
  }
  const ExprNode* add_symbol(Symbol symbol, Int128 axis);
};

const ExprNode* ExprContext::Store::add_symbol(Symbol symbol, Int128 axis) {
  ExprNode node;
  node.kind = ExprKind::symbol;
  node.symbol = static_cast<std::uint32_t>(symbols.size());
  node.value = axis;
  node.has_data = symbol.is_data;
  if (symbol.kind == SymbolKind::coordinate) node.coordinates = std::uint64_t{1} << static_cast<unsigned>(axis % 64);
  symbol.congruence = normalized(symbol.congruence.modulus, symbol.congruence.residue);
  node.congruence = symbol.congruence;
  node.range = tighten(symbol.range, symbol.congruence);
  const Symbol& stored = symbols.emplace_back(std::move(symbol));
  symbol_by_name.emplace(stored.name, node.symbol);
  return symbol_nodes.emplace_back(add(std::move(node)));
}

ExprContext::ExprContext() : store_(std::make_unique<Store>()) {}
ExprContext::~ExprContext() = default;

Expr ExprContext::declare(Symbol symbol) {
  const std::scoped_lock lock(store_->mutex);
  return Expr(store_->add_symbol(std::move(symbol), 0));
}

Expr ExprContext::coordinate(int axis) { return variable(std::to_string(axis), axis); }

Expr ExprContext::variable(std::string_view text, int order, bool is_data) {
  std::string name = fmt::format("${}", text);
  const std::scoped_lock lock(store_->mutex);
  const auto found = store_->symbol_by_name.find(name);
  if (found != store_->symbol_by_name.end()) return Expr(store_->symbol_nodes[found->second]);
  return Expr(store_->add_symbol({std::move(name), SymbolKind::coordinate, {0, Int128{1} << 47}, {}, is_data}, order));
}

std::uint32_t ExprContext::symbol_count() const {
  const std::scoped_lock lock(store_->mutex);
  return static_cast<std::uint32_t>(store_->symbols.size());
}

const Symbol& ExprContext::symbol(std::uint32_t index) const {
  const std::scoped_lock lock(store_->mutex);
  return store_->symbols[index];
}

std::optional<Expr> ExprContext::find_symbol(std::string_view name) const {
  const std::scoped_lock lock(store_->mutex);
  const auto found = store_->symbol_by_name.find(name);
  if (found == store_->symbol_by_name.end()) return std::nullopt;
  return Expr(store_->symbol_nodes[found->second]);
}

Expr ExprContext::intern(ExprNode node) {
  take_steps(kStepsOfNode + 2 * node.operands.size());
  const std::scoped_lock lock(store_->mutex);
  if (const auto found = store_->interned.find(&node); found != store_->interned.end()) return Expr(*found);
  derive_properties(node);
  const ExprNode* stored = store_->add(std::move(node));
  store_->interned.insert(stored);
  return Expr(stored);
}

Expr ExprContext::constant(Int128 value) {
  ExprNode node;
  node.value = value;
  return intern(std::move(node));
}

Expr ExprContext::add(Expr a, Expr b) { return Simplifier::add(*this, a, b, 1); }
Expr ExprContext::sub(Expr a, Expr b) { return Simplifier::add(*this, a, b, -1); }
Expr ExprContext::neg(Expr a) { return Simplifier::scale(*this, a, -1); }
Expr ExprContext::mul(Expr a, Expr b) { return Simplifier::multiply(*this, a, b); }
Expr ExprContext::floordiv(Expr a, Expr b) { return Simplifier::apply(*this, ExprKind::floordiv, a, b); }
Expr ExprContext::ceildiv(Expr a, Expr b) { return neg(floordiv(neg(a), b)); }
Expr ExprContext::mod(Expr a, Expr b) { return Simplifier::apply(*this, ExprKind::mod, a, b); }
Expr ExprContext::min(Expr a, Expr b) { return Simplifier::apply(*this, ExprKind::min, a, b); }
Expr ExprContext::max(Expr a, Expr b) { return Simplifier::apply(*this, ExprKind::max, a, b); }

}  // namespace padlock::ir
