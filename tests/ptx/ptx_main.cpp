// PTX of every operation on every type, of the regressions, the examples and random programs, for several architectures
// and configs. Code generation never ends the process, and the text has nothing that could change a bit. If ptxas is
// installed it assembles the PTX, that of the default config without spills. ptxas takes most of the time: a slice
// gives it a third of the operations, which the seed chooses, and --full all of them.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "abi/ptx_entries.h"
#include "compiler/targets/target_compiler.h"
#include "tests/common/crash_report.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/common/rng.h"
#include "tests/ptx/ptx_programs.h"
#include "tests/ptx/ptxas.h"

namespace padlock::ptx {
namespace {

using compiler::GpuConfig;

constexpr std::array kTargets = {"sm_75", "sm_80", "sm_90", "sm_100"};
constexpr int kSkipped = 77;
constexpr std::size_t kKernelsAtOnce = 48;
constexpr std::size_t kSlices = 3;
constexpr std::size_t kAloneEach = 12;  // of so many programs one is assembled by entries, too

/// What no kernel may contain: approximations and flushes; contraction, and sums and products without .rn, which ptxas
/// contracts; calls; foreign code or memory, except the shared memory of a launch; hardware conversions to bf16, which
/// may only be compared;
/// memory of a thread.
constexpr std::array<std::string_view, 15> kForbidden = {
    ".ftz",    ".approx", "fma.",  "mad.f",         "add.f",           "sub.f",  "mul.f", "max.NaN",
    "min.NaN", "call",    ".bf16", ".extern .func", ".extern .global", ".local", "trap"};
/// Of these, what activations may contain: fused multiply-adds, bounds that keep a NaN, approximations whose error
/// changes no result, and roundings whose NaNs have any payload. (tests/lit/ptx lists them by activation.)
constexpr std::array<std::string_view, 9> kOfActivations = {
    "fma.rn.f64",       "fma.rn.f32",  "rcp.approx.ftz.f64", "rcp.approx.ftz.f32", "rsqrt.approx.ftz.f64",
    "rsqrt.approx.f32", "min.NaN.f32", "max.NaN.f32",        "cvt.rn.bf16x2.f32"};
/// Maxima lose a NaN and the sign of a zero. In a cast to an integer they are applied to numbers that are not NaN.
constexpr std::array<std::string_view, 2> kForbiddenWithoutCast = {"max.f", "min.f"};

std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t first = text.rfind('\n', at) + 1;
  return text.substr(first, text.find('\n', at) - first);
}

bool has_activation(const std::string& program) {
  return std::ranges::any_of(ir::kOperations, [&](const ir::OpInfo& info) {
    return info.op_class == ir::OpClass::activation && program.find(fmt::format(" {}(", info.name)) != program.npos;
  });
}

/// The first line that a kernel of this program may not have, or nothing.
std::string forbidden_line(const std::string& program, const std::string& ptx) {
  std::vector<std::string_view> forbidden(kForbidden.begin(), kForbidden.end());
  if (program.find("cast") == std::string::npos)
    forbidden.insert(forbidden.end(), kForbiddenWithoutCast.begin(), kForbiddenWithoutCast.end());
  const auto is_allowed = [active = has_activation(program)](const std::string& line) {
    const auto begins_line = [&](std::string_view one) { return line.starts_with(fmt::format("\t{}", one)); };
    return begins_line("set.") || (active && std::ranges::any_of(kOfActivations, begins_line));
  };
  for (const std::string_view part : forbidden)
    for (std::size_t at = ptx.find(part); at != std::string::npos; at = ptx.find(part, at + 1))
      if (const std::string line = line_at(ptx, at); !is_allowed(line)) return line;
  return {};
}

struct Options {
  std::uint64_t seed = 0;
  bool full = false;
};

/// Kernels of one architecture that are assembled together.
struct Batch {
  std::string text;
  std::map<std::string, std::string> cases;  // descriptions by kernel name
  std::set<std::string> defaults;            // those of the default config
};

class PtxRun {
 public:
  PtxRun(const Options& options, Result<Ptxas> ptxas)
      : options_(options), ptxas_(std::move(ptxas)), space_(GpuConfig::all()), rng_(options.seed) {}

