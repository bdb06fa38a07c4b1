// Judges the activations of one device: all arguments of f16 and bf16, the hardest of f32, and of all f32 either every
// one or a slice that a seed chooses.
#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>

#include "ir/reference/numeric.h"
#include "tests/activation/activation_run.h"
#include "tests/activation/exact.h"
#include "tests/activation/known_answers.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/common/rng.h"

namespace padlock::activation {
namespace {

constexpr const char* kUsage =
    "padlock_activations [--device=host|reference|simt|cuda:N] [--target=host|host:CPU] [--function=NAME] [--all]\n"
    "                    [--by-hash] [--blocks=N] [--threads=N] [--seed=S] [--print-hashes] [--answers=FOLDER]\n"
    "Judges the activations by the C library and MPFR. --all, or PADLOCK_FULL=1: on all 2^32 floats, instead of N "
    "blocks\n"
    "of 2^20. --by-hash: by known_answers.txt, and blocks are of 2^24. --print-hashes: the lines of that file, of "
    "--all.\n";
constexpr int kSkipped = 77;
constexpr std::size_t kSliceBits = 20;
constexpr int kShown = 5;
#ifdef PADLOCK_SANITIZED
constexpr std::uint64_t kBlocksOfASlice = 4;
#else
constexpr std::uint64_t kBlocksOfASlice = 64;  // one of 64
#endif

struct Options {
  std::string device = "host", target = "host", function, answers = PADLOCK_ACTIVATION_DIR;
  bool all = testing::is_full_run(), by_hash = false, print_hashes = false;
  std::uint64_t blocks = kBlocksOfASlice, seed = testing::seed_or(20261123);
  int threads = 0;
};

bool take(const testing::Option& option, Options& options) {
  return option.sets("--device", options.device) || option.sets("--target", options.target) ||
         option.sets("--function", options.function) || option.sets("--all", options.all) ||
         option.sets("--by-hash", options.by_hash) || option.sets("--print-hashes", options.print_hashes) ||
         option.sets("--blocks", options.blocks) || option.sets("--seed", options.seed) ||
         option.sets("--threads", options.threads) || option.sets("--answers", options.answers);
}

struct Counts {
  std::int64_t judged = 0, wrong = 0;
};

session::ContextOptions options_of(int threads) {
  session::ContextOptions options;
  options.threads = threads;
  return options;
}

/// FunctionCheck judges one function of one device.
class FunctionCheck {
 public:
  FunctionCheck(const Options& options, const Place& place, ir::Op op, Judge& judge)
      : options_(options), place_(place), op_(op), judge_(judge), context_(options_of(options.threads)) {}

  Status halves(ir::DType dtype) {
    PADLOCK_TRY(const ActivationRun run, ActivationRun::compile(context_, place_, op_, dtype));
    std::vector<std::uint16_t> arguments(65536), results;
    std::iota(arguments.begin(), arguments.end(), std::uint16_t{0});
    PADLOCK_CHECK(run.run(arguments, results));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const float value = judge_.value(op_, ir::float_from_bits(dtype, arguments[i]));
      count(dtype, arguments[i], results[i], ir::bits_from_float(dtype, value));
    }
    return {};
  }

  Status hard(const std::vector<std::uint32_t>& arguments) {
    PADLOCK_TRY(const ActivationRun run, ActivationRun::compile(context_, place_, op_, ir::DType::f32));
    std::vector<std::uint32_t> results;
    PADLOCK_CHECK(run.run(arguments, results));
    for (std::size_t i = 0; i < arguments.size(); ++i)
      count(ir::DType::f32, arguments[i], results[i],
            std::bit_cast<std::uint32_t>(judge_.exact(op_, std::bit_cast<float>(arguments[i]))));
    return {};
  }

  /// Blocks of 2^20 against the judge; all of them with the known hashes, too.
  Status floats(const BlockHashes& known) {
    PADLOCK_TRY(const ActivationRun run, ActivationRun::compile(context_, place_, op_, ir::DType::f32));
    const std::size_t bits = options_.all || options_.by_hash ? kBlockBits : kSliceBits;
    testing::Rng rng = testing::Rng(options_.seed).fork(static_cast<std::uint64_t>(op_));
    const std::uint64_t all = (std::uint64_t{1} << 32) >> bits;
    BlockHashes hashes{};
    std::vector<std::uint32_t> arguments(std::size_t{1} << bits), results;
    for (std::uint64_t i = 0; i < (options_.all ? all : options_.blocks); ++i) {
      const std::uint64_t block =
          options_.all ? i : static_cast<std::uint64_t>(rng.between(0, static_cast<std::int64_t>(all) - 1));
      std::iota(arguments.begin(), arguments.end(), static_cast<std::uint32_t>(block << bits));
      PADLOCK_CHECK(run.run(arguments, results));
      if (!options_.by_hash) judge_floats(arguments, results);
      if (bits == kBlockBits) check_hash(block, hashes.at(block) = hash_of(results), known);
    }
    if (options_.print_hashes && options_.all) fmt::print("{}", to_text(op_, hashes));
    return {};
  }

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  void judge_floats(const std::vector<std::uint32_t>& arguments, const std::vector<std::uint32_t>& results) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      count(ir::DType::f32, arguments[i], results[i],
            std::bit_cast<std::uint32_t>(judge_.value(op_, std::bit_cast<float>(arguments[i]))));
  }

