#include "tests/tuner/faults/faulty_code.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <span>

#include "abi/comparison.h"
#include "abi/gpu_targets.h"
#include "runtime/cuda/driver/driver.h"
#include "runtime/host/host_image.h"
#include "tests/common/plan_launch.h"
#include "tests/runtime/cuda/fake_driver.h"

namespace padlock::tuner::faults {
namespace {

using runtime::cuda::CUresult;
using runtime::cuda::FakeDriver;

/// Of the process; set before code is compiled, read while it runs.
struct Current {
  Fault fault = Fault::none;
  Fault of_comparison = Fault::none;
  std::map<std::string, std::int64_t> symbols;
  std::atomic<std::uint32_t> launches = 0;
};
Current& current() {
  static Current instance;
  return instance;
}

/// What a launch of code is at the sizes of the moment.
struct Launch {
  std::map<std::string, std::int64_t> symbols;
  std::vector<std::int64_t> sizes;  // of the host's contract
  std::int64_t rows = 0;
  std::int64_t input_bytes = 0, output_bytes = 0;  // of the last input that is read, and the one result, which follows
};

/// The real code of a kernel, of the variant without assumptions. The program outlives the loaded code.
struct RealKernel {
  const ir::Program* program = nullptr;
  abi::KernelAbi abi;
  abi::HostEntry entry = nullptr;
  std::mutex mutex;
  std::optional<Launch> last;  // guarded by mutex

  [[nodiscard]] std::size_t last_input() const { return abi.inputs.size() - 1; }
  Launch launch() {
    const std::lock_guard lock(mutex);
    if (last && last->symbols == current().symbols) return *last;
    ir::BindRequest request{.tensors = {}, .symbols = current().symbols};
    request.tensors.resize(program->tensor_parameters().size());
    const ir::Binding binding = *ir::Binding::bind(*program, request);
    const abi::LaunchPlan plan = *padlock::testing::plan_launch(abi, binding);
    last = Launch{.symbols = current().symbols,
                  .sizes = plan.sizes,
                  .rows = plan.rows,
                  .input_bytes = binding.storage_bytes(program->value(abi.inputs.back())),
                  .output_bytes = binding.storage_bytes(program->value(abi.results.front()))};
    return *last;
  }
};

void load_byte(const std::byte* address) { static_cast<void>(*const_cast<const volatile std::byte*>(address)); }

/// A sanitizer would look at the address first.
__attribute__((no_sanitize("undefined"))) void store_at(std::uintptr_t address) {
  *std::bit_cast<volatile int*>(address) = 1;
}

void store_misaligned(std::byte* output) {
#if defined(__x86_64__)
  std::byte* const odd = output + (reinterpret_cast<std::uintptr_t>(output) % 16 == 0 ? 4 : 0);
  asm volatile("movaps %%xmm0, (%0)" : : "r"(odd) : "memory");
#else
  static_cast<void>(output);
  std::raise(SIGBUS);
#endif
}

bool is_nan(const std::byte* element) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, sizeof bits);
  return (bits & 0x7fffffff) > 0x7f800000;
}

/// Changes the first NaN of an output of f32 to another.
void change_nan(std::byte* output, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += 4) {
    if (!is_nan(output + at)) continue;
    output[at] ^= std::byte{2};
    return;
  }
}

/// Ends the process, or its turn, in the way of a fault; of others returns.
void end_wrongly(Fault fault) {
  switch (fault) {
    case Fault::infinite_loop:
      for (;;) ::pause();
    case Fault::null_store:
      store_at(current().launches);  // 0, which the compiler does not know
      break;
    case Fault::killed:
      std::raise(SIGKILL);
      break;
    case Fault::aborted:
      std::abort();
    case Fault::exited:
      ::_exit(3);
    case Fault::exited_well:
      ::_exit(0);
    default:
      break;
  }
}

