#include "tests/compiler/seeded/wrong_kernel.h"

#include <map>

#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

/// Makes the graph of a kernel anew, with one of its kinds of nodes wrong.
class KernelEditor {
 public:
  KernelEditor(Kernel& kernel, Mutation mutation)
      : kernel_(kernel), exprs_(kernel.program->exprs()), mutation_(mutation) {}

  void run() {
    for (NodeId id = 0; id < kernel_.graph.size(); ++id) renamed_[id] = add(kernel_.graph.node(id));
    for (NodeId& root : kernel_.roots) root = renamed_.at(root);
    kernel_.graph = std::move(made_);
  }

 private:
  NodeId add(Node node) {
    std::vector<ConditionId> conditions;
    for (const ConditionId id : kernel_.graph.conditions_of(node.guard))
      conditions.push_back(made_.add(kernel_.graph.condition(id)));
    node.guard = made_.conjunction(std::move(conditions));
    for (NodeId& operand : node.operands) operand = renamed_.at(operand);
    if (node.kind == NodeKind::load) edit_load(node);
    if (mutation_ == pad_fill_moved_through_op && node.kind == NodeKind::operation && node.op == ir::Op::relu)
      if (const Node pad = made_.node(node.operands[0]); pad.kind == NodeKind::when) {
        node.operands = {pad.operands[0]};
        Node moved = pad;
        moved.dtype = node.dtype;
        moved.operands[0] = made_.add(std::move(node));
        return made_.add(std::move(moved));
      }
    return made_.add(std::move(node));
  }

  void edit_load(Node& load) {
    const ir::Layout& layout = kernel_.graph.layout(load.layout);
    std::vector<Expr> extents(layout.extents().begin(), layout.extents().end());
    std::vector<Expr> strides(layout.strides().begin(), layout.strides().end());
    if (mutation_ == load_guard_dropped) load.guard = kAlways;
    if (!extents.empty() && mutation_ == view_extent_doubled)
      extents.back() = exprs_.mul(exprs_.constant(2), extents.back());
    if (!extents.empty() && mutation_ == stride_of_other_tensor)
      strides.front() = exprs_.mul(strides.front(), kernel_.extents[0]);
    for (std::size_t axis = extents.size(); axis-- > 1;) edit_axes(load, axis - 1, extents, strides);
    const bool same = extents == std::vector<Expr>(layout.extents().begin(), layout.extents().end()) &&
                      strides == std::vector<Expr>(layout.strides().begin(), layout.strides().end());
    load.layout = made_.add(same ? layout : ir::Layout(exprs_, extents, strides, layout.offset()));
  }

  /// What makes two axes of a tensor look as if they could be one: no gap between its rows, or rows in their order.
  void edit_axes(Node& load, std::size_t axis, const std::vector<Expr>& extents, std::vector<Expr>& strides) {
    for (int outer = 0; outer + 1 < kernel_.rank(); ++outer) {
      const Expr column = kernel_.coordinate(outer + 1);
      if (load.coordinates[axis + 1] != column || !mentions(load.coordinates[axis], kernel_.coordinate(outer)) ||
          extents[axis + 1] != kernel_.extents[static_cast<std::size_t>(outer + 1)])
        continue;
      if (mutation_ == merged_pitched_axes) strides[axis] = exprs_.mul(strides[axis + 1], extents[axis + 1]);
      const auto affine = affine_in(exprs_, load.coordinates[axis], kernel_.coordinate(outer));
      if (mutation_ == merged_reflected_axes && !(affine && affine->slope == 1))
        load.coordinates[axis] = kernel_.coordinate(outer);
    }
  }

  Kernel& kernel_;
  ir::ExprContext& exprs_;
  Mutation mutation_;
  Graph made_;
  std::map<NodeId, NodeId> renamed_;
};

}  // namespace

void edit_kernel(Kernel& kernel, Mutation mutation) {
  switch (mutation) {
    case pad_fill_moved_through_op:
    case load_guard_dropped:
    case view_extent_doubled:
    case stride_of_other_tensor:
    case merged_pitched_axes:
    case merged_reflected_axes:
      return KernelEditor(kernel, mutation).run();
    default:
      return;
  }
}

}  // namespace padlock::compiler