  void check_hash(std::uint64_t block, std::uint64_t found, const BlockHashes& known) {
    if (options_.by_hash) counts_.judged += std::int64_t{1} << kBlockBits;
    if (found == known.at(block)) return;
    ++counts_.wrong;
    fmt::print("{}: the results of block {:#04x} of 2^24 have not the known hash\n", name_of(op_), block);
  }

  void count(ir::DType dtype, std::uint64_t argument, std::uint64_t found, std::uint64_t expected) {
    ++counts_.judged;
    if (found == expected || (ir::is_nan(dtype, found) && ir::is_nan(dtype, expected))) return;
    if (++counts_.wrong <= kShown)
      fmt::print("{} of {} {:#x}: expected {:#x}, found {:#x}\n", name_of(op_), name_of(dtype), argument, expected,
                 found);
  }

  const Options& options_;
  const Place& place_;
  ir::Op op_;
  Judge& judge_;
  session::Context context_;
  Counts counts_;
};

struct Files {
  std::map<ir::Op, BlockHashes> known;
  std::map<ir::Op, std::vector<std::uint32_t>> hard;
};

Result<Files> read_files(const std::string& folder) {
  std::ifstream answers(folder + "/known_answers.txt"), arguments(folder + "/hard_arguments.txt");
  PADLOCK_TRY(auto known, read_known_answers(answers, "known_answers.txt"));
  PADLOCK_TRY(auto hard, read_hard_arguments(arguments, "hard_arguments.txt"));
  return Files{std::move(known), std::move(hard)};
}

Result<Counts> check_function(const Options& options, const Place& place, ir::Op op, const Files& files, Judge& judge) {
  if (!files.known.contains(op) || !files.hard.contains(op))
    return invalid_argument(fmt::format("expected '{}' among known answers and hard arguments", name_of(op)));
  FunctionCheck check(options, place, op, judge);
  PADLOCK_CHECK(check.halves(ir::DType::f16));
  PADLOCK_CHECK(check.halves(ir::DType::bf16));
  PADLOCK_CHECK(check.hard(files.hard.at(op)));
  PADLOCK_CHECK(check.floats(files.known.at(op)));
  return check.counts();
}

Result<bool> check_all(const Options& options, const Place& place) {
  PADLOCK_TRY(const Files files, read_files(options.answers));
  fmt::print("{}: {}, seed {}\n", place.name(), options.all ? "all floats" : "a slice of the floats", options.seed);
  std::fflush(stdout);
  Judge judge;
  bool right = true, any = false;
  for (const ir::Op op : all_activations()) {
    if (!options.function.empty() && options.function != name_of(op)) continue;
    const auto start = std::chrono::steady_clock::now();
    PADLOCK_TRY(const Counts counts, check_function(options, place, op, files, judge));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{}: {} wrong of {}, {:.1f} s\n", name_of(op), counts.wrong, counts.judged, seconds.count());
    std::fflush(stdout);
    right &= counts.wrong == 0;
    any = true;
  }
  fmt::print("MPFR was asked {} times\n", judge.asked_mpfr());
  return right && any;
}

int run(int argc, char** argv) {
  Options options;
  if (!testing::read_options(argc, argv, kUsage, [&](const testing::Option& o) { return take(o, options); })) return 2;
  const auto device = runtime::DeviceId::parse(options.device);
  if (!device) return fmt::print(stderr, "{}\n", device.error().to_string()), 2;
  if (const Status there = runtime::Devices::check(*device); !there)
    return fmt::print("skipped: {}\n", there.error().to_string()), kSkipped;
  const Result<bool> right = check_all(options, {*device, options.target});
  if (right) return *right ? 0 : 1;
  const bool absent = right.error().code == Code::unavailable;
  return fmt::print("{}{}\n", absent ? "skipped: " : "", right.error().to_string()), absent ? kSkipped : 1;
}

}  // namespace
}  // namespace padlock::activation

int main(int argc, char** argv) { return padlock::activation::run(argc, argv); }
