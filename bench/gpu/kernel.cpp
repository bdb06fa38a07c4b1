#include "bench/gpu/kernel.h"

#include <fmt/format.h>

#include "runtime/cuda/loaded_program.h"
#include "support/stopwatch.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

/// Error: internal, where the contract is not of one input, one result and no scalars.
Status check_contract(const abi::KernelAbi& abi) {
  if (abi.inputs.size() == 1 && abi.results.size() == 1 && abi.scalars.empty()) return {};
  return internal_error(fmt::format("kernel {} has {} inputs, {} results and {} scalars, expected one, one and none",
                                    abi.name, abi.inputs.size(), abi.results.size(), abi.scalars.size()));
}

Result<abi::CompiledCode> timed_compile(compiler::TargetCompiler& compiler, const ir::Program& program,
                                        const compiler::TargetCompiler::Options& options, double& ms) {
  // The text is read again, so that this is text to PTX; the contracts are made for the program that is kept.
  const Stopwatch watch;
  PADLOCK_TRY([[maybe_unused]] const ir::Program again, ir::parse_program(ir::to_string(program)));
  auto code = compiler.compile(program, options);
  ms = watch.milliseconds();
  return code;
}

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::compile(Rig& rig, const std::string& text,
                                                const std::optional<compiler::GpuConfig>& config) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  std::unique_ptr<Kernel> kernel(new Kernel(rig, std::move(program)));
  const compiler::TargetCompiler::Options options{.config = config, .for_simt = rig.facts().simulated};
  CodeFacts& facts = kernel->facts_;
  PADLOCK_TRY(abi::CompiledCode code, timed_compile(rig.compiler(), kernel->program_, options, facts.text_to_ptx_ms));
  facts.text_to_ptx_warm_ms = facts.text_to_ptx_ms;
  if (!rig.facts().simulated) {
    PADLOCK_TRY(code, timed_compile(rig.compiler(), kernel->program_, options, facts.text_to_ptx_warm_ms));
  }
  if (code.kernels.size() != 1 || code.kernels[0].empty())
    return internal_error(fmt::format("expected one kernel, found {}", code.kernels.size()));
  PADLOCK_CHECK(check_contract(code.kernels[0][0].abi));
  const Stopwatch watch;
  PADLOCK_TRY(kernel->loaded_, rig.device().load(kernel->program_, std::move(code)));
  facts.load_ms = watch.milliseconds();
  return kernel;
}

Status Kernel::bind(const ir::BindRequest& request) {
  PADLOCK_TRY(binding_, binder_.bind(request));
  PADLOCK_TRY(runtime::ArgumentSizes sizes, binder_.sizes(*binding_));
  const bool is_first = bound_ == nullptr;
  const Stopwatch watch;
  PADLOCK_TRY(bound_, loaded_->bind(*binding_, std::move(sizes)));
  if (is_first) facts_.load_ms += watch.milliseconds();  // which assembles the variant that these sizes take
  const auto* const gpu = dynamic_cast<const cuda::BoundLaunch*>(bound_.get());
  if (gpu == nullptr) return {};
  if (const auto made = cuda::function_facts(gpu->kernels()[0].function())) {
    facts_.registers = made->registers;
    facts_.local_bytes = made->local_bytes;
  }
  return {};
}

Status Kernel::launch(void* input, void* output) const {
  const runtime::BufferView inputs[] = {view(input, bound_->sizes().input_bytes()[0])};
  const runtime::BufferView outputs[] = {view(output, bound_->sizes().output_bytes()[0])};
  return bound_->launch(inputs, outputs, {}, rig_.queue().stream());
}

}  // namespace padlock::bench::gpu
