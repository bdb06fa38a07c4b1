#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "runtime/host/host_image.h"
#include "runtime/host/thread_pool.h"
#include "runtime/registry/devices.h"
#include "tests/runtime/cuda/fake_driver.h"

// What the conformance suite of devices runs on: each device, with code for it.
namespace padlock::runtime {

/// Opens devices, and runs the kernels that the fake driver is asked for, where PADLOCK_CUDA_DRIVER names it: by twins
/// of host code.
class Bench {
 public:
  Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  [[nodiscard]] const Device& open(const DeviceId& id);
  /// Null on a real driver.
  [[nodiscard]] cuda::FakeDriver* fake() const { return fake_; }

  /// Compiled for the device; no code for the reference. On the fake driver what is launched until the next compilation
  /// is bound to `binding`, whose program it is.
  [[nodiscard]] abi::CompiledCode compile(const Device& device, const ir::Binding& binding, bool bounds_check = false);
  /// Code of one kernel that says of any launch: access 1 at offset 12 of a storage of 10 elements.
  [[nodiscard]] abi::CompiledCode failing_code(const Device& device, const ir::Program& program);

 private:
  /// A GPU's kernel, run by this CPU for the fake driver.
  struct Twin {
    abi::KernelAbi gpu;  // of one variant
    HostVariant host;    // the twin that is right for all sizes, of all variants
    const ir::Binding* binding;
    static void run(void* twin, const std::uint64_t* words, std::size_t count, unsigned grid_x, unsigned block_x);
  };

  cuda::FakeDriver* fake_;
  ThreadPool pool_{2};
  Devices devices_;
  HostImage image_;
  std::vector<std::unique_ptr<Twin>> twins_;
};

/// Every device that there is here: of GPUs cuda:0. What is left out is said.
[[nodiscard]] std::vector<DeviceId> devices_here();

/// Memory of a device, with bytes from the host.
class Array {
 public:
  Array(const Device& device, std::vector<std::byte> bytes);
  [[nodiscard]] BufferView view(std::int64_t offset = 0, std::int64_t less = 0) const;
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  std::unique_ptr<DeviceMemory> staging_, memory_;
};

/// Bytes that differ from place to place.
[[nodiscard]] std::vector<std::byte> some_bytes(std::size_t count);

}  // namespace padlock::runtime
