// Comparing results on a GPU: the kernel, as this CPU runs it, and how little memory it takes.

#include "tuner/trial/device_reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "abi/comparison.h"
#include "runtime/host/host_image.h"
#include "tests/common/rng.h"
#include "tests/common/try_request.h"
#include "tests/runtime/cuda/fake_driver.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/trial/try_config.h"

namespace padlock::tuner {
namespace {

using abi::ComparisonWord;

constexpr std::uint64_t kNothing = ~std::uint64_t{0};

/// The kernel, with threads in a loop.
class Kernel {
 public:
  Kernel() {
    const auto compiler = compiler::TargetCompiler::create("sm_90");
    REQUIRE(compiler);
    auto code = (*compiler)->compile_comparison(true);
    REQUIRE_MESSAGE(code, (code ? "" : code.error().to_string()));
    auto image = runtime::load_image(*std::move(code));
    REQUIRE(image);
    image_ = *std::move(image);
  }

  /// Returns the difference that it finds among `count` bytes; the first is number `first`.
  std::uint64_t find(const std::byte* actual, const std::byte* expected, std::byte pattern, std::size_t count,
                     std::uint64_t first, std::uint64_t found = kNothing, std::int64_t threads = 5) const {
    std::vector<std::uint64_t> words(static_cast<std::size_t>(ComparisonWord::count));
    const auto set = [&](ComparisonWord word, std::uint64_t to) { words[static_cast<std::size_t>(word)] = to; };
    set(ComparisonWord::actual, reinterpret_cast<std::uintptr_t>(actual));
    set(ComparisonWord::expected, reinterpret_cast<std::uintptr_t>(expected));
    set(ComparisonWord::pattern, std::to_integer<std::uint64_t>(pattern) * 0x0101010101010101);
    set(ComparisonWord::bytes, count);
    set(ComparisonWord::first, first);
    set(ComparisonWord::threads, static_cast<std::uint64_t>(threads));
    set(ComparisonWord::found, reinterpret_cast<std::uintptr_t>(&found));
    const abi::HostLaunch launch{.sizes = reinterpret_cast<const std::int64_t*>(words.data())};
    image_.kernels.front().front().entry(&launch, 0, threads, 0, 1);
    return found;
  }

 private:
  runtime::HostImage image_;
};

TEST_CASE("the comparison finds the first byte that differs, at every length, alignment and bit") {
  const Kernel kernel;
  testing::Rng rng(20261123);
  std::vector<std::byte> a(256), b(256);
  for (std::size_t count = 0; count < 70; ++count) {
    for (int round = 0; round < 60; ++round) {
      const std::size_t at_a = rng.next() % 16, at_b = rng.next() % 16;
      for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::byte>(rng.next());
      std::ranges::generate(b, [&] { return static_cast<std::byte>(rng.next()); });
      std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(at_a), count, b.begin() + static_cast<std::ptrdiff_t>(at_b));
      CHECK(kernel.find(&a[at_a], &b[at_b], {}, count, 1000) == kNothing);
      if (count == 0) continue;
      const std::size_t planted = rng.next() % count, later = planted + rng.next() % (count - planted);
      b[at_b + planted] ^= std::byte{1} << (rng.next() % 8);
      if (later != planted) b[at_b + later] ^= std::byte{0x40};
      CHECK(kernel.find(&a[at_a], &b[at_b], {}, count, 1000) == 1000 + planted);
      // What was found before, of a lower number, stays.
      CHECK(kernel.find(&a[at_a], &b[at_b], {}, count, 1000, 7) == 7);
    }
  }
}

TEST_CASE("the comparison finds the first byte that is not the pattern's") {
  const Kernel kernel;
  for (std::size_t skew = 0; skew < 9; ++skew) {
    for (std::size_t count = 1; count < 60; ++count) {
      std::vector<std::byte> red(80, std::byte{0xC5});
      CHECK(kernel.find(&red[skew], nullptr, std::byte{0xC5}, count, 0) == kNothing);
      red[skew + count] = std::byte{0};
      CHECK(kernel.find(&red[skew], nullptr, std::byte{0xC5}, count, 0) == kNothing);
      red[skew + count - 1] = std::byte{0xC4};
      CHECK(kernel.find(&red[skew], nullptr, std::byte{0xC5}, count, 0) == count - 1);
    }
  }
}

TEST_CASE("the comparison of a GPU is a kernel of its contract's words") {
  for (const char* target : {"sm_75", "sm_90", "sm_100"}) {
    CAPTURE(target);
    const auto code = (*compiler::TargetCompiler::create(target))->compile_comparison(false);
    REQUIRE(code);
    CHECK(code->kind == abi::CodeKind::ptx);
    CHECK(code->text().find(".visible .entry padlock_comparison(") != std::string_view::npos);
    CHECK(code->text().find("[56]") != std::string_view::npos);  // seven words
    CHECK(code->text().find("atom") != std::string_view::npos);
  }
  const auto refused = (*compiler::TargetCompiler::create("host"))->compile_comparison(false);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("expected a GPU's target"));
}

TEST_CASE("of a config that is right nothing is read back but what was found and how it ran") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  auto* const fake = runtime::cuda::FakeDriver::of(PADLOCK_FAKE_CUDA);
  REQUIRE(fake != nullptr);
  fake->reset();
  faults::set_comparison_fault(faults::Fault::none);
  Trials trials({}, faults::make_faulty_compiler);
  const auto verify = [&](const char* config) {
    TryRequest request =
        testing::quick_request("program p(x: f32[A, B]) { z = pad(x, low = [1, 2], high = [0, 1]) return z }",
                               {{"A", 19}, {"B", 61}}, "cuda:0", config);
    request.policy.budget_ms = 0;
    faults::set_fault(faults::Fault::none, request.symbols);
    fake->forget_calls();
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
    CHECK(result.notes.empty());
  };
  const auto count = [&](const char* call) { return std::ranges::count(fake->calls(), call); };
  verify("items=1");
  verify("items=2");
  // Three runs: the words in which a kernel reports a fault, and one word for all comparisons.
  CHECK(count("cuMemcpyDtoHAsync_v2") == 3 * 2);
  CHECK(count("cuMemcpyHtoDAsync_v2") == 0);
  // The input at two places; a launch of the config, one for each tensor and one for each red zone a run.
  CHECK(count("cuMemcpyDtoDAsync_v2") == 2);
  CHECK(count("cuLaunchKernel") + count("cuLaunchKernelEx") == 3 * (1 + 2 + 4) - 2);  // one run ends flush
}

}  // namespace
}  // namespace padlock::tuner
