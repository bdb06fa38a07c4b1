#include "bench/times/memory_use.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "padlock/padlock.h"
#include "support/sized.h"

namespace padlock::bench {
namespace {

std::optional<double> private_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  double sum = 0;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with("Private_") || colon == std::string::npos) continue;
    sum += std::strtod(line.c_str() + colon + 1, nullptr);
    found = true;
  }
  return found ? std::optional(sum) : std::nullopt;
}

using Context = std::unique_ptr<padlock_context, decltype(&padlock_context_release)>;
using Kernel = std::unique_ptr<padlock_kernel, decltype(&padlock_kernel_release)>;

/// A pad of rank 2 whose name is new. Null where it fails.
Kernel compiled(const Context& context, int number) {
  const std::string text =
      fmt::format("program p{}(x: f32[B, S]) {{ y = pad(x, low = [1, 1], high = [1, 1]) return y }}", number);
  padlock_program* program = nullptr;
  padlock_kernel* kernel = nullptr;
  if (padlock_program_parse(context.get(), text.data(), text.size(), &program, nullptr) == PADLOCK_OK)
    (void)padlock_program_compile(program, nullptr, &kernel, nullptr);
  padlock_program_release(program);
  return {kernel, padlock_kernel_release};
}

}  // namespace

Result<MemoryUse> memory_use() {
  constexpr int kVariants = 64;
  const auto begin = private_kib();
  if (!begin) return unavailable("/proc/self/smaps_rollup does not say what memory is private");
  auto options = sized<padlock_context_options>();
  options.threads = 1;
  padlock_context* made = nullptr;
  (void)padlock_context_create(&options, &made, nullptr);
  const Context context(made, padlock_context_release);
  if (!context || !compiled(context, 0)) return internal_error("the C API makes no kernel");
  const auto idle = private_kib();
  std::vector<Kernel> kernels;
  for (int i = 0; i < kVariants; ++i)
    if (!kernels.emplace_back(compiled(context, i + 1))) return internal_error("the C API makes no kernel");
  const auto full = private_kib();
  return MemoryUse{.idle_context = *idle - *begin, .compiled_variant = (*full - *idle) / kVariants};
}

Result<MemoryUse> memory_use_of(const std::string& self) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
      // NOLINTNEXTLINE(bugprone-command-processor): of this program's own path
      ::popen(fmt::format("'{}' --memory", self).c_str(), "r"), ::pclose);
  MemoryUse found;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): how many numbers there were is looked at
  if (!output || std::fscanf(output.get(), "%lf %lf", &found.idle_context, &found.compiled_variant) != 2)
    return unavailable(fmt::format("{} cannot be run", self));
  return found;
}

}  // namespace padlock::bench
