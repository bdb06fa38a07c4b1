#pragma once

#include <span>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/prover/core/proven_kernel.h"

// Types that the parts of a kernel share: the code that distributes rows and columns, and the segments' bodies.
namespace padlock::compiler {

/// Properties that differ between the variants of a kernel's code.
struct CodeVariant {
  unsigned index_bits = 64;             ///< width of coordinates
  unsigned offset_bits = 64;            ///< width of element offsets: at least index_bits
  const TransposeTile* tile = nullptr;  ///< the schedule's tile that this code is of, if any
  int vectors = 0;                      ///< vectors per thread of a grid
  bool in_parts = false;                ///< a launch may take only some rows (abi::LaunchParts)
  bool is_even = false;                 ///< each vector of a grid lies in one segment (VectorGrid::uneven)

  /// Returns the schedule's table of rows if this code has it: the table's words hold indices of 32 bits alone.
  [[nodiscard]] const RowTable* table_of(const Schedule& schedule) const {
    const VectorGrid* const grid = schedule.grid();
    return grid != nullptr && grid->table && index_bits == 32 ? &*grid->table : nullptr;
  }
};

/// State that all parts of one variant of a kernel share.
struct KernelContext : CodeVariant {
  llvm::Module& module;
  const ProvenKernel& proven;
  const Schedule& schedule;  // the schedule of `proven`
  const TargetFeatures& target;
  bool bounds_check;
  abi::KernelAbi& abi;
  SizeTable& sizes;
  IndexWidths& widths;

  [[nodiscard]] ir::ExprContext& exprs() const { return schedule.kernel.program->exprs(); }
  [[nodiscard]] llvm::IntegerType* index_type() const { return llvm::Type::getIntNTy(module.getContext(), index_bits); }
  [[nodiscard]] llvm::ConstantInt* index(std::int64_t value) const {
    return llvm::ConstantInt::getSigned(index_type(), value);
  }
  [[nodiscard]] llvm::IntegerType* offset_type() const {
    return llvm::Type::getIntNTy(module.getContext(), offset_bits);
  }
  [[nodiscard]] llvm::ConstantInt* offset(std::int64_t value) const {
    return llvm::ConstantInt::getSigned(offset_type(), value);
  }
  /// Makes the emitter of one function's expressions.
  [[nodiscard]] ExprEmitter expressions(llvm::BasicBlock* entry, llvm::Value* launched_sizes) const {
    return {exprs(), widths, sizes, entry, launched_sizes, index_type(), offset_type(), schedule.is_for_gpu()};
  }
  /// Returns the variables with one value in a row: the outer coordinates, and the data of rows.
  [[nodiscard]] std::vector<ir::Expr> outer_variables() const;
  /// Returns the position of a tensor among the launch's buffers, inputs first.
  [[nodiscard]] std::size_t buffer_of_input(ir::ValueId value) const;
  [[nodiscard]] std::size_t buffer_of_result(std::size_t result) const { return abi.inputs.size() + result; }
  [[nodiscard]] std::size_t index_of_scalar(ir::ValueId value) const;
  [[nodiscard]] bool checks_load(std::size_t body, std::size_t load) const {
    const bool in_range = abi::assumes(abi.guards, abi::Assumption::in_range);
    return bounds_check || proven.load_is_checked(static_cast<int>(body), static_cast<int>(load), in_range);
  }
  [[nodiscard]] bool checks_stores(std::size_t body) const {
    return bounds_check || proven.stores_are_checked(static_cast<int>(body));
  }
  /// Returns the grid's table of rows, or null for code without one.
  [[nodiscard]] const RowTable* row_table() const { return table_of(schedule); }
  /// Returns whether a body takes names and extents of the tensors that it loads.
  [[nodiscard]] bool checks_any_load(std::size_t body) const {
    for (std::size_t i = 0; i < schedule.bodies[body].loads.size(); ++i)
      if (checks_load(body, i)) return true;
    return false;
  }
};

/// Sets the attributes of every function: the target's CPU, no calls that LLVM makes up, no unwinding.
void set_attributes(llvm::Function& function, const TargetFeatures& target);

/// Attribute of a host function whose instructions are selected by graphs of whole blocks. It is for loops that add up
/// several addresses: the quicker selection (codegen.cpp) takes one more instruction for each.
inline constexpr char kSelectsByGraph[] = "padlock-selects-by-graph";

/// Makes the function that a launch calls, of the contract's name. It is a kernel if the target takes words, else a
/// HostEntry.
[[nodiscard]] llvm::Function* make_entry(llvm::Module& module, const abi::KernelAbi& abi, const TargetFeatures& target);
/// Sets the number of words that a kernel takes by value.
void set_words(llvm::Function& kernel, std::size_t count);

/// Makes a function that the kernel calls and LLVM does not inline. Its calling convention passes as many arguments in
/// registers as there are registers.
llvm::Function* make_internal_function(KernelContext& context, llvm::FunctionType* type, const std::string& name,
                                       bool selects_by_graph = false);

/// The parts of a launch, loaded where the builder stands: of a HostLaunch, or of a GPU kernel's
/// abi::ParameterWords.
struct LaunchFields {
  LaunchFields(llvm::IRBuilder<>& builder, llvm::Value* launch, const KernelContext& context);
  llvm::Value* buffers;
  llvm::Value* sizes;
  llvm::Value* scalars;
  llvm::Value* fault;
  llvm::Value* plan = nullptr;  ///< on the host alone

