#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/compiled_state.h"
#include "api/cuda_devices.h"
#include "api/pack.h"

// Private to this folder.
namespace padlock::api {

/// Makes compiled programs of those in packs. Borrows all that it is given.
class PackLoader {
 public:
  PackLoader(const runtime::ParallelFor& parallel_for, CudaDevices& cuda) : parallel_for_(parallel_for), cuda_(cuda) {}

  /// As LaunchContext::load.
  [[nodiscard]] Result<CompiledProgram> load(const PackProgram& packed, const Device& device);

 private:
  using State = std::shared_ptr<CompiledProgram::State>;
  /// Whether a target's code runs on the device.
  [[nodiscard]] Status check_target(const PackTarget& target, const CudaDevice* gpu) const;
  [[nodiscard]] Result<const PackTarget*> choose(const PackProgram& packed, const Device& device,
                                                 const CudaDevice* gpu) const;
  [[nodiscard]] Result<State> load_code(const Program& program, const Device& device, const CudaDevice* gpu,
                                        const PackTarget& target, const PackConfig& code) const;
  [[nodiscard]] Status add_choices(CompiledProgram::State& state, const CudaDevice* gpu,
                                   const PackTarget& target) const;

  const runtime::ParallelFor& parallel_for_;
  CudaDevices& cuda_;
};

}  // namespace padlock::api
