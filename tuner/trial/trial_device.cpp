#include "tuner/trial/trial_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/arguments.h"
#include "runtime/scratch/scratch_launch.h"

namespace padlock::tuner {
namespace {

constexpr std::int64_t kUnknownCache = std::int64_t{32} << 20;

/// Error: invalid_argument for a device that is not tuned, or a target where the device has only one.
Result<runtime::DeviceId> parse(const std::string& device, const std::string& target) {
  const auto id = runtime::DeviceId::parse(device);
  if (id && id->kind != runtime::DeviceKind::reference && (target.empty() || id->kind == runtime::DeviceKind::simt))
    return id;
  return invalid_argument(
      fmt::format("expected a device to tune for (host, simt with or without a target, cuda:0, ...), found '{}'{}",
                  device, target.empty() ? "" : " with target " + target));
}

}  // namespace

Status TrialCode::launch(const ScratchSet& set, std::span<const std::uint64_t> scalars) const {
  return runtime::launch_on_scratch(*bound_, {.inputs = set.inputs, .outputs = set.outputs, .scalars = scalars},
                                    queue_.stream());
}

Status TrialCode::run(const ScratchSet& set, std::span<const std::uint64_t> scalars) {
  PADLOCK_CHECK(launch(set, scalars));
  return bound_->synchronize(queue_.stream());
}

Result<std::int64_t> TrialCode::time(std::span<const ScratchSet> sets, std::span<const std::uint64_t> scalars,
                                     std::int64_t first, std::int64_t count, runtime::ScratchMemory* sink) {
  const auto number = static_cast<std::int64_t>(sets.size());
  std::int64_t each = 1, took = 0;  // pieces of work per launch, including the reads of its results
  if (sink != nullptr)
    for (const runtime::ScratchBuffer& result : sets.front().outputs) each += result.reads_into(*sink);
  const std::int64_t most = std::max<std::int64_t>(runtime::Queue::kMostTimed / each, 1);
  for (std::int64_t done = 0; done < count; done += most) {
    const std::int64_t begin = first + done, part = std::min(count - done, most);
    PADLOCK_TRY(const std::int64_t time, queue_.time(part, [&](std::int64_t i) -> Status {
      const ScratchSet& set = sets[static_cast<std::size_t>((begin + i) % number)];
      PADLOCK_CHECK(launch(set, scalars));
      if (sink != nullptr)
        for (const runtime::ScratchBuffer& result : set.outputs) PADLOCK_CHECK(result.read_into(queue_, *sink));
      return {};
    }));
    took += time;
  }
  PADLOCK_CHECK(bound_->synchronize(queue_.stream()));
  return took;
}

Result<std::unique_ptr<TrialDevice>> TrialDevice::open(const std::string& device, const std::string& target,
                                                       int threads) {
  PADLOCK_TRY(const runtime::DeviceId id, parse(device, target));
  std::unique_ptr<TrialDevice> opened(new TrialDevice(threads));
  PADLOCK_TRY(opened->device_, opened->devices_.open(id));
  opened->target_ = target.empty() ? opened->device_->traits().target : target;
  PADLOCK_TRY(opened->space_, opened->device_->make_scratch_space());
  PADLOCK_TRY(opened->queue_, opened->device_->make_queue());
  return opened;
}

std::int64_t TrialDevice::cache_bytes() const {
  const runtime::DeviceFacts facts = device_->facts();
  return facts.cache_bytes.empty() ? kUnknownCache : facts.cache_bytes.back();
}

Result<runtime::ScratchMemory*> TrialDevice::sink() {
  constexpr std::int64_t kHostSink = std::int64_t{16} << 10, kGpuSink = std::int64_t{1} << 20;
  if (!sink_) {
    PADLOCK_TRY(sink_, space_->map(compares() ? kGpuSink : kHostSink, 0, "what results are read into"));
  }
  return sink_.get();
}

double TrialDevice::sample_us(bool race) const {
  if (device_->traits().host_memory) return race ? 1000 : 50;
  return race ? 400 : 200;
}

Result<std::unique_ptr<const runtime::LoadedProgram>> TrialDevice::load(compiler::TargetCompiler& compiler,
                                                                        compiler::TargetCompiler::Options options,
                                                                        const ir::Program& program) {
  options.for_simt = device_->traits().code_kind == abi::CodeKind::host_image;
  PADLOCK_TRY(abi::CompiledCode code, compiler.compile(program, options));
  return device_->load_beside(program, std::move(code));
}

Result<runtime::Comparison*> TrialDevice::comparison(compiler::TargetCompiler& compiler) {
  if (!compares()) return nullptr;
  if (!comparison_) {
    PADLOCK_TRY(const abi::CompiledCode code, compiler.compile_comparison(false));
    PADLOCK_TRY(comparison_, device_->load_comparison(code));
  }
  return comparison_.get();
}

Result<std::unique_ptr<TrialCode>> TrialDevice::bind(LoadedConfig loaded, const ir::Binding& binding) {
  PADLOCK_TRY(runtime::ArgumentSizes sizes, runtime::ArgumentSizes::of(binding));
  PADLOCK_TRY(auto bound, loaded->bind(binding, std::move(sizes)));
  return std::make_unique<TrialCode>(std::move(loaded), std::move(bound), *queue_);
}

}  // namespace padlock::tuner
