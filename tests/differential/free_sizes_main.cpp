#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_config.h"
#include "tests/common/environment.h"
#include "tests/common/options.h"
#include "tests/differential/programs/random_program.h"

// Proves random programs without constraints that multiply sizes, under a random config of each target. None may be
// refused. Preconditions that a proof leaves to launches must hold for the sizes with which the program was made.
namespace padlock::differential {
namespace {

constexpr const char* kUsage = "usage: padlock_free_sizes [--seed=N] [--first=N] [--programs=N]\n";

struct Options {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::uint64_t programs = 400;
};

class FreeSizes {
 public:
  explicit FreeSizes(const Options& options) : options_(options) {}

  void prove_program(std::uint64_t index) {
    const GeneratedProgram generated = random_program(options_.seed, index, Sizes::free);
    const Result<ir::Program> program = ir::parse_program(generated.text());
    if (!program) return refuse(index, "", program.error(), generated);
    testing::Rng rng = testing::Rng(options_.seed).fork(index).fork(8);
    const auto binding = ir::Binding::bind(*program, generated.request(generated.seed_values, rng));
    if (!binding) return refuse(index, "", binding.error(), generated);
    auto kernels = compiler::lower(*program);
    if (!kernels) return refuse(index, "", kernels.error(), generated);
    const compiler::HostConfig& host = rng.pick(hosts_);
    const compiler::GpuConfig& gpu = rng.pick(gpus_);
    for (const compiler::Kernel& kernel : *kernels) {
      prove(index, schedule_for_host(kernel, host), *binding, generated);
      for (compiler::Schedule& schedule : schedules_for_gpu(kernel, gpu))
        prove(index, std::move(schedule), *binding, generated);
    }
  }

  [[nodiscard]] int report() const {
    fmt::print("seed {}: {} programs, {} schedules, {} of them with preconditions ({}), {} refused\n", options_.seed,
               options_.programs, schedules_, bounded_, preconditions_, refused_);
    return refused_ == 0 ? 0 : 1;
  }

 private:
  void prove(std::uint64_t index, compiler::Schedule schedule, const ir::Binding& binding,
             const GeneratedProgram& generated) {
    const std::string config = schedule.config;
    ++schedules_;
    const auto proven = compiler::prove(std::move(schedule), {.cache = &lemmas_, .keep = false});
    if (!proven) return refuse(index, config, proven.error(), generated);
    bounded_ += proven->preconditions().empty() ? 0 : 1;
    preconditions_ += proven->preconditions().size();
    const ir::ExprContext& exprs = binding.program().exprs();
    for (const ir::Constraint& bound : proven->preconditions()) {
      const auto lhs = ir::evaluate(exprs, bound.lhs, binding.values());
      const auto rhs = ir::evaluate(exprs, bound.rhs, binding.values());
      if (!lhs || !rhs || !ir::holds(*lhs, bound.comparison, *rhs))
        refuse(index, config, {.message = ir::to_string(exprs, bound)}, generated);
    }
  }

  void refuse(std::uint64_t index, const std::string& config, const Error& error, const GeneratedProgram& generated) {
    ++refused_;
    fmt::print("program {}, {}: {}\n{}", index, config, error.to_string(), generated.text());
  }

  Options options_;
  std::vector<compiler::HostConfig> hosts_ = compiler::HostConfig::all();
  std::vector<compiler::GpuConfig> gpus_ = compiler::GpuConfig::all();
  compiler::ProofCache lemmas_;
  std::size_t schedules_ = 0, bounded_ = 0, preconditions_ = 0, refused_ = 0;
};

}  // namespace
}  // namespace padlock::differential

int main(int argc, char** argv) {
  using namespace padlock::differential;
  Options options;
  options.seed = padlock::testing::seed_or(20240731);
  if (padlock::testing::is_full_run()) options.programs = 20'000;
  const auto parse = [&](const padlock::testing::Option& option) {
    return option.sets("--seed", options.seed) || option.sets("--first", options.first) ||
           option.sets("--programs", options.programs);
  };
  if (!padlock::testing::read_options(argc, argv, kUsage, parse)) return 2;
  FreeSizes run(options);
  for (std::uint64_t i = 0; i < options.programs; ++i) run.prove_program(options.first + i);
  return run.report();
}
