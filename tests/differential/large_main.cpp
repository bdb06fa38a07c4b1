// Sizes past 2^31 elements and byte offsets past 2^32, in full. Every element of i8 results of up to 4.3 GB is compared
// with a closed form. The places where the form changes, and a million others, are compared with the interpreter.
// compiler_address_test, which is in every test run, tests chosen places.
//
// The input's pages repeat one short file, so that it costs address space and no memory. Its period is odd, so that an
// offset that wraps at 2^31 or 2^32 reads different data.
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/kernel_abi.h"
#include "compiler/targets/target_compiler.h"
#include "ir/binding/binding.h"
#include "ir/reference/interpreter.h"
#include "tests/common/environment.h"
#include "tests/common/plan_launch.h"
#include "tests/common/rng.h"
#include "tests/differential/host_check.h"

namespace padlock::differential {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kPeriod = kPage * 521;
constexpr std::int64_t kNeededKib = std::int64_t{8} << 20;
constexpr std::int8_t kFill = 119;
constexpr std::array kConfigs = {"", "split=0"};
constexpr int kRandomCoordinates = 1000000;

constexpr std::size_t kAxes = 4;  // of every result; one with fewer axes gets extents of 1 in front
using Coordinates = std::array<std::int64_t, kAxes>;

std::int8_t element_at(std::int64_t offset) {
  const auto i = static_cast<std::uint64_t>(offset % kPeriod);
  return static_cast<std::int8_t>((i * 0x9e3779b97f4a7c15U) >> 56);
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

/// Address space whose page k maps page k mod 521 of a file.
class RepeatedInput {
 public:
  explicit RepeatedInput(std::int64_t bytes) : bytes_((bytes + kPeriod - 1) / kPeriod * kPeriod) {
    const int fd = memfd_create("period", 0);
    std::vector<std::int8_t> period(kPeriod);
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
  /// The expected element as its offset in x; -1: the fill.
  std::function<std::int64_t(const Coordinates&)> source;
  /// Coordinates at which something changes, per axis.
  std::array<std::vector<std::int64_t>, kAxes> edges;
};

struct Output {
  Coordinates extents = {};
  std::int64_t elements = 1;
  std::int8_t* data = nullptr;

  [[nodiscard]] std::int64_t offset_of(const Coordinates& at) const {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < kAxes; ++axis) offset = offset * extents[axis] + at[axis];
    return offset;
  }
};

void check_every_element(const Case& c, const Output& out) {
  std::int64_t i = 0;
  Coordinates at;
  for (at[0] = 0; at[0] < out.extents[0]; ++at[0])
    for (at[1] = 0; at[1] < out.extents[1]; ++at[1])
      for (at[2] = 0; at[2] < out.extents[2]; ++at[2])
        for (at[3] = 0; at[3] < out.extents[3]; ++at[3], ++i) {
          const std::int64_t source = c.source(at);
          const std::int8_t expected = source < 0 ? kFill : element_at(source);
          if (out.data[i] != expected)
            die(fmt::format("{}: {} expected {}, found {}", c.name, at, expected, out.data[i]));
        }
}

/// Compares elements with the interpreter's.
class ReferenceCheck {
 public:
  ReferenceCheck(const Case& c, const ir::Binding& binding, std::span<const std::byte> input, const Output& out)
      : case_(c),
        out_(out),
        reference_(binding, {input}, {}),
        result_(binding.program().results()[0]),
        rank_(binding.extents_of(binding.program().value(result_)).size()) {}

  void at(const Coordinates& at) {
    const auto element = reference_.element(result_, {at.data() + kAxes - rank_, rank_});
    const auto found = static_cast<std::uint8_t>(out_.data[out_.offset_of(at)]);
    if (!element || element->bits != found)
      die(fmt::format("{}: {} differs from the interpreter's, found {:#x}", case_.name, at, found));
    ++checked_;
  }
  /// Checks every combination of coordinates next to an edge, or at an end of the axis.
  void at_edges() {
    std::array<std::vector<std::int64_t>, kAxes> choices;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const std::int64_t last = out_.extents[axis] - 1;
      std::set<std::int64_t> near = {0, last};
      for (const std::int64_t edge : case_.edges[axis])
        for (const std::int64_t around : {-1, 0, 1}) near.insert(std::clamp<std::int64_t>(edge + around, 0, last));
      choices[axis].assign(near.begin(), near.end());
    }
    for (const std::int64_t i : choices[0])
      for (const std::int64_t j : choices[1])
        for (const std::int64_t k : choices[2])
          for (const std::int64_t l : choices[3]) at({i, j, k, l});
  }
  void at_random(testing::Rng& rng) {
    for (int i = 0; i < kRandomCoordinates; ++i) {
      Coordinates where;
      for (std::size_t axis = 0; axis < kAxes; ++axis) where[axis] = rng.between(0, out_.extents[axis] - 1);
      at(where);
    }
  }
  [[nodiscard]] std::int64_t checked() const { return checked_; }

 private:
  const Case& case_;
  const Output& out_;
  ir::Interpreter reference_;
  ir::ValueId result_;
  std::size_t rank_;
  std::int64_t checked_ = 0;
};

void launch(const runtime::HostVariant& kernel, const ir::Binding& binding, std::byte* input, const Output& out) {
  const auto plan = padlock::testing::plan_launch(kernel.abi, binding);
  if (!plan) die(plan.error().to_string());
  void* const buffers[] = {input, out.data};
  abi::AccessFault fault;
  const abi::HostLaunch arguments{buffers, plan->sizes.data(), nullptr, &fault};
  kernel.entry(&arguments, 0, plan->rows, 0, plan->columns);
}

/// Memory that costs nothing until it is written.
class OutputMemory {
 public:
  explicit OutputMemory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) die("no memory for the result");
    madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~OutputMemory() { munmap(data_, bytes_); }
  OutputMemory(const OutputMemory&) = delete;
  OutputMemory& operator=(const OutputMemory&) = delete;
  [[nodiscard]] std::int8_t* data() const { return static_cast<std::int8_t*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

void run_config(const Case& c, compiler::TargetCompiler& compiler, const char* config_text, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const auto program = ir::parse_program(c.text);
  if (!program) die(program.error().to_string());
  const auto config = compiler.parse_config(config_text);
  if (!config) die(config.error().to_string());
  const auto code = differential::load(compiler.compile(*program, {.config = *config}));
  if (!code) die(code.error().to_string());
  const auto binding = ir::Binding::bind(*program, {{ir::ArgumentShape{c.extents, std::nullopt}}, c.symbols});
  if (!binding) die(binding.error().to_string());
  const auto input_bytes = binding->storage_bytes(program->value(program->tensor_parameters()[0]));
  const RepeatedInput input(input_bytes);
  Output out;
  out.extents.fill(1);
  const auto extents = binding->extents_of(program->value(program->results()[0]));
  std::ranges::copy_backward(extents, out.extents.end());
  for (const std::int64_t n : out.extents) out.elements *= n;
  const OutputMemory memory(out.elements);
  out.data = memory.data();
  launch(code->kernels[0][0], *binding, input.data(), out);
  check_every_element(c, out);
  ReferenceCheck reference(c, *binding, {input.data(), static_cast<std::size_t>(input_bytes)}, out);
  reference.at_edges();
  testing::Rng rng(seed);
  reference.at_random(rng);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}, {}: {} elements read, {} written, all as their closed form, {} as the interpreter's, {:.1f} s\n",
             c.name, to_string(*config), input_bytes, out.elements, reference.checked(), seconds);
  std::fflush(stdout);
}

