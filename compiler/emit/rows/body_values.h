#pragma once

#include <map>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Emits the values of a body's nodes, each from those of its operands, for any target and any number of lanes.
class BodyValues {
 public:
  /// One of each node; null where it has none yet.
  using Values = std::vector<llvm::Value*>;
  /// Emits what a node takes from outside of the body, where the builder stands.
  struct Source {
    /// A vector of the lanes, or a scalar that all of them share.
    llvm::function_ref<llvm::Value*(const BodyNode& node)> load;
    /// The first of two operands where the node's predicate holds. Without it the predicate is tested, once for all
    /// lanes.
    llvm::function_ref<llvm::Value*(const BodyNode& node, llvm::Value* value, llvm::Value* other)> choose = nullptr;
    /// emit_index of the first lane. Without it the expressions have its coordinates.
    llvm::function_ref<llvm::Value*(const BodyNode& node)> index = nullptr;
  };

  /// Loads the body's scalars where the builder stands. All borrowed.
  BodyValues(const KernelContext& context, const Body& body, llvm::IRBuilder<>& builder, const LaunchFields& fields,
             ExprEmitter& exprs);

  struct Invariants {
    Values scalars, vectors;
  };
  /// Emits the nodes that are the same in all columns of a row, and vectors of them; the others have no value.
  [[nodiscard]] Invariants invariants(int lanes, const Source& source);
  /// Emits the nodes that have no value yet.
  void emit(int lanes, const Source& source, Values& values) { emit_scope(-1, lanes, source, values); }
  /// Returns a vector of a scalar in all lanes, or a vector as it is.
  [[nodiscard]] llvm::Value* spread(llvm::Value* value, int lanes);

 private:
  void emit_scope(int scope, int lanes, const Source& source, Values& values);
  [[nodiscard]] llvm::Value* emit_node(const BodyNode& node, int lanes, const Source& source, Values& values);
  [[nodiscard]] llvm::Value* as_i64(llvm::Value* index);
  llvm::Value* emit_data(const BodyNode& node, const Values& values);
  [[nodiscard]] llvm::Value* spread_index(const BodyNode& node, llvm::Value* first, int lanes);
  [[nodiscard]] bool is_invariant(const BodyNode& node) const;
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }

  const KernelContext& context_;
  const Body& body_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  std::map<ir::ValueId, llvm::Value*> scalars_;  // words
  std::vector<bool> invariant_;                  // of each node
};

/// Emits a coordinate as an element: the value of an index node at the coordinates that the expressions have, as i64.
[[nodiscard]] llvm::Value* emit_index(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const BodyNode& node);

}  // namespace padlock::compiler
