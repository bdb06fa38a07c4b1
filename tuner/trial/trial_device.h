#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "ir/binding/binding.h"
#include "runtime/comparison.h"
#include "runtime/device.h"
#include "runtime/host/thread_pool.h"
#include "runtime/registry/devices.h"
#include "runtime/scratch_memory.h"
#include "support/error.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {

/// Makes the compiler of a target: compiler::TargetCompiler::create, but in tests of what must be caught.
using CompilerFactory = std::function<Result<std::unique_ptr<compiler::TargetCompiler>>(const std::string& target)>;

/// A config's code, which serves problems of all sizes.
using LoadedConfig = std::shared_ptr<const runtime::LoadedProgram>;

/// A config's code, bound to the sizes of one problem. Borrows the device's queue; shares what is loaded with other
/// sizes. Not thread-safe.
class TrialCode {
 public:
  TrialCode(LoadedConfig loaded, std::unique_ptr<const runtime::BoundLaunch> bound, runtime::Queue& queue)
      : loaded_(std::move(loaded)), bound_(std::move(bound)), queue_(queue) {}

  /// Launches and waits. Errors: as the launch says; internal where a bounds check failed; a lost device.
  [[nodiscard]] Status run(const ScratchSet& set, std::span<const std::uint64_t> scalars);
  /// Picoseconds that `count` launches take one after the other, the i-th on the set (first + i) modulo their number.
  /// With a sink, all results are read into it after each launch (ScratchBuffer::read_into), which is timed, too.
  [[nodiscard]] Result<std::int64_t> time(std::span<const ScratchSet> sets, std::span<const std::uint64_t> scalars,
                                          std::int64_t first, std::int64_t count,
                                          runtime::ScratchMemory* sink = nullptr);

 private:
  [[nodiscard]] Status launch(const ScratchSet& set, std::span<const std::uint64_t> scalars) const;

  LoadedConfig loaded_;
  std::unique_ptr<const runtime::BoundLaunch> bound_;
  runtime::Queue& queue_;
};

/// Tries configs on one device. Must outlive its code and its scratch memory. Not thread-safe.
class TrialDevice {
 public:
  /// `device`: "host", "simt" or "cuda:N"; `target`: of simt the architecture, else empty. `threads`: of the host's
  /// pool. Errors: invalid_argument for others; unavailable for a GPU that there is not, and as its driver says.
  [[nodiscard]] static Result<std::unique_ptr<TrialDevice>> open(const std::string& device, const std::string& target,
                                                                 int threads);

  /// Returns the target that code for it is made for.
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] runtime::ScratchSpace& space() { return *space_; }
  /// Returns the bytes of the last cache.
  [[nodiscard]] std::int64_t cache_bytes() const;
  /// Returns how long a sample is. Programs call a kernel again and again, so a sample of a race has several calls. A
  /// GPU's clock is half a microsecond fine, and it takes as long again to queue a sample there.
  [[nodiscard]] double sample_us(bool race) const;
  /// Loads, at the first call, the kernel that compares scratch memory on the device; null where the host compares it.
  /// Errors: as the compiler's and as loading says.
  [[nodiscard]] Result<runtime::Comparison*> comparison(compiler::TargetCompiler& compiler);
  /// Returns memory, made at the first call, that results are read into: so small that it takes no place in the caches
  /// from them.
  [[nodiscard]] Result<runtime::ScratchMemory*> sink();
  /// Returns whether it has such a kernel.
  [[nodiscard]] bool compares() const { return !device_->traits().host_memory; }
  /// How fast it is clocked now, as ClockWatch compares it; nothing where that cannot be read.
  [[nodiscard]] std::optional<double> clock() const { return device_->clock(); }
  /// Many threads may load at a time. The program must outlive the code. Errors as the compiler's, and as loading says.
  [[nodiscard]] Result<std::unique_ptr<const runtime::LoadedProgram>> load(compiler::TargetCompiler& compiler,
                                                                           compiler::TargetCompiler::Options options,
                                                                           const ir::Program& program);
  /// The binding, of the program that was loaded, must outlive the code. Errors as LoadedProgram::bind.
  [[nodiscard]] Result<std::unique_ptr<TrialCode>> bind(LoadedConfig loaded, const ir::Binding& binding);

 private:
  explicit TrialDevice(int threads) : pool_(threads), devices_({.parallel_for = pool_.as_parallel_for()}) {}

  runtime::ThreadPool pool_;
  runtime::Devices devices_;
  const runtime::Device* device_ = nullptr;  // of `devices_`
  std::string target_;
  std::unique_ptr<runtime::ScratchSpace> space_;
  std::unique_ptr<runtime::Queue> queue_;
  std::unique_ptr<runtime::ScratchMemory> sink_;     // null until it is asked for
  std::unique_ptr<runtime::Comparison> comparison_;  // null until it is asked for
};

}  // namespace padlock::tuner
