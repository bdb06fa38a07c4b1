// Sizes past 2^31 elements and byte offsets past 2^32. The input's pages repeat one short file, so that it costs
// address space and no memory; its period is odd, so that an offset that wraps at 2^31 or 2^32 meets other data.
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host_compiler.h"
#include "ir/binding.h"
#include "ir/executable.h"
#include "ir/interpreter.h"
#include "tests/differential/rng.h"
#include "tests/differential/seed.h"

namespace padlock::differential {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kPeriod = kPage * 521;
constexpr std::int64_t kNeededKib = std::int64_t{12} << 20;
constexpr std::uint8_t kFill = 0x77;

std::uint8_t element_at(std::int64_t offset) {
  const auto i = static_cast<std::uint64_t>(offset % kPeriod);
  return static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15U) >> 56);
}

std::int64_t available_kib() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word)
    if (word == "MemAvailable:") {
      std::int64_t kib = 0;
      meminfo >> kib;
      return kib;
    }
  return 0;
}

[[noreturn]] void die(const std::string& why) {
  fmt::print("FAILED: {}\n", why);
  std::exit(1);
}

/// Address space whose page k shows page k mod 521 of a file.
class RepeatedInput {
 public:
  explicit RepeatedInput(std::int64_t bytes) : bytes_((bytes + kPeriod - 1) / kPeriod * kPeriod) {
    const int fd = memfd_create("period", 0);
    std::vector<std::uint8_t> period(kPeriod);
    for (std::int64_t i = 0; i < kPeriod; ++i) period[static_cast<std::size_t>(i)] = element_at(i);
    if (fd < 0 || write(fd, period.data(), period.size()) != kPeriod) die("no memory file");
    void* p =
        mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) die("no address space");
    data_ = static_cast<std::byte*>(p);
    for (std::int64_t at = 0; at < bytes_; at += kPeriod)
      if (mmap(data_ + at, kPeriod, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) die("mmap");
    close(fd);
  }
  ~RepeatedInput() { munmap(data_, static_cast<std::size_t>(bytes_)); }
  RepeatedInput(const RepeatedInput&) = delete;
  RepeatedInput& operator=(const RepeatedInput&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::int64_t bytes_;
  std::byte* data_ = nullptr;
};

struct Case {
  std::string name;
  std::string text;
  std::vector<std::int64_t> extents;  // of x
  std::map<std::string, std::int64_t> symbols;
  /// The expected element, from the coordinates of a result of at most three axes, as the offset in x; -1: the fill.
  std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)> source;
  /// Coordinates at which something changes, per axis.
  std::vector<std::vector<std::int64_t>> edges;
};

struct Output {
  std::vector<std::int64_t> extents;  // three axes, 1s in front
  std::int64_t elements = 1;
  std::uint8_t* data = nullptr;
};

void check_every_element(const Case& c, const Output& out) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < out.extents[0]; ++i)
    for (std::int64_t j = 0; j < out.extents[1]; ++j)
      for (std::int64_t k = 0; k < out.extents[2]; ++k, ++at) {
        const std::int64_t source = c.source(i, j, k);
        const std::uint8_t expected = source < 0 ? kFill : element_at(source);
        if (out.data[at] != expected)
          die(fmt::format("{}: [{}, {}, {}] expected {:#x}, found {:#x}", c.name, i, j, k, expected, out.data[at]));
      }
}

void check_against_reference(const Case& c, const ir::Binding& binding, std::span<const std::byte> input,
                             const Output& out, Rng& rng) {
  ir::Interpreter reference(binding, {input}, {});
  const ir::ValueId result = binding.program().results()[0];
  const auto rank = binding.extents_of(binding.program().value(result)).size();
  const auto check = [&](const std::vector<std::int64_t>& at) {
    const auto element = reference.element(result, {at.data() + 3 - rank, rank});
    const std::int64_t offset = (at[0] * out.extents[1] + at[1]) * out.extents[2] + at[2];
    if (!element || element->bits != out.data[offset])
      die(fmt::format("{}: element {} differs from the interpreter's", c.name, offset));
  };
  const auto coordinate = [&](std::size_t axis) {
    const std::int64_t n = out.extents[axis];
    if (c.edges[axis].empty() || rng.chance(50)) return rng.between(0, n - 1);
    return std::clamp<std::int64_t>(rng.pick(c.edges[axis]) + rng.between(-2, 2), 0, n - 1);
  };
  for (int i = 0; i < 1000000; ++i) check({coordinate(0), coordinate(1), coordinate(2)});
  check({out.extents[0] - 1, out.extents[1] - 1, out.extents[2] - 1});
}

