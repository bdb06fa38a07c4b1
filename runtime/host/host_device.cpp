#include "runtime/host/host_device.h"

#include <fmt/format.h>

#include "abi/gpu_targets.h"
#include "runtime/device_family.h"
#include "runtime/host/host_image.h"
#include "runtime/host/host_info.h"
#include "runtime/host/launch.h"

namespace padlock::runtime {
namespace {

class HostLaunch final : public BoundLaunch {
 public:
  HostLaunch(ArgumentSizes sizes, bool takes_aligned, const ParallelFor& parallel_for)
      : BoundLaunch(std::move(sizes), takes_aligned), parallel_for_(parallel_for) {}

  [[nodiscard]] Status add(const KernelLauncher& launcher, const ir::Binding& binding, std::int64_t task_bytes) {
    PADLOCK_TRY(BoundKernel kernel, launcher.bind(binding, task_bytes, parallel_for_.threads));
    kernels_.push_back(std::move(kernel));
    return {};
  }
  void reserve(std::size_t kernels) { kernels_.reserve(kernels); }

  [[nodiscard]] Status synchronize(void*) const override { return {}; }

 private:
  [[nodiscard]] Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                           std::span<const std::uint64_t> scalars, void*) const override {
    for (const BoundKernel& kernel : kernels_) PADLOCK_CHECK(kernel.run(inputs, outputs, scalars, parallel_for_));
    return {};
  }

  const ParallelFor& parallel_for_;  // the device's
  std::vector<BoundKernel> kernels_;
};

class HostProgram final : public LoadedProgram {
 public:
  HostProgram(bool takes_aligned, const ParallelFor& parallel_for, std::int64_t task_bytes)
      : takes_aligned_(takes_aligned), parallel_for_(parallel_for), task_bytes_(task_bytes) {}

  [[nodiscard]] Status load(const ir::Program& program, abi::CompiledCode code) {
    PADLOCK_TRY(HostImage image, load_image(std::move(code)));
    code_ = std::move(image.code);
    for (std::vector<HostVariant>& variants : image.kernels) {
      PADLOCK_TRY(KernelLauncher launcher, KernelLauncher::create(std::move(variants), program));
      kernels_.push_back(std::move(launcher));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::vector<const abi::KernelAbi*>> contracts() const override {
    std::vector<std::vector<const abi::KernelAbi*>> list;
    for (const KernelLauncher& kernel : kernels_) {
      auto& variants = list.emplace_back();
      for (const HostVariant& variant : kernel.variants()) variants.push_back(&variant.abi);
    }
    return list;
  }

  [[nodiscard]] Result<std::unique_ptr<const BoundLaunch>> bind(const ir::Binding& binding,
                                                                ArgumentSizes sizes) const override {
    auto bound = std::make_unique<HostLaunch>(std::move(sizes), takes_aligned_, parallel_for_);
    bound->reserve(kernels_.size());
    for (const KernelLauncher& launcher : kernels_) PADLOCK_CHECK(bound->add(launcher, binding, task_bytes_));
    return bound;
  }

 private:
  bool takes_aligned_;
  const ParallelFor& parallel_for_;  // the device's
  std::int64_t task_bytes_;
  std::shared_ptr<const CodeMemory> code_;
  std::vector<KernelLauncher> kernels_;  // of that code; unchanged after loading
};

/// This machine's CPU with host kernels or, as simt, with a GPU's kernels.
class HostDevice final : public HostMemoryDevice {
 public:
  HostDevice(DeviceTraits traits, const ParallelFor& parallel_for, std::shared_ptr<HostMemory> memory)
      : HostMemoryDevice(std::move(traits), std::move(memory)), parallel_for_(parallel_for) {}

  [[nodiscard]] Result<std::unique_ptr<const LoadedProgram>> load(const ir::Program& program,
                                                                  abi::CompiledCode code) const override {
    // An emulated GPU's kernels rely on alignment.
    const bool takes_aligned = traits().emulated;
    auto loaded = std::make_unique<HostProgram>(takes_aligned, parallel_for_, code.task_bytes);
    PADLOCK_CHECK(loaded->load(program, std::move(code)));
    return loaded;
  }

 private:
  const ParallelFor parallel_for_;
};

Result<std::unique_ptr<const Device>> open_host(const DeviceId& id, const DeviceOptions& options,
                                                const std::shared_ptr<HostMemory>& memory) {
  return std::make_unique<HostDevice>(DeviceTraits{.id = id, .target = "host", .code_kind = abi::CodeKind::host_image},
                                      options.parallel_for, memory);
}

Result<std::unique_ptr<const Device>> open_simt(const DeviceId& id, const DeviceOptions& options,
                                                const std::shared_ptr<HostMemory>& memory) {
  return std::make_unique<HostDevice>(
      DeviceTraits{
          .id = id, .target = abi::kDefaultGpuTarget, .code_kind = abi::CodeKind::host_image, .emulated = true},
      options.parallel_for, memory);
}

Status check_nothing(const DeviceId&) { return {}; }

std::string describe_host() {
  const HostInfo info = host_info();
  std::string text = fmt::format("{}, {} thread{}", info.cpu, info.threads, info.threads == 1 ? "" : "s");
  if (info.l2_bytes) text += fmt::format(", L2 {}", size_text(*info.l2_bytes));
  if (info.l3_bytes) text += fmt::format(", L3 {}", size_text(*info.l3_bytes));
  return text;
}

std::vector<DeviceInfo> list_host() {
  return {{.id = {DeviceKind::host}, .available = true, .description = describe_host()}};
}

std::vector<DeviceInfo> list_simt() {
  return {{.id = {DeviceKind::simt}, .available = true, .description = "a GPU's kernels, run by this CPU"}};
}

}  // namespace

const DeviceFamily& host_family() {
  static constexpr DeviceFamily kFamily{DeviceKind::host, open_host, check_nothing, list_host};
  return kFamily;
}

const DeviceFamily& simt_family() {
  static constexpr DeviceFamily kFamily{DeviceKind::simt, open_simt, check_nothing, list_simt};
  return kFamily;
}

}  // namespace padlock::runtime
