#include "tests/runtime/device_subject.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "abi/launch_plan.h"
#include "compiler/targets/target_compiler.h"
#include "runtime/cuda/driver/driver.h"

namespace padlock::runtime {
namespace {

cuda::FakeDriver* fake_driver() {
  const char* const file = std::getenv(cuda::Driver::kFileVariable);
  return file == nullptr ? nullptr : cuda::FakeDriver::of(file);
}

std::vector<std::byte> bytes_of(std::span<const std::byte> from) { return {from.begin(), from.end()}; }

/// Fills *launch->fault and returns.
std::vector<std::byte> failing_image() {
#if defined(__aarch64__)
  constexpr std::array<unsigned char, 28> kCode = {0x08, 0x0C, 0x40, 0xF9,   // ldr x8, [x0, #24]
                                                   0x29, 0x00, 0x80, 0x52,   // mov w9, #1
                                                   0x8A, 0x01, 0x80, 0x52,   // mov w10, #12
                                                   0x4B, 0x01, 0x80, 0x52,   // mov w11, #10
                                                   0x09, 0x25, 0x00, 0xA9,   // stp x9, x9, [x8]
                                                   0x0A, 0x2D, 0x01, 0xA9,   // stp x10, x11, [x8, #16]
                                                   0xC0, 0x03, 0x5F, 0xD6};  // ret
#else
  constexpr std::array<unsigned char, 36> kCode = {
      0x48, 0x8B, 0x47, 0x18,                          // mov rax, [rdi + 24]
      0x48, 0xC7, 0x00, 0x01, 0x00, 0x00, 0x00,        // mov qword [rax], 1
      0x48, 0xC7, 0x40, 0x08, 0x01, 0x00, 0x00, 0x00,  // mov qword [rax + 8], 1
      0x48, 0xC7, 0x40, 0x10, 0x0C, 0x00, 0x00, 0x00,  // mov qword [rax + 16], 12
      0x48, 0xC7, 0x40, 0x18, 0x0A, 0x00, 0x00, 0x00,  // mov qword [rax + 24], 10
      0xC3};
#endif
  static_assert(offsetof(abi::HostLaunch, fault) == 24 && sizeof(abi::AccessFault) == 32);
  return bytes_of(std::as_bytes(std::span(kCode)));
}

/// As above in PTX, by each thread; the other parameters are the contract's.
constexpr std::string_view kFailingPtx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry failing(
  .param .u64 fault, .param .u64 x, .param .u64 y
)
{
  .reg .b64 %fault;
  ld.param.u64 %fault, [fault];
  cvta.to.global.u64 %fault, %fault;
  st.global.u64 [%fault], 1;
  st.global.u64 [%fault+8], 1;
  st.global.u64 [%fault+16], 12;
  st.global.u64 [%fault+24], 10;
  ret;
}
)";

}  // namespace

Bench::Bench() : fake_(fake_driver()), devices_({.parallel_for = pool_.as_parallel_for()}) {
  if (fake_ == nullptr) return;
  fake_->reset();
  fake_->register_twin(
      "failing",
      [](void*, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
        *std::bit_cast<abi::AccessFault*>(words[0]) = {.claimed = 1, .access = 1, .coordinate = 12, .extent = 10};
      },
      nullptr);
}

Bench::~Bench() {
  if (fake_ == nullptr) return;
  for (const std::string& misuse : fake_->take_misuses()) FAIL_CHECK(misuse);
  const cuda::FakeCounts left = fake_->live();
  CHECK(left.allocations + left.modules + left.streams + left.events == 0);
}

const Device& Bench::open(const DeviceId& id) {
  const auto opened = devices_.open(id);
  REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().to_string()));
  return **opened;
}

