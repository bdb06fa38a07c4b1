#include "bench/gpu/cuda_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "support/stopwatch.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

runtime::BufferView view(std::uint64_t address, std::int64_t bytes) {
  return runtime::BufferView(runtime::UserBuffer(std::bit_cast<void*>(address), bytes));
}

Result<ir::CompiledCode> timed_compile(compiler::GpuCompiler& compiler, const ir::Program& program,
                                       const compiler::GpuOptions& options, double& ms) {
  // The text is read again, so that this is text to PTX; the contracts are made for the program that is kept.
  const Stopwatch watch;
  PADLOCK_TRY([[maybe_unused]] const ir::Program again, ir::parse_program(ir::to_string(program)));
  auto code = compiler.compile(program, options);
  ms = watch.milliseconds();
  return code;
}

}  // namespace

Result<std::unique_ptr<CudaKernel>> CudaKernel::compile(compiler::GpuCompiler& compiler, const CudaQueue& queue,
                                                        const std::string& text, const compiler::GpuOptions& options) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  auto kernel = std::unique_ptr<CudaKernel>(new CudaKernel(queue, std::move(program)));
  CodeFacts& facts = kernel->facts_;
  PADLOCK_TRY(ir::CompiledCode code, timed_compile(compiler, kernel->program_, options, facts.text_to_ptx_ms));
  PADLOCK_TRY(code, timed_compile(compiler, kernel->program_, options, facts.text_to_ptx_warm_ms));
  if (code.kernels.size() != 1 || code.kernels[0].empty())
    return internal_error(fmt::format("expected one kernel, found {}", code.kernels.size()));
  PADLOCK_CHECK(check_contract(code.kernels[0][0].abi));
  PADLOCK_CHECK(kernel->load(std::move(code)));
  return kernel;
}

Status CudaKernel::load(ir::CompiledCode code) {
  const Stopwatch watch;
  PADLOCK_TRY(module_, cuda::Module::load_ptx(queue_.current->context(), std::string(code.text()), program_.name()));
  PADLOCK_TRY(launcher_, cuda::KernelLauncher::create(*module_, std::move(code.kernels[0]), program_, *queue_.facts,
                                                      queue_.fault));
  facts_.load_ms = watch.milliseconds();
  return {};
}

Status CudaKernel::bind(const ir::BindRequest& request) {
  PADLOCK_TRY(const ir::Binding binding, binder_.bind(request));
  PADLOCK_TRY(sizes_, sizer_.sizes(binding));
  PADLOCK_TRY(bound_, launcher_->bind(binding));
  PADLOCK_TRY(function_, module_->function(bound_->abi().name));
  if (const auto made = cuda::function_facts(*function_)) {
    facts_.registers = made->registers;
    facts_.local_bytes = made->local_bytes;
  }
  return {};
}

Status CudaKernel::launch_in(const cuda::ContextScope& scope, std::uint64_t input, std::uint64_t output) const {
  const runtime::BufferView inputs[] = {view(input, sizes_->input_bytes()[0])};
  const runtime::BufferView outputs[] = {view(output, sizes_->output_bytes()[0])};
  return bound_->launch(scope, inputs, outputs, {}, *queue_.stream);
}

Status CudaKernel::launch(std::uint64_t input, std::uint64_t output) {
  return launch_in(*queue_.current, input, output);
}

Status CudaKernel::launch_checked(runtime::UserBuffer input, runtime::UserBuffer output) const {
  const runtime::BufferView inputs[] = {runtime::BufferView(input)};
  const runtime::BufferView outputs[] = {runtime::BufferView(output)};
  PADLOCK_CHECK(sizes_->check(inputs, outputs));
  return bound_->launch(*queue_.current, inputs, outputs, {}, *queue_.stream);
}

Status CudaKernel::launch_in_any_context(std::uint64_t input, std::uint64_t output) const {
  PADLOCK_TRY(const cuda::ContextScope scope, cuda::ContextScope::enter(queue_.current->context()));
  return launch_in(scope, input, output);
}

Status CudaKernel::call_driver(std::uint64_t input, std::uint64_t output) const {
  constexpr std::size_t kInput = ir::ParameterWords::buffers;
  std::array<std::uint64_t, ir::ParameterWords::kMost> words;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::ranges::copy(bound_->words(), words.begin());
  words[kInput] = input;
  words[kInput + 1] = output;
  const auto tag = [](std::uintptr_t value) { return std::bit_cast<void*>(value); };
  std::size_t bytes = bound_->words().size_bytes();
  void* extra[] = {tag(cuda::kLaunchParamBufferPointer), words.data(), tag(cuda::kLaunchParamBufferSize), &bytes,
                   tag(cuda::kLaunchParamEnd)};
  const cuda::Driver& driver = queue_.current->context().driver();
  const cuda::CUresult status =
      driver.cuLaunchKernel.address(function_->handle(), bound_->shape().grid_x, 1, 1, bound_->shape().block_x, 1, 1, 0,
                                    queue_.stream->handle(), nullptr, static_cast<void**>(extra));
  if (status == cuda::CUresult::success) return {};
  return std::unexpected(driver.error_of(status, driver.cuLaunchKernel.name, {}));
}

}  // namespace padlock::bench::gpu
