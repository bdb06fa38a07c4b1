#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "support/steps.h"

// Topological order of expressions, for the sources that walk their DAG.
namespace padlock::ir {

/// All nodes below the roots, each once, operands before their users (by id), and the slot of each.
struct Order {
  std::vector<Expr> nodes;
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of;  // keys are ids

  explicit Order(std::span<const Expr> roots) {
    std::vector<Expr> pending;
    const auto visit = [&](Expr e) {
      if (slot_of.try_emplace(e.id(), 0).second) pending.push_back(e);
    };
    for (const Expr root : roots) visit(root);
    while (!pending.empty()) {
      const Expr e = pending.back();
      pending.pop_back();
      nodes.push_back(e);
      take_steps(3 + e.operands().size());
      for (const Expr operand : e.operands()) visit(operand);
    }
    std::ranges::sort(nodes, {}, &Expr::id);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) slot_of[nodes[i].id()] = i;
  }
  [[nodiscard]] std::uint32_t slot(Expr e) const { return slot_of.at(e.id()); }
};

}  // namespace padlock::ir
