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

// The subjects of the conformance suite of devices: each device, with code for it.
namespace padlock::runtime {

/// Opens devices. If PADLOCK_CUDA_DRIVER names the fake driver, runs its kernels by twins of host code.
class Bench {
 public:
  Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  [[nodiscard]] const Device& open(const DeviceId& id);
  /// Returns null for a real driver.
  [[nodiscard]] cuda::FakeDriver* fake() const { return fake_; }

  /// Compiles for the device; returns no code for the reference. On the fake driver all launches until the next
  /// compilation use `binding`, which belongs to this program.
  [[nodiscard]] abi::CompiledCode compile(const Device& device, const ir::Binding& binding, bool bounds_check = false);
  /// Returns code of one kernel that reports for any launch: access 1 at offset 12 of a storage of 10 elements.
  [[nodiscard]] abi::CompiledCode failing_code(const Device& device, const ir::Program& program);

 private:
  /// A GPU's kernel, which this CPU runs for the fake driver.
  struct Twin {
    abi::KernelAbi gpu;  // of one variant
    HostVariant host;    // the twin for all variants, right for all sizes
    const ir::Binding* binding;
    static void run(void* twin, const std::uint64_t* words, std::size_t count, unsigned grid_x, unsigned block_x);
  };

  cuda::FakeDriver* fake_;
  ThreadPool pool_{2};
  Devices devices_;
  HostImage image_;
  std::vector<std::unique_ptr<Twin>> twins_;
};

/// Returns every device of this machine; of GPUs only cuda:0. Prints what it leaves out.
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

/// Returns bytes that differ from place to place.
[[nodiscard]] std::vector<std::byte> some_bytes(std::size_t count);

}  // namespace padlock::runtime
