#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tuner/trial/measure.h"
#include "tuner/trial/request.h"
#include "tuner/trial/trial_device.h"

namespace padlock::tuner {

/// Tries configs on scratch memory, and keeps what several configs share: compilers, the device, and of the last
/// problem the inputs, the reference and the scratch buffers. A config may be wrong in every way; what that does to
/// this process is not contained here, so a tuner has a Worker do it. Not thread-safe.
class Trials {
 public:
  /// Called before each step. May be empty.
  using OnStep = std::function<void(Step)>;

  explicit Trials(OnStep on_step = {}, CompilerFactory compilers = compiler::TargetCompiler::create);
  ~Trials();

  /// Compiles the config; runs it on scratch with red zones, twice, and with the data's end flush against inaccessible
  /// memory, each time with other poison in the outputs, and compares every byte with the reference, the inputs with
  /// what they were and the red zones; only then times it. The verdict is the first thing that is wrong.
  [[nodiscard]] TryResult try_config(const TryRequest& request);

 private:
  struct Shared;  // of all configs of one problem
  class Attempt;  // one config
  OnStep on_step_;
  CompilerFactory compilers_;
  std::map<std::string, std::unique_ptr<compiler::TargetCompiler>> by_target_;
  std::map<std::string, ClockWatch> clocks_;  // by device
  std::unique_ptr<Shared> shared_;            // last: its code uses the compilers
};

/// One config alone.
[[nodiscard]] TryResult try_config(const TryRequest& request);

}  // namespace padlock::tuner