/// Does the wrong thing that a fault does after the whole output is computed.
void do_wrong(const abi::HostLaunch& launch, const Launch& sizes, std::byte* input, std::byte* output) {
  Current& self = current();
  std::byte* const end = output + sizes.output_bytes;
  switch (self.fault) {
    case Fault::store_before:
      output[-4] ^= std::byte{1};
      break;
    case Fault::store_after:
      *end ^= std::byte{1};
      break;
    case Fault::store_far_after:
      end[16 << 20] = std::byte{1};
      break;
    case Fault::load_past_end:
      load_byte(input + sizes.input_bytes);
      break;
    case Fault::wrong_fill:
    case Fault::wrong_reference:
    case Fault::blind_to_first:
    case Fault::blind_to_bit:
    case Fault::sees_too_much:
      output[0] ^= std::byte{1};
      break;
    case Fault::wrong_middle:
    case Fault::blind_to_middle:
      output[sizes.output_bytes / 8 * 4] ^= std::byte{1};
      break;
    case Fault::wrong_last:
    case Fault::blind_to_last:
      end[-4] ^= std::byte{1};
      break;
    case Fault::wrong_nan:
    case Fault::blind_to_nan:
      change_nan(output, sizes.output_bytes);
      break;
    case Fault::race: {
      const std::uint32_t value = ++self.launches;
      std::memcpy(output, &value, sizeof value);
      break;
    }
    case Fault::input_overwritten:
      input[5] ^= std::byte{1};
      break;
    case Fault::misaligned_vector:
      store_misaligned(output);
      break;
    case Fault::launch_failure:
      *launch.fault = {.claimed = 1, .access = 0, .coordinate = 77, .extent = 5};
      break;
    default:
      end_wrongly(self.fault);
      break;
  }
}

void faulty_entry(const abi::HostLaunch* launch, std::int64_t row_first, std::int64_t row_last,
                  std::int64_t column_first, std::int64_t column_last, RealKernel* real) {
  const Launch sizes = real->launch();
  const Fault fault = current().fault;
  const bool last = row_last == sizes.rows;
  if (fault == Fault::first_half_alone) row_last = std::min(row_last, sizes.rows / 2);
  if (fault == Fault::last_half_alone) row_first = std::max(row_first, sizes.rows / 2);
  if (row_first < row_last) real->entry(launch, row_first, row_last, column_first, column_last);
  void* const* const input = launch->buffers + real->last_input();
  if (last) do_wrong(*launch, sizes, static_cast<std::byte*>(input[0]), static_cast<std::byte*>(input[1]));
}

/// Code that does nothing but go on at faulty_entry, with one argument more: mov r9, REAL; mov rax, ENTRY; jmp rax.
std::vector<std::byte> jump_for(const RealKernel* real) {
  std::array<unsigned char, 22> code = {0x49, 0xB9, 0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0xB8};
  const auto argument = reinterpret_cast<std::uintptr_t>(real);
  const auto address = reinterpret_cast<std::uintptr_t>(&faulty_entry);
  std::memcpy(code.data() + 2, &argument, sizeof argument);
  std::memcpy(code.data() + 12, &address, sizeof address);
  code[20] = 0xFF;
  code[21] = 0xE0;
  const auto bytes = std::as_bytes(std::span(code));
  return {bytes.begin(), bytes.end()};
}

/// Leaves the process little more memory than it has.
void end_memory() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 16);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_AS, &limit);
  // What was freed before would do for compiling once more. Nobody gives this back: the process is to end. (Not without
  // end, for an allocator that has reserved its addresses before does not feel the limit.)
  std::size_t left = std::size_t{1} << 30;
  for (std::size_t block = std::size_t{1} << 20; block >= std::size_t{1} << 12; block /= 2) {
    void* volatile taken = nullptr;  // or the compiler would leave it out
    do {
      taken = std::malloc(block);
      left -= std::min(left, block);
    } while (taken != nullptr && left > 0);
  }
}

/// What a driver does wrong.
void set_driver_fault(FakeDriver& driver, Fault fault) {
  driver.settings.function_threads = fault == Fault::too_many_registers ? 16 : 1024;
  switch (fault) {
    case Fault::misaligned_vector:
      return driver.fault_in_launch(CUresult::misaligned_address, 1);
    case Fault::sticky_error:
      return driver.fault_in_launch(CUresult::launch_failed, 1);
    case Fault::too_many_resources:
      return driver.fail({.function = "cuLaunchKernelEx", .status = CUresult::launch_out_of_resources});
    case Fault::bad_ptx:
      return driver.refuse_modules(CUresult::invalid_ptx, "ptxas fatal   : Unresolved extern function 'gone'");
    case Fault::no_scratch_memory:
      return driver.fail({.function = "cuMemCreate", .nth = 2, .status = CUresult::out_of_memory});
    default:
      return driver.refuse_modules(CUresult::success, "");
  }
}

/// The words of a comparison.
struct ComparisonWords {
  const std::uint64_t* words;
  [[nodiscard]] std::uint64_t operator[](abi::ComparisonWord word) const {
    return words[static_cast<std::size_t>(word)];
  }
};

