#include "compiler/emit/rows/kernel_function.h"

#include <algorithm>
#include <string>

#include "compiler/emit/scalar/host_instructions.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

std::vector<Expr> KernelContext::outer_variables() const {
  std::vector<Expr> variables;
  for (int axis = 0; axis + 1 < schedule.kernel.rank(); ++axis) variables.push_back(schedule.kernel.coordinate(axis));
  for (const Kernel::WalkVariable& row : schedule.kernel.row_variables) variables.push_back(row.variable);
  return variables;
}

std::size_t KernelContext::buffer_of_input(ir::ValueId value) const {
  return static_cast<std::size_t>(std::ranges::find(abi.inputs, value) - abi.inputs.begin());
}
std::size_t KernelContext::index_of_scalar(ir::ValueId value) const {
  return static_cast<std::size_t>(std::ranges::find(abi.scalars, value) - abi.scalars.begin());
}

void set_attributes(llvm::Function& function, const TargetFeatures& target) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("target-cpu", target.cpu);
  if (!target.features.empty()) function.addFnAttr("target-features", target.features);
  // LLVM would turn copy loops into calls of memcpy, and split 512-bit vectors on CPUs tuned for narrower ones.
  function.addFnAttr("no-builtins");
  function.addFnAttr("prefer-vector-width", "512");
}

llvm::Function* make_entry(llvm::Module& module, const abi::KernelAbi& abi, const TargetFeatures& target) {
  llvm::LLVMContext& llvm = module.getContext();
  std::vector<llvm::Type*> types = {llvm::PointerType::get(llvm, 0)};
  if (!target.takes_words) types.insert(types.end(), 4, llvm::Type::getInt64Ty(llvm));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(llvm), types, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, abi.name, module);
  set_attributes(*entry, target);
  if (!target.takes_words) return entry;
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->addFnAttr("nvvm.maxntid", std::to_string(abi.threads));
  return entry;
}

void set_words(llvm::Function& kernel, std::size_t count) {
  llvm::LLVMContext& llvm = kernel.getContext();
  auto* words = llvm::ArrayType::get(llvm::Type::getInt64Ty(llvm), count);
  kernel.addParamAttr(0, llvm::Attribute::getWithByValType(llvm, words));
  kernel.addParamAttr(0, llvm::Attribute::getWithAlignment(llvm, llvm::Align(8)));
}

llvm::Function* make_internal_function(KernelContext& context, llvm::FunctionType* type, const std::string& name,
                                       bool selects_by_graph) {
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, context.module);
  function->setCallingConv(llvm::CallingConv::Fast);
  function->addFnAttr(llvm::Attribute::NoInline);
  if (selects_by_graph) function->addFnAttr(kSelectsByGraph);
  set_attributes(*function, context.target);
  return function;
}

std::vector<Expr> row_values_of(const KernelContext& context, std::size_t body) {
  const Kernel& kernel = context.schedule.kernel;
  const Body& of = context.schedule.bodies[body];
  if (context.schedule.is_for_gpu() || !of.uses_rows) return {};
  const auto varies = [&](Expr e) {
    return mentions(e, kernel.column()) ||
           std::ranges::any_of(kernel.walk_variables, [&](const auto& walk) { return mentions(e, walk.variable); });
  };
  std::vector<Expr> values;
  for (const BodyNode& node : of.nodes)
    for (const Walk& walk : node.walks)
      for (const Expr e : {walk.first, walk.step, walk.other, walk.limit})
        if (e.has_coordinate() && !varies(e) && std::ranges::find(values, e) == values.end()) values.push_back(e);
  return values;
}

LaunchFields::LaunchFields(IRBuilder<>& builder, Value* launch, const KernelContext& context)
    : space_(context.target.global_space) {
  if (context.target.takes_words) {
    const auto word = [&](std::size_t index) {
      return builder.CreateConstGEP1_64(builder.getInt64Ty(), launch, index);
    };
    const abi::ParameterWords words(context.abi);
    fault = builder.CreateLoad(builder.getPtrTy(space_), word(words.fault), "fault");
    buffers = word(words.buffers);
    scalars = word(words.scalars);
    sizes = word(words.sizes);
    return;
  }
  const auto field = [&](unsigned index, const char* name) -> Value* {
    return builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getPtrTy(), launch, index), name);
  };
  static_assert(offsetof(abi::HostLaunch, sizes) == 8 && offsetof(abi::HostLaunch, scalars) == 16 &&
                offsetof(abi::HostLaunch, fault) == 24 && offsetof(abi::HostLaunch, plan) == 32);
  buffers = field(0, "buffers");
  sizes = field(1, "sizes");
  scalars = field(2, "scalars");
  fault = field(3, "fault");
  plan = field(4, "plan");
}

Value* LaunchFields::buffer(IRBuilder<>& builder, std::size_t index) const {
  Value* slot = builder.CreateConstGEP1_64(builder.getInt64Ty(), buffers, index);
  return builder.CreateLoad(builder.getPtrTy(space_), slot, "buffer");
}

std::vector<Value*> LaunchFields::results(IRBuilder<>& builder, const KernelContext& context) const {
  std::vector<Value*> outputs;
  for (std::size_t i = 0; i < context.abi.results.size(); ++i)
    outputs.push_back(buffer(builder, context.buffer_of_result(i)));
  return outputs;
}

FunctionScope::FunctionScope(const KernelContext& context, llvm::Function* empty, bool sets_environment)
    : function(empty),
      entry(block("entry")),
      builder(entry),
      architecture(context.target.architecture),
      environment(sets_environment ? save_environment(builder, context.target.architecture) : nullptr),
      fields(builder, function->getArg(0), context),
      exprs(context.expressions(entry, fields.sizes)) {
  BasicBlock* start = block("start");
  builder.CreateBr(start);
  builder.SetInsertPoint(start);
}

void FunctionScope::end(Value* result) {
  if (environment != nullptr) restore_environment(builder, architecture, environment);
  result == nullptr ? builder.CreateRetVoid() : builder.CreateRet(result);
}

Value* emit_predicate(IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph, PredicateId predicate) {
  return emit_conditions(builder, exprs, graph, graph.conditions_of(predicate));
}

Value* emit_is_nontemporal(const KernelContext& context, IRBuilder<>& builder, ExprEmitter& exprs) {
  if (context.schedule.store != StoreKind::automatic)
    return builder.getInt1(context.schedule.store == StoreKind::nontemporal);
  Value* bytes = exprs.exact(builder, context.exprs().mul(context.abi.rows, context.abi.row_bytes));
  const auto least =
      static_cast<std::uint64_t>(nontemporal_bytes(context.target.cache_bytes, context.target.core_cache_bytes));
  return builder.CreateICmpSGE(bytes, builder.getInt64(least));
}

Value* emit_conditions(IRBuilder<>& builder, ExprEmitter& exprs, const Graph& graph,
                       std::span<const ConditionId> conditions) {
  Value* all = builder.getTrue();
  for (const ConditionId id : conditions) {
    const Condition& condition = graph.condition(id);
    Value* value = exprs.exact(builder, condition.expr);
    Value* zero = llvm::ConstantInt::get(value->getType(), 0);
    Value* holds = condition.kind == Condition::Kind::zero ? builder.CreateICmpEQ(value, zero)
                                                           : builder.CreateICmpSGE(value, zero);
    all = builder.CreateAnd(all, holds);
  }
  return all;
}

}  // namespace padlock::compiler
