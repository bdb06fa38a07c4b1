#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "abi/compiled_code.h"
#include "ir/binding/binding.h"
#include "ir/program.h"
#include "runtime/arguments.h"
#include "runtime/buffer.h"
#include "runtime/comparison.h"
#include "runtime/device_id.h"
#include "runtime/gpu_facts.h"
#include "runtime/scratch_memory.h"
#include "support/error.h"

// Devices run programs: a device loads a program's code, the loaded program is bound to sizes, and the result is
// launched. The host, simt, the reference and GPUs implement this interface; devices.h opens them.
namespace padlock::runtime {

struct ScratchArguments;  // scratch_launch.h

/// A loaded program bound to sizes: everything but pointers and scalars is known. Immutable, thread-safe, so launches
/// may run at once; borrows the loaded program and the binding.
class BoundLaunch {
 public:
  virtual ~BoundLaunch() = default;
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;

  /// Bytes that a launch needs for each argument.
  [[nodiscard]] const ArgumentSizes& sizes() const { return sizes_; }

  /// Computes all results. A GPU queues the work on `stream`, a CUstream of its context (null: the default one), which
  /// other devices ignore. Buffers lie in the device's memory. Buffers and scalars are in the program's orders; on a
  /// GPU they stay alive, and inputs unchanged, until the stream has got there. Allocates nothing on the host, simt and
  /// GPUs. On a GPU it also waits for nothing, is legal while the stream is captured, and restores the thread's current
  /// context. Errors: invalid_argument, naming the argument, as ArgumentSizes' checks, before any work; internal if a
  /// bounds check fails (on a GPU `synchronize` reports it); a lost device.
  [[nodiscard]] Status launch(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                              std::span<const std::uint64_t> scalars, void* stream = nullptr) const {
    PADLOCK_CHECK(sizes_.check(inputs, outputs));
    if (takes_aligned_) PADLOCK_CHECK(sizes_.check_alignment(inputs, outputs));
    PADLOCK_CHECK(sizes_.check_scalars(scalars));
    return run(inputs, outputs, scalars, stream);
  }

  /// Waits until the work of a GPU's stream is done and returns its status; on other devices `launch` has waited.
  /// Errors: a lost device; internal if a bounds check of this program failed since the last question, on any stream;
  /// failed_precondition while the stream is captured.
  [[nodiscard]] virtual Status synchronize(void* stream = nullptr) const = 0;

 protected:
  /// `takes_aligned`: the kernels rely on buffers that begin at multiples of their elements' sizes.
  BoundLaunch(ArgumentSizes sizes, bool takes_aligned) : sizes_(std::move(sizes)), takes_aligned_(takes_aligned) {}

 private:
  friend Status launch_on_scratch(const BoundLaunch&, const ScratchArguments&, void*);
  /// Runs `launch` for checked arguments.
  [[nodiscard]] virtual Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                                   std::span<const std::uint64_t> scalars, void* stream) const = 0;

  ArgumentSizes sizes_;
  bool takes_aligned_;
};

/// A program's code on a device. Immutable, thread-safe; borrows the device and the program. On a GPU, dropping it is
/// illegal while a stream of the context is captured.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  /// Returns the contracts of each kernel's variants, in launch order, the variant without assumptions first. Empty on
  /// the reference.
  [[nodiscard]] virtual std::vector<std::vector<const abi::KernelAbi*>> contracts() const = 0;
  /// Selects variants and evaluates contracts; launches nothing. On a GPU the first sizes that select a variant load
  /// its code, which takes milliseconds and is legal while a stream is captured. `sizes` belongs to the binding, which
  /// must outlive the result. Errors: as abi::LaunchPlanner::plan; for a GPU's code, as its driver says.
  [[nodiscard]] virtual Result<std::unique_ptr<const BoundLaunch>> bind(const ir::Binding& binding,
                                                                        ArgumentSizes sizes) const = 0;

 protected:
  LoadedProgram() = default;
};

/// Memory of a device, freed on drop. A GPU's borrows its device.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Null when empty; the host must not follow a GPU's address.
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// Copies and waits. Errors: out_of_range; invalid_argument for memory of two GPUs; else as the driver says.
  [[nodiscard]] static Status copy(DeviceMemory& to, std::int64_t to_offset, const DeviceMemory& from,
                                   std::int64_t from_offset, std::int64_t bytes);

 protected:
  DeviceMemory() = default;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;

 private:
  /// Returns memory that the host may read and write; null for a GPU's.
  [[nodiscard]] virtual std::byte* on_host() const = 0;
  // Write and read a GPU's memory. Ranges lie within the memory.
  [[nodiscard]] virtual Status write(std::int64_t offset, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::int64_t offset, std::span<std::byte> to) const = 0;
  [[nodiscard]] virtual Status copy_from(const DeviceMemory& from, std::int64_t from_offset, std::int64_t offset,
                                         std::int64_t bytes) = 0;
};

