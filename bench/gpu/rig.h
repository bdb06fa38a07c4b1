#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "runtime/cuda/context.h"
#include "runtime/registry/devices.h"
#include "support/error.h"

namespace padlock::bench::gpu {

/// Facts that figures depend on.
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

/// A device that is measured, with the one queue that it is measured by and the compiler of its code: a GPU, whose
/// context is current on the thread that made this, or simt, on which the same path runs without a GPU.
class Rig {
 public:
  /// "cuda:N" or "simt". Errors: invalid_argument for any other name; else as runtime::Devices::open.
  [[nodiscard]] static Result<std::unique_ptr<Rig>> open(const std::string& device);

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const runtime::Device& device() const { return *device_; }
  [[nodiscard]] runtime::Queue& queue() { return *queue_; }
  [[nodiscard]] compiler::TargetCompiler& compiler() { return *compiler_; }
  /// The GPU's context; null of simt.
  [[nodiscard]] const runtime::cuda::ContextScope* current() const { return current_ ? &*current_ : nullptr; }

  /// Milliseconds that the device takes for what queue(0) to queue(calls - 1) put into its queue, as Queue::time.
  [[nodiscard]] Result<double> time_ms(int calls, const std::function<Status(int)>& queue);
  static constexpr int kMaxCalls = runtime::Queue::kMostTimed;

 private:
  Rig() : devices_({}) {}

  // In the order in which they are made; dropped in the opposite one.
  runtime::Devices devices_;
  const runtime::Device* device_ = nullptr;  // of `devices_`
  std::optional<runtime::cuda::ContextScope> current_;
  std::unique_ptr<runtime::Queue> queue_;
  std::unique_ptr<compiler::TargetCompiler> compiler_;
  Facts facts_;
};

}  // namespace padlock::bench::gpu
