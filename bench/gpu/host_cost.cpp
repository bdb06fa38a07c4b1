#include "bench/gpu/host_cost.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "abi/launch_plan.h"
#include "bench/gpu/kernel.h"
#include "runtime/arguments.h"
#include "runtime/cuda/loaded_program.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

constexpr const char* kRank1 = "program rank1(x: f32[N])\n{\n  y = pad(x, low = [1], high = [1])\n  return y\n}\n";

double now_ms(HostClock clock) {
  timespec now{};
  clock_gettime(clock == HostClock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Milliseconds of one of `calls` calls.
template <class Call>
Result<double> time_calls(HostClock clock, int calls, Call&& call) {
  const double start_ms = now_ms(clock);
  for (int i = 0; i < calls; ++i) PADLOCK_CHECK(call());
  return (now_ms(clock) - start_ms) / calls;
}

/// A compiled program of which bindings are made. Not movable: the binder points into it.
struct BindCase {
  explicit BindCase(ir::Program p) : program(std::move(p)), binder(program) {}
  ir::Program program;
  runtime::ArgumentBinder binder;
  std::optional<abi::LaunchPlanner> planner;
  ir::BindRequest request;

  [[nodiscard]] static Result<std::unique_ptr<BindCase>> create(compiler::TargetCompiler& compiler,
                                                                const std::string& text, ir::BindRequest request) {
    PADLOCK_TRY(ir::Program program, ir::parse_program(text));
    auto made = std::make_unique<BindCase>(std::move(program));
    PADLOCK_TRY(const abi::CompiledCode code, compiler.compile(made->program, compiler::TargetCompiler::Options()));
    std::vector<const abi::KernelAbi*> variants;
    for (const abi::KernelVariant& variant : code.kernels[0]) variants.push_back(&variant.abi);
    made->planner.emplace(made->program, variants);
    made->request = std::move(request);
    return made;
  }
  [[nodiscard]] Status bind_symbols() const {
    const auto binding = binder.bind(request);
    if (!binding) return std::unexpected(binding.error());
    return {};
  }
  [[nodiscard]] Status bind() const {
    PADLOCK_TRY(const ir::Binding binding, binder.bind(request));
    PADLOCK_TRY([[maybe_unused]] const runtime::ArgumentSizes sizes, binder.sizes(binding));
    PADLOCK_TRY([[maybe_unused]] const abi::LaunchPlan plan, planner->plan(binding));
    return {};
  }
};

Status emit_llvm(compiler::TargetCompiler& compiler, const std::string& text) {
  PADLOCK_TRY(const ir::Program program, ir::parse_program(text));
  PADLOCK_TRY([[maybe_unused]] const std::string llvm,
              compiler.emit(program, compiler::Stage::llvm, compiler::TargetCompiler::Options()));
  return {};
}

Status compile_text(compiler::TargetCompiler& compiler, const std::string& text) {
  PADLOCK_TRY(const ir::Program program, ir::parse_program(text));
  PADLOCK_TRY([[maybe_unused]] const abi::CompiledCode code,
              compiler.compile(program, compiler::TargetCompiler::Options()));
  return {};
}

/// LaunchParts are what a launch of one kernel on a GPU is made of, with its binding and one buffer pair.
class LaunchParts {
 public:
  LaunchParts(Rig& rig, const Kernel& kernel, runtime::UserBuffer input, runtime::UserBuffer output)
      : current_(*rig.current()),
        stream_(cuda::Stream::borrow(current_.context(), rig.queue().stream())),
        bound_(dynamic_cast<const cuda::BoundLaunch&>(kernel.bound())),
        kernel_(bound_.kernels()[0]),
        input_(input),
        output_(output) {
    std::ranges::copy(kernel_.words(), words_.begin());
    words_[abi::ParameterWords::buffers] = std::bit_cast<std::uint64_t>(input.data());
    words_[abi::ParameterWords::buffers + 1] = std::bit_cast<std::uint64_t>(output.data());
  }

  /// Calls the driver with the same words, which every launch ends in.
  [[nodiscard]] Status call_driver() const {
    return cuda::launch(current_, kernel_.function(), kernel_.shape(), {words_.data(), kernel_.words().size()},
                        stream_);
  }
  [[nodiscard]] Status launch() const { return launch_in(current_); }
  /// `launch` after the checks that a caller's buffers need.
  [[nodiscard]] Status launch_checked() const {
    PADLOCK_CHECK(bound_.sizes().check({&input_, 1}, {&output_, 1}));
    return launch_in(current_);
  }
  /// `launch` where nobody knows whether the context is current.
  [[nodiscard]] Status launch_in_any_context() const {
    PADLOCK_TRY(const cuda::ContextScope scope, cuda::ContextScope::enter(current_.context()));
    return launch_in(scope);
  }

 private:
  [[nodiscard]] Status launch_in(const cuda::ContextScope& scope) const {
    return kernel_.launch(scope, {&input_, 1}, {&output_, 1}, {}, stream_);
  }

  const cuda::ContextScope& current_;
  cuda::Stream stream_;
  const cuda::BoundLaunch& bound_;
  const cuda::BoundKernel& kernel_;
  runtime::BufferView input_, output_;
  std::array<std::uint64_t, abi::ParameterWords::kMost> words_{};
};

}  // namespace

Problem host_cost_problem() { return make_problem(ir::DType::f32, 4, false, std::int64_t{64} << 10); }

Contestant host_contestant(std::string name, const HostCostOptions& options, std::function<Status()> call) {
  return {std::move(name), [clock = options.clock, calls = options.calls, call = std::move(call)] {
            return time_calls(clock, calls, call);
          }};
}

Result<std::vector<Timing>> launch_costs(Rig& rig, const HostCostOptions& options) {
  const Problem problem = host_cost_problem();
  PADLOCK_TRY(const auto kernel, Kernel::compile(rig, problem.program_text(), std::nullopt));
  PADLOCK_CHECK(kernel->bind(problem.request()));
  PADLOCK_TRY(const auto input, rig.device().allocate(problem.input_bytes(), "input"));
  PADLOCK_TRY(const auto output, rig.device().allocate(problem.output_bytes(), "output"));
  PADLOCK_CHECK(rig.queue().fill(input->data(), std::byte{0}, problem.input_bytes()));
  PADLOCK_CHECK(kernel->launch(input->data(), output->data()));
  const LaunchParts parts(rig, *kernel, {input->data(), problem.input_bytes()},
                          {output->data(), problem.output_bytes()});
  const auto contestant = [&](const char* name, auto call) {
    return Contestant{name, [&rig, &options, call]() -> Result<double> {
                        PADLOCK_CHECK(rig.queue().synchronize());
                        if (options.between_samples) options.between_samples();
                        return time_calls(options.clock, options.calls, call);
                      }};
  };
  return measure({contestant("cuLaunchKernel", [&] { return parts.call_driver(); }),
                  contestant("launch", [&] { return parts.launch(); }),
                  contestant("launch, buffers checked", [&] { return parts.launch_checked(); }),
                  contestant("launch, context asked for", [&] { return parts.launch_in_any_context(); })},
                 options.rounds, options.seed);
}

Result<std::vector<Timing>> bind_costs(compiler::TargetCompiler& compiler, const HostCostOptions& options) {
  const Problem problem = host_cost_problem();
  const ir::BindRequest request{.tensors = {ir::ArgumentShape{{1000}, std::nullopt}}, .symbols = {}};
  PADLOCK_TRY(const auto rank1, BindCase::create(compiler, kRank1, request));
  PADLOCK_TRY(const auto rank4, BindCase::create(compiler, problem.program_text(), problem.request()));
  PADLOCK_CHECK(rank1->bind());
  PADLOCK_CHECK(rank4->bind());
  return measure({host_contestant("bind, rank 1", options, [&] { return rank1->bind(); }),
                  host_contestant("bind, rank 4", options, [&] { return rank4->bind(); }),
                  host_contestant("of it the program's symbols", options, [&] { return rank4->bind_symbols(); })},
                 options.rounds, options.seed);
}

Result<std::vector<Timing>> compile_costs(compiler::TargetCompiler& compiler, const HostCostOptions& options) {
  const std::string rank4 = host_cost_problem().program_text();
  const auto contestant = [&compiler, clock = options.clock](const char* name, auto step, const std::string& text) {
    return Contestant{
        name, [&compiler, clock, step, text] { return time_calls(clock, 1, [&] { return step(compiler, text); }); }};
  };
  return measure(
      {contestant("text to PTX, rank 1", compile_text, kRank1), contestant("text to PTX, rank 4", compile_text, rank4),
       contestant("of it text to LLVM's text", emit_llvm, rank4)},
      options.rounds, options.seed);
}

}  // namespace padlock::bench::gpu