std::vector<Case> cases() {
  constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;
  constexpr std::int64_t kTwo32 = std::int64_t{1} << 32;
  std::vector<Case> all;
  all.push_back({"one axis past 2^32, constant",
                 "program p(x: i8[n], lo: dim, hi: dim) { y = pad(x, low = [lo], high = [hi], value = 119) return y }",
                 {kTwo32 + 77},
                 {{"lo", 13}, {"hi", 5}},
                 [=](const Coordinates& at) { return at[3] < 13 || at[3] >= kTwo32 + 90 ? -1 : at[3] - 13; },
                 {{{}, {}, {}, {13, kTwo31, kTwo31 + 13, kTwo32, kTwo32 + 13, kTwo32 + 90}}}});
  all.push_back(
      {"a crop of nearly 2^32 (paddle_74034)",
       "program p(x: i8[A, B, C], k: dim) { y = pad(x, low = [0, k, 0], high = [0, 0, 1], value = 119) return y }",
       {13, 47197443, 7},
       {{"k", -44000000}},
       [](const Coordinates& at) { return at[3] == 7 ? -1 : (at[1] * 47197443 + at[2] + 44000000) * 7 + at[3]; },
       {{{}, {6}, {3197442}, {7}}}});
  all.push_back(
      {"reflect rows past 2^31 elements (tensorflow_91027)",
       "program p(x: i8[A, B, C], k: dim) { y = pad(x, low = [k, k, 0], high = [k, k, 0], mode = reflect) return y }",
       {500, 500, 5000},
       {{"k", 100}},
       [](const Coordinates& at) {
         const auto mirror = [](std::int64_t o) {
           const std::int64_t t = std::abs(o - 100);
           return t < 500 ? t : 998 - t;
         };
         return (mirror(at[1]) * 500 + mirror(at[2])) * 5000 + at[3];
       },
       {{{}, {100, 600}, {100, 600}, {}}}});
  all.push_back({"symmetric frames round 33000 images (tensorflow_91027)",
                 "program p(x: i8[N, H, W, C], k: dim) {"
                 "  y = pad(x, low = [0, k, k, 0], high = [0, k, k, 0], mode = symmetric) return y }",
                 {33000, 256, 256, 1},
                 {{"k", 2}},
                 [](const Coordinates& at) {
                   const auto mirror = [](std::int64_t o) {
                     const std::int64_t i = o - 2;
                     return i < 0 ? -1 - i : i < 256 ? i : 511 - i;
                   };
                   return (at[0] * 256 + mirror(at[1])) * 256 + mirror(at[2]);
                 },
                 {{{1, 31768, 32768}, {2, 258}, {2, 258}, {}}}});
  return all;
}

int run() {
  if (!testing::is_full_run()) {
    fmt::print("skipped: it takes minutes and 5 GiB of memory; PADLOCK_FULL=1 runs it\n");
    return 77;
  }
  const std::uint64_t seed = testing::seed_or(31);
  const std::int64_t kib = available_kib();
  if (kib < kNeededKib) {
    fmt::print("skipped: {} MiB of memory are available, {} are needed\n", kib >> 10, kNeededKib >> 10);
    return 77;
  }
  auto compiler = compiler::TargetCompiler::create("host");
  if (!compiler) die(compiler.error().to_string());
  fmt::print("seed {}\n", seed);
  for (const Case& c : cases())
    for (const char* config : kConfigs) run_config(c, **compiler, config, seed);
  return 0;
}

}  // namespace
}  // namespace padlock::differential

int main() { return padlock::differential::run(); }
