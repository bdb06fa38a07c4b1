#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/model/loop_strategy.h"
#include "compiler/schedule/model/turn.h"

// Straight-line code for neighbouring elements, and its loads. Segments whose code differs only in addresses share one
// body.
namespace padlock::compiler {

/// How a load's element moves when the innermost coordinate grows by 1.
enum class LoadKind : std::uint8_t {
  invariant,   ///< the same element
  contiguous,  ///< the next element
  reversed,    ///< the element before
  strided,     ///< `step` elements on
  general,     ///< element `offset` of the tensor, an expression over all coordinates; may have a guard
};

struct BodyLoad {
  LoadKind kind = LoadKind::invariant;
  ir::DType dtype = ir::DType::f32;
  ir::Expr step;                // strided: elements for each step of the innermost coordinate; over symbols
  ir::Expr offset;              // general; in a sum's walks: what the walks add to its source's `base`
  PredicateId guard = kAlways;  // general
  int scope = -1;               ///< index in the body's nodes of the sum whose walks have the load; -1: none
  bool by_data = false;         ///< its element, or its guard, depends on data of the body
};

/// Returns whether the load starts `offset` elements after its source's `base`.
[[nodiscard]] inline bool has_offset(const BodyLoad& load) { return load.offset.valid(); }

/// Returns whether the load's elements are adjacent in memory.
[[nodiscard]] inline bool is_vector(const BodyLoad& load) {
  return load.kind == LoadKind::contiguous || load.kind == LoadKind::reversed;
}

struct BodyNode {
  NodeKind kind = NodeKind::constant;
  ir::DType dtype = ir::DType::f32;
  ir::Op op = ir::Op::relu;
  std::uint64_t bits = 0;
  ir::ValueId scalar = 0;
  int load = 0;                 // load
  ir::Expr index = {};          // index
  PredicateId guard = kAlways;  // when
  std::vector<int> operands = {};
  std::vector<Walk> walks = {};      // sum
  std::vector<ir::Expr> terms = {};  // data (data_of), search (search_of)
  int scope = -1;                    // index in the body's nodes of the innermost sum whose walks have the node; -1:
                                     // none
};

/// Straight-line code for a run of innermost coordinates.
struct Body {
  std::vector<BodyNode> nodes;  // operands first
  std::vector<int> roots;       // one for each result
  std::vector<BodyLoad> loads;
  int lanes = 1;              ///< elements of one vector; 1 for a pointwise body
  bool uses_rows = false;     ///< reads the outer coordinates
  bool is_pointwise = false;  ///< has a predicate, or an index that is not linear in the innermost coordinate
  std::vector<LoopStrategy> strategies;      ///< the first takes any run
  std::vector<Turn> turns = {};              ///< each for runs of enough rows and columns, the widest first
  std::vector<Interleave> interleaves = {};  ///< each for rows of few columns, the fewest first

  /// Returns the type that an operation computes on; the own type of a comparison or a cast is another.
  [[nodiscard]] ir::DType operand_type(const BodyNode& operation) const {
    const std::size_t typed = operation.op == ir::Op::select ? 1 : 0;  // after the condition
    return nodes[static_cast<std::size_t>(operation.operands[typed])].dtype;
  }
};

/// Returns whether the body reads at data's indices, or searches.
[[nodiscard]] inline bool reads_by_data(const Body& body) {
  return std::ranges::any_of(
      body.nodes, [](const BodyNode& node) { return node.kind == NodeKind::data || node.kind == NodeKind::search; });
}

/// Returns whether the body computes with values of coordinates, or has sums.
[[nodiscard]] inline bool reads_indices(const Body& body) {
  return reads_by_data(body) || std::ranges::any_of(body.nodes, [](const BodyNode& node) {
           return node.kind == NodeKind::index || node.kind == NodeKind::sum;
         });
}

/// Returns whether the body has sums (NodeKind::sum).
[[nodiscard]] inline bool has_sums(const Body& body) {
  return std::ranges::find(body.nodes, NodeKind::sum, &BodyNode::kind) != body.nodes.end();
}

/// Returns whether each column has a sum of its own: the walks' ends depend on the column.
[[nodiscard]] inline bool sums_by_column(const Body& body) { return body.lanes == 1 && has_sums(body); }

/// Returns whether the body may write whole cache lines past the caches.
[[nodiscard]] bool has_nontemporal_stores(const Body& body);

/// Returns the node that has a guarded load's value where its guard holds, and a constant elsewhere, if no other node
/// takes the load. It has the load's value if the load is the constant elsewhere.
[[nodiscard]] const BodyNode* fill_of(const Body& body, std::size_t load);

/// Most operations of a vector body. Each loop repeats the body; beyond this there is little to win, and code costs
/// compile time.
inline constexpr std::size_t kMostVectorOperations = 256;
[[nodiscard]] std::size_t operation_count(const Body& body);
[[nodiscard]] bool computes_activation(const Body& body);

/// Returns bytes of the widest element that a body holds in registers. A GPU's thread computes halves without widening.
[[nodiscard]] int widest_bytes(const Body& body, bool for_threads);

/// A load of one segment.
struct LoadSource {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// Coordinates of the element read at an output coordinate, for the proof.
  std::vector<ir::Expr> coordinates;
  /// The element offset at innermost coordinate 0, from which the code starts, over the outer coordinates. 0 for a load
  /// of kind general.
  ir::Expr base;
  /// The recurrence of `base` along the last outer axis (compiler/schedule/cases/row_recurrence.h). `step` is not valid
  /// without a recurrence; `rows` is not valid if the step is the same in all rows.
  ir::Expr step = {}, rows = {};
  std::vector<ir::Expr> facts = {}, read_facts = {};  ///< facts of the load's node
  int reach = -1;                                     ///< of a grid: index in Index32Variant::reaches
};

}  // namespace padlock::compiler