  [[nodiscard]] llvm::Value* buffer(llvm::IRBuilder<>& builder, std::size_t index) const;
  /// Loads the buffers of all results.
  [[nodiscard]] std::vector<llvm::Value*> results(llvm::IRBuilder<>& builder, const KernelContext& context) const;

 private:
  unsigned space_;  // address space of the buffers
};

/// A function that is being emitted, with its prologue and epilogue. Its first argument is the launch. The block
/// `entry` loads the launch's fields, and later the sizes. The builder stands in the block after `entry`.
struct FunctionScope {
  /// `sets_environment`: floating-point operations round to nearest even and keep denormals, whatever the caller has
  /// set.
  FunctionScope(const KernelContext& context, llvm::Function* empty, bool sets_environment = false);
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

  [[nodiscard]] llvm::BasicBlock* block(const char* name) const {
    return llvm::BasicBlock::Create(function->getContext(), name, function);
  }
  [[nodiscard]] llvm::Value* argument(unsigned i) const { return function->getArg(i); }
  /// Returns a builder at the end of `entry`, after the launch's fields.
  [[nodiscard]] llvm::IRBuilder<> in_entry() const { return llvm::IRBuilder<>(entry->getTerminator()); }
  /// Emits the return.
  void end(llvm::Value* result = nullptr);

  llvm::Function* function;
  llvm::BasicBlock* entry;
  llvm::IRBuilder<> builder;
  Architecture architecture;
  llvm::Value* environment;  // the caller's, kept; null if it is not changed
  LaunchFields fields;
  ExprEmitter exprs;
};

/// The base of the emitters of the host's functions.
class FunctionEmitter {
 protected:
  /// Borrows the context. Emits the function `empty`, which has no code yet.
  FunctionEmitter(KernelContext& context, llvm::Function* empty, bool sets_environment = false)
      : context_(context), scope_(context, empty, sets_environment), builder_(scope_.builder), exprs_(scope_.exprs) {}
  ~FunctionEmitter() = default;

