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

/// How a config that is right is timed.
struct MeasuringPolicy {
  double warm_up_ms = 5;            ///< runs before anything counts
  double sample_us = 50;            ///< a run that is shorter is repeated within a sample; 0: TrialDevice::sample_us
  std::int64_t rotation_bytes = 0;  ///< buffers are used in turn until these are exceeded; 0: the last cache, twice
  int min_samples = 9;
  int max_samples = 201;
  double noise = 0.01;              ///< enough, where half the 95 % interval of the median is at most this part of it
  double budget_ms = 200;           ///< of timing each config, the warm-up too; 0: it is verified and not timed
  Setting setting = Setting::cold;  ///< where buffers are found; those of cold ones are used in turn
};

/// One point at which a config is tried: its sizes, and how its buffers lie.
struct TryPoint {
  std::map<std::string, std::int64_t> symbols;  ///< a value for each symbol
  std::int64_t skew = 0;  ///< elements by which every buffer is away from its aligned place, below 64
};

/// One config of one program, to be tried on scratch memory: at one binding, and then at others. Data alone, no
/// pointers.
struct TryRequest {
  std::string program;                          ///< text
  std::string device = "host";                  ///< "host", "simt" or "cuda:N"
  std::string target;                           ///< of simt the architecture; empty: that of the device
  std::string config;                           ///< text; absent keys as in the default
  std::vector<std::string> rivals = {};         ///< other configs, timed in turn with it
  std::vector<std::string> next = {};           ///< configs that come after it: they may be compiled along with it
  std::map<std::string, std::int64_t> symbols;  ///< as TryPoint::symbols
  std::uint64_t seed = 1;                       ///< of the inputs and scalars
  std::int64_t skew = 0;                        ///< as TryPoint::skew
  std::vector<TryPoint> further = {};   ///< where it is verified next, one after the other, as long as it is right
  std::int64_t placement = 0;           ///< other numbers time on other memory, elsewhere in its pages
  int threads = 0;                      ///< of the host's pool; 0: as many as the process may run on
  std::int64_t memory_bytes = 0;        ///< most that scratch may take; 0: half of what is free
  double reference_ms = 0;              ///< of interpreting, about, by sampling where all takes longer; 0: any time
  std::int64_t time_limit_ms = 10'000;  ///< of everything; kept by whoever owns the worker
  MeasuringPolicy policy;
};

/// Steps of trying a config, in order; a verdict on a process that died names the one it was about to do.
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

/// How it went.
struct TryResult {
  Verdict verdict = Verdict::ok;
  std::string message = {};  ///< what was found; empty where all is well
  /// Counts the points at which nothing is wrong, the request's own first, and those that need more memory than there
  /// is among them. A fault is that of the next point.
  std::int64_t passed = 0;
  std::vector<std::string> notes = {};        ///< what could not be checked, or was checked otherwise
  std::vector<std::int64_t> samples_ps = {};  ///< picoseconds of one run each, in the order taken
  /// With rivals, of each of them: as many samples, the i-th of all taken one right after the other.
  std::vector<std::vector<std::int64_t>> rivals_ps = {};
  int throttled = 0;  ///< samples, or rounds of a race, that were taken while the device was throttled
  std::int64_t median_ps = 0;
  std::int64_t noise_ps = 0;  ///< half the 95 % interval of the median
  bool worker_ends = false;   ///< the process that tried it is of no more use: its device is lost
  /// Time that it took, for keeping the cost of checks in sight: verify_ms is that of filling, red zones and
  /// comparisons.
  double compile_ms = 0, verify_ms = 0, timing_ms = 0;
};

}  // namespace padlock::tuner
