#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "abi/kernel_abi.h"
#include "ir/expr/expr.h"
#include "ir/layout.h"
#include "ir/program.h"

// A kernel in gather form: for an output coordinate, what is the value? Nodes are interned in a Graph; coordinates and
// conditions are Exprs over the output coordinates $0, $1, ... of the program's context.
namespace padlock::compiler {

using ir::Expr;  // what all of the compiler is about

using NodeId = std::uint32_t;
using ConditionId = std::uint32_t;
using PredicateId = std::uint32_t;

/// `expr >= 0`, or `expr == 0`.
struct Condition {
  enum class Kind : std::uint8_t { nonnegative, zero };
  ir::Expr expr;
  Kind kind = Kind::nonnegative;
};

/// The predicate that is always true: an empty conjunction.
inline constexpr PredicateId kAlways = 0;

enum class NodeKind : std::uint8_t {
  constant,   ///< `bits`
  scalar,     ///< the run-time scalar `value`
  load,       ///< element `coordinates` of tensor `value`, seen through `layout`; executed only where `guard` holds
  when,       ///< operands[0] where `guard` holds, else operands[1]. A node of its own: forwarding may replace a load,
              ///< never the selection between it and the fill
  operation,  ///< `op` of the operands, elementwise
  index,      ///< the value of `coordinates[0]`, as i64
  sum,        ///< of the operands, in their order, over walks (walks_of), the last one innermost: with one accumulator
  data,       ///< no value of its own: gives a variable the number that the operand, an index, names (data_of)
  search,     ///< as i64, what the loop (search_of) leaves in `low`: operands[0] is looked at, at `middle`, operands[1]
              ///< is searched for
};

/// One loop of a sum: its variable goes from `first` as long as it is below `limit`, by `step` and `other` in turn.
/// Neither is below 1, and `first` not below 0; so it lies in [0, limit).
struct Walk {
  ir::Expr variable, first, step, other, limit;
};

/// A data coordinate. The variable is the index and 1 where that lies in [0, extent), compared in the index's own
/// width, else 0: so it lies in [0, extent], whatever was read.
struct Data {
  ir::Expr variable, extent;
};

/// A search's loop: from low = 0 and high = extent, while low < high, what stands at `middle` is looked at, and either
/// `low` becomes `above` or `high` becomes `below`. All three are expressions over low and high.
struct Search {
  ir::Expr variable;  ///< has the value of `middle`
  ir::Expr low, high, extent, middle, above, below;
};

struct Node {
  NodeKind kind = NodeKind::constant;
  ir::DType dtype = ir::DType::f32;
  ir::Op op = ir::Op::relu;
  std::uint64_t bits = 0;
  ir::ValueId value = 0;
  PredicateId guard = kAlways;
  std::vector<ir::Expr> coordinates = {};
  std::uint32_t layout = 0;  // index into Graph::layouts()
  std::vector<NodeId> operands = {};
  /// Expressions that are >= 0 where a load is executed, by the lemma of rows and tiles (docs/proofs.md): a reshape
  /// between it and the result divides the number of an element into coordinates. And the variables of the walks that
  /// it is in.
  std::vector<ir::Expr> facts = {};
  /// Expressions over sizes that are >= 0 where a load is executed, though not wherever its indices are computed: axes
  /// that a pad repeats have an element.
  std::vector<ir::Expr> read_facts = {};
  /// The nodes of the data in its coordinates and its guard: they come before it.
  std::vector<NodeId> data = {};
};

/// A sum's walks, as they stand among its coordinates.
[[nodiscard]] std::vector<Walk> walks_of(const Node& sum);
void append_walk(std::vector<ir::Expr>& coordinates, const Walk& walk);
/// The data of a node of that kind, and the loop of a search, as they stand among its coordinates.
[[nodiscard]] Data data_of(const std::vector<ir::Expr>& coordinates);
[[nodiscard]] Search search_of(const std::vector<ir::Expr>& coordinates);
[[nodiscard]] std::vector<ir::Expr> coordinates_of(const Search& search);
/// Adds the variables of data in an expression.
void add_data(std::vector<ir::Expr>& variables, ir::Expr e);

/// Nodes, conditions and predicates, each interned: equal ones are one. Operands have smaller ids than their users.
class Graph {
 public:
  Graph();

  NodeId add(Node node);
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id]; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

