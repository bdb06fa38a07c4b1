#include "runtime/cuda/gpu_comparison.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "abi/comparison.h"
#include "runtime/cuda/launch.h"

namespace padlock::runtime::cuda {
namespace {

using abi::ComparisonWord;

/// A number that no byte has.
constexpr std::uint64_t kNothing = ~std::uint64_t{0};

/// Blocks of a launch: enough for every GPU; each thread takes several words.
constexpr std::int64_t kMostBlocks = 2048;
constexpr std::int64_t kWordsOfThread = 8;
constexpr std::int64_t kBlockBytes = 8 * kWordsOfThread * abi::kComparisonThreads;

}  // namespace

Result<std::unique_ptr<Comparison>> GpuComparison::load(const Context& context, const abi::CompiledCode& code) {
  if (code.kind != abi::CodeKind::ptx || code.kernels.size() != 1 ||
      code.kernels.front().front().abi.name != abi::kComparisonName)
    return internal_error("expected the PTX of a comparison");
  PADLOCK_TRY(Stream stream, Stream::create(context));
  PADLOCK_TRY(Module module, Module::load_ptx(context, std::string(code.text()), std::string(abi::kComparisonName)));
  PADLOCK_TRY(Function function, module.function(std::string(abi::kComparisonName)));
  PADLOCK_TRY(DeviceBuffer found, DeviceBuffer::allocate(context, sizeof(std::uint64_t), "the result of a comparison"));
  std::unique_ptr<GpuComparison> made(
      new GpuComparison(std::move(stream), std::move(module), std::move(function), std::move(found)));
  PADLOCK_CHECK(made->forget());
  return made;
}

Status GpuComparison::expect(std::uintptr_t actual, std::uintptr_t expected, std::byte value, std::int64_t count) {
  if (count == 0) return {};
  const std::int64_t blocks = std::clamp<std::int64_t>(count / kBlockBytes + 1, 1, kMostBlocks);
  std::array<std::uint64_t, static_cast<std::size_t>(ComparisonWord::count)> words{};
  const auto set = [&](ComparisonWord word, std::uint64_t to) { words[static_cast<std::size_t>(word)] = to; };
  set(ComparisonWord::actual, actual);
  set(ComparisonWord::expected, expected);
  set(ComparisonWord::pattern, std::to_integer<std::uint64_t>(value) * 0x0101010101010101);
  set(ComparisonWord::bytes, static_cast<std::uint64_t>(count));
  set(ComparisonWord::first, static_cast<std::uint64_t>(std::exchange(expected_bytes_, expected_bytes_ + count)));
  set(ComparisonWord::threads, static_cast<std::uint64_t>(blocks * abi::kComparisonThreads));
  set(ComparisonWord::found, found_.address());
  return launch(function_, {.grid_x = static_cast<unsigned>(blocks), .block_x = abi::kComparisonThreads}, words,
                stream_);
}

Result<std::optional<std::int64_t>> GpuComparison::first_difference() {
  std::uint64_t first = kNothing;
  PADLOCK_CHECK(copy_to_host(stream_, std::as_writable_bytes(std::span(&first, 1)), found_.address()));
  expected_bytes_ = 0;
  if (first == kNothing) return std::nullopt;
  PADLOCK_CHECK(forget());
  return static_cast<std::int64_t>(first);
}

Status GpuComparison::forget() {
  PADLOCK_CHECK(enqueue_fill(stream_, found_.address(), std::byte{0xFF}, found_.bytes()));
  return stream_.synchronize();
}

}  // namespace padlock::runtime::cuda
