#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/llvm/emit_expr.h"
#include "compiler/llvm/emit_host.h"
#include "compiler/prover/proven_kernel.h"

// Shared between the parts of a kernel: what deals out rows and columns, and the bodies of its segments.
namespace padlock::compiler {

/// What all parts of one variant of a kernel share.
struct KernelContext {
  llvm::Module& module;
  const ProvenKernel& proven;
  const Schedule& schedule;  // of `proven`
  const TargetFeatures& target;
  bool bounds_check;
  ir::KernelAbi& abi;
  SizeTable& sizes;
  IndexWidths& widths;
  unsigned index_bits = 64;  ///< of coordinates and element offsets

  [[nodiscard]] ir::ExprContext& exprs() const { return schedule.kernel.program->exprs(); }
  [[nodiscard]] llvm::IntegerType* index_type() const { return llvm::Type::getIntNTy(module.getContext(), index_bits); }
  [[nodiscard]] llvm::ConstantInt* index(std::int64_t value) const {
    return llvm::ConstantInt::getSigned(index_type(), value);
  }
  /// For the expressions of one function: a division by a size is a multiplication where a GPU's threads do it.
  [[nodiscard]] ExprEmitter expressions(llvm::BasicBlock* entry, llvm::Value* launched_sizes) const {
    return {exprs(), widths, sizes, entry, launched_sizes, index_type(), schedule.threads.has_value()};
  }
  /// Position of a tensor among the launch's buffers, inputs first.
  [[nodiscard]] std::size_t buffer_of_input(ir::ValueId value) const;
  [[nodiscard]] std::size_t buffer_of_result(std::size_t result) const { return abi.inputs.size() + result; }
  [[nodiscard]] std::size_t index_of_scalar(ir::ValueId value) const;
  [[nodiscard]] bool checks_load(std::size_t body, std::size_t load) const {
    return bounds_check || proven.load_is_checked(static_cast<int>(body), static_cast<int>(load));
  }
  [[nodiscard]] bool checks_stores(std::size_t body) const {
    return bounds_check || proven.stores_are_checked(static_cast<int>(body));
  }
  /// Whether a body is told names and extents of what it loads.
  [[nodiscard]] bool checks_any_load(std::size_t body) const {
    for (std::size_t i = 0; i < schedule.bodies[body].loads.size(); ++i)
      if (checks_load(body, i)) return true;
    return false;
  }
};

/// Attributes of every function: the target's CPU, no calls made up by LLVM, nothing unwinds.
void set_attributes(llvm::Function& function, const TargetFeatures& target);

/// The parts of a launch, loaded where the builder stands: of a HostLaunch, or of a GPU kernel's
/// ir::ParameterWords.
struct LaunchFields {
  LaunchFields(llvm::IRBuilder<>& builder, llvm::Value* launch, const KernelContext& context);
  llvm::Value* buffers;
  llvm::Value* sizes;
  llvm::Value* scalars;
  llvm::Value* fault;

  [[nodiscard]] llvm::Value* buffer(llvm::IRBuilder<>& builder, std::size_t index) const;

 private:
  unsigned space_;  // of the buffers
};

/// Whether all conditions of a predicate hold, as i1.
[[nodiscard]] llvm::Value* emit_predicate(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph,
                                          PredicateId predicate);

/// What a body is told of one run, in one order: begin, end, the row's element offset in the output, then of each load
/// its tensor and the element it starts from (and where any of them is checked, its name and its extent in elements),
/// then, where the body reads them, the outer coordinates; a team's also where the segment begins and ends. A body of
/// the host that does not read them takes the same run of several rows: it is told their number, and by how many
/// elements each load starts later in the next.
struct BodyArguments {
  enum LoadField : unsigned { tensor, base, name, extent };

  BodyArguments(const KernelContext& context, std::size_t body)
      : per_load(context.checks_any_load(body) ? 4 : 2),
        loads(static_cast<unsigned>(context.schedule.bodies[body].loads.size())),
        takes_rows(!context.schedule.threads && !context.schedule.bodies[body].uses_rows &&
                   context.schedule.kernel.rank() > 1) {}

  [[nodiscard]] llvm::Value* begin() const { return values[0]; }
  [[nodiscard]] llvm::Value* end() const { return values[1]; }
  [[nodiscard]] llvm::Value* row() const { return values[2]; }
  [[nodiscard]] llvm::Value* load(int index, LoadField field) const {
    return values[3 + static_cast<unsigned>(index) * per_load + field];
  }
  [[nodiscard]] llvm::Value* outer(int axis) const {
    return values[3 + loads * per_load + static_cast<unsigned>(axis)];
  }

  void set_row(llvm::Value* row) { values[2] = row; }
  void set_base(unsigned index, llvm::Value* value) { values[3 + index * per_load + base] = value; }
  [[nodiscard]] llvm::Value* rows() const { return values[values.size() - 1 - loads]; }
  [[nodiscard]] llvm::Value* step(unsigned index) const { return values[values.size() - loads + index]; }
  [[nodiscard]] llvm::Value* segment_begin() const { return values[values.size() - 2]; }
  [[nodiscard]] llvm::Value* segment_end() const { return values[values.size() - 1]; }

  unsigned per_load;
  unsigned loads;
  bool takes_rows;
  std::vector<llvm::Value*> values;
};

/// Whether stores go past the caches, as i1: always, never, or (StoreKind::automatic) where the results are too large
/// for them.
[[nodiscard]] llvm::Value* emit_streaming(const KernelContext& context, llvm::IRBuilder<>& builder, ExprEmitter& exprs);

/// A body as a function of the host: void(launch, BodyArguments...).
[[nodiscard]] llvm::Function* emit_body(KernelContext& context, std::size_t index);

}  // namespace padlock::compiler
