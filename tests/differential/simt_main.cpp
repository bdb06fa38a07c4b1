// GPU kernels on this machine against the interpreter: every config of the search space on some random programs, drawn
// configs on many, and rows long enough for whole trips of the widest team. Every kernel is proved first.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/compiler/seeded/plan_always.h"
#include "tests/differential/host_check.h"
#include "tests/differential/programs/next_values.h"

namespace padlock::differential {
namespace {

using compiler::GpuConfig;
using compiler::Verdict;

constexpr const char* kUsage =
    "padlock_simt_random [--seed=S] [--target=sm_90] [--first=N] [--programs=N] [--configs=N] [--whole=N] [--sizes=N] "
    "[--layouts=N]\n"
    "                    [--config=TEXT] [--full]\n"
    "--whole=N: every config of the search space on the first N programs. --configs=N: so many, drawn, on the others.\n"
    "Without --full (or PADLOCK_FULL=1) or numbers: a slice of seconds, with each config on a few programs.\n";

constexpr std::uint64_t kWholeSalt = 11;
constexpr std::uint64_t kDrawSalt = 12;
constexpr std::uint64_t kLayoutSalt = 13;
// Has no divisor in common with the size of the search space.
constexpr std::size_t kStride = 101;
constexpr std::array kPreferred = {compiler::BoxKind::rows, compiler::BoxKind::joined, compiler::BoxKind::parts,
                                   compiler::BoxKind::none};

struct Options {
  std::uint64_t seed = 0;
  std::string target = "sm_90";
  std::uint64_t first = 0;
  std::uint64_t whole = 0;     ///< programs that meet every config
  std::uint64_t programs = 0;  ///< others, which meet `configs`
  std::uint64_t layouts = 0;   ///< programs that change the order of axes
  int configs = 0;
  int sizes = 3;
  std::optional<GpuConfig> config;  ///< instead of all of those
};

/// A program and sizes for it.
struct Layouts {
  std::string text;
  std::vector<std::vector<std::vector<std::int64_t>>> sizes;  ///< by bind, of each tensor
};

/// Images whose channels change places, padded and cropped, large enough for several boxes and parts of boxes.
Layouts random_layouts(testing::Rng& rng) {
  constexpr std::array kTypes = {"u8", "i8", "f16", "bf16", "f32", "i32"};
  const char* const type = rng.pick(kTypes);
  const bool to_channels = rng.chance(50);  // else to planes
  const int planes = static_cast<int>(rng.between(1, 3));
  const int rank = planes + 2;
  std::string axes, perm, low, high;
  const auto add = [](std::string& list, std::int64_t value) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
  };
  for (int axis = 0; axis < rank; ++axis) axes += fmt::format("{}D{}", axis == 0 ? "" : ", ", axis);
  // Axes of the input: the first, channels and planes.
  const int channels = to_channels ? 1 : rank - 1;
  add(perm, 0);
  if (!to_channels) add(perm, channels);
  for (int plane = 0; plane < planes; ++plane) add(perm, to_channels ? plane + 2 : plane + 1);
  if (to_channels) add(perm, channels);
  std::int64_t least = 1;  // extent that no crop takes more of
  for (int axis = 0; axis < rank; ++axis) {
    const bool is_channel = axis == (to_channels ? rank - 1 : 1);
    const bool pads = rng.chance(is_channel || axis == 0 ? 12 : 50);
    const std::int64_t before = pads ? rng.between(-1, 2) : 0, after = pads ? rng.between(-1, 2) : 0;
    add(low, before);
    add(high, after);
    least = std::max(least, -(before + after));
  }
  Layouts made;
  // A second result of another width has vectors at other phases.
  const std::string second =
      rng.chance(25) ? fmt::format("s = cast(z, {}) return r, s", type == std::string_view("f32") ? "f16" : "f32")
                     : "return r";
  made.text = fmt::format(
      "program p(x: {}[{}]) {{ y = transpose(x, perm = [{}]) z = pad(y, low = [{}], high = [{}], value = 3) r = "
      "relu(z) {} }}",
      type, axes, perm, low, high, second);
  if (std::string_view(type) == "u8") made.text.replace(made.text.find("relu"), 4, "neg");
  for (int k = 0; k < 4; ++k) {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(rank));
    std::int64_t left = 60'000;
    for (std::int64_t& extent : extents) {
      extent = rng.between(rng.chance(10) ? least : 2, rng.chance(33) ? 150 : rng.chance(10) ? 3 : 20);
      extent = std::max(least, std::min(extent, left));
      left = std::max<std::int64_t>(2, left / extent);
    }
    std::rotate(extents.begin(), extents.begin() + rng.between(0, std::ssize(extents) - 1), extents.end());
    made.sizes.push_back({std::move(extents)});
  }
  return made;
}