abi::CompiledCode Bench::compile(const Device& device, const ir::Binding& binding, bool bounds_check) {
  const DeviceTraits& traits = device.traits();
  if (!traits.code_kind) return {};
  auto compiler = compiler::TargetCompiler::create(traits.target);
  REQUIRE(compiler);
  compiler::TargetCompiler::Options options{
      .config = {},
      .bounds_check = bounds_check,
      .for_simt = traits.code_kind == abi::CodeKind::host_image,
  };
  auto code = (*compiler)->compile(binding.program(), options);
  REQUIRE_MESSAGE(code, (code ? "" : code.error().to_string()));
  if (options.for_simt || fake_ == nullptr) return *std::move(code);
  options.for_simt = true;
  image_ = *load_image(*(*compiler)->compile(binding.program(), options));
  twins_.clear();
  for (std::size_t i = 0; i < code->kernels.size(); ++i)
    for (const abi::KernelVariant& gpu : code->kernels[i]) {
      twins_.push_back(std::make_unique<Twin>(Twin{gpu.abi, image_.kernels[i].front(), &binding}));
      fake_->register_twin(gpu.abi.name, Twin::run, twins_.back().get());
    }
  return *std::move(code);
}

void Bench::Twin::run(void* twin, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
  const Twin& self = *static_cast<const Twin*>(twin);
  const abi::KernelAbi* const contracts[] = {&self.host.abi};
  const auto plan = abi::LaunchPlanner(self.binding->program(), contracts).plan(*self.binding);
  REQUIRE(plan);
  const abi::ParameterWords places(self.gpu);
  std::vector<void*> buffers;
  for (std::size_t i = places.buffers; i < places.scalars; ++i) buffers.push_back(std::bit_cast<void*>(words[i]));
  const abi::HostLaunch launch{.buffers = buffers.data(),
                               .sizes = plan->sizes.data(),
                               .scalars = words + places.scalars,
                               .fault = std::bit_cast<abi::AccessFault*>(words[abi::ParameterWords::fault])};
  self.host.entry(&launch, 0, plan->rows, 0, 1);
}

abi::CompiledCode Bench::failing_code(const Device& device, const ir::Program& program) {
  const bool gpu = device.traits().code_kind == abi::CodeKind::ptx;
  const ir::Value& y = program.value(program.results()[0]);
  ir::ExprContext& exprs = program.exprs();
  abi::KernelAbi abi{.name = "failing",
                     .inputs = {program.tensor_parameters()[0]},
                     .results = {program.results()[0]},
                     .scalars = {},
                     .sizes = {},
                     .rows = y.extents()[0],
                     .columns = exprs.constant(1),
                     .row_bytes = exprs.constant(4),
                     .threads = gpu ? 32 : 0,
                     .accesses = {"load of x", "store of y"}};
  const auto ptx = std::as_bytes(std::span(kFailingPtx));
  return {.kind = gpu ? abi::CodeKind::ptx : abi::CodeKind::host_image,
          .bytes = gpu ? bytes_of(ptx) : failing_image(),
          .kernels = {{{.abi = std::move(abi)}}}};
}

std::vector<DeviceId> devices_here() {
  std::vector<DeviceId> found;
  for (const char* name : {"reference", "host", "simt", "cuda:0"}) {
    const DeviceId id = *DeviceId::parse(name);
    const Status available = Devices::check(id);
    if (available) found.push_back(id);
    if (!available) MESSAGE("left out: " << available.error().message);
  }
  return found;
}

Array::Array(const Device& device, std::vector<std::byte> bytes) {
  static Devices own({});
  const auto count = static_cast<std::int64_t>(bytes.size());
  staging_ = *(*own.open({DeviceKind::host}))->allocate(count, "staging");
  memory_ = *device.allocate(count, "an array");
  if (count > 0) std::memcpy(staging_->data(), bytes.data(), bytes.size());
  REQUIRE(DeviceMemory::copy(*memory_, 0, *staging_, 0, count));
}

BufferView Array::view(std::int64_t offset, std::int64_t less) const {
  return BufferView(UserBuffer(static_cast<std::byte*>(memory_->data()) + offset, memory_->bytes() - offset - less));
}

std::vector<std::byte> Array::bytes() const {
  REQUIRE(DeviceMemory::copy(*staging_, 0, *memory_, 0, memory_->bytes()));
  const auto* const first = static_cast<const std::byte*>(staging_->data());
  return {first, first + memory_->bytes()};
}

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 % 61);  // of no NaN
  return bytes;
}

}  // namespace padlock::runtime
