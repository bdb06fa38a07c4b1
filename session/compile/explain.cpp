#include "session/compile/explain.h"

#include "abi/launch_plan.h"
#include "runtime/arguments.h"

namespace padlock::session {
namespace {

constexpr std::size_t kTextLimit = 200;

/// Turns expressions of one program into text and, under a binding, numbers.
class Describer {
 public:
  Describer(const ir::Program& program, const BoundProgram* bound) : program_(program), bound_(bound) {}

  [[nodiscard]] Quantity describe(ir::Expr e) const {
    Quantity quantity{.expression = ir::to_string(program_.exprs(), e, kTextLimit), .value = std::nullopt};
    if (bound_ != nullptr)
      if (const auto value = ir::evaluate_int64(program_.exprs(), e, bound_->binding().values()))
        quantity.value = *value;
    return quantity;
  }

  [[nodiscard]] TensorExplanation describe(const ir::Value& value, const ir::Layout& layout) const {
    ir::ExprContext& exprs = program_.exprs();
    TensorExplanation tensor{
        .name = value.name, .dtype = value.dtype, .extents = {}, .strides = {}, .storage_bytes = {}};
    for (const ir::Expr extent : layout.extents()) tensor.extents.push_back(describe(extent));
    for (const ir::Expr stride : layout.strides()) tensor.strides.push_back(describe(stride));
    tensor.storage_bytes = describe(exprs.mul(layout.storage_extent(), exprs.constant(ir::byte_size(value.dtype))));
    return tensor;
  }

  [[nodiscard]] VariantExplanation describe_variant(const abi::KernelAbi& abi) const {
    VariantExplanation variant{.name = abi.name, .guards = {}, .selected = {}};
    for (const abi::Guard& guard : abi.guards) {
      GuardExplanation& shown = variant.guards.emplace_back();
      shown.assumption = abi::name_of(guard.assumption);
      shown.constraint = ir::to_string(program_.exprs(), guard.holds);
      if (bound_ != nullptr) shown.holds = abi::guard_holds(guard, bound_->binding());
    }
    if (bound_ != nullptr) variant.selected = abi::guards_hold(abi, bound_->binding());
    return variant;
  }

  [[nodiscard]] KernelExplanation describe(const std::vector<const abi::KernelAbi*>& variants) const {
    const abi::KernelAbi& abi = *variants.front();
    KernelExplanation kernel{
        .name = abi.name, .results = {}, .rows = describe(abi.rows), .columns = describe(abi.columns)};
    for (const ir::ValueId id : abi.results) kernel.results.push_back(program_.value(id).name);
    for (std::size_t i = 1; i < variants.size(); ++i) kernel.variants.push_back(describe_variant(*variants[i]));
    return kernel;
  }

 private:
  const ir::Program& program_;
  const BoundProgram* bound_;  // borrowed; may be null
};

}  // namespace

Result<Explanation> explain(Context& context, const Program& program, const CompileOptions& options,
                            const std::optional<ir::BindRequest>& request) {
  PADLOCK_TRY(CompiledProgram compiled, context.compile(program, options));
  std::optional<BoundProgram> bound;
  if (request) {
    PADLOCK_TRY(bound, compiled.bind(*request));
    compiled = bound->compiled();
  }
  const ir::Program& ir = program.ir();
  const Describer describer(ir, bound ? &*bound : nullptr);
  Explanation result{.program = ir.name(),
                     .target = compiled.target(),
                     .config = compiled.config(),
                     .reason = bound ? bound->reason() : compiled.reason(),
                     .inputs = {},
                     .results = {},
                     .kernels = {},
                     .requirements = {}};
  for (const ir::ValueId id : ir.tensor_parameters())
    result.inputs.push_back(describer.describe(ir.value(id), ir.value(id).layout));
  for (const ir::ValueId id : ir.results())
    result.results.push_back(describer.describe(ir.value(id), runtime::result_layout(ir, id)));
  for (const auto& variants : compiled.kernels()) result.kernels.push_back(describer.describe(variants));
  for (const ir::Requirement& requirement : ir.requirements())
    result.requirements.push_back({ir::to_string(ir.exprs(), requirement.constraint), requirement.what,
                                   requirement.kind == ir::Requirement::Kind::bound});
  return result;
}

}  // namespace padlock::session