  ConditionId add(const Condition& condition);
  [[nodiscard]] const Condition& condition(ConditionId id) const { return conditions_[id]; }

  /// The conjunction of conditions, in any order, duplicates allowed.
  PredicateId conjunction(std::vector<ConditionId> conditions);
  [[nodiscard]] std::span<const ConditionId> conditions_of(PredicateId id) const { return predicates_[id]; }

  std::uint32_t add(const ir::Layout& layout);
  [[nodiscard]] const ir::Layout& layout(std::uint32_t id) const { return layouts_[id]; }

  /// Nodes of data that is the same in all columns of a row. What they are made of is made once a row, and belongs to
  /// no body.
  void set_row_data(std::vector<NodeId> nodes);
  [[nodiscard]] const std::vector<NodeId>& row_data() const { return row_data_; }
  [[nodiscard]] bool is_row_data(const Node& node) const {
    return node.kind == NodeKind::data && is_row_data(node.coordinates.front());
  }
  [[nodiscard]] bool is_row_data(ir::Expr variable) const;
  /// Returns whether an expression has data that is not.
  [[nodiscard]] bool has_column_data(ir::Expr e) const;

 private:
  std::vector<Node> nodes_;
  std::map<std::vector<std::uint64_t>, NodeId> node_ids_;
  std::vector<Condition> conditions_;
  std::map<std::pair<std::uint32_t, int>, ConditionId> condition_ids_;  // by Expr::id and kind
  std::vector<std::vector<ConditionId>> predicates_;
  std::map<std::vector<ConditionId>, PredicateId> predicate_ids_;
  std::vector<ir::Layout> layouts_;
  std::vector<NodeId> row_data_;
  std::vector<ir::Expr> row_variables_;
};

/// Results of equal extents, computed together.
struct Kernel {
  std::string name;
  const ir::Program* program = nullptr;  // borrowed (outlives the kernel)
  Graph graph;
  std::vector<ir::Expr> extents;  // of the output, row-major and dense; at least one axis
  std::vector<ir::ValueId> results;
  std::vector<NodeId> roots;  // one per result
  /// The variables of its sums' walks, of its searches and of its data, each of which lies in [0, extent). Those of
  /// data of rows stand apart.
  struct WalkVariable {
    ir::Expr variable, extent;
  };
  std::vector<WalkVariable> walk_variables = {}, row_variables = {};
  [[nodiscard]] std::vector<WalkVariable> inner_variables() const;  ///< all of them

  [[nodiscard]] ir::ExprContext& exprs() const { return program->exprs(); }
  [[nodiscard]] int rank() const { return static_cast<int>(extents.size()); }
  [[nodiscard]] ir::Expr extent(int axis) const { return extents[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] ir::Expr coordinate(int axis) const { return exprs().coordinate(axis); }
  [[nodiscard]] ir::Expr column() const { return coordinate(rank() - 1); }  ///< the innermost coordinate
  [[nodiscard]] const ir::Value& result(std::size_t i) const { return program->value(results[i]); }
  [[nodiscard]] bool reads_by_data() const;  ///< has data or a search
  /// Returns whether an expression has an outer coordinate, or data.
  [[nodiscard]] bool mentions_rows(ir::Expr e) const;
  /// Returns the number of the output's element at the outer coordinates and a column.
  [[nodiscard]] ir::Expr element_at(ir::Expr column) const;
};

/// Returns an expression with a value in the place of a symbol.
[[nodiscard]] ir::Expr replaced(ir::ExprContext& exprs, ir::Expr e, ir::Expr symbol, ir::Expr value);

/// Nodes reachable from the roots, users before operands; without those that are reached through data of rows alone.
[[nodiscard]] std::vector<NodeId> users_first(const Graph& graph, std::span<const NodeId> roots);
/// The same with them.
[[nodiscard]] std::vector<NodeId> all_users_first(const Graph& graph, std::span<const NodeId> roots);

/// Prints a walk: ", $walk0 from 0 below N by 1 and 1".
[[nodiscard]] std::string to_string(const ir::ExprContext& exprs, const Walk& walk);
/// Prints a predicate: "always", or its conditions.
[[nodiscard]] std::string to_string(const Kernel& kernel, PredicateId predicate);
/// Text for people and golden tests: one line a node.
[[nodiscard]] std::string to_string(const Kernel& kernel);

}  // namespace padlock::compiler
