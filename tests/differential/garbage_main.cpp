// Indices that are garbage: the programs of examples/gallery/rows with offsets and indices that are the least and the
// greatest integers, that descend or lie just outside, between guard pages, on the host and, a GPU's code on this
// machine, on simt. Every result is the interpreter's, and no access leaves its tensor.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/differential/gallery_files.h"
#include "tests/differential/host_check.h"

namespace padlock::differential {
namespace {

constexpr const char* kUsage =
    "padlock_garbage_indices [--seed=S] [--tensors=N] [--first=ROUND]\n"
    "N tensors of indices on each device, of all programs in turn; PADLOCK_FULL=1: 10 000 000 of them.\n";
constexpr std::int64_t kFullTensors = 10'000'000;
#ifdef PADLOCK_SANITIZED
constexpr std::int64_t kTensors = 5'000;
#else
constexpr std::int64_t kTensors = 50'000;
#endif
constexpr int kBindings = 12;
constexpr int kDrawnConfigs = 2;

struct Options {
  std::uint64_t seed = testing::seed_or(54);
  std::int64_t tensors = testing::is_full_run() ? kFullTensors : kTensors;
  std::uint64_t first = 0;
};

enum class Garbage : std::uint8_t { least, greatest, descending, outside, spoiled, high_bits, any };
constexpr std::array kGarbage = {Garbage::least,   Garbage::greatest,  Garbage::descending, Garbage::outside,
                                 Garbage::spoiled, Garbage::high_bits, Garbage::any};

constexpr std::array kHighBits = {31, 32, 33, 62};

/// Draws the indices of one tensor. `extents` are those that they may be compared with.
class IndexValues {
 public:
  IndexValues(ir::DType dtype, const std::vector<std::int64_t>& extents, testing::Rng& rng)
      : garbage_(rng.pick(kGarbage)), extents_(extents), rng_(rng) {
    const int unused = 64 - ir::bit_width(dtype);
    least_ = std::numeric_limits<std::int64_t>::min() >> unused;
    greatest_ = std::numeric_limits<std::int64_t>::max() >> unused;
    last_ = rng.chance(50) ? greatest_ : rng.pick(extents) + 2;
  }

  std::int64_t next() {
    switch (garbage_) {
      case Garbage::least:
        return least_ + (rng_.chance(10) ? rng_.between(0, 2) : 0);
      case Garbage::greatest:
        return greatest_ - (rng_.chance(10) ? rng_.between(0, 2) : 0);
      case Garbage::descending:
        return last_ -= last_ > least_ + 8 ? rng_.between(0, 3) : 0;
      case Garbage::outside:
        return rng_.pick(extents_) * rng_.between(-1, 1) + rng_.between(-1, 1);
      case Garbage::spoiled:
        return rng_.chance(20) ? (rng_.chance(50) ? least_ : greatest_) : (rising_ += rng_.between(0, 3));
      case Garbage::high_bits: {  // 64 bits of which the lower ones are in range; of 32 they are cut off
        const auto high = static_cast<std::uint64_t>(rng_.between(-2, 2)) << rng_.pick(kHighBits);
        return static_cast<std::int64_t>(high + static_cast<std::uint64_t>(rng_.between(-1, 4)));
      }
      default:
        return static_cast<std::int64_t>(rng_.next());
    }
  }

 private:
  Garbage garbage_;
  const std::vector<std::int64_t>& extents_;
  testing::Rng& rng_;
  std::int64_t least_ = 0, greatest_ = 0, last_ = 0, rising_ = 0;
};

bool is_index(const ir::Value& value) { return value.dtype == ir::DType::i32 || value.dtype == ir::DType::i64; }

/// A program at some sizes, with random values and indices that are drawn anew.
struct Bound {
  std::unique_ptr<ir::Binding> binding;
  std::unique_ptr<Problem> problem;
  std::vector<std::int64_t> extents;
};

struct Subject {
  std::string name;
  std::unique_ptr<ir::Program> program;
  std::vector<Bound> bounds;
  std::vector<runtime::HostImage> host, simt;
};

/// Fills a problem's indices, and returns how many tensors of them there are.
std::int64_t fill_indices(Bound& bound, testing::Rng& rng) {
  Problem& problem = *bound.problem;
  std::int64_t tensors = 0;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const ir::Value& value = problem.program->value(problem.program->tensor_parameters()[i]);
    std::vector<std::byte>& storage = problem.inputs[i];
    if (!is_index(value) || storage.empty()) continue;
    const auto bytes = static_cast<std::size_t>(ir::byte_size(value.dtype));
    IndexValues values(value.dtype, bound.extents, rng);
    for (std::size_t at = 0; at < storage.size(); at += bytes) {
      const std::int64_t index = values.next();
      std::memcpy(storage.data() + at, &index, bytes);
    }
    ++tensors;
  }
  return tensors;
}

class GarbageRun {
 public:
  GarbageRun(std::unique_ptr<compiler::TargetCompiler> host, std::unique_ptr<compiler::TargetCompiler> gpu,
             const Options& options)
      : host_(std::move(host)), gpu_(std::move(gpu)), options_(options), rng_(options.seed) {}

