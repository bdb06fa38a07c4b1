#pragma once

#include <map>
#include <vector>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/emit/scalar/emit_search.h"

namespace padlock::compiler {

/// The memories in which a body's searches keep their last results.
using SearchMemos = std::map<const BodyNode*, SearchMemo>;

/// Makes memory for them where the function of `builder` begins, for all rows and columns that it takes. What is
/// searched has one axis, so its entries are the same for all of them, unless a guard or other data says what is read:
/// such searches have no memory.
[[nodiscard]] SearchMemos remember_searches(llvm::IRBuilder<>& builder, const Body& body);

/// Emits the values of a body's nodes, each from its operands' values, for any target and any number of lanes.
class BodyValues {
 public:
  /// A value for each node; null for a node without a value yet.
  using Values = std::vector<llvm::Value*>;
  /// Emits values from outside the body, where the builder stands.
  struct Source {
    /// A vector of the lanes, or a scalar that all of them share.
    llvm::function_ref<llvm::Value*(const BodyNode& node)> load;
    /// Chooses the first of two operands where the node's predicate holds. Without this the predicate is tested once
    /// for all lanes.
    llvm::function_ref<llvm::Value*(const BodyNode& node, llvm::Value* value, llvm::Value* other)> choose = nullptr;
    /// Returns emit_index of the first lane. Without this the expressions have the first lane's coordinates.
    llvm::function_ref<llvm::Value*(const BodyNode& node)> index = nullptr;
  };

  /// Loads the body's scalars where the builder stands. Borrows all.
  BodyValues(const KernelContext& context, const Body& body, llvm::IRBuilder<>& builder, const LaunchFields& fields,
             ExprEmitter& exprs);

  /// Has searches begin with what they found last. Borrows `memos`, of this body.
  void remember(const SearchMemos& memos) { memos_ = &memos; }

  struct Invariants {
    Values scalars, vectors;
  };
  /// Emits the nodes that are the same in all columns of a row, and vectors of them. Other nodes get no value.
  [[nodiscard]] Invariants invariants(int lanes, const Source& source);
  /// Emits the nodes that have no value yet.
  void emit(int lanes, const Source& source, Values& values) { emit_scope(-1, lanes, source, values); }
  /// Returns a vector with a scalar in all lanes. Returns a vector unchanged.
  [[nodiscard]] llvm::Value* spread(llvm::Value* value, int lanes);

 private:
  void emit_scope(int scope, int lanes, const Source& source, Values& values);
  [[nodiscard]] llvm::Value* emit_node(const BodyNode& node, int lanes, const Source& source, Values& values);
  [[nodiscard]] const SearchMemo* memo_of(const BodyNode& node) const;
  [[nodiscard]] llvm::Value* as_i64(llvm::Value* index);
  llvm::Value* emit_data(const BodyNode& node, const Values& values);
  [[nodiscard]] llvm::Value* spread_index(const BodyNode& node, llvm::Value* first, int lanes);
  [[nodiscard]] bool is_invariant(const BodyNode& node) const;
  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }

  const KernelContext& context_;
  const Body& body_;
  llvm::IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  const SearchMemos* memos_ = nullptr;
  std::map<ir::ValueId, llvm::Value*> scalars_;  // scalars as words
  std::vector<bool> invariant_;                  // for each node
};

/// Emits the value of an index node, a coordinate as an element, at the coordinates of the expressions, as i64.
[[nodiscard]] llvm::Value* emit_index(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const BodyNode& node);

}  // namespace padlock::compiler
