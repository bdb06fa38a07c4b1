#include "tests/session/cuda_twins.h"
#include "tests/common/plan_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>

namespace padlock::session {
namespace {

/// Returns the value of a size among the launch's words; nullptr if only the twin takes it.
const std::uint64_t* find_size(const abi::SizeArgument& size, const abi::KernelAbi& abi, const std::uint64_t* sizes) {
  for (std::size_t i = 0; i < abi.sizes.size(); ++i) {
    const abi::SizeArgument& same = abi.sizes[i];
    if (same.value == size.value && same.fit == size.fit && same.input == size.input) return sizes + i;
  }
  return nullptr;
}

}  // namespace

FakeGpu::FakeGpu() { ::setenv(runtime::cuda::Driver::kFileVariable, PADLOCK_FAKE_CUDA, 1); }

namespace {

CompiledProgram compile_for_gpu(Context& context, std::string_view text, CompileOptions options) {
  options.device = {runtime::DeviceKind::cuda};
  auto compiled = context.compile(*Program::from_text(text), options);
  REQUIRE_MESSAGE(compiled, (compiled ? "" : compiled.error().to_string()));
  return *std::move(compiled);
}

}  // namespace

TwinProgram::TwinProgram(const FakeGpu& fake, Context& context, std::string_view text, CompileOptions options)
    : TwinProgram(fake, compile_for_gpu(context, text, options), options.bounds_check) {}

TwinProgram::TwinProgram(const FakeGpu& fake, CompiledProgram compiled, bool bounds_check)
    : compiled_(std::move(compiled)), compiler_(*compiler::TargetCompiler::create(compiled_.target())) {
  const auto config = compiler_->parse_config(compiled_.config());
  auto code =
      compiler_->compile(compiled_.program().ir(), {.config = *config, .bounds_check = bounds_check, .for_simt = true});
  REQUIRE(code);
  auto twins = runtime::load_image(*std::move(code));
  REQUIRE(twins);
  const auto kernels = compiled_.kernels();
  REQUIRE(twins->kernels.size() == kernels.size());
  twins_ = *std::move(twins);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    REQUIRE(twins_.kernels[i].size() >= kernels[i].size());
    for (std::size_t v = 0; v < kernels[i].size(); ++v) {
      const abi::KernelAbi* const abi = kernels[i][v];
      const runtime::HostVariant& twin = twins_.kernels[i][v];
      REQUIRE(twin.abi.name == abi->name);
      kernels_.push_back(std::make_unique<Kernel>(Kernel{this, abi, &twin}));
      fake->register_twin(abi->name, run, kernels_.back().get());
    }
  }
}

BoundProgram TwinProgram::bind(const ir::BindRequest& request) {
  auto bound = compiled_.bind(request);
  REQUIRE_MESSAGE(bound, (bound ? "" : bound.error().to_string()));
  bound_.emplace(*std::move(bound));
  return *bound_;
}

std::vector<TwinProgram::Launched> TwinProgram::take_launches() {
  for (const std::string& complaint : complaints_) FAIL_CHECK(complaint);
  complaints_.clear();
  return std::exchange(launches_, {});
}

void TwinProgram::run(void* kernel, const std::uint64_t* words, std::size_t count, unsigned grid_x, unsigned block_x) {
  const Kernel& self = *static_cast<const Kernel*>(kernel);
  TwinProgram& program = *self.program;
  program.launches_.push_back({self.abi->name, grid_x, block_x});
  if (std::string wrong = program.run(self, words, count, grid_x); !wrong.empty())
    program.complaints_.push_back(self.abi->name + ": " + wrong);
}

std::string TwinProgram::run(const Kernel& kernel, const std::uint64_t* words, std::size_t count, unsigned grid_x) {
  const abi::KernelAbi& abi = *kernel.abi;
  const abi::KernelAbi& host = kernel.twin->abi;
  if (host.inputs != abi.inputs || host.results != abi.results || host.scalars != abi.scalars)
    return "the twin takes other arguments";
  const std::size_t buffer_count = abi.inputs.size() + abi.results.size();
  const std::uint64_t* const scalars = words + 1 + buffer_count;
  const std::uint64_t* const sizes = scalars + abi.scalars.size();
  if (count != 1 + buffer_count + abi.scalars.size() + abi.sizes.size()) return fmt::format("{} parameters", count);

  const auto plan = padlock::testing::plan_launch(abi, bound_->binding());
  const auto twin_plan = padlock::testing::plan_launch(host, bound_->binding());
  if (!plan || !twin_plan) return "the contract cannot be evaluated";
  for (std::size_t i = 0; i < plan->sizes.size(); ++i)
    if (static_cast<std::uint64_t>(plan->sizes[i]) != sizes[i]) return fmt::format("size {} is {}", i, sizes[i]);
  if (plan->rows != grid_x || twin_plan->rows != plan->rows)
    return fmt::format("{} blocks for {} tiles, {} of the twin", grid_x, plan->rows, twin_plan->rows);

  // What the twin alone takes serves its bounds checks and its number of blocks.
  std::vector<std::int64_t> twin_sizes;
  for (std::size_t i = 0; i < host.sizes.size(); ++i) {
    const std::uint64_t* const word = find_size(host.sizes[i], abi, sizes);
    twin_sizes.push_back(word == nullptr ? twin_plan->sizes[i] : static_cast<std::int64_t>(*word));
  }
  std::vector<void*> buffers;
  for (std::size_t i = 0; i < buffer_count; ++i) buffers.push_back(std::bit_cast<void*>(words[1 + i]));
  const abi::HostLaunch launch{.buffers = buffers.data(),
                               .sizes = twin_sizes.data(),
                               .scalars = scalars,
                               .fault = std::bit_cast<abi::AccessFault*>(words[0])};
  kernel.twin->entry(&launch, 0, twin_plan->rows, 0, 1);
  return {};
}

Arrays::Arrays(const BoundProgram& bound) {
  std::uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525 + 1013904223; };
  for (const TensorInfo& tensor : bound.inputs()) {
    auto& bytes = memory.emplace_back(static_cast<std::size_t>(tensor.storage_bytes));
    // Only the low byte: no type has a NaN with such bits, whose results would be open.
    const auto size = static_cast<std::size_t>(ir::byte_size(tensor.dtype));
    const std::uint32_t mask = tensor.dtype == ir::DType::boolean ? 1 : 0xFF;
    for (std::size_t i = 0; i < bytes.size(); i += size) bytes[i] = static_cast<std::byte>(next() >> 20 & mask);
    inputs.emplace_back(static_cast<const void*>(bytes.data()), tensor.storage_bytes);
  }
  for (const TensorInfo& tensor : bound.results()) {
    auto& bytes = results.emplace_back(static_cast<std::size_t>(tensor.storage_bytes), std::byte{0xA5});
    outputs.emplace_back(static_cast<void*>(bytes.data()), tensor.storage_bytes);
  }
  for (std::size_t i = 0; i < bound.binding().program().scalar_parameters().size(); ++i)
    scalars.push_back(next() >> 25);
}

std::vector<std::vector<std::byte>> reference_results(const Program& program, const ir::BindRequest& request,
                                                      const Arrays& arrays) {
  Context context;
  const BoundProgram bound = *context.compile(program, {.device = {runtime::DeviceKind::reference}})->bind(request);
  Arrays expected(bound);
  REQUIRE(bound.launch({arrays.inputs, expected.outputs, arrays.scalars}));
  return std::move(expected.results);
}

}  // namespace padlock::session