  /// `sliced`: only a part of the programs is assembled, except with --full.
  bool add(std::string_view kind, const std::vector<std::string>& programs, bool sliced = false) {
    is_sliced_ = sliced && !options_.full;
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = emitted_;
    for (const std::string& program : programs)
      if (!add_program(program)) return false;
    for (const char* target : kTargets)
      if (!assemble(target)) return false;
    fmt::print("{}: {} programs, {} kernels, {:.1f} s\n", kind, programs.size(), emitted_ - before,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
    return !programs.empty();
  }

  int judge() {
    fmt::print("{} kernels were emitted, {} assembled; under the default config {} spill, most registers are {}\n",
               emitted_, assembled_, spilled_, registers_);
    if (!good_) return 1;
    if (!ptxas_) {
      fmt::print("skipped: their assembly: {}\n", ptxas_.error().message);
      return kSkipped;
    }
    const bool all = assembled_ == queued_ || unknown_ > 0;
    for (const auto& [target, count] : skipped_)
      fmt::print("not assembled, for {} does not know it: {} of {}\n", ptxas_->path().string(), count, target);
    if (!all) fmt::print("FAILED: not all were assembled\n");
    return all ? 0 : 1;
  }

 private:
  /// Compiles each program for each architecture with the default config and two others. In a slice: with the default
  /// config for one architecture in turn, and every third program with another config for a second one.
  bool add_program(const std::string& text) {
    const std::size_t turn = programs_++;
    if (!options_.full)
      return emit(text, turn % kTargets.size(), {}, false) &&
             (turn % 3 != 0 ||
              emit(text, (turn / kTargets.size()) % kTargets.size(), rng_.pick(space_), rng_.chance(15)));
    for (std::size_t target = 0; target < kTargets.size(); ++target)
      if (!emit(text, target, {}, false) || !emit(text, target, rng_.pick(space_), false) ||
          !emit(text, target, rng_.pick(space_), true))
        return false;
    return true;
  }

  bool emit(const std::string& text, std::size_t target, std::optional<GpuConfig> config, bool bounds_check) {
    const char* name = kTargets[target];
    const std::string program_name = fmt::format("k{}", emissions_++);
    const std::string renamed_text = renamed(text, program_name);
    const std::string what =
        fmt::format("--target={} --config={}{}\n{}", name, config ? config->to_string() : "default",
                    bounds_check ? ", bounds check" : "", text);
    differential::name_current_case(what);
    const Result<ir::Program> program = ir::parse_program(renamed_text);
    if (!program) return true;  // a regression that is about a refusal
    auto& compiler = compilers_[name];
    if (compiler == nullptr) {
      auto made = compiler::TargetCompiler::create(name);
      if (!made) return fail(what, made.error().to_string());
      compiler = *std::move(made);
    }
    const auto code = compiler->compile(*program, {.config = config, .bounds_check = bounds_check});
    // Of the regressions some are about programs that no device takes.
    if (!code && code.error().code == Code::resource_exhausted) return true;
    if (!code) return fail(what, code.error().to_string());
    if (const std::string line = forbidden_line(text, std::string(code->text())); !line.empty())
      return fail(what, "the code may not have: " + line);
    for (const auto& variants : code->kernels) emitted_ += variants.size();
    const bool is_left_out = is_sliced_ && programs_ % kSlices != options_.seed % kSlices;
    return is_left_out || queue(name, *code, what, !config && !bounds_check);
  }

  bool queue(const char* target, const abi::CompiledCode& code, const std::string& what, bool is_default) {
    Batch& batch = batches_[target];
    // One head for all.
    const std::string_view ptx = code.text();
    const std::size_t body = ptx.find('\n', ptx.find(".address_size")) + 1;
    batch.text += batch.text.empty() ? ptx : ptx.substr(body);
    for (const auto& variants : code.kernels)
      for (const abi::KernelVariant& variant : variants) {
        ++queued_;
        batch.cases[variant.abi.name] = what;
        if (is_default) batch.defaults.insert(variant.abi.name);
      }
    if (programs_ % kAloneEach == 0 && !assemble_alone(target, code, what)) return false;
    return batch.cases.size() < kKernelsAtOnce || assemble(target);
  }

  /// Assembles each entry's text as a driver is given it.
  bool assemble_alone(const char* target, const abi::CompiledCode& code, const std::string& what) {
    if (!ptxas_ || !ptxas_->knows(target)) return true;
    for (const auto& variants : code.kernels)
      for (const abi::KernelVariant& variant : variants) {
        const abi::KernelAbi& abi = variant.abi;
        const std::optional<std::string> text = abi::ptx_of_entry(code.text(), abi.name);
        if (!text) return fail(what, "no entry " + abi.name);
        const auto uses = ptxas_->assemble(*text, target);
        if (!uses) return fail(what + "\nalone", uses.error().message);
        if (uses->size() != 1 || !uses->contains(abi.name)) return fail(what, "more than " + abi.name);
      }
    return true;
  }

  bool assemble(const char* target) {
    Batch batch = std::exchange(batches_[target], Batch{});
    if (!ptxas_ || batch.cases.empty()) return true;
    if (!ptxas_->knows(target)) {
      skipped_[target] += static_cast<int>(batch.cases.size());
      unknown_ += batch.cases.size();
      return true;
    }
    const auto uses = ptxas_->assemble(batch.text, target);
    if (!uses) return fail(batch.cases.begin()->second + "\nor one of the next", uses.error().message);
    for (const auto& [name, what] : batch.cases) {
      if (!uses->contains(name)) return fail(what, "ptxas says nothing of " + name);
      ++assembled_;
    }
    for (const std::string& name : batch.defaults) {
      const KernelUse& use = uses->at(name);
      registers_ = std::max(registers_, use.registers);
      spilled_ += use.spilled_bytes > 0;
      if (use.spilled_bytes > 0 || use.stack_bytes > 0)
        fail(batch.cases.at(name), fmt::format("the default config has {} registers, a stack of {} bytes and spills {}",
                                               use.registers, use.stack_bytes, use.spilled_bytes));
    }
    return true;
  }

  bool fail(std::string_view what, std::string_view message) {
    fmt::print("\nFAILED {}\n{}\n", message, what);
    return good_ = false;
  }

  const Options& options_;
  Result<Ptxas> ptxas_;
  std::vector<GpuConfig> space_;
  testing::Rng rng_;
  std::map<std::string, std::unique_ptr<compiler::TargetCompiler>> compilers_;
  std::map<std::string, Batch> batches_;
  std::map<std::string, int> skipped_;
  std::size_t programs_ = 0, emissions_ = 0, emitted_ = 0, queued_ = 0, assembled_ = 0, unknown_ = 0;
  int registers_ = 0, spilled_ = 0;
  bool is_sliced_ = false, good_ = true;
};

int run(const Options& options) {
  PtxRun run(options, Ptxas::find());
  const std::uint64_t random = options.full ? 400 : 40;
  const bool good = run.add("operations", operation_programs(), true) && run.add("examples", example_programs()) &&
                    run.add("regressions", regression_programs()) &&
                    run.add("random", random_programs(options.seed, random));
  return good ? run.judge() : 1;
}

}  // namespace
}  // namespace padlock::ptx

int main(int argc, char** argv) {
  padlock::ptx::Options options{.seed = padlock::testing::seed_or(20240731), .full = padlock::testing::is_full_run()};
  const auto parse = [&](const padlock::testing::Option& option) {
    return option.sets("--seed", options.seed) || option.sets("--full", options.full);
  };
  if (!padlock::testing::read_options(argc, argv, "usage: padlock_ptx [--seed=S] [--full]\n", parse)) return 2;
  fmt::print("seed {}\n", options.seed);
  padlock::differential::install_crash_report();
  return padlock::ptx::run(options);
}