  Status add(const std::filesystem::path& file) {
    const std::string text = read_file(file);
    Subject subject{.name = file.stem().string(), .program = {}, .bounds = {}, .host = {}, .simt = {}};
    PADLOCK_TRY(ir::Program program, ir::parse_program(text));
    subject.program = std::make_unique<ir::Program>(std::move(program));
    PADLOCK_CHECK(compile(subject));
    add_bindings(subject, named_sizes(text));
    if (subject.bounds.empty()) return invalid_argument("no sizes are legal");
    subjects_.push_back(std::move(subject));
    return {};
  }

  /// Draws indices until there were enough. Returns what went wrong; empty if nothing did.
  std::string run() {
    for (std::uint64_t round = options_.first; tensors_ < options_.tensors; ++round) {
      Subject& subject = subjects_[round % subjects_.size()];
      testing::Rng rng = testing::Rng(options_.seed).fork(round);
      Bound& bound = rng.pick(subject.bounds);
      tensors_ += fill_indices(bound, rng);
      name_current_case(fmt::format("--seed={} --first={} --tensors=1, {}\n", options_.seed, round, subject.name));
      std::string failure = check(subject, *bound.problem, rng);
      if (!failure.empty())
        return fmt::format("{}: {}\nreproduce: padlock_garbage_indices --seed={} --first={} --tensors=1", subject.name,
                           failure, options_.seed, round);
      ++rounds_;
    }
    return {};
  }

  [[nodiscard]] std::string summary() const {
    return fmt::format("{} programs, {} tensors of indices on each of two devices, in {} runs of each",
                       subjects_.size(), tensors_, rounds_);
  }

 private:
  Status compile(Subject& subject) {
    const std::vector<compiler::HostConfig> host = compiler::HostConfig::all();
    const std::vector<compiler::GpuConfig> gpu = compiler::GpuConfig::all();
    for (int k = 0; k <= kDrawnConfigs; ++k) {
      compiler::TargetCompiler::Options options;
      if (k > 0) options.config = rng_.pick(host);
      PADLOCK_TRY(runtime::HostImage code, load(host_->compile(*subject.program, options)));
      subject.host.push_back(std::move(code));
      options = {.config = k > 0 ? rng_.pick(gpu) : compiler::GpuConfig{}, .for_simt = true};
      PADLOCK_TRY(code, load(gpu_->compile(*subject.program, options)));
      subject.simt.push_back(std::move(code));
    }
    return {};
  }

  void add_bindings(Subject& subject, const Sizes& named) {
    for (int tries = 0; tries < 20 * kBindings && std::ssize(subject.bounds) < kBindings; ++tries) {
      Sizes sizes = named;
      for (auto& [name, value] : sizes)
        if (tries > 0) value = rng_.chance(15) ? rng_.between(0, 1) : rng_.between(1, std::min<std::int64_t>(value, 9));
      ir::BindRequest request{.tensors = {}, .symbols = sizes};
      request.tensors.resize(subject.program->tensor_parameters().size());
      Result<ir::Binding> binding = ir::Binding::bind(*subject.program, request);
      if (!binding) continue;
      Bound bound{std::make_unique<ir::Binding>(*std::move(binding)), {}, {0}};
      bound.problem = std::make_unique<Problem>(Problem::unsolved(*subject.program, *bound.binding, rng_));
      for (const auto& [name, value] : sizes) bound.extents.push_back(value);
      subject.bounds.push_back(std::move(bound));
    }
  }

  std::string check(const Subject& subject, Problem& problem, testing::Rng& rng) {
    if (const Status solved = solve(problem); !solved) return "the interpreter failed: " + solved.error().to_string();
    const Arrangement arrangement{rng.chance(50) ? Placement::after_guard : Placement::before_guard,
                                  static_cast<std::byte>(rng.next()), rng.chance(20), false, rng.chance(20)};
    std::string failure = check_once(rng.pick(subject.host), problem, arena_, arrangement, rng);
    if (!failure.empty()) return "on the host: " + failure;
    failure = check_once(rng.pick(subject.simt), problem, arena_, arrangement, rng);
    return failure.empty() ? failure : "on simt: " + failure;
  }

  std::unique_ptr<compiler::TargetCompiler> host_, gpu_;
  const Options& options_;
  testing::Rng rng_;
  GuardedArena arena_;
  std::vector<Subject> subjects_;
  std::int64_t tensors_ = 0, rounds_ = 0;
};

int run(const Options& options) {
  auto host = compiler::TargetCompiler::create("host");
  auto gpu = compiler::TargetCompiler::create("sm_90");
  if (!host || !gpu) return fmt::print("no compiler\n"), 1;
  fmt::print("seed {}\n", options.seed);
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  GarbageRun garbage(*std::move(host), *std::move(gpu), options);
  for (const auto& file : files_below(PADLOCK_GALLERY "/rows"))
    if (const Status added = garbage.add(file); !added)
      return fmt::print("FAILED {}: {}\n", file.stem().string(), added.error().to_string()), 1;
  const std::string failure = garbage.run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}, {:.1f} s, seed {}\n", garbage.summary(), seconds.count(), options.seed);
  if (!failure.empty()) fmt::print("FAILED {}\n", failure);
  return failure.empty() ? 0 : 1;
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  const auto take = [&](const padlock::testing::Option& option) {
    return option.sets("--seed", options.seed) || option.sets("--tensors", options.tensors) ||
           option.sets("--first", options.first);
  };
  if (!padlock::testing::read_options(argc, argv, kUsage, take)) return 2;
  install_crash_report();
  return run(options);
}
