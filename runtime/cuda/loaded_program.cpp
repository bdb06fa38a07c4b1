#include "runtime/cuda/loaded_program.h"

namespace padlock::runtime::cuda {

Result<std::unique_ptr<const LoadedProgram>> LoadedProgram::load(const Context& context, const GpuFacts& device,
                                                                 const ir::Program& program, abi::CompiledCode code,
                                                                 ProgramModules::Make make_module) {
  if (code.kind != abi::CodeKind::ptx) return internal_error("expected PTX, found code for a CPU");
  PADLOCK_TRY(const BesideCapture beside, BesideCapture::enter(context));
  auto modules =
      std::make_unique<const ProgramModules>(context, std::string(code.text()), make_module, std::move(code.cubin));
  const auto fault_bytes = static_cast<std::int64_t>(code.kernels.size() * sizeof(abi::AccessFault));
  PADLOCK_TRY(DeviceBuffer faults,
              DeviceBuffer::allocate(context, fault_bytes, "the error words of " + program.name()));
  std::unique_ptr<LoadedProgram> loaded(
      new LoadedProgram(context, program.name(), std::move(modules), std::move(faults)));
  for (std::size_t i = 0; i < code.kernels.size(); ++i) {
    const CUdeviceptr fault = loaded->faults_.address() + i * sizeof(abi::AccessFault);
    PADLOCK_TRY(KernelLauncher launcher,
                KernelLauncher::create(*loaded->modules_, std::move(code.kernels[i]), program, device, fault));
    loaded->kernels_.push_back(std::move(launcher));
  }
  // Use a new stream: the null stream would wait for a caller's work on others.
  PADLOCK_TRY(const Stream stream, Stream::create(context));
  PADLOCK_CHECK(loaded->clear_faults(stream));
  return loaded;
}

std::vector<std::vector<const abi::KernelAbi*>> LoadedProgram::contracts() const {
  std::vector<std::vector<const abi::KernelAbi*>> list;
  for (const KernelLauncher& kernel : kernels_) {
    auto& variants = list.emplace_back();
    for (std::size_t i = 0; i < kernel.variant_count(); ++i) variants.push_back(&kernel.abi(i));
  }
  return list;
}

Result<std::unique_ptr<const runtime::BoundLaunch>> LoadedProgram::bind(const ir::Binding& binding,
                                                                        ArgumentSizes sizes) const {
  std::unique_ptr<BoundLaunch> bound(new BoundLaunch(*this, std::move(sizes)));
  bound->kernels_.reserve(kernels_.size());
  for (const KernelLauncher& launcher : kernels_) {
    PADLOCK_TRY(BoundKernel kernel, launcher.bind(binding));
    bound->kernels_.push_back(std::move(kernel));
  }
  return bound;
}

Status BoundLaunch::run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                        std::span<const std::uint64_t> scalars, void* stream) const {
  const Context& context = program_.context();
  const Stream queue = Stream::borrow(context, stream);
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  for (const BoundKernel& kernel : kernels_) PADLOCK_CHECK(kernel.launch(scope, inputs, outputs, scalars, queue));
  return {};
}

Status BoundLaunch::synchronize(void* stream) const {
  return program_.synchronize(Stream::borrow(program_.context(), stream));
}

Status LoadedProgram::synchronize(const Stream& stream) const {
  PADLOCK_CHECK(stream.synchronize(name_));
  std::vector<abi::AccessFault> faults(kernels_.size());
  PADLOCK_CHECK(copy_to_host(stream, std::as_writable_bytes(std::span(faults)), faults_.address()));
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const Status status = check_fault(faults[i], kernels_[i].abi());
    if (status) continue;
    PADLOCK_CHECK(clear_faults(stream));
    return status;
  }
  return {};
}

Status LoadedProgram::clear_faults(const Stream& stream) const {
  PADLOCK_CHECK(enqueue_fill(stream, faults_.address(), std::byte{0}, faults_.bytes()));
  return stream.synchronize(name_);
}

}  // namespace padlock::runtime::cuda
