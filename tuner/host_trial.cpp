#include "tuner/host_trial.h"

#include <chrono>

#include "runtime/host_clock.h"
#include "runtime/host_info.h"
#include "runtime/launch.h"
#include "runtime/thread_pool.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kUnknownCache = std::int64_t{32} << 20;

runtime::ScratchArguments arguments_of(const ScratchSet& set, std::span<const std::uint64_t> scalars) {
  return {.inputs = set.inputs, .outputs = set.outputs, .scalars = scalars};
}

class HostCode final : public TrialCode {
 public:
  explicit HostCode(runtime::ParallelFor pool) : pool_(pool) {}

  Status load(compiler::TargetCompiler& compiler, const compiler::TargetCompiler::Options& options,
              const ir::Binding& binding) {
    PADLOCK_TRY(ir::CompiledCode made, compiler.compile(binding.program(), options));
    PADLOCK_TRY(runtime::HostImage image, runtime::load_image(std::move(made)));
    code_ = std::move(image.code);
    launchers_.reserve(image.kernels.size());  // bound kernels borrow them
    for (auto& kernel : image.kernels) {
      PADLOCK_TRY(runtime::KernelLauncher launcher,
                  runtime::KernelLauncher::create(std::move(kernel), binding.program()));
      launchers_.push_back(std::move(launcher));
      PADLOCK_TRY(runtime::BoundKernel bound,
                  launchers_.back().bind(binding, compiler.task_bytes(options.config), pool_.threads));
      kernels_.push_back(std::move(bound));
    }
    return {};
  }

  Status run(const ScratchSet& set, std::span<const std::uint64_t> scalars) override {
    for (const runtime::BoundKernel& kernel : kernels_)
      PADLOCK_CHECK(runtime::launch_on_scratch(kernel, arguments_of(set, scalars), pool_));
    return {};
  }

  Result<std::int64_t> time(std::span<const ScratchSet> sets, std::span<const std::uint64_t> scalars,
                            std::int64_t first, std::int64_t count) override {
    const auto number = static_cast<std::int64_t>(sets.size());
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = first; i < first + count; ++i)
      PADLOCK_CHECK(run(sets[static_cast<std::size_t>(i % number)], scalars));
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    return took.count() * 1000;
  }

 private:
  runtime::ParallelFor pool_;  // borrows the device's pool
  std::shared_ptr<const CodeMemory> code_;
  std::vector<runtime::KernelLauncher> launchers_;
  std::vector<runtime::BoundKernel> kernels_;
};

class HostTrial final : public TrialDevice {
 public:
  HostTrial(std::string target, int threads) : target_(std::move(target)), pool_(threads) {
    const runtime::HostInfo info = runtime::host_info();
    cache_bytes_ = info.l3_bytes.value_or(info.l2_bytes.value_or(kUnknownCache));
  }
  const std::string& target() const override { return target_; }
  runtime::ScratchSpace& space() override { return space_; }
  std::int64_t cache_bytes() const override { return cache_bytes_; }
  std::optional<double> clock() const override { return runtime::host_clock(); }

  Result<std::unique_ptr<TrialCode>> compile(compiler::TargetCompiler& compiler,
                                             const compiler::TargetCompiler::Options& options,
                                             const ir::Binding& binding) override {
    auto code = std::make_unique<HostCode>(pool_.as_parallel_for());
    compiler::TargetCompiler::Options made = options;
    made.for_simt = true;
    PADLOCK_CHECK(code->load(compiler, made, binding));
    return code;
  }

 private:
  std::string target_;
  runtime::ThreadPool pool_;
  runtime::HostScratchSpace space_;
  std::int64_t cache_bytes_ = 0;
};

}  // namespace

std::unique_ptr<TrialDevice> make_host_trial(std::string target, int threads) {
  return std::make_unique<HostTrial>(std::move(target), threads);
}

}  // namespace padlock::tuner
