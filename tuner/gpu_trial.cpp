#include "tuner/gpu_trial.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "runtime/arguments.h"
#include "runtime/cuda/clock.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/loaded_program.h"
#include "runtime/cuda/scratch_memory.h"

namespace padlock::tuner {
namespace {

namespace cuda = runtime::cuda;

class GpuCode final : public TrialCode {
 public:
  explicit GpuCode(const cuda::Stream& stream) : stream_(stream) {}

  Status load(const cuda::DeviceFacts& facts, compiler::TargetCompiler& compiler,
              const compiler::TargetCompiler::Options& options, const ir::Binding& binding) {
    const ir::Program& program = binding.program();
    PADLOCK_TRY(ir::CompiledCode code, compiler.compile(program, options));
    PADLOCK_TRY(loaded_, cuda::LoadedProgram::load(stream_.context(), facts, program, std::move(code)));
    PADLOCK_TRY(const auto sizes, runtime::ArgumentSizes::of(binding));
    PADLOCK_TRY(bound_, loaded_->bind(binding, sizes));
    return {};
  }

  Status run(const ScratchSet& set, std::span<const std::uint64_t> scalars) override {
    PADLOCK_CHECK(launch(set, scalars));
    return loaded_->synchronize(stream_);
  }

  Result<std::int64_t> time(std::span<const ScratchSet> sets, std::span<const std::uint64_t> scalars,
                            std::int64_t first, std::int64_t count) override {
    const auto number = static_cast<std::int64_t>(sets.size());
    PADLOCK_TRY(const cuda::Event begin, cuda::Event::create(stream_.context()));
    PADLOCK_TRY(const cuda::Event end, cuda::Event::create(stream_.context()));
    PADLOCK_CHECK(begin.record(stream_));
    for (std::int64_t i = first; i < first + count; ++i)
      PADLOCK_CHECK(launch(sets[static_cast<std::size_t>(i % number)], scalars));
    PADLOCK_CHECK(end.record(stream_));
    PADLOCK_CHECK(loaded_->synchronize(stream_));
    PADLOCK_TRY(const float milliseconds, end.milliseconds_since(begin));
    return static_cast<std::int64_t>(std::llround(static_cast<double>(milliseconds) * 1e9));
  }

 private:
  Status launch(const ScratchSet& set, std::span<const std::uint64_t> scalars) const {
    return cuda::launch_on_scratch(*bound_, {.inputs = set.inputs, .outputs = set.outputs, .scalars = scalars},
                                   stream_);
  }

  const cuda::Stream& stream_;  // borrowed (outlives this)
  std::unique_ptr<const cuda::LoadedProgram> loaded_;
  std::optional<cuda::BoundLaunch> bound_;
};

class GpuTrial final : public TrialDevice {
 public:
  GpuTrial(cuda::DeviceFacts facts, std::string target, std::unique_ptr<const cuda::Context> context,
           cuda::Stream stream)
      : facts_(std::move(facts)),
        target_(std::move(target)),
        context_(std::move(context)),
        stream_(std::move(stream)),
        space_(stream_),
        clock_(cuda::DeviceClock::open(context_->driver(), facts_.ordinal)) {}
  const std::string& target() const override { return target_; }
  runtime::ScratchSpace& space() override { return space_; }
  std::int64_t cache_bytes() const override { return facts_.l2_bytes; }
  std::optional<double> clock() const override { return clock_ ? clock_->megahertz() : std::nullopt; }

  Result<std::unique_ptr<TrialCode>> compile(compiler::TargetCompiler& compiler,
                                             const compiler::TargetCompiler::Options& options,
                                             const ir::Binding& binding) override {
    auto code = std::make_unique<GpuCode>(stream_);
    PADLOCK_CHECK(code->load(facts_, compiler, options, binding));
    return code;
  }

 private:
  cuda::DeviceFacts facts_;
  std::string target_;
  std::unique_ptr<const cuda::Context> context_;
  cuda::Stream stream_;
  cuda::DeviceScratchSpace space_;
  std::unique_ptr<const cuda::DeviceClock> clock_;  // null: it cannot be read
};

}  // namespace

Result<std::unique_ptr<TrialDevice>> open_gpu_trial(int ordinal) {
  PADLOCK_TRY(auto driver, cuda::Driver::find());
  PADLOCK_TRY(cuda::DeviceFacts facts, cuda::device_facts(*driver, ordinal));
  std::string target = compiler::gpu_target_for(facts.compute_major, facts.compute_minor);
  if (target.empty())
    return unavailable(fmt::format("{} is of {}, for which no code can be made", facts.name, facts.architecture()));
  PADLOCK_TRY(auto context, cuda::Context::retain_primary(std::move(driver), ordinal));
  PADLOCK_TRY(cuda::Stream stream, cuda::Stream::create(*context));
  return std::make_unique<GpuTrial>(std::move(facts), std::move(target), std::move(context), std::move(stream));
}

}  // namespace padlock::tuner
