#pragma once

#include <span>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/prover/core/proven_kernel.h"

// Types shared by the parts of a kernel: the code that distributes rows and columns, and the bodies of its segments.
namespace padlock::compiler {

/// One variant of a kernel, as its code differs from that of others.
struct CodeVariant {
  unsigned index_bits = 64;             ///< of coordinates
  unsigned offset_bits = 64;            ///< of elements' offsets: as many, or more
  const TransposeTile* tile = nullptr;  ///< which of the schedule's it is the code of, if any
  int vectors = 0;                      ///< of a grid's: that each of its threads takes
  bool in_parts = false;                ///< a launch may be of some rows (abi::LaunchParts)
};

/// State shared by all parts of one variant of a kernel.
struct KernelContext : CodeVariant {
  llvm::Module& module;
  const ProvenKernel& proven;
  const Schedule& schedule;  // of `proven`
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
  /// What has one value in a row: the outer coordinates, and the data of rows.
  [[nodiscard]] std::vector<ir::Expr> outer_variables() const;
  /// Position of a tensor among the launch's buffers, inputs first.
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
  /// Returns whether a body takes names and extents of the tensors that it loads.
  [[nodiscard]] bool checks_any_load(std::size_t body) const {
    for (std::size_t i = 0; i < schedule.bodies[body].loads.size(); ++i)
      if (checks_load(body, i)) return true;
    return false;
  }
};

/// Attributes of every function: the target's CPU, no calls made up by LLVM, nothing unwinds.
void set_attributes(llvm::Function& function, const TargetFeatures& target);

/// The attribute of a function of the host whose instructions are selected by graphs of whole blocks: one whose loops
/// add up several addresses, for which the quicker selection (codegen.cpp) takes an instruction more each.
inline constexpr char kSelectsByGraph[] = "padlock-selects-by-graph";

/// Makes the function that a launch calls, of the contract's name: a kernel where the target takes words, else a
/// HostEntry.
[[nodiscard]] llvm::Function* make_entry(llvm::Module& module, const abi::KernelAbi& abi, const TargetFeatures& target);
/// Says how many words a kernel takes by value.
void set_words(llvm::Function& kernel, std::size_t count);

/// Makes a function that the kernel calls and LLVM does not inline. Its calling convention passes as many arguments in
/// registers as there are.
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
  llvm::Value* plan = nullptr;  ///< of the host

  [[nodiscard]] llvm::Value* buffer(llvm::IRBuilder<>& builder, std::size_t index) const;
  /// Loads the buffers of all results.
  [[nodiscard]] std::vector<llvm::Value*> results(llvm::IRBuilder<>& builder, const KernelContext& context) const;

 private:
  unsigned space_;  // of the buffers
};

/// A function that is being emitted, with what any of them begins and ends with. Its first argument is the launch,
/// whose fields are loaded in the block `entry`, where sizes come, too. The builder stands in the block after that.
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
  /// Returns a builder of what `entry` has, after the launch's fields.
  [[nodiscard]] llvm::IRBuilder<> in_entry() const { return llvm::IRBuilder<>(entry->getTerminator()); }
  /// Returns from the function.
  void end(llvm::Value* result = nullptr);

  llvm::Function* function;
  llvm::BasicBlock* entry;
  llvm::IRBuilder<> builder;
  llvm::Value* environment;  // the caller's, kept; null where it stays
  LaunchFields fields;
  ExprEmitter exprs;
};

/// The base of the emitters of the host's functions.
class FunctionEmitter {
 protected:
  /// Borrows the context, and emits the function that is given empty.
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

/// Returns what a body's sums ask of their row alone: where their walks begin and end, with a division each. On the
/// host it is computed once for all bodies of a row, which take it as arguments.
[[nodiscard]] std::vector<ir::Expr> row_values_of(const KernelContext& context, std::size_t body);

/// The arguments of a body for one run. Those that its kind of body does not take are null, or an empty list.
struct BodyArguments {
  struct Load {
    llvm::Value* tensor = nullptr;
    llvm::Value* base = nullptr;                   ///< the element that it starts from
    llvm::Value* name = nullptr;                   ///< checked: which input it is
    llvm::Value* extent = nullptr;                 ///< the same, and of a tile: the tensor's elements
    llvm::Value* origin = nullptr;                 ///< checked: the element from which a launch counts, i64
    llvm::Value *least = nullptr, *end = nullptr;  ///< a grid's, `end` of a body with boxes, too: the tensor's first
                                                   ///< element, and the one after its last
    llvm::Value* step = nullptr;                   ///< several rows: how many elements later it starts in the next
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

  /// Visits the arguments that such a body takes, in the order of its parameters: `visit(value, is_pointer)`.
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
  /// Their values in that order.
  [[nodiscard]] std::vector<llvm::Value*> values() {
    std::vector<llvm::Value*> all;
    for_each([&](llvm::Value* value, bool) { all.push_back(value); });
    return all;
  }

  llvm::Value *begin = nullptr, *end = nullptr;  ///< columns of the run
  llvm::Value* row = nullptr;                    ///< its row's element offset in the output
  std::vector<Load> loads;
  std::vector<llvm::Value*> outer;                        ///< outer_variables, where the body reads them
  std::vector<llvm::Value*> row_values, next_row_values;  ///< row_values_of it, in its row and in the next
  /// How many rows have the same run: a body of the host that does not read coordinates takes them together.
  llvm::Value* rows = nullptr;
  bool checks_loads, has_grid, has_boxes, takes_rows;
};

}  // namespace padlock::compiler