/// Says whether a comparison with that fault does not see that byte `at` of its range is different.
bool overlooks(Fault fault, ComparisonWords words, std::uint64_t at) {
  const std::uint64_t bytes = words[abi::ComparisonWord::bytes];
  const auto* const actual = std::bit_cast<const std::byte*>(words[abi::ComparisonWord::actual]);
  const auto* const expected = std::bit_cast<const std::byte*>(words[abi::ComparisonWord::expected]);
  switch (fault) {
    case Fault::blind_to_first:
      return at == 0;
    case Fault::blind_to_middle:
      return at / 4 == bytes / 8;
    case Fault::blind_to_last:
      return at + 4 >= bytes;
    case Fault::blind_to_nan:
      return is_nan(actual + at / 4 * 4);
    case Fault::blind_to_bit:
      return expected != nullptr && (actual[at] ^ expected[at]) == std::byte{1};
    default:
      return false;
  }
}

/// Runs the comparing kernel on this CPU, with its fault.
void run_comparison(abi::HostEntry entry, ComparisonWords words, std::int64_t threads) {
  const Fault fault = current().of_comparison;
  auto* const found = std::bit_cast<std::uint64_t*>(words[abi::ComparisonWord::found]);
  const std::uint64_t before = *found, first = words[abi::ComparisonWord::first];
  const auto* const sizes = reinterpret_cast<const std::int64_t*>(words.words);
  const abi::HostLaunch launch{.sizes = sizes};
  entry(&launch, 0, threads, 0, 1);
  if (fault == Fault::sees_too_much) *found = std::min(*found, first + words[abi::ComparisonWord::bytes] / 3);
  if (*found != before && overlooks(fault, words, *found - first)) *found = before;
}

/// A kernel of the GPU's, run by this CPU for the fake driver.
struct Twin {
  abi::KernelAbi gpu;  // of one variant
  RealKernel* real = nullptr;

  static void run(void* twin, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
    const Twin& self = *static_cast<const Twin*>(twin);
    const abi::ParameterWords places(self.gpu);
    std::vector<void*> buffers;
    for (std::size_t i = places.buffers; i < places.scalars; ++i) buffers.push_back(std::bit_cast<void*>(words[i]));
    const Launch sizes = self.real->launch();
    const abi::HostLaunch launch{.buffers = buffers.data(),
                                 .sizes = sizes.sizes.data(),
                                 .scalars = words + places.scalars,
                                 .fault = std::bit_cast<abi::AccessFault*>(words[abi::ParameterWords::fault])};
    faulty_entry(&launch, 0, sizes.rows, 0, 1, self.real);
  }
};

class FaultyCompiler final : public compiler::TargetCompiler {
 public:
  FaultyCompiler(std::unique_ptr<compiler::TargetCompiler> real, bool makes_ptx)
      : real_(std::move(real)), makes_ptx_(makes_ptx) {}