  [[nodiscard]] const Kernel& kernel() const { return context_.schedule.kernel; }
  BasicBlock* block(const char* name) { return scope_.block(name); }
  [[nodiscard]] llvm::ConstantInt* index(std::int64_t value) const { return context_.index(value); }
  Value* smaller(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  Value* larger(Value* a, Value* b) { return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }

  KernelContext& context_;
  FunctionScope scope_;
  IRBuilder<>& builder_;
  ExprEmitter& exprs_;
  llvm::Type* i64_ = builder_.getInt64Ty();
};

/// Emits whether all conditions hold, as i1.
[[nodiscard]] llvm::Value* emit_conditions(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph,
                                           std::span<const ConditionId> conditions);
/// Emits whether all conditions of a predicate hold, as i1.
[[nodiscard]] llvm::Value* emit_predicate(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph,
                                          PredicateId predicate);

/// Emits whether stores go past the caches, as i1. StoreKind::automatic: if the results are too large for the caches.
/// Other kinds: always or never.
[[nodiscard]] llvm::Value* emit_is_nontemporal(const KernelContext& context, llvm::IRBuilder<>& builder,
                                               ExprEmitter& exprs);

/// Returns what a body's sums need of their row alone: where their walks begin and end, with a division each. The host
/// computes this once for all bodies of a row, which take it as arguments.
[[nodiscard]] std::vector<ir::Expr> row_values_of(const KernelContext& context, std::size_t body);

/// The arguments of a body for one run. Arguments that its kind of body does not take are null, or an empty list.
struct BodyArguments {
  struct Load {
    llvm::Value* tensor = nullptr;
    llvm::Value* base = nullptr;                   ///< the first element
    llvm::Value* name = nullptr;                   ///< checked: the input's index
    llvm::Value* extent = nullptr;                 ///< checked, and of a tile: the tensor's elements
    llvm::Value* origin = nullptr;                 ///< checked: the element from which a launch counts, i64
    llvm::Value *least = nullptr, *end = nullptr;  ///< a grid's, `end` of a body with boxes, too: the tensor's first
                                                   ///< element, and the one after its last
    llvm::Value* step = nullptr;                   ///< several rows: elements from its start to the next row's
  };

  BodyArguments(const KernelContext& context, std::size_t body)
      : loads(context.schedule.bodies[body].loads.size()),
        checks_loads(context.tile != nullptr || context.checks_any_load(body)),
        has_grid(context.schedule.grid() != nullptr),
        has_boxes(!context.schedule.bodies[body].turns.empty()),
        takes_rows(!context.schedule.is_for_gpu() && !context.schedule.bodies[body].uses_rows &&
                   context.schedule.kernel.rank() > 1) {
    if (context.schedule.bodies[body].uses_rows) outer.resize(context.outer_variables().size());
    row_values.resize(row_values_of(context, body).size());
    if (context.schedule.store != StoreKind::plain && context.schedule.kernel.rank() > 1)
      next_row_values.resize(row_values.size());
  }

  /// Visits the arguments that this kind of body takes, in the order of its parameters: `visit(value, is_pointer)`.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (llvm::Value** value : {&begin, &end, &row}) visit(*value, false);
    for (Load& load : loads) {
      visit(load.tensor, true);
      visit(load.base, false);
      if (has_grid) {
        visit(load.least, false);
        visit(load.end, false);
      }
      if (has_boxes) visit(load.end, false);
      if (!checks_loads) continue;
      visit(load.name, false);
      visit(load.extent, false);
      if (has_grid) visit(load.origin, false);
    }
    for (std::vector<llvm::Value*>* values : {&outer, &row_values, &next_row_values})
      for (llvm::Value*& value : *values) visit(value, false);
    if (!takes_rows) return;
    visit(rows, false);
    for (Load& load : loads) visit(load.step, false);
  }
  /// Returns their values in that order.
  [[nodiscard]] std::vector<llvm::Value*> values() {
    std::vector<llvm::Value*> all;
    for_each([&](llvm::Value* value, bool) { all.push_back(value); });
    return all;
  }

  llvm::Value *begin = nullptr, *end = nullptr;  ///< columns of the run
  llvm::Value* row = nullptr;                    ///< its row's element offset in the output
  std::vector<Load> loads;
  std::vector<llvm::Value*> outer;                        ///< outer_variables, where the body reads them
  std::vector<llvm::Value*> row_values, next_row_values;  ///< row_values_of the body, in its row and in the next
  /// Number of rows with the same run: a host's body that does not read coordinates takes them together.
  llvm::Value* rows = nullptr;
  bool checks_loads, has_grid, has_boxes, takes_rows;
};

}  // namespace padlock::compiler
