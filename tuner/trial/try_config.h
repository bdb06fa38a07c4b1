#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "tuner/trial/measure.h"
#include "tuner/trial/request.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// Tries configs on scratch memory, and keeps what trials share: compilers, devices, of the last program the code of
/// its configs, and of its problems, as far as memory reaches, the inputs, the reference and the scratch buffers. A
/// config may be wrong in every way; what that does to this process is not contained here, so a tuner has a Worker do
/// it. Not thread-safe.
class Trials {
 public:
  /// Called before each step. May be empty.
  using OnStep = std::function<void(Step)>;

  explicit Trials(OnStep on_step = {}, CompilerFactory compilers = compiler::TargetCompiler::create);
  ~Trials();

  /// Compiles the config and runs it on scratch memory: twice between red zones, and once with the data's end flush
  /// against inaccessible memory, each time with other poison in the outputs. Compares every byte with the reference,
  /// and the inputs and red zones with their old bytes. Only then times it. Does the same but for the timing at the
  /// further places. The verdict is the first thing that is wrong.
  [[nodiscard]] TryResult try_config(const TryRequest& request);

 private:
  struct Shared;
  struct Programs;
  class Attempt;
  /// At the request's own place.
  [[nodiscard]] TryResult try_here(const TryRequest& request);

  OnStep on_step_;
  CompilerFactory compilers_;
  std::map<std::string, std::unique_ptr<compiler::TargetCompiler>> by_target_;
  std::map<std::string, ClockWatch> clocks_;  // by device
  // After the compilers, and in this order, since each borrows from what stands before it.
  std::map<std::tuple<std::string, std::string, int>, std::unique_ptr<TrialDevice>> devices_;
  std::unique_ptr<Programs> programs_;
};

/// One config alone.
[[nodiscard]] TryResult try_config(const TryRequest& request);

}  // namespace padlock::tuner
