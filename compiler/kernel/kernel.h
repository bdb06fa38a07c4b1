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

using ir::Expr;  // used in all of the compiler

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
  when,       ///< operands[0] where `guard` holds, else operands[1]. A node of its own, since forwarding may replace a
              ///< load, but never the selection between load and fill
  operation,  ///< `op` of the operands, elementwise
  index,      ///< the value of `coordinates[0]`, as i64
  sum,        ///< sum of the operands, in order, over walks (walks_of), the last one innermost; has one accumulator
  data,       ///< has no value of its own: sets a variable from the operand, an index (data_of)
  search,     ///< as i64, the value of `low` after the loop (search_of): compares operands[0], at `middle`, with
              ///< operands[1], the value sought
};

/// One loop of a sum: its variable goes from `first` while below `limit`, by `step` and `other` in turn. Both steps are
/// >= 1 and `first` >= 0, so the variable lies in [0, limit).
struct Walk {
  ir::Expr variable, first, step, other, limit;
};

/// A data coordinate. The variable is index + 1 if the index lies in [0, extent), compared in the index's own width,
/// else 0. So it lies in [0, extent], whatever was read.
struct Data {
  ir::Expr variable, extent;
};

/// A search's loop, from low = 0 and high = extent, while low < high. It looks at the element at `middle`; then either
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
  /// Expressions that are >= 0 where a load is executed, by the lemma of rows and tiles (docs/proofs.md): a reshape on
  /// the way to the result divides an element's number into coordinates. Also the variables of the walks around the
  /// load.
  std::vector<ir::Expr> facts = {};
  /// Expressions over sizes that are >= 0 where a load is executed, but not everywhere its indices are computed: an
  /// axis that a pad repeats has an element.
  std::vector<ir::Expr> read_facts = {};
  /// The data nodes in its coordinates and its guard; they come before it.
  std::vector<NodeId> data = {};
};

/// Returns a sum's walks, which are stored among its coordinates.
[[nodiscard]] std::vector<Walk> walks_of(const Node& sum);
void append_walk(std::vector<ir::Expr>& coordinates, const Walk& walk);
/// Return the data of a data node and the loop of a search, which are stored among their coordinates.
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

  /// Notes data that is the same in all columns of a row. Its operands are computed once a row, and belong to no body.
  void set_row_data(std::vector<NodeId> nodes);
  [[nodiscard]] const std::vector<NodeId>& row_data() const { return row_data_; }
  [[nodiscard]] bool is_row_data(const Node& node) const {
    return node.kind == NodeKind::data && is_row_data(node.coordinates.front());
  }
  [[nodiscard]] bool is_row_data(ir::Expr variable) const;
  /// Returns whether an expression has data that differs between columns.
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
  std::vector<ir::Expr> extents;  // extents of the output, which is row-major and dense; at least one axis
  std::vector<ir::ValueId> results;
  std::vector<NodeId> roots;  // one per result
  /// The variables of sums' walks, of searches and of data, each in [0, extent). Data of rows is apart.
  struct WalkVariable {
    ir::Expr variable, extent;
  };
  std::vector<WalkVariable> walk_variables = {}, row_variables = {};
  [[nodiscard]] std::vector<WalkVariable> inner_variables() const;  ///< walks, searches and data

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

/// Returns an expression with `symbol` replaced by `value`.
[[nodiscard]] ir::Expr replaced(ir::ExprContext& exprs, ir::Expr e, ir::Expr symbol, ir::Expr value);

/// Lists the nodes reachable from the roots, users before operands, without those reached only through data of rows.
[[nodiscard]] std::vector<NodeId> users_first(const Graph& graph, std::span<const NodeId> roots);
/// Lists all reachable nodes, users before operands, data of rows included.
[[nodiscard]] std::vector<NodeId> all_users_first(const Graph& graph, std::span<const NodeId> roots);

/// Prints a walk: ", $walk0 from 0 below N by 1 and 1".
[[nodiscard]] std::string to_string(const ir::ExprContext& exprs, const Walk& walk);
/// Prints a predicate: "always", or its conditions.
[[nodiscard]] std::string to_string(const Kernel& kernel, PredicateId predicate);
/// Prints a kernel for people and golden tests: one line a node.
[[nodiscard]] std::string to_string(const Kernel& kernel);

}  // namespace padlock::compiler
