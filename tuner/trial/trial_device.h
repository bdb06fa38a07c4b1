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

/// Makes the compiler of a target: compiler::TargetCompiler::create, except in tests of faults that must be caught.
using CompilerFactory = std::function<Result<std::unique_ptr<compiler::TargetCompiler>>(const std::string& target)>;

/// A config's code, for problems of all sizes.
using LoadedConfig = std::shared_ptr<const runtime::LoadedProgram>;

/// A config's code, bound to the sizes of one problem. Borrows the device's queue; shares the loaded code with other
/// sizes. Not thread-safe.
class TrialCode {
 public:
  TrialCode(LoadedConfig loaded, std::unique_ptr<const runtime::BoundLaunch> bound, runtime::Queue& queue)
      : loaded_(std::move(loaded)), bound_(std::move(bound)), queue_(queue) {}

  /// Launches and waits. Errors: as the launch says; internal where a bounds check failed; a lost device.
  [[nodiscard]] Status run(const ScratchSet& set, std::span<const std::uint64_t> scalars);
  /// Returns the picoseconds of `count` launches in a row, the i-th on set (first + i) modulo the number of sets. With
  /// a sink, each launch is followed by reading all results into it (ScratchBuffer::read_into), which is timed, too.
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
  /// `device`: "host", "simt" or "cuda:N"; `target`: for simt the architecture, else empty. `threads`: of the host's
  /// pool. Errors: invalid_argument for others; unavailable for a missing GPU; else as its driver says.
  [[nodiscard]] static Result<std::unique_ptr<TrialDevice>> open(const std::string& device, const std::string& target,
                                                                 int threads);

  /// Returns the device's target for code.
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] runtime::ScratchSpace& space() { return *space_; }
  /// Returns the bytes of the last cache.
  [[nodiscard]] std::int64_t cache_bytes() const;
  /// Returns the length of a sample. Programs call a kernel again and again, so a race's sample has several calls. A
  /// GPU's clock has a resolution of half a microsecond, and queuing a sample takes as long again.
  [[nodiscard]] double sample_us(bool race) const;
  /// Loads, at the first call, the kernel that compares scratch memory on the device; null if the host compares.
  /// Errors: as the compiler's and as loading says.
  [[nodiscard]] Result<runtime::Comparison*> comparison(compiler::TargetCompiler& compiler);
  /// Returns memory for reading results into, made at the first call: small enough not to displace the results from the
  /// caches.
  [[nodiscard]] Result<runtime::ScratchMemory*> sink();
  /// Returns whether the device has a kernel that compares.
  [[nodiscard]] bool compares() const { return !device_->traits().host_memory; }
  /// Reads the device's clock for ClockWatch; nullopt if it cannot be read.
  [[nodiscard]] std::optional<double> clock() const { return device_->clock(); }
  /// Many threads may load at once. The program must outlive the code. Errors as the compiler's, and as loading says.
  [[nodiscard]] Result<std::unique_ptr<const runtime::LoadedProgram>> load(compiler::TargetCompiler& compiler,
                                                                           compiler::TargetCompiler::Options options,
                                                                           const ir::Program& program);
  /// The binding, of the loaded program, must outlive the code. Errors as LoadedProgram::bind.
  [[nodiscard]] Result<std::unique_ptr<TrialCode>> bind(LoadedConfig loaded, const ir::Binding& binding);

 private:
  explicit TrialDevice(int threads) : pool_(threads), devices_({.parallel_for = pool_.as_parallel_for()}) {}

  runtime::ThreadPool pool_;
  runtime::Devices devices_;
  const runtime::Device* device_ = nullptr;  // one of `devices_`
  std::string target_;
  std::unique_ptr<runtime::ScratchSpace> space_;
  std::unique_ptr<runtime::Queue> queue_;
  std::unique_ptr<runtime::ScratchMemory> sink_;     // made on first use
  std::unique_ptr<runtime::Comparison> comparison_;  // made on first use
};

}  // namespace padlock::tuner