void launch(const ir::HostExecutable& kernel, const ir::Binding& binding, std::byte* input, const Output& out) {
  const auto plan = ir::plan_launch(kernel.abi(), binding);
  if (!plan) die(plan.error().to_string());
  void* const buffers[] = {input, out.data};
  ir::AccessFault fault;
  const ir::HostLaunch arguments{buffers, plan->sizes.data(), nullptr, &fault};
  kernel.entry()(&arguments, 0, plan->rows, 0, plan->columns);
}

void run_case(const Case& c, compiler::HostCompiler& compiler, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const auto program = ir::parse_program(c.text);
  if (!program) die(program.error().to_string());
  const auto kernels = compiler.compile(*program, {});
  if (!kernels) die(kernels.error().to_string());
  const auto binding = ir::Binding::bind(*program, {{ir::ArgumentShape{c.extents, std::nullopt}}, c.symbols});
  if (!binding) die(binding.error().to_string());
  const auto input_bytes = binding->storage_bytes(program->value(program->tensor_parameters()[0]));
  const RepeatedInput input(input_bytes);
  Output out;
  out.extents = binding->extents_of(program->value(program->results()[0]));
  out.extents.insert(out.extents.begin(), 3 - out.extents.size(), 1);
  for (const std::int64_t n : out.extents) out.elements *= n;
  void* p = mmap(nullptr, static_cast<std::size_t>(out.elements), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) die("no memory for the result");
  madvise(p, static_cast<std::size_t>(out.elements), MADV_HUGEPAGE);
  out.data = static_cast<std::uint8_t*>(p);
  launch(*(*kernels)[0], *binding, input.data(), out);
  check_every_element(c, out);
  Rng rng(seed);
  check_against_reference(c, *binding, {input.data(), static_cast<std::size_t>(input_bytes)}, out, rng);
  munmap(p, static_cast<std::size_t>(out.elements));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: {} elements read, {} written, {:.1f} s\n", c.name, input_bytes, out.elements, seconds);
  std::fflush(stdout);
}

std::vector<Case> cases() {
  constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;
  constexpr std::int64_t kTwo32 = std::int64_t{1} << 32;
  std::vector<Case> all;
  all.push_back({"one axis past 2^32, constant",
                 "program p(x: u8[n], lo: dim, hi: dim) { y = pad(x, low = [lo], high = [hi], value = 119) return y }",
                 {kTwo32 + 77},
                 {{"lo", 13}, {"hi", 5}},
                 [=](std::int64_t, std::int64_t, std::int64_t k) { return k < 13 || k >= kTwo32 + 90 ? -1 : k - 13; },
                 {{}, {}, {0, 13, kTwo31, kTwo31 + 13, kTwo32, kTwo32 + 13, kTwo32 + 90}}});
  all.push_back(
      {"a crop of nearly 2^32 (paddle_74034)",
       "program p(x: u8[A, B, C], k: dim) { y = pad(x, low = [0, k, 0], high = [0, 0, 1], value = 119) return y }",
       {13, 47197443, 7},
       {{"k", -44000000}},
       [](std::int64_t i, std::int64_t j, std::int64_t k) {
         return k == 7 ? -1 : (i * 47197443 + j + 44000000) * 7 + k;
       },
       {{0, 6, 12}, {0, 3197442}, {7}}});
  all.push_back(
      {"reflect rows past 2^31 elements (tensorflow_91027)",
       "program p(x: u8[A, B, C], k: dim) { y = pad(x, low = [k, k, 0], high = [k, k, 0], mode = reflect) return y }",
       {500, 500, 5000},
       {{"k", 100}},
       [](std::int64_t i, std::int64_t j, std::int64_t k) {
         const auto mirror = [](std::int64_t o) {
           const std::int64_t t = std::abs(o - 100);
           return t < 500 ? t : 998 - t;
         };
         return (mirror(i) * 500 + mirror(j)) * 5000 + k;
       },
       {{0, 100, 600, 699}, {0, 100, 600, 699}, {0, 4999}}});
  return all;
}

int run() {
  const char* full = std::getenv("PADLOCK_FULL");
  if (full == nullptr || std::string_view(full) != "1") {
    fmt::print("skipped: it takes a minute and 5 GiB of memory; PADLOCK_FULL=1 runs it\n");
    return 77;
  }
  const std::uint64_t seed = seed_from_environment(31);
  const std::int64_t kib = available_kib();
  if (kib < kNeededKib) {
    fmt::print("skipped: {} MiB of memory are available, {} are needed\n", kib >> 10, kNeededKib >> 10);
    return 77;
  }
  auto compiler = compiler::HostCompiler::create();
  if (!compiler) die(compiler.error().to_string());
  fmt::print("seed {}\n", seed);
  for (const Case& c : cases()) run_case(c, **compiler, seed);
  return 0;
}

}  // namespace
}  // namespace padlock::differential

int main() { return padlock::differential::run(); }