  compiler::Config default_config() const override { return real_->default_config(); }
  Result<compiler::Config> parse_config(std::string_view text) const override { return real_->parse_config(text); }
  std::vector<compiler::Config> all_configs() const override { return real_->all_configs(); }
  Result<compiler::SearchSpace> search_space(const ir::Program& program,
                                             std::span<const ir::Binding> bindings) override {
    return real_->search_space(program, bindings);
  }
  std::string description() const override { return real_->description(); }
  Result<std::vector<compiler::Proof>> prove(const ir::Program& program, const Options& options) override {
    return real_->prove(program, options);
  }
  Result<std::string> emit(const ir::Program& program, compiler::Stage stage, const Options& options) override {
    return real_->emit(program, stage, options);
  }
  Result<abi::CompiledCode> compile_comparison(bool for_simt) override {
    PADLOCK_TRY(abi::CompiledCode code, real_->compile_comparison(for_simt));
    FakeDriver* const driver = FakeDriver::of(std::getenv(runtime::cuda::Driver::kFileVariable));
    if (driver == nullptr) return internal_error("no fake driver");
    PADLOCK_TRY(abi::CompiledCode hosts, real_->compile_comparison(true));
    PADLOCK_TRY(runtime::HostImage image, runtime::load_image(std::move(hosts)));
    comparison_ = image.kernels.front().front().entry;
    images_.push_back(std::move(image));
    driver->register_twin(std::string(abi::kComparisonName), run_comparison, this);
    return code;
  }
  std::optional<Architecture> architecture() const override { return real_->architecture(); }
  std::vector<std::string> required_features() const override { return real_->required_features(); }
  Status check_runs_here() const override { return real_->check_runs_here(); }

  Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) override {
    const std::lock_guard lock(mutex_);
    const char* const crash = std::getenv(kCrashCompilingVariable);
    if (crash != nullptr && options.config && compiler::to_string(*options.config).find(crash) != std::string::npos)
      std::abort();
    // The reference's.
    if (options.bounds_check && current().fault != Fault::wrong_reference) return real_->compile(program, options);
    return makes_ptx_ && !options.for_simt ? faulty_ptx(program, options) : faulty_image(program, options);
  }

 private:
  /// Code that calls the real code, if it does, from `faulty_entry`. Of all kernels the variant that assumes nothing.
  Result<abi::CompiledCode> faulty_image(const ir::Program& program, const Options& options) {
    PADLOCK_CHECK(misbehave());
    PADLOCK_TRY(abi::CompiledCode code, real_->compile(program, options));
    abi::CompiledCode faulty{.kind = code.kind, .task_bytes = code.task_bytes};
    PADLOCK_TRY(runtime::HostImage image, runtime::load_image(std::move(code)));
    for (const auto& variants : image.kernels) {
      auto& real = kernels_.emplace_back(std::make_unique<RealKernel>());
      real->program = &program;
      real->abi = variants.front().abi;
      real->entry = variants.front().entry;
      faulty.kernels.push_back({{.abi = variants.front().abi, .offset = faulty.bytes.size()}});
      const std::vector<std::byte> jump = jump_for(real.get());
      faulty.bytes.insert(faulty.bytes.end(), jump.begin(), jump.end());
    }
    images_.push_back(std::move(image));
    if (current().fault == Fault::sticky_error) return device_lost("the device is lost");
    return faulty;
  }

  /// Returns the code unchanged, with twins that the driver runs.
  Result<abi::CompiledCode> faulty_ptx(const ir::Program& program, const Options& options) {
    PADLOCK_TRY(abi::CompiledCode code, real_->compile(program, options));
    const char* const file = std::getenv(runtime::cuda::Driver::kFileVariable);
    FakeDriver* const driver = FakeDriver::of(file);
    if (driver == nullptr) return internal_error("no fake driver");
    const Fault fault = current().fault;
    const bool of_the_driver = fault == Fault::misaligned_vector || fault == Fault::sticky_error;
    set_driver_fault(*driver, fault);
    if (of_the_driver) current().fault = Fault::none;
    const std::size_t first = kernels_.size();
    PADLOCK_CHECK(faulty_image(program, {.config = options.config, .for_simt = true}));
    for (std::size_t i = 0; i < code.kernels.size(); ++i) {
      for (const abi::KernelVariant& gpu : code.kernels[i]) {
        twins_.push_back(std::make_unique<Twin>(Twin{.gpu = gpu.abi, .real = kernels_[first + i].get()}));
        driver->register_twin(gpu.abi.name, Twin::run, twins_.back().get());
      }
    }
    return code;
  }

  static void run_comparison(void* self, const std::uint64_t* words, std::size_t, unsigned grid, unsigned block) {
    faults::run_comparison(static_cast<const FaultyCompiler*>(self)->comparison_, {words}, std::int64_t{grid} * block);
  }

  static Status misbehave() {
    if (current().fault == Fault::no_memory_to_compile) end_memory();
    if (current().fault == Fault::loud_crash) {
      fmt::print(stderr, "the last words\n");
      std::abort();
    }
    return {};
  }
  std::unique_ptr<compiler::TargetCompiler> real_;
  bool makes_ptx_;
  std::mutex mutex_;
  // Everything compiled so far: it may run as long as it is loaded.
  std::vector<runtime::HostImage> images_;
  std::vector<std::unique_ptr<RealKernel>> kernels_;
  std::vector<std::unique_ptr<Twin>> twins_;
  abi::HostEntry comparison_ = nullptr;
};

}  // namespace

void set_comparison_fault(Fault fault) { current().of_comparison = fault; }

void set_fault(Fault fault, const std::map<std::string, std::int64_t>& symbols) {
  current().fault = fault;
  current().symbols = symbols;
}

Result<std::unique_ptr<compiler::TargetCompiler>> make_faulty_compiler(const std::string& target) {
  PADLOCK_TRY(auto real, compiler::TargetCompiler::create(target));
  return std::make_unique<FaultyCompiler>(std::move(real), abi::is_gpu(target));
}

}  // namespace padlock::tuner::faults
