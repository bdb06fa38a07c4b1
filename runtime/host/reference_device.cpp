#include "ir/reference/interpreter.h"
#include "runtime/device_family.h"
#include "runtime/host/host_device.h"

namespace padlock::runtime {
namespace {

/// Interprets element by element, from the binding alone.
class ReferenceLaunch final : public BoundLaunch {
 public:
  ReferenceLaunch(const ir::Binding& binding, ArgumentSizes sizes)
      : BoundLaunch(std::move(sizes), /*takes_aligned=*/false), binding_(binding) {}

  [[nodiscard]] Status synchronize(void*) const override { return {}; }

 private:
  [[nodiscard]] Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                           std::span<const std::uint64_t> scalars, void*) const override {
    std::vector<std::span<const std::byte>> bytes;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      bytes.emplace_back(static_cast<const std::byte*>(inputs[i].data()),
                         static_cast<std::size_t>(sizes().input_bytes()[i]));
    ir::Interpreter interpreter(binding_, std::move(bytes), {scalars.begin(), scalars.end()});
    const auto& results = binding_.program().results();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::span out(static_cast<std::byte*>(outputs[i].data()),
                          static_cast<std::size_t>(sizes().output_bytes()[i]));
      PADLOCK_CHECK(interpreter.evaluate(results[i], out));
    }
    return {};
  }

  const ir::Binding& binding_;
};

class ReferenceProgram final : public LoadedProgram {
 public:
  [[nodiscard]] std::vector<std::vector<const abi::KernelAbi*>> contracts() const override { return {}; }
  [[nodiscard]] Result<std::unique_ptr<const BoundLaunch>> bind(const ir::Binding& binding,
                                                                ArgumentSizes sizes) const override {
    return std::make_unique<ReferenceLaunch>(binding, std::move(sizes));
  }
};

class ReferenceDevice final : public HostMemoryDevice {
 public:
  ReferenceDevice(DeviceTraits traits, std::shared_ptr<HostMemory> memory)
      : HostMemoryDevice(std::move(traits), std::move(memory)) {}

  [[nodiscard]] Result<std::unique_ptr<const LoadedProgram>> load(const ir::Program&,
                                                                  abi::CompiledCode code) const override {
    if (!code.bytes.empty() || !code.kernels.empty())
      return internal_error("expected no code: the reference runs programs as they are");
    return std::make_unique<ReferenceProgram>();
  }
};

Result<std::unique_ptr<const Device>> open(const DeviceId& id, const DeviceOptions&,
                                           const std::shared_ptr<HostMemory>& memory) {
  return std::make_unique<ReferenceDevice>(DeviceTraits{.id = id, .target = "", .emulated = true}, memory);
}

Status check(const DeviceId&) { return {}; }

std::vector<DeviceInfo> list() {
  return {{.id = {DeviceKind::reference}, .available = true, .description = "the interpreter, element by element"}};
}

}  // namespace

const DeviceFamily& reference_family() {
  static constexpr DeviceFamily kFamily{DeviceKind::reference, open, check, list};
  return kFamily;
}

}  // namespace padlock::runtime
