#include "session/compile/explain.h"

#include <fmt/format.h>

#include "abi/launch_plan.h"
#include "runtime/arguments.h"
#include "support/json_writer.h"
#include "tuner/cache/describe.h"

namespace padlock::session {
namespace {

constexpr std::size_t kTextLimit = 200;

/// Writes one program's facts: expressions as text and, under a binding, numbers.
class Explainer {
 public:
  /// `bound` may be null.
  Explainer(const Program& program, const CompiledProgram& compiled, const BoundProgram* bound)
      : program_(program.ir()), compiled_(compiled), bound_(bound) {}

  std::string write() && {
    json_.begin_object().member("schema", 1).member("command", "explain").member("program", program_.name());
    tuner::KeyFields fields;
    tuner::describe_program(fields, program_);
    json_.member("fingerprint", fields.program);
    json_.key("inputs").begin_array();
    for (const ir::ValueId id : program_.tensor_parameters())
      write_tensor(program_.value(id), program_.value(id).layout);
    json_.end_array().key("results").begin_array();
    for (const ir::ValueId id : program_.results())
      write_tensor(program_.value(id), runtime::result_layout(program_, id));
    json_.end_array().key("kernels").begin_array();
    for (const auto& variants : compiled_.kernels()) write_kernel(variants);
    json_.end_array();
    write_requirements();
    json_.member("target", compiled_.target()).member("config", compiled_.config());
    json_.member("reason", bound_ != nullptr ? bound_->reason() : compiled_.reason()).end_object();
    return std::move(json_).take();
  }

 private:
  void write_size(ir::Expr e) {
    json_.begin_object().member("expression", ir::to_string(program_.exprs(), e, kTextLimit));
    if (bound_ != nullptr)
      if (const auto value = ir::evaluate_int64(program_.exprs(), e, bound_->binding().values()))
        json_.member("value", *value);
    json_.end_object();
  }

  void write_size(const char* name, ir::Expr e) {
    json_.key(name);
    write_size(e);
  }

  void write_sizes(const char* name, std::span<const ir::Expr> list) {
    json_.key(name).begin_array();
    for (const ir::Expr e : list) write_size(e);
    json_.end_array();
  }

  void write_tensor(const ir::Value& value, const ir::Layout& layout) {
    ir::ExprContext& exprs = program_.exprs();
    json_.begin_object().member("name", value.name).member("type", ir::name_of(value.dtype));
    write_sizes("extents", layout.extents());
    write_sizes("strides", layout.strides());
    write_size("storage_bytes", exprs.mul(layout.storage_extent(), exprs.constant(ir::byte_size(value.dtype))));
    json_.end_object();
  }

  /// Memory of a GPU's block, or of a host's plan. 0 bytes: these sizes have no plan.
  void write_shared_bytes(const abi::KernelAbi& abi) {
    if (abi.shared_bytes.valid()) write_size("shared_bytes", abi.shared_bytes);
  }

  /// Code for the sizes that its guards admit. With a binding, `selected` says whether it is the one that is launched.
  void write_variant(const abi::KernelAbi& abi, bool selected) {
    json_.begin_object().member("name", abi.name);
    write_shared_bytes(abi);
    json_.key("guards").begin_array();
    for (const abi::Guard& guard : abi.guards) {
      json_.begin_object().member("assumption", abi::name_of(guard.assumption));
      json_.member("constraint", ir::to_string(program_.exprs(), guard.holds));
      if (bound_ != nullptr) json_.member("holds", abi::guard_holds(guard, bound_->binding()));
      json_.end_object();
    }
    json_.end_array();
    if (bound_ != nullptr) json_.member("selected", selected);
    json_.end_object();
  }

  /// Returns the launch plan of these sizes, empty without a binding. A bound program always has a plan.
  [[nodiscard]] abi::LaunchPlan plan_of(const std::vector<const abi::KernelAbi*>& variants) const {
    if (bound_ == nullptr) return {};
    return abi::LaunchPlanner(program_, variants).plan(bound_->binding()).value_or(abi::LaunchPlan());
  }

  /// Writes the first of the variants, which assumes nothing: it is the kernel itself.
  void write_kernel(const std::vector<const abi::KernelAbi*>& variants) {
    const abi::KernelAbi& abi = *variants.front();
    std::vector<std::string> results;
    for (const ir::ValueId id : abi.results) results.push_back(program_.value(id).name);
    json_.begin_object().member("name", abi.name).member("results", results);
    write_size("rows", abi.rows);
    write_size("columns", abi.columns);
    write_shared_bytes(abi);
    const abi::LaunchPlan plan = plan_of(variants);
    if (bound_ != nullptr) json_.member("launches", plan.launches());
    json_.key("variants").begin_array();
    for (std::size_t i = 1; i < variants.size(); ++i) write_variant(*variants[i], plan.variant == i);
    json_.end_array().end_object();
  }

  void write_requirement(const ir::Constraint& constraint, std::string_view what, bool is_bound) {
    json_.begin_object().member("constraint", ir::to_string(program_.exprs(), constraint));
    json_.member("what", what).member("bound", is_bound).end_object();
  }

  /// Writes the program's requirements, then those of its kernels.
  void write_requirements() {
    json_.key("requirements").begin_array();
    for (const ir::Requirement& requirement : program_.requirements())
      write_requirement(requirement.constraint, requirement.what, requirement.kind == ir::Requirement::Kind::bound);
    for (const auto& variants : compiled_.kernels())
      for (const ir::Constraint& precondition : variants.front()->preconditions)
        write_requirement(precondition, fmt::format("indices of kernel '{}' in 64 bits", variants.front()->name),
                          false);
    json_.end_array();
  }

  const ir::Program& program_;
  const CompiledProgram& compiled_;
  const BoundProgram* bound_;
  JsonWriter json_;
};

}  // namespace

Result<std::string> explain(Context& context, const Program& program, const CompileOptions& options,
                            const std::optional<ir::BindRequest>& request) {
  PADLOCK_TRY(const CompiledProgram compiled, context.compile(program, options));
  if (!request) return Explainer(program, compiled, nullptr).write();
  PADLOCK_TRY(const BoundProgram bound, compiled.bind(*request));
  return Explainer(program, bound.compiled(), &bound).write();
}

}  // namespace padlock::session
