#include "bench/gpu/run_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace padlock::bench::gpu {
namespace {

constexpr std::int64_t kAlignment = 256;
constexpr std::int64_t kZone = 256;  // poisoned bytes before and after each output
constexpr std::int64_t kMaxBuffers = 4096;

std::int64_t round_up(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Pairs of buffers that together exceed the device's cache: a call never finds in it what another left there.
class Arena {
 public:
  /// nullopt, if not even one pair fits.
  [[nodiscard]] static Result<std::optional<Arena>> create(Rig& rig, const Problem& problem, const Data& data) {
    Arena arena;
    // memcpy moves half of the bytes from an input's place to an output's.
    arena.stride_ = round_up(std::max(problem.input_bytes(), problem.output_bytes())) + 2 * kZone;
    const std::int64_t wanted = (3 * rig.facts().l2_bytes + problem.bytes() - 1) / problem.bytes();
    PADLOCK_TRY(const std::int64_t unused, rig.device().free_bytes());
    const std::int64_t free = rig.facts().simulated ? unused / 2 : unused;
    const std::int64_t fitting = free / 10 * 7 / (2 * arena.stride_);
    if (fitting < 1) return std::optional<Arena>();
    arena.count_ = std::clamp<std::int64_t>(wanted, 1, std::min(fitting, kMaxBuffers));
    PADLOCK_TRY(arena.inputs_, rig.device().allocate(arena.bytes(), "inputs"));
    PADLOCK_TRY(arena.outputs_, rig.device().allocate(arena.bytes(), "outputs"));
    PADLOCK_CHECK(data.write_all(rig.queue(), begin(*arena.inputs_), arena.bytes()));
    return std::optional<Arena>(std::move(arena));
  }

  [[nodiscard]] int count() const { return static_cast<int>(count_); }
  [[nodiscard]] std::int64_t input_offset(std::int64_t slot) const { return slot * stride_; }
  // Addresses of the device's.
  [[nodiscard]] std::byte* input(std::int64_t slot) const { return begin(*inputs_) + input_offset(slot); }
  [[nodiscard]] std::byte* output(std::int64_t slot) const { return begin(*outputs_) + slot * stride_ + kZone; }

 private:
  static std::byte* begin(const runtime::DeviceMemory& memory) { return static_cast<std::byte*>(memory.data()); }
  [[nodiscard]] std::int64_t bytes() const { return count_ * stride_; }

  std::int64_t stride_ = 0;
  std::int64_t count_ = 0;
  std::unique_ptr<runtime::DeviceMemory> inputs_;
  std::unique_ptr<runtime::DeviceMemory> outputs_;
};

class ProblemRun {
 public:
  ProblemRun(Rig& rig, const Problem& problem, const Data& data, const Arena& arena, const CopyKernels* copies,
             const RunOptions& options)
      : rig_(rig), problem_(problem), data_(data), arena_(arena), copies_(copies), options_(options) {}

  Result<ProblemReport> run(const std::vector<Candidate>& candidates) {
    report_.problem = problem_;
    report_.buffers = arena_.count();
    for (const Candidate& candidate : candidates) PADLOCK_CHECK(candidate.kernel->bind(problem_.request()));
    PADLOCK_TRY(const std::vector<Candidate> chosen, choose(candidates));
    std::vector<Candidate> right;
    for (const Candidate& candidate : chosen) {
      PADLOCK_TRY(const bool passes, check(candidate, 0));
      if (passes) right.push_back(candidate);
    }
    PADLOCK_CHECK(time(right));
    if (arena_.count() > 1)
      for (const Candidate& candidate : right) PADLOCK_CHECK(check(candidate, arena_.count() - 1));
    return std::move(report_);
  }

 private:
  using Call = std::function<Status(std::int64_t slot)>;
  struct Timed {
    Line line;
    Call call;
  };

  [[nodiscard]] Call call_of(const Candidate& candidate) const {
    return [this, kernel = candidate.kernel](std::int64_t slot) {
      return kernel->launch(arena_.input(slot), arena_.output(slot));
    };
  }

  /// Milliseconds of one of `calls` calls. Each contestant goes on with the buffers after its last ones.
  Result<double> sample(const Call& call, int calls, std::int64_t& turn) {
    PADLOCK_TRY(const double ms, rig_.time_ms(calls, [&](int) { return call(turn++ % arena_.count()); }));
    return ms / calls;
  }

  Result<int> calls_of(const Call& call) {
    std::int64_t turn = 0;
    PADLOCK_TRY([[maybe_unused]] const double cold, sample(call, 1, turn));
    PADLOCK_TRY(const double ms, sample(call, rig_.facts().simulated ? 1 : 8, turn));
    return static_cast<int>(
        std::clamp(std::ceil(options_.sample_ms / std::max(ms, 1e-6)), 1.0, double{Rig::kMaxCalls}));
  }

  /// The median of a few samples.
  Result<double> trial_ms(const Call& call) {
    PADLOCK_TRY(const int calls, calls_of(call));
    std::vector<double> samples;
    std::int64_t turn = 0;
    for (int round = 0; round < 3; ++round) {
      PADLOCK_TRY(const double ms, sample(call, calls, turn));
      samples.push_back(ms);
    }
    return median(samples);
  }

  /// The first, and the fastest of the others.
  Result<std::vector<Candidate>> choose(const std::vector<Candidate>& candidates) {
    const auto wanted = 1 + static_cast<std::size_t>(options_.finalists);
    if (candidates.size() <= wanted) return candidates;
    std::vector<std::pair<double, std::size_t>> trials;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      PADLOCK_TRY(const double ms, trial_ms(call_of(candidates[i])));
      trials.emplace_back(ms, i);
    }
    std::ranges::sort(trials);
    std::vector<Candidate> chosen = {candidates[0]};
    for (std::size_t i = 0; i + 1 < wanted; ++i) {
      chosen.push_back(candidates[trials[i].second]);
      chosen.back().name = fmt::format("{} {}", chosen.back().name, i + 1);
    }
    return chosen;
  }

  /// The fastest of the copy kernels.
  Result<Timed> choose_copy() {
    Timed fastest;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < copies_->count(); ++i) {
      const Call call = [this, i](std::int64_t slot) {
        return copies_->launch(i, arena_.output(slot), arena_.input(slot), problem_.bytes() / 2);
      };
      PADLOCK_TRY(const double ms, trial_ms(call));
      if (ms >= least) continue;
      least = ms;
      fastest = {{"copy kernel", CopyKernels::name_of(i), {}, {}}, call};
    }
    return fastest;
  }