/// Images with short rows, padded in all modes, maybe with a value added to each channel or another tensor at their
/// side.
Layouts random_rows(testing::Rng& rng) {
  constexpr std::array kTypes = {"f32", "i32", "f16", "bf16", "i8", "i64"};
  constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};
  const std::string type = rng.pick(kTypes);
  const std::string mode = rng.pick(kModes);
  const bool adds = rng.chance(40), joins = rng.chance(25);
  constexpr int kMostCut = 2;
  const auto amounts = [&] {
    std::string list = "0";
    for (int axis = 0; axis < 2; ++axis) list += fmt::format(", {}", rng.chance(25) ? 0 : rng.between(-kMostCut, 9));
    return list;
  };
  Layouts made;
  made.text = fmt::format("program p(x: {}[A, B, C]", type);
  if (adds) made.text += fmt::format(", s: {}[B, 1]", type);
  if (joins) made.text += fmt::format(", w: {}[A, B, D]", type);
  made.text += fmt::format(") {{ a = {} ", adds ? "add(x, s)" : "relu(x)");
  made.text += fmt::format("c = {} ", joins ? "concat(a, w, axis = 2)" : "neg(a)");
  made.text += fmt::format("z = pad(c, low = [{}], high = [{}], mode = {}) return z }}", amounts(), amounts(), mode);
  for (int k = 0; k < 4; ++k) {
    constexpr std::int64_t kLeast = 2 * kMostCut + 1;
    const std::int64_t images = rng.between(1, 30), rows = rng.between(kLeast, rng.chance(50) ? 9 : 40);
    const std::int64_t columns = rng.between(kLeast, rng.chance(50) ? 12 : 90);
    std::vector<std::vector<std::int64_t>> tensors = {{images, rows, columns}};
    if (adds) tensors.push_back({rows, 1});
    if (joins) tensors.push_back({images, rows, rng.between(1, 20)});
    made.sizes.push_back(std::move(tensors));
  }
  return made;
}

/// A binding of a program, with data and the right results.
struct BoundProblem {
  ir::Binding binding;
  std::string sizes;
  std::optional<Problem> problem = {};
};

struct Subject {
  std::string text;
  std::string reproduce;
  std::unique_ptr<ir::Program> program = {};
  std::vector<std::unique_ptr<BoundProblem>> problems = {};
};

