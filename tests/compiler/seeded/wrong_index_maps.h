#pragma once

#include "compiler/kernel/index_maps.h"
#include "tests/compiler/seeded/mutation.h"

namespace padlock::compiler {

/// The product's index maps with the mutation's one wrong formula. Unchanged for every other mutation.
class WrongIndexMaps final : public IndexMaps {
 public:
  WrongIndexMaps(ir::ExprContext& exprs, ir::Facts facts, Mutation mutation)
      : IndexMaps(exprs, std::move(facts)), mutation_(mutation) {}

  PadMap pad(const ir::PadAttributes& pad, const ir::Value& operand, const std::vector<ir::Expr>& coordinates) override;
  std::vector<ir::Expr> slice(const ir::SliceAttributes& slice, const std::vector<ir::Expr>& coordinates) override;
  std::vector<ir::Expr> transpose(const ir::TransposeAttributes& transpose,
                                  const std::vector<ir::Expr>& coordinates) override;
  std::vector<ConcatPiece> concat(const std::vector<std::pair<ir::ValueId, ir::Expr>>& operands,
                                  ir::Expr coordinate) override;

 protected:
  ir::Expr merge(std::span<const ir::Expr> coordinates, std::span<const ir::Expr> extents,
                 std::vector<ir::Expr>& facts) override;
  std::vector<ir::Expr> split(ir::Expr number, std::span<const ir::Expr> extents) override;
  Inside inside(ir::Expr i, ir::Expr o, ir::Expr n, ir::Expr period) override;
  ir::Expr pad_repeating_axis(ir::PadMode mode, ir::Expr i, ir::Expr n) override;
  Walk walk_of(const AdjointAxis& axis) override;
  [[nodiscard]] std::vector<ir::Expr> single_conditions(const AdjointAxis& axis) override;
  std::vector<AdjointPiece> ends_of(const AdjointAxis& axis) override;
  ir::Expr repeated(ir::Expr operand_extent, ir::Expr result_extent, ir::Expr coordinate) override;

 private:
  [[nodiscard]] bool is(Mutation mutation) const { return mutation_ == mutation; }

  Mutation mutation_;
};

}  // namespace padlock::compiler