  /// Poisons the output and its surroundings, runs, and compares every byte.
  Result<bool> check(const Candidate& candidate, std::int64_t slot) {
    std::byte* const output = arena_.output(slot);
    PADLOCK_CHECK(rig_.queue().fill(output - kZone, kPoison, problem_.output_bytes() + 2 * kZone));
    PADLOCK_CHECK(candidate.kernel->launch(arena_.input(slot), output));
    PADLOCK_CHECK(candidate.kernel->synchronize());
    const std::int64_t first = arena_.input_offset(slot) / ir::byte_size(problem_.dtype);
    PADLOCK_TRY(std::string failure, data_.check_output(rig_.queue(), problem_, first, output));
    PADLOCK_TRY(const bool untouched, zones_are_poisoned(output));
    if (failure.empty() && !untouched) failure = fmt::format("{} writes outside its output", problem_.program_name());
    if (failure.empty()) return true;
    report_.failures.push_back(fmt::format("{} ({}): {}", candidate.name, candidate.config, failure));
    return false;
  }

  Result<bool> zones_are_poisoned(const std::byte* output) {
    for (const std::byte* at : {output - kZone, output + problem_.output_bytes()}) {
      std::vector<std::byte> zone(static_cast<std::size_t>(kZone));
      PADLOCK_CHECK(rig_.queue().read(zone, at));
      if (!std::ranges::all_of(zone, [](std::byte b) { return b == kPoison; })) return false;
    }
    return true;
  }

  Status time(const std::vector<Candidate>& candidates) {
    std::vector<Timed> all = {{{"memcpy", {}, {}, {}}, [this](std::int64_t slot) {
                                 return rig_.queue().copy(arena_.output(slot), arena_.input(slot),
                                                          problem_.bytes() / 2);
                               }}};
    if (copies_ != nullptr) {
      PADLOCK_TRY(Timed copy, choose_copy());
      all.push_back(std::move(copy));
    }
    for (const Candidate& candidate : candidates)
      all.push_back({{candidate.name, candidate.config, candidate.kernel->facts(), {}}, call_of(candidate)});
    std::vector<std::int64_t> turns(all.size(), 0);
    std::vector<Contestant> contestants;
    for (std::size_t i = 0; i < all.size(); ++i) {
      PADLOCK_TRY(const int count, calls_of(all[i].call));
      if (i == 0) report_.calls = count;
      contestants.push_back(
          {all[i].line.name, [this, &all, &turns, i, count] { return sample(all[i].call, count, turns[i]); }});
    }
    PADLOCK_TRY(const std::vector<Timing> timings, measure(contestants, options_.rounds, options_.seed));
    // The baseline's second row comes after its first.
    all.insert(all.begin() + 1, Timed{.line = {"memcpy again", {}, {}, {}}, .call = {}});
    for (std::size_t i = 0; i < timings.size(); ++i) {
      report_.lines.push_back(std::move(all[i].line));
      report_.lines.back().timing = timings[i];
    }
    return {};
  }

  Rig& rig_;
  const Problem& problem_;
  const Data& data_;
  const Arena& arena_;
  const CopyKernels* copies_;  // null of a device that has none
  const RunOptions& options_;
  ProblemReport report_;
};

}  // namespace

Result<std::optional<ProblemReport>> run_problem(Rig& rig, const Problem& problem, const Data& data,
                                                 const std::vector<Candidate>& candidates, const CopyKernels* copies,
                                                 const RunOptions& options) {
  PADLOCK_TRY(const std::optional<Arena> arena, Arena::create(rig, problem, data));
  if (!arena) return std::optional<ProblemReport>();
  PADLOCK_TRY(ProblemReport report, ProblemRun(rig, problem, data, *arena, copies, options).run(candidates));
  return std::optional<ProblemReport>(std::move(report));
}

double ProblemReport::copy_ms() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Line& line : lines)
    if (line.name == "memcpy" || line.name == "copy kernel") least = std::min(least, line.timing.ms.value);
  return least;
}

}  // namespace padlock::bench::gpu
