#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/regime.h"
#include "tuner/cache/verdict.h"

namespace padlock::tuner {

/// How a right config is timed.
struct MeasuringPolicy {
  double warm_up_ms = 5;            ///< runs before the first sample
  double sample_us = 50;            ///< a shorter run is repeated within a sample; 0: TrialDevice::sample_us
  std::int64_t rotation_bytes = 0;  ///< least bytes of all sets of buffers used in turn; 0: twice the last cache
  int min_samples = 9;
  int max_samples = 201;
  double noise = 0.01;              ///< enough precision: half the 95 % interval of the median, divided by the median
  double budget_ms = 200;           ///< time per config, warm-up included; 0: verify without timing
  Setting setting = Setting::cold;  ///< where launches find their buffers; cold ones are used in turn
};

/// One point at which a config is tried: sizes, and the skew of the buffers.
struct TryPoint {
  std::map<std::string, std::int64_t> symbols;  ///< a value for each symbol
  std::int64_t skew = 0;  ///< elements by which every buffer is away from its aligned place, below 64
};

/// A request to try one config of one program on scratch memory, at one binding and then at others. Data only, no
/// pointers.
struct TryRequest {
  std::string program;                          ///< text
  std::string device = "host";                  ///< "host", "simt" or "cuda:N"
  std::string target;                           ///< for simt the architecture; empty: the device's own
  std::string config;                           ///< text; absent keys as in the default
  std::vector<std::string> rivals = {};         ///< other configs, timed in turn with it
  std::vector<std::string> next = {};           ///< configs expected next: they may be compiled along with it
  std::map<std::string, std::int64_t> symbols;  ///< as TryPoint::symbols
  std::uint64_t seed = 1;                       ///< for the inputs and scalars
  std::int64_t skew = 0;                        ///< as TryPoint::skew
  std::vector<TryPoint> further = {};           ///< verified next, in order, as long as the config is right
  std::int64_t placement = 0;                   ///< another number times on other memory, at other places in its pages
  int threads = 0;                              ///< threads of the host's pool; 0: as many as the process's CPUs
  std::int64_t memory_bytes = 0;                ///< limit for scratch memory; 0: half of what is free
  double reference_ms = 0;                      ///< about, of interpreting; samples if all takes longer; 0: any time
  std::int64_t time_limit_ms = 10'000;          ///< time for everything; the worker's owner enforces it
  MeasuringPolicy policy;
};

/// Steps of trying a config, in order. The verdict on a process that died names its next step.
#define PADLOCK_STEPS(X)                                                        \
  X(none, "waiting")                                                            \
  X(prepare, "preparing inputs and reference")                                  \
  X(compile, "compiling")                                                       \
  X(run, "running between red zones")                                           \
  X(run_again, "running again")                                                 \
  X(run_flush, "running with the data's end flush against inaccessible memory") \
  X(time, "timing")

enum class Step : std::uint8_t {
#define PADLOCK_ENUMERATOR(enumerator, text) enumerator,
  PADLOCK_STEPS(PADLOCK_ENUMERATOR)
#undef PADLOCK_ENUMERATOR
};
inline constexpr std::array kStepTexts = {
#define PADLOCK_TEXT(enumerator, text) std::string_view(text),
    PADLOCK_STEPS(PADLOCK_TEXT)
#undef PADLOCK_TEXT
};
[[nodiscard]] constexpr std::string_view text_of(Step step) { return kStepTexts[static_cast<std::size_t>(step)]; }

/// The outcome of a request.
struct TryResult {
  Verdict verdict = Verdict::ok;
  std::string message = {};  ///< what was wrong; empty if nothing
  /// Counts the points that passed, the request's own first, including points that need more memory than there is. A
  /// fault is that of the next point.
  std::int64_t passed = 0;
  std::vector<std::string> notes = {};        ///< checks that were skipped or done in another way
  std::vector<std::int64_t> samples_ps = {};  ///< picoseconds of one run each, in the order taken
  /// For each rival: equally many samples, the i-th of all taken one right after the other.
  std::vector<std::vector<std::int64_t>> rivals_ps = {};
  int throttled = 0;  ///< samples, or rounds of a race, taken while the device was throttled
  std::int64_t median_ps = 0;
  std::int64_t noise_ps = 0;  ///< half the 95 % interval of the median
  bool worker_ends = false;   ///< the process cannot be used any more: its device is lost
  /// Times taken, to watch the cost of checks: verify_ms covers filling, red zones and comparisons.
  double compile_ms = 0, verify_ms = 0, timing_ms = 0;
};

}  // namespace padlock::tuner
