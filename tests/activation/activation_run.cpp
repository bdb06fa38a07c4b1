#include "tests/activation/activation_run.h"

#include <fmt/format.h>

#include <array>

#include "compiler/targets/target_compiler.h"
#include "ir/binding/binding.h"
#include "ir/reference/numeric.h"
#include "ir/reference/scalar_ops.h"
#include "tests/common/host_arrays.h"
#include "tests/common/plan_launch.h"

namespace padlock::activation {

std::string Place::name() const { return device.kind == runtime::DeviceKind::host ? target : device.to_string(); }

std::vector<ir::Op> all_activations() {
  std::vector<ir::Op> ops;
  for (const ir::OpInfo& info : ir::kOperations)
    if (info.op_class == ir::OpClass::activation) ops.push_back(info.op);
  return ops;
}

struct ActivationRun::CpuCode {
  ir::Program program;
  runtime::HostImage image;

  /// Runs all elements as one task.
  [[nodiscard]] Status launch(const ir::BindRequest& request, const void* arguments, void* results) const {
    PADLOCK_TRY(const ir::Binding binding, ir::Binding::bind(program, request));
    const runtime::HostVariant& kernel = image.kernels.front().front();
    PADLOCK_TRY(const abi::LaunchPlan plan, testing::plan_launch(kernel.abi, binding));
    const std::array<void*, 2> buffers = {const_cast<void*>(arguments), results};  // NOLINT: read alone
    abi::AccessFault fault;
    const abi::HostLaunch launch{buffers.data(), plan.sizes.data(), nullptr, &fault};
    kernel.entry(&launch, 0, plan.rows, 0, plan.columns);
    return {};
  }
};

Status ActivationRun::compile_for_cpu(const std::string& text, const Place& place) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  PADLOCK_TRY(const auto compiler, compiler::TargetCompiler::create(place.target));
  if (const Status runs = compiler->check_runs_here(); !runs) return unavailable(runs.error().message);
  const auto made = std::make_shared<CpuCode>(CpuCode{std::move(program), {}});  // the code refers to it there
  const compiler::TargetCompiler::Options options{
      .config = compiler->default_config(), .for_simt = place.is_twin(), .edits = place.edits};
  PADLOCK_TRY(abi::CompiledCode code, compiler->compile(made->program, options));
  PADLOCK_TRY(made->image, runtime::load_image(std::move(code)));
  cpu_code_ = made;
  return {};
}

Result<ActivationRun> ActivationRun::compile(session::Context& context, const Place& place, ir::Op op,
                                             ir::DType dtype) {
  ActivationRun made(op, dtype);
  if (place.is_reference()) return made;
  const std::string text = fmt::format("program p(x: {}[N]) {{ y = {}(x) return y }}", name_of(dtype), name_of(op));
  if (place.target != "host") {
    PADLOCK_CHECK(made.compile_for_cpu(text, place));
    return made;
  }
  PADLOCK_TRY(const session::Program program, session::Program::from_text(text));
  PADLOCK_TRY(session::CompiledProgram compiled, context.compile(program, {.device = place.device}));
  made.program_ = std::move(compiled);
  return made;
}

Status ActivationRun::launch(std::int64_t elements, const void* arguments, void* results, std::int64_t bytes) const {
  const ir::BindRequest request{{ir::ArgumentShape{{elements}, {}}}, {}};
  if (cpu_code_) return cpu_code_->launch(request, arguments, results);
  PADLOCK_TRY(const session::BoundProgram bound, program_->bind(request));
  const runtime::UserBuffer input(arguments, bytes), output(results, bytes);
  return testing::run_on_host_arrays(bound, {{&input, 1}, {&output, 1}, {}});
}

template <class Bits>
Status ActivationRun::run(const std::vector<Bits>& arguments, std::vector<Bits>& results) const {
  results.resize(arguments.size());
  if (program_ || cpu_code_) {
    PADLOCK_CHECK(launch(static_cast<std::int64_t>(arguments.size()), arguments.data(), results.data(),
                         static_cast<std::int64_t>(arguments.size() * sizeof(Bits))));
  } else {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ir::Element argument{.bits = arguments[i]};
      results[i] = static_cast<Bits>(ir::apply_elementwise(op_, dtype_, dtype_, {&argument, 1}).bits);
    }
  }
  const auto infinity = static_cast<Bits>(ir::format_of(dtype_).infinity());
  const auto nan = static_cast<Bits>(ir::format_of(dtype_).quiet_nan());
  const auto magnitude = static_cast<Bits>(ir::format_of(dtype_).sign_mask() - 1);
  for (Bits& result : results) result = (result & magnitude) > infinity ? nan : result;  // a loop of vectors
  return {};
}

template Status ActivationRun::run(const std::vector<std::uint32_t>&, std::vector<std::uint32_t>&) const;
template Status ActivationRun::run(const std::vector<std::uint16_t>&, std::vector<std::uint16_t>&) const;

}  // namespace padlock::activation
