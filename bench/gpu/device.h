#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compiler/gpu_config.h"
#include "ir/binding.h"
#include "support/error.h"

namespace padlock::bench::gpu {

/// What figures are of.
struct Facts {
  std::string device;  ///< "cuda:0" or "simt"
  std::string name;
  std::string architecture;  ///< that code is made for: "sm_90"
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bandwidth = 0;  ///< peak bytes per second; 0 where nobody says
  int driver_version = 0;             ///< 1000 * major + 10 * minor; 0 without a driver
  bool simulated = false;             ///< by this CPU: times mean nothing
};

/// What compiling took and made.
struct CodeFacts {
  double text_to_ptx_ms = 0;       ///< the first time, proofs included; of simt, to machine code
  double text_to_ptx_warm_ms = 0;  ///< the second time, with the proofs known
  double load_ms = 0;              ///< PTX to a function that can be launched; 0 of simt
  int registers = 0;               ///< of one thread; 0 where nobody says
  std::int64_t local_bytes = 0;    ///< of one thread; spilled registers are here
};

/// Memory of a device, given back when it is dropped.
class Memory {
 public:
  virtual ~Memory() = default;
  [[nodiscard]] virtual std::uint64_t address() const = 0;
};

/// A program of one input, one result and no scalars, compiled with one config. Borrows its device.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual const CodeFacts& facts() const = 0;
  /// For the sizes of the next launches. Errors as ir::Binding::bind.
  [[nodiscard]] virtual Status bind(const ir::BindRequest& request) = 0;
  /// Queues it. Precondition: it is bound, and the buffers are as large as the binding says.
  [[nodiscard]] virtual Status launch(std::uint64_t input, std::uint64_t output) = 0;
};

/// What is measured: a GPU through CUDA's driver, or simt, on which the same path runs without a GPU. One queue, one
/// thread.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const Facts& facts() const = 0;
  [[nodiscard]] virtual Result<std::int64_t> free_bytes() = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Memory>> allocate(std::int64_t bytes, const std::string& what) = 0;

  // Waiting until it is done.
  [[nodiscard]] virtual Status write(std::uint64_t to, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::span<std::byte> to, std::uint64_t from) = 0;
  [[nodiscard]] virtual Status synchronize() = 0;

  // Queued.
  [[nodiscard]] virtual Status fill(std::uint64_t to, std::byte value, std::int64_t bytes) = 0;
  [[nodiscard]] virtual Status copy(std::uint64_t to, std::uint64_t from, std::int64_t bytes) = 0;

  /// Milliseconds that the device takes for what queue(0) to queue(calls - 1) put into its queue, without the time
  /// that queueing takes where that can be hidden. At most kMaxCalls.
  [[nodiscard]] virtual Result<double> time_ms(int calls, const std::function<Status(int)>& queue) = 0;
  /// Of a driver's queue, which holds 1024 launches, so that queueing never waits.
  static constexpr int kMaxCalls = 800;

  /// Absent config: the default one. Errors as compiler::GpuCompiler::compile and runtime::cuda::Module::load_ptx.
  [[nodiscard]] virtual Result<std::unique_ptr<Kernel>> compile(const std::string& text,
                                                                const std::optional<compiler::GpuConfig>& config) = 0;
};

/// "cuda:N", on the driver that runtime::cuda::Driver::find finds. Errors: unavailable, where there is none.
[[nodiscard]] Result<std::unique_ptr<Device>> make_cuda_device(int ordinal);
/// "simt". Pretends to be sm_90.
[[nodiscard]] Result<std::unique_ptr<Device>> make_simt_device();
/// By that name. Error: invalid_argument for any other.
[[nodiscard]] Result<std::unique_ptr<Device>> make_device(const std::string& name);

}  // namespace padlock::bench::gpu
