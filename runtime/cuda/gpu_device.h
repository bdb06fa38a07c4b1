#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/cuda/clock.h"
#include "runtime/cuda/context.h"
#include "runtime/device.h"
#include "runtime/device_family.h"

namespace padlock::runtime::cuda {

/// A GPU in use: "cuda:N".
class GpuDevice final : public Device {
 public:
  /// `borrowed`: a caller's CUcontext, used for its device instead of the primary one; null: none. Errors: unavailable,
  /// naming the device, with what was looked for or the driver's message, or with the known architectures if none suits
  /// the device; else as the driver says.
  [[nodiscard]] static Result<std::unique_ptr<const GpuDevice>> open(const DeviceId& id, void* borrowed);

  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] const GpuFacts& gpu() const { return gpu_; }

  [[nodiscard]] DeviceFacts facts() const override;
  [[nodiscard]] Status check_target(const std::string& target) const override;
  /// Returns all of the memory if the driver does not say.
  [[nodiscard]] Result<std::int64_t> free_bytes() const override;
  [[nodiscard]] Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes,
                                                               const std::string& what) const override;
  [[nodiscard]] Result<std::unique_ptr<ScratchSpace>> make_scratch_space() const override;
  [[nodiscard]] Result<std::unique_ptr<Queue>> make_queue() const override;
  [[nodiscard]] Result<std::unique_ptr<Comparison>> load_comparison(const abi::CompiledCode& code) const override;
  /// In MHz.
  [[nodiscard]] std::optional<double> clock() const override;
  [[nodiscard]] Result<std::unique_ptr<const runtime::LoadedProgram>> load(const ir::Program& program,
                                                                           abi::CompiledCode code) const override;
  [[nodiscard]] Result<std::unique_ptr<const runtime::LoadedProgram>> load_beside(
      const ir::Program& program, abi::CompiledCode code) const override;

 private:
  GpuDevice(DeviceTraits traits, GpuFacts gpu, std::unique_ptr<const Context> context);

  GpuFacts gpu_;
  std::unique_ptr<const Context> context_;  // the primary one, retained, or the caller's
  mutable std::mutex clock_mutex_;
  mutable bool looked_for_clock_ = false;             // whether clock_ was looked for; guarded by clock_mutex_
  mutable std::unique_ptr<const DeviceClock> clock_;  // null: no clock can be read; guarded by clock_mutex_
};

}  // namespace padlock::runtime::cuda
