#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/target_compiler.h"
#include "ir/binding.h"
#include "runtime/scratch_launch.h"
#include "runtime/scratch_memory.h"
#include "support/error.h"
#include "tuner/problem.h"

namespace padlock::tuner {

/// Makes the compiler of a target: compiler::TargetCompiler::create, but in tests of what must be caught.
using CompilerFactory = std::function<Result<std::unique_ptr<compiler::TargetCompiler>>(const std::string& target)>;

/// A config's code, bound to the sizes of one problem. Not thread-safe.
class TrialCode {
 public:
  virtual ~TrialCode() = default;
  /// Launches and waits. Errors: as the launch says; internal where a bounds check failed; a lost device.
  [[nodiscard]] virtual Status run(const ScratchSet& set, std::span<const std::uint64_t> scalars) = 0;
  /// Picoseconds that `count` launches take one after the other, the i-th on the set (first + i) modulo their number.
  [[nodiscard]] virtual Result<std::int64_t> time(std::span<const ScratchSet> sets,
                                                  std::span<const std::uint64_t> scalars, std::int64_t first,
                                                  std::int64_t count) = 0;
};

/// Where configs are tried. Must outlive its code and its scratch memory. Not thread-safe.
class TrialDevice {
 public:
  /// `device`: "host", "simt" or "cuda:N"; `target`: of simt the architecture, else empty. `threads`: of the host's
  /// pool. Errors: invalid_argument for others; unavailable for a GPU that there is not, and as its driver says.
  [[nodiscard]] static Result<std::unique_ptr<TrialDevice>> open(const std::string& device, const std::string& target,
                                                                 int threads);
  virtual ~TrialDevice() = default;

  /// What code for it is made for.
  [[nodiscard]] virtual const std::string& target() const = 0;
  [[nodiscard]] virtual runtime::ScratchSpace& space() = 0;
  /// Of the last cache.
  [[nodiscard]] virtual std::int64_t cache_bytes() const = 0;
  /// How fast it is clocked now, as ClockWatch compares it; nothing where that cannot be read.
  [[nodiscard]] virtual std::optional<double> clock() const = 0;
  /// The binding, and its program, must outlive the code. Errors as the compiler's, and as loading says.
  [[nodiscard]] virtual Result<std::unique_ptr<TrialCode>> compile(compiler::TargetCompiler& compiler,
                                                                   const compiler::TargetCompiler::Options& options,
                                                                   const ir::Binding& binding) = 0;
};

}  // namespace padlock::tuner
