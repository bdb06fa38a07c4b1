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

/// Tries configs on scratch memory. Keeps what trials share: compilers, devices, code of the last program's configs,
/// and its problems' inputs, references and scratch buffers as far as memory allows. A config may be wrong in every
/// way, and this class does not protect its process: a tuner uses it through a Worker. Not thread-safe.
class Trials {
 public:
  /// Called before each step. May be empty.
  using OnStep = std::function<void(Step)>;

  explicit Trials(OnStep on_step = {}, CompilerFactory compilers = compiler::TargetCompiler::create);
  ~Trials();

  /// Compiles the config and runs it on scratch memory: twice between red zones, and once with the data's end flush
  /// against inaccessible memory, each time with other poison in the outputs. Compares every byte with the reference,
  /// and inputs and red zones with their old bytes. Only then times it. Repeats all but the timing at the further
  /// points. The verdict is the first fault.
  [[nodiscard]] TryResult try_config(const TryRequest& request);

 private:
  struct Shared;
  struct Programs;
  class Attempt;
  /// Tries the request's own point.
  [[nodiscard]] TryResult try_here(const TryRequest& request);

  OnStep on_step_;
  CompilerFactory compilers_;
  std::map<std::string, std::unique_ptr<compiler::TargetCompiler>> by_target_;
  std::map<std::string, ClockWatch> clocks_;  // by device
  // After the compilers: each member borrows from the ones before it.
  std::map<std::tuple<std::string, std::string, int>, std::unique_ptr<TrialDevice>> devices_;
  std::unique_ptr<Programs> programs_;
};

/// Tries one config alone.
[[nodiscard]] TryResult try_config(const TryRequest& request);

}  // namespace padlock::tuner
