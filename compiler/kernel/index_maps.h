#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/kernel/reshape_groups.h"
#include "ir/expr/constraint.h"
#include "ir/program.h"

// The index map of each operation that moves data: from coordinates of a result's element to those of its operand's
// element. One map serves pads of every sign; nothing is sliced or copied.
namespace padlock::compiler {

/// The element that a pad takes: the operand's at `coordinates` if all `conditions` hold, else the fill.
struct PadMap {
  std::vector<ir::Expr> coordinates;
  std::vector<Condition> conditions;
  /// Expressions that are >= 0 where the element is read: an axis that is repeated is not empty, as binding checks.
  std::vector<ir::Expr> facts = {};
  bool never = false;  ///< provably all fill
};

/// The one or two coordinates, ascending, to which a pad copies an element, if `when` holds.
struct AdjointPiece {
  std::vector<Condition> when;
  std::vector<ir::Expr> coordinates;
};

/// Terms of a pad's adjoint along one axis. If all of `single` hold, the only term is the element at `coordinate`. Else
/// the terms are the elements of the walk, in its order; without a walk there is none.
struct AdjointMap {
  ir::Expr extent;  ///< extent of the operand
  ir::Expr coordinate;
  std::vector<Condition> single;
  std::optional<Walk> walk;  ///< without its variable
  /// Replace the walk if no lap is whole and no element is taken from both sides. The first that applies counts. In
  /// each, neighbours are neighbours of the operand, or their mirror images.
  std::vector<AdjointPiece> ends;
};

/// One axis that is indexed by data: the data coordinate of variable `number` (compiler/kernel/kernel.h: Data), if the
/// conditions hold. An index counts as data below `extent`.
struct TakenAxis {
  ir::Expr coordinate, extent;
  std::vector<Condition> conditions;
};

/// One operand of a concat, or a run of one operand repeated.
struct ConcatPiece {
  ir::ValueId operand = 0;
  ir::Expr coordinate;                ///< on the concat axis
  std::vector<Condition> conditions;  ///< hold for every element of this piece
  std::optional<Condition> below;     ///< separates the piece from all later pieces
};

/// Maps coordinates. `facts`, which include ranges of the output coordinates, serve to leave out conditions that always
/// hold. Borrows the context.
class IndexMaps {
 public:
  IndexMaps(ir::ExprContext& exprs, ir::Facts facts) : exprs_(exprs), facts_(std::move(facts)) {}
  virtual ~IndexMaps() = default;

  virtual PadMap pad(const ir::PadAttributes& pad, const ir::Value& operand, const std::vector<ir::Expr>& coordinates);
  virtual std::vector<ir::Expr> slice(const ir::SliceAttributes& slice, const std::vector<ir::Expr>& coordinates);
  virtual std::vector<ir::Expr> transpose(const ir::TransposeAttributes& transpose,
                                          const std::vector<ir::Expr>& coordinates);
  std::vector<ir::Expr> broadcast(const ir::BroadcastAttributes& broadcast, const ir::Value& operand,
                                  const ir::Value& result, const std::vector<ir::Expr>& coordinates);
  /// NumPy's rule: aligned at the last axis, an axis of extent literally 1 is repeated. `extents`: of the result.
  std::vector<ir::Expr> elementwise(const ir::Value& operand, std::span<const ir::Expr> extents,
                                    std::span<const ir::Expr> coordinates);
  virtual TakenAxis take(ir::Expr number, ir::Expr extent);
  /// `search` has its variables and its extent; the function fills in the rest.
  virtual Search search(Search search);
  /// Both sides have the same elements row by row. In each group, the coordinates of the result are merged into an
  /// element's number, and the number is split into the operand's coordinates. Appends to `facts` what holds if the
  /// coordinates are those of an element.
  std::vector<ir::Expr> reshape(std::span<const ReshapeGroup> groups, const ir::Value& operand, const ir::Value& result,
                                const std::vector<ir::Expr>& coordinates, std::vector<ir::Expr>& facts);
  /// `operand`: of the adjoint, whose result is `result`. Returns one map for each axis.
  std::vector<AdjointMap> pad_adjoint(const ir::PadAttributes& pad, const ir::Value& operand, const ir::Value& result,
                                      const std::vector<ir::Expr>& coordinates);
  /// `operands`: each with its extent on the axis. Provably empty pieces are left out, but never all.
  virtual std::vector<ConcatPiece> concat(const std::vector<std::pair<ir::ValueId, ir::Expr>>& operands,
                                          ir::Expr coordinate);

 protected:
  /// Conditions under which a constant pad's axis holds an element of the operand.
  struct Inside {
    ir::Expr above, below, phase;  ///< >= 0, >= 0, == 0
  };
  virtual Inside inside(ir::Expr i, ir::Expr o, ir::Expr n, ir::Expr period);
  virtual ir::Expr pad_repeating_axis(ir::PadMode mode, ir::Expr i, ir::Expr n);
  /// Returns the number of the element at these coordinates in a row-major tensor of these extents: one group of a
  /// reshape's axes. Appends to `facts` as `reshape`.
  virtual ir::Expr merge(std::span<const ir::Expr> coordinates, std::span<const ir::Expr> extents,
                         std::vector<ir::Expr>& facts);
  /// Returns the coordinates of element `number` of a row-major tensor of these extents.
  virtual std::vector<ir::Expr> split(ir::Expr number, std::span<const ir::Expr> extents);
  void add_element_bounds(ir::Expr number, std::vector<ir::Expr>& facts);
  void add_facts(ir::Expr number, std::span<const ir::Expr> extents, std::vector<ir::Expr>& facts);
  /// One axis of an adjoint: extents n of the result and m of the operand, coordinate j of the result.
  struct AdjointAxis {
    ir::PadMode mode;
    ir::Expr low, high, n, m, j;
  };
  /// Returns the walk over the coordinates whose source is j, in ascending order.
  virtual Walk walk_of(const AdjointAxis& axis);
  [[nodiscard]] virtual std::vector<ir::Expr> single_conditions(const AdjointAxis& axis);
  /// Returns the pieces for coordinates that fail a condition of single_conditions.
  virtual std::vector<AdjointPiece> ends_of(const AdjointAxis& axis);
  virtual ir::Expr repeated(ir::Expr operand_extent, ir::Expr result_extent, ir::Expr coordinate);
  [[nodiscard]] bool in_range(ir::Expr i, ir::Expr n) const;

  ir::ExprContext& exprs_;
  ir::Facts facts_;

 private:
  void pad_constant_axis(PadMap& map, ir::Expr i, ir::Expr o, ir::Expr n, std::int64_t interior);
};

/// Makes the maps for one kernel, which has these facts.
using MakeIndexMaps = std::function<std::unique_ptr<IndexMaps>(ir::ExprContext& exprs, ir::Facts facts)>;

}  // namespace padlock::compiler
