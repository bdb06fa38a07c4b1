#include "bench/gpu/cuda_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

// A kernel's words, by their places.
constexpr std::size_t kInput = 1;
constexpr std::size_t kOutput = 2;
constexpr std::size_t kSizes = 3;

Result<compiler::GpuCode> timed_compile(compiler::GpuCompiler& compiler, const ir::Program& program,
                                        const compiler::GpuOptions& options, double& ms) {
  // The text is read again, so that this is text to PTX; the contracts are made for the program that is kept.
  const Stopwatch watch;
  PADLOCK_TRY([[maybe_unused]] const ir::Program again, ir::parse_program(ir::to_string(program)));
  auto code = compiler.compile(program, options);
  ms = watch.ms();
  return code;
}

}  // namespace

Result<std::unique_ptr<CudaKernel>> CudaKernel::compile(compiler::GpuCompiler& compiler, const CudaQueue& queue,
                                                        const std::string& text, const compiler::GpuOptions& options) {
  PADLOCK_TRY(ir::Program program, ir::parse_program(text));
  auto kernel = std::unique_ptr<CudaKernel>(new CudaKernel(queue, std::move(program)));
  CodeFacts& facts = kernel->facts_;
  PADLOCK_TRY(kernel->code_, timed_compile(compiler, kernel->program_, options, facts.text_to_ptx_ms));
  PADLOCK_TRY(kernel->code_, timed_compile(compiler, kernel->program_, options, facts.text_to_ptx_warm_ms));
  if (kernel->code_.kernels.size() != 1 || kernel->code_.kernels[0].empty())
    return internal_error(fmt::format("expected one kernel, found {}", kernel->code_.kernels.size()));
  PADLOCK_CHECK(check_contract(kernel->abi()));
  PADLOCK_CHECK(kernel->load());
  return kernel;
}

Status CudaKernel::load() {
  const cuda::Context& context = queue_.current->context();
  const Stopwatch watch;
  PADLOCK_TRY(cuda::Module module, cuda::Module::load_ptx(context, code_.ptx, abi().name));
  module_ = std::move(module);
  PADLOCK_TRY(const cuda::Function function, module_->function(abi().name));
  facts_.load_ms = watch.ms();
  function_ = function;
  const auto made = cuda::function_facts(function);
  if (made) {
    facts_.registers = made->registers;
    facts_.local_bytes = made->local_bytes;
  }
  return {};
}

Status CudaKernel::bind(const ir::BindRequest& request) {
  PADLOCK_TRY(BoundSizes sizes, BoundSizes::of(binder_, abi(), request));
  std::int64_t blocks = sizes.plan.rows;
  if (abi().persistent) {
    const int per_multiprocessor = std::max(1, queue_.facts->max_multiprocessor_threads / abi().threads);
    blocks = std::min<std::int64_t>(blocks, std::int64_t{queue_.facts->multiprocessors} * per_multiprocessor);
  }
  if (blocks > queue_.facts->max_grid_x)
    return resource_exhausted(
        fmt::format("kernel {} needs {} blocks, a launch takes {}", abi().name, blocks, queue_.facts->max_grid_x));
  shape_ = {.grid_x = static_cast<unsigned>(blocks), .block_x = static_cast<unsigned>(abi().threads)};
  words_.assign(kSizes, 0);
  words_[0] = queue_.fault;
  for (const std::int64_t size : sizes.plan.sizes) words_.push_back(static_cast<std::uint64_t>(size));
  sizes_ = std::move(sizes);
  return {};
}

void CudaKernel::place(std::uint64_t input, std::uint64_t output) {
  words_[kInput] = input;
  words_[kOutput] = output;
}

Status CudaKernel::launch(std::uint64_t input, std::uint64_t output) {
  place(input, output);
  return cuda::launch(*queue_.current, *function_, shape_, words_, *queue_.stream);
}

Status CudaKernel::launch_checked(runtime::UserBuffer input, runtime::UserBuffer output) {
  const runtime::BufferView inputs[] = {runtime::BufferView(input)};
  const runtime::BufferView outputs[] = {runtime::BufferView(output)};
  PADLOCK_CHECK(sizes_->arguments.check(inputs, outputs));
  return launch(std::bit_cast<std::uint64_t>(inputs[0].data()), std::bit_cast<std::uint64_t>(outputs[0].data()));
}

Status CudaKernel::launch_in_any_context(std::uint64_t input, std::uint64_t output) {
  place(input, output);
  return cuda::launch(*function_, shape_, words_, *queue_.stream);
}

Status CudaKernel::call_driver() const {
  const auto tag = [](std::uintptr_t value) { return std::bit_cast<void*>(value); };
  std::size_t bytes = words_.size() * sizeof(std::uint64_t);
  void* extra[] = {tag(cuda::kLaunchParamBufferPointer), const_cast<std::uint64_t*>(words_.data()),
                   tag(cuda::kLaunchParamBufferSize), &bytes, tag(cuda::kLaunchParamEnd)};
  const cuda::Driver& driver = queue_.current->context().driver();
  const cuda::CUresult status =
      driver.cuLaunchKernel.address(function_->handle(), shape_.grid_x, 1, 1, shape_.block_x, 1, 1, 0,
                                    queue_.stream->handle(), nullptr, static_cast<void**>(extra));
  if (status == cuda::CUresult::success) return {};
  return std::unexpected(driver.error_of(status, driver.cuLaunchKernel.name, {}));
}

}  // namespace padlock::bench::gpu