/// Rows that are longer than the widest trip of 512 threads with four vectors of 16 bytes each.
struct LongRows {
  const char* text;
  std::vector<std::int64_t> extents;
  SymbolValues dims;
};
std::vector<LongRows> long_row_programs() {
  return {
      LongRows{"program p(x: i8[B, S], lo: dim) where 0 <= lo { y = pad(x, low = [0, lo], high = [1, 3]) z = relu(y) "
               "return z }",
               {2, 70'001},
               {{"lo", 5}}},
      LongRows{
          "program p(x: f16[B, S], lo: dim) where 0 <= lo { y = pad(x, low = [0, lo], high = [0, lo], mode = edge) "
          "return y }",
          {2, 40'003},
          {{"lo", 8}}},
      LongRows{"program p(x: f32[S], p: dim) where 0 <= p < S { y = pad(x, low = [p], high = [p], mode = reflect) z = "
               "maximum(y, 1.5) return y, z }",
               {33'333},
               {{"p", 19'999}}},
      LongRows{"program p(x: f64[B, S]) { y = concat(x, x, axis = 1) return y }", {3, 9'000}, {}},
  };
}

class SimtRun {
 public:
  SimtRun(const Options& options, std::unique_ptr<compiler::TargetCompiler> compiler)
      : options_(options), compiler_(std::move(compiler)), space_(GpuConfig::all()) {}

  bool whole_space() {
    return part("every config", options_.whole, [&](std::uint64_t i) { return check_random(i, kWholeSalt, space_); });
  }

  bool drawn() {
    return part("drawn configs", options_.programs, [&](std::uint64_t i) {
      testing::Rng rng = testing::Rng(options_.seed).fork(options_.first + i).fork(kDrawSalt);
      std::vector<GpuConfig> configs;
      for (int k = 0; k < options_.configs; ++k) configs.push_back(rng.pick(space_));
      return check_random(i, kDrawSalt, configs);
    });
  }

  /// Each config `count` / their number times, dealt to the programs.
  bool dealt(std::uint64_t programs, std::size_t count) {
    return part("dealt configs", programs, [&](std::uint64_t i) {
      std::vector<GpuConfig> configs;
      for (std::size_t k = i; k < count; k += programs)
        configs.push_back(space_[(k * kStride + options_.seed) % space_.size()]);
      return check_random(i, kWholeSalt, configs);
    });
  }

  bool long_rows(std::size_t every) {
    const std::vector<LongRows> programs = long_row_programs();
    return part("long rows", programs.size(), [&](std::uint64_t i) {
      std::vector<GpuConfig> configs;
      for (std::size_t k = i % every; k < space_.size(); k += every) configs.push_back(space_[k]);
      return check_long(programs[i], configs);
    });
  }

  /// Boxes with and without turned copies, and vectors by element, with both kinds of store.
  bool layouts(std::uint64_t programs) {
    return part("layouts", programs, [&](std::uint64_t i) {
      testing::Rng rng = testing::Rng(options_.seed).fork(options_.first + i).fork(kLayoutSalt);
      const Layouts layouts = rng.chance(60) ? random_layouts(rng) : random_rows(rng);
      Subject subject{layouts.text, fmt::format("--seed={} --first={} --layouts=1", options_.seed, options_.first + i)};
      if (!parse(subject)) return false;
      for (const auto& tensors : layouts.sizes) {
        ir::BindRequest request;
        std::string sizes;
        for (const std::vector<std::int64_t>& extents : tensors) {
          request.tensors.emplace_back(ir::ArgumentShape{extents, {}});
          sizes += fmt::format("[{}]", fmt::join(extents, ", "));
        }
        if (!bind(subject, request, sizes, rng)) return false;
      }
      GpuConfig config = GpuConfig::standard();
      if (rng.chance(50)) config.cache = compiler::CacheHint::evict_first;
      return check_config(subject, config, rng, /*always=*/true);
    });
  }

  bool judge() {
    std::int64_t all = 0;
    for (const auto& [verdict, count] : verdicts_) all += count;
    fmt::print("{} obligations:", all);
    for (const auto& [verdict, count] : verdicts_) fmt::print(" {} {}", count, name_of(verdict));
    fmt::print("\n");
    const bool few = verdicts_[Verdict::checked] * 1000 <= all;
    if (!few) fmt::print("FAILED: more than one obligation in a thousand is undecided\n");
    return few && all > 0;
  }

 private:
  template <class Check>
  bool part(const char* name, std::uint64_t count, Check&& check) {
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t kernels = kernels_;
    const std::int64_t runs = runs_;
    double proofs = proof_ms_;
    for (std::uint64_t i = 0; i < count; ++i)
      if (!check(i)) return false;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{}: {} programs, {} kernels compiled, {} runs, {:.1f} s, {:.1f} s of them proofs\n", name, count,
               kernels_ - kernels, runs_ - runs, seconds, (proof_ms_ - proofs) / 1000);
    std::fflush(stdout);
    return true;
  }

  bool check_random(std::uint64_t number, std::uint64_t salt, const std::vector<GpuConfig>& configs) {
    const std::uint64_t index = options_.first + number;
    const GeneratedProgram generated = random_program(options_.seed, index);
    Subject subject{generated.text(), fmt::format("--seed={} --first={} {}", options_.seed, index,
                                                  salt == kWholeSalt ? "--whole=1" : "--programs=1 --configs=0")};
    testing::Rng rng = testing::Rng(options_.seed).fork(index).fork(salt);
    if (!parse(subject)) return false;
    for (int k = 0; k < options_.sizes; ++k) {
      std::string failure;
      const auto is_refused = [&](const SymbolValues& values) {
        return !ir::Binding::bind(*subject.program, generated.request(values, rng)).has_value();
      };
      auto values = k == 0 ? std::optional(generated.seed_values) : next_values(generated, is_refused, rng, failure);
      if (!failure.empty()) return report(subject, "", "", failure);
      if (!values) values = generated.seed_values;
      if (!bind(subject, generated.request(*values, rng), describe(*values), rng)) return false;
    }
    return check_configs(subject, configs, rng);
  }

  bool check_long(const LongRows& rows, const std::vector<GpuConfig>& configs) {
    Subject subject{rows.text, "the same"};
    testing::Rng rng = testing::Rng(options_.seed).fork(kDrawSalt);
    if (!parse(subject)) return false;
    ir::BindRequest request;
    request.tensors = {ir::ArgumentShape{rows.extents, {}}};
    request.symbols = rows.dims;
    return bind(subject, request, describe(rows.dims), rng) && check_configs(subject, configs, rng);
  }

  bool parse(Subject& subject) {
    Result<ir::Program> program = ir::parse_program(subject.text);
    if (!program) return report(subject, "", "", "it is refused: " + program.error().to_string());
    subject.program = std::make_unique<ir::Program>(*std::move(program));
    return true;
  }

  bool bind(Subject& subject, const ir::BindRequest& request, std::string sizes, testing::Rng& rng) {
    Result<ir::Binding> binding = ir::Binding::bind(*subject.program, request);
    if (!binding) return report(subject, "", sizes, "a legal binding is refused: " + binding.error().to_string());
    auto made = std::make_unique<BoundProblem>(*std::move(binding), std::move(sizes));
    Result<Problem> problem = random_problem(*subject.program, made->binding, rng);
    if (!problem) return report(subject, "", made->sizes, "the interpreter failed: " + problem.error().to_string());
    made->problem = *std::move(problem);
    subject.problems.push_back(std::move(made));
    return true;
  }

  bool check_configs(const Subject& subject, const std::vector<GpuConfig>& configs, testing::Rng& rng) {
    if (options_.config) return check_config(subject, *options_.config, rng);
    return std::ranges::all_of(configs, [&](const GpuConfig& config) { return check_config(subject, config, rng); });
  }

  bool check_config(const Subject& subject, const GpuConfig& config, testing::Rng& rng, bool always = false) {
    const std::string name = config.to_string();
    name_current_case(fmt::format("{} --config={}\n{}", subject.reproduce, name, subject.text));
    // Half of the programs go by boxes wherever they can, however small their outputs are.
    always |= subject.text.size() % 2 == 0;
    const compiler::PassEdits* const edits =
        always ? compiler::plan_always(kPreferred[subject.text.size() % std::size(kPreferred)]) : nullptr;
    const compiler::TargetCompiler::Options options{.config = config, .for_simt = true, .edits = edits};
    const auto proofs = compiler_->prove(*subject.program, options);
    if (!proofs) return report(subject, name, "", "it is not proved: " + proofs.error().to_string());
    for (const compiler::Proof& proof : *proofs)
      if (!count(subject, proof)) return false;
    const Result<runtime::HostImage> code = load(compiler_->compile(*subject.program, options));
    if (!code) return report(subject, name, "", "it does not compile: " + code.error().to_string());
    kernels_ += std::ssize(code->kernels);
    for (const auto& bound : subject.problems) {
      ++runs_;
      const std::string failure = check_both_placements(*code, *bound->problem, arena_, rng);
      if (!failure.empty()) return report(subject, name, bound->sizes, failure);
    }
    return true;
  }

  /// Returns false if an obligation is refuted. Lists undecided ones.
  bool count(const Subject& subject, const compiler::Proof& proof) {
    proof_ms_ += proof.milliseconds;
    for (const compiler::Obligation& obligation : proof.obligations) {
      ++verdicts_[obligation.verdict];
      if (obligation.verdict == Verdict::refuted) return report(subject, proof.config, "", to_string(obligation));
      if (obligation.verdict == Verdict::checked && listed_++ < 20)
        fmt::print("undecided: {}, {} --config={}\n", to_string(obligation), subject.reproduce, proof.config);
    }
    return true;
  }

  bool report(const Subject& subject, std::string_view config, std::string_view sizes, std::string_view message) {
    fmt::print("\nFAILED\n{}with {}\nsizes {}\nconfig {}\nreproduce: padlock_simt_random {} --config={}\n",
               subject.text, message, sizes, config, subject.reproduce, config);
    return false;
  }

  const Options& options_;
  std::unique_ptr<compiler::TargetCompiler> compiler_;
  std::vector<GpuConfig> space_;
  GuardedArena arena_;
  std::map<Verdict, std::int64_t> verdicts_;
  std::int64_t kernels_ = 0, runs_ = 0;
  double proof_ms_ = 0;
  int listed_ = 0;
};

int run(const Options& options, bool slice) {
  auto compiler = compiler::TargetCompiler::create(options.target);
  if (!compiler) return fmt::print("no compiler: {}\n", compiler.error().to_string()), 1;
  SimtRun run(options, *std::move(compiler));
  const bool whole = slice ? run.dealt(options.whole, 256) && run.long_rows(8)
                           : options.layouts > 0 || (run.whole_space() && run.long_rows(1));
  return whole && run.drawn() && run.layouts(options.layouts) && run.judge() ? 0 : 1;
}

bool parse_option(const testing::Option& option, Options& options, bool& slice) {
  if (option.name() == "--full") return true;
  if (option.sets("--seed", options.seed) || option.sets("--target", options.target)) return true;
  if (option.name() == "--config") {
    const Result<GpuConfig> config = GpuConfig::parse(option.value(), GpuConfig{});
    if (!config) return fmt::print(stderr, "{}\n", config.error().message), false;
    return options.config = *config, true;
  }
  slice = false;
  if (option.sets("--layouts", options.layouts)) return options.programs = options.whole = 0, true;
  if (option.sets("--whole", options.whole)) return options.layouts = options.programs = 0, true;
  if (option.sets("--programs", options.programs)) return options.layouts = options.whole = 0, true;
  return option.sets("--first", options.first) || option.sets("--configs", options.configs) ||
         option.sets("--sizes", options.sizes);
}

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  bool full = padlock::testing::is_full_run();
  for (int i = 1; i < argc; ++i) full |= std::string_view(argv[i]) == "--full";
  Options options;
  options.seed = padlock::testing::seed_or(20240731);
  options.whole = full ? 20 : 30;
  options.programs = full ? 200 : 10;
  options.configs = full ? 32 : 2;
  options.layouts = full ? 400 : 25;
  bool slice = !full;
  const auto parse = [&](const padlock::testing::Option& option) { return parse_option(option, options, slice); };
  if (!padlock::testing::read_options(argc, argv, kUsage, parse)) return 2;
  fmt::print("seed {}\n", options.seed);
  install_crash_report();
  return run(options, slice);
}