/// A queue of a device's work. A host's runs each operation at once, on the calling thread. Addresses are the device's.
/// Not thread-safe; borrows the device.
class Queue {
 public:
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// The stream for launches; null if the device has none.
  [[nodiscard]] virtual void* stream() const = 0;

  // Queued: the memory must not change until the queue has reached the operation.
  [[nodiscard]] virtual Status copy(void* to, const void* from, std::int64_t bytes) = 0;
  [[nodiscard]] virtual Status fill(void* to, std::byte value, std::int64_t bytes) = 0;

  // Copy to and from the host's memory, and wait.
  [[nodiscard]] virtual Status write(void* to, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::span<std::byte> to, const void* from) = 0;
  [[nodiscard]] virtual Status synchronize() = 0;

  /// Returns the picoseconds that the device takes for the work that work(0) to work(count - 1) queue. Keeps a GPU busy
  /// until everything is queued, so that it never waits for the caller; if the caller was too slow, calls all again.
  /// Beyond kMostTimed the queue is full, and the GPU waits. Returns when the work is done. Errors: those of `work`;
  /// else as the driver says.
  [[nodiscard]] virtual Result<std::int64_t> time(std::int64_t count,
                                                  const std::function<Status(std::int64_t)>& work) = 0;
  static constexpr std::int64_t kMostTimed = 800;  ///< a driver's queue holds 1024 launches

 protected:
  Queue() = default;
};

/// DeviceFacts describe a device's hardware.
struct DeviceFacts {
  std::string model;                           ///< of the CPU or the GPU
  std::vector<std::int64_t> cache_bytes = {};  ///< of the caches that affect programs, the last level last
  std::optional<GpuFacts> gpu = {};
  int cache_cpus = 1;  ///< CPUs that share the last cache

  /// Returns the bytes of the last cache available to launches on so many threads: on a host, each CPU has its share.
  /// 0: unknown.
  [[nodiscard]] std::int64_t cache_share(int threads) const {
    if (cache_bytes.empty()) return 0;
    return gpu ? cache_bytes.back() : cache_bytes.back() / cache_cpus * std::clamp(threads, 1, cache_cpus);
  }
};

/// DeviceTraits holds facts about a device that never change.
struct DeviceTraits {
  DeviceId id;
  /// Default target of its code: "host" or an architecture of GPUs. Empty on the reference, which interprets programs.
  std::string target;
  std::optional<abi::CodeKind> code_kind = {};  ///< the kind of code that it loads; nullopt on the reference
  bool host_memory = true;                      ///< a launch's buffers lie in the host's memory
  bool emulated = false;                        ///< it stands in for something faster: its times are meaningless
};

/// A place to run programs. Immutable, thread-safe; outlives everything made with it, except memory of the host.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const DeviceTraits& traits() const { return traits_; }
  [[nodiscard]] const DeviceId& id() const { return traits_.id; }
  /// Describes the hardware; for a CPU, by asking the system.
  [[nodiscard]] virtual DeviceFacts facts() const = 0;
  /// Checks that it runs code for a target. Error: invalid_argument, naming both.
  [[nodiscard]] virtual Status check_target(const std::string& target) const = 0;

  /// Returns the free bytes of memory.
  [[nodiscard]] virtual Result<std::int64_t> free_bytes() const = 0;
  /// Zeroed on the host. `what` names the memory in messages. Errors: resource_exhausted; invalid_argument for bytes <
  /// 0; else as the driver says.
  [[nodiscard]] virtual Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes,
                                                                       const std::string& what) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<ScratchSpace>> make_scratch_space() const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Queue>> make_queue() const = 0;
  /// Loads the kernel that compares scratch memory on the device; null if the host compares it as fast. Errors: as
  /// loading a program's code.
  [[nodiscard]] virtual Result<std::unique_ptr<Comparison>> load_comparison(const abi::CompiledCode& code) const;
  /// Reads the clock speed of this moment, comparable with other readings of the same device; nullopt if it cannot be
  /// read.
  [[nodiscard]] virtual std::optional<double> clock() const = 0;

  /// Loads code for a target that it runs; the reference takes none. The program must outlive the result. Errors:
  /// internal for code of another kind, and for contracts that do not fit the program; else as mapping the code or the
  /// driver says.
  [[nodiscard]] virtual Result<std::unique_ptr<const LoadedProgram>> load(const ir::Program& program,
                                                                          abi::CompiledCode code) const = 0;
  /// The same for code that is loaded beside other code, from many threads at once, and only for a while.
  [[nodiscard]] virtual Result<std::unique_ptr<const LoadedProgram>> load_beside(const ir::Program& program,
                                                                                 abi::CompiledCode code) const;

 protected:
  explicit Device(DeviceTraits traits) : traits_(std::move(traits)) {}
  /// Error: invalid_argument for bytes < 0.
  [[nodiscard]] static Status check_bytes(std::int64_t bytes, const std::string& what);

 private:
  DeviceTraits traits_;
};

}  // namespace padlock::runtime
