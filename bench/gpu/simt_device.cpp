#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <vector>

#include "bench/gpu/compiled.h"
#include "compiler/gpu_compiler.h"
#include "ir/launch_plan.h"
#include "runtime/host_image.h"
#include "runtime/host_info.h"
#include "runtime/system_memory.h"
#include "support/stopwatch.h"

namespace padlock::bench::gpu {
namespace {

constexpr const char* kTarget = "sm_90";

std::byte* pointer(std::uint64_t address) { return std::bit_cast<std::byte*>(address); }

class HostMemory final : public Memory {
 public:
  explicit HostMemory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {}
  [[nodiscard]] std::uint64_t address() const override { return std::bit_cast<std::uint64_t>(bytes_.data()); }

 private:
  std::vector<std::byte> bytes_;
};

class SimtKernel final : public Kernel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Kernel>> compile(compiler::GpuCompiler& compiler, const std::string& text,
                                                               const compiler::GpuOptions& options) {
    CodeFacts facts;
    const Stopwatch first;
    PADLOCK_TRY(ir::Program program, ir::parse_program(text));
    auto kernel = std::unique_ptr<SimtKernel>(new SimtKernel(std::move(program)));
    PADLOCK_TRY(ir::CompiledCode code, compiler.compile(kernel->program_, options));
    PADLOCK_TRY(kernel->image_, runtime::load_image(std::move(code)));
    facts.text_to_ptx_ms = facts.text_to_ptx_warm_ms = first.milliseconds();
    kernel->facts_ = facts;
    if (kernel->image_.kernels.size() != 1) return internal_error("expected one kernel");
    PADLOCK_CHECK(check_contract(kernel->abi()));
    return kernel;
  }

  [[nodiscard]] const CodeFacts& facts() const override { return facts_; }
  Status bind(const ir::BindRequest& request) override {
    PADLOCK_TRY(const ir::Binding binding, ir::Binding::bind(program_, request));
    const ir::KernelAbi* const contracts[] = {&abi()};
    PADLOCK_TRY(plan_, ir::LaunchPlanner(program_, contracts).plan(binding));
    return {};
  }
  Status launch(std::uint64_t input, std::uint64_t output) override {
    void* const buffers[] = {pointer(input), pointer(output)};
    ir::AccessFault fault;
    const ir::HostLaunch launch{.buffers = buffers, .sizes = plan_.sizes.data(), .scalars = nullptr, .fault = &fault};
    if (!plan_.empty()) image_.kernels[0][0].entry(&launch, 0, plan_.rows, 0, plan_.columns);
    if (fault.claimed == 0) return {};
    return internal_error(fmt::format("kernel {}: an access is out of bounds: offset {}, storage of {} elements",
                                      abi().name, fault.coordinate, fault.extent));
  }

 private:
  explicit SimtKernel(ir::Program program) : program_(std::move(program)) {}
  [[nodiscard]] const ir::KernelAbi& abi() const { return image_.kernels[0][0].abi; }

  ir::Program program_;
  runtime::HostImage image_;
  CodeFacts facts_;
  ir::LaunchPlan plan_;
};

class SimtDevice final : public Device {
 public:
  explicit SimtDevice(std::unique_ptr<compiler::GpuCompiler> compiler) : compiler_(std::move(compiler)) {
    facts_.device = "simt";
    facts_.name = runtime::host_info().cpu;
    facts_.architecture = kTarget;
    facts_.simulated = true;
  }

  [[nodiscard]] const Facts& facts() const override { return facts_; }
  Result<std::int64_t> free_bytes() override { return runtime::available_memory() / 2; }
  Result<std::unique_ptr<Memory>> allocate(std::int64_t bytes, const std::string&) override {
    return std::make_unique<HostMemory>(bytes);
  }
  Status write(std::uint64_t to, std::span<const std::byte> from) override {
    std::memcpy(pointer(to), from.data(), from.size());
    return {};
  }
  Status read(std::span<std::byte> to, std::uint64_t from) override {
    std::memcpy(to.data(), pointer(from), to.size());
    return {};
  }
  Status synchronize() override { return {}; }
  Status fill(std::uint64_t to, std::byte value, std::int64_t bytes) override {
    std::memset(pointer(to), std::to_integer<int>(value), static_cast<std::size_t>(bytes));
    return {};
  }
  Status copy(std::uint64_t to, std::uint64_t from, std::int64_t bytes) override {
    std::memmove(pointer(to), pointer(from), static_cast<std::size_t>(bytes));
    return {};
  }
  Result<double> time_ms(int calls, const std::function<Status(int)>& queue) override {
    const Stopwatch watch;
    for (int i = 0; i < calls; ++i) PADLOCK_CHECK(queue(i));
    return watch.milliseconds();
  }
  Result<std::unique_ptr<Kernel>> compile(const std::string& text,
                                          const std::optional<compiler::GpuConfig>& config) override {
    return SimtKernel::compile(*compiler_, text, {.config = config, .for_simt = true});
  }

 private:
  std::unique_ptr<compiler::GpuCompiler> compiler_;
  Facts facts_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_simt_device() {
  PADLOCK_TRY(auto compiler, compiler::GpuCompiler::create(kTarget));
  return std::make_unique<SimtDevice>(std::move(compiler));
}

}  // namespace padlock::bench::gpu
