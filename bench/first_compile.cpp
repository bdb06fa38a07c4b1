#include "bench/first_compile.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "api/context.h"

namespace padlock::bench {

Result<double> first_compile_ms() {
  constexpr std::string_view kText = R"(program first(x: f32[N, C, H, W], p: dim)
where 0 <= p <= 64
{
  y = pad(x, low = [0, 0, p, p], high = [0, 0, p, p], value = -1.5)
  z = relu(y)
  return z
})";
  const auto start = std::chrono::steady_clock::now();
  api::Context context({.threads = 1, .parallel_for = {}});
  PADLOCK_TRY(const api::Program program, api::Program::from_text(kText));
  PADLOCK_TRY(const api::CompiledProgram compiled, context.compile(program));
  PADLOCK_TRY(
      [[maybe_unused]] const api::BoundProgram bound,
      compiled.bind({.tensors = {std::nullopt}, .symbols = {{"N", 1}, {"C", 3}, {"H", 8}, {"W", 8}, {"p", 1}}}));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Result<std::vector<double>> first_compiles_ms(const std::string& self, int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
        ::popen(fmt::format("'{}' --first-compile", self).c_str(), "r"), ::pclose);
    std::array<char, 64> text{};
    double ms = 0;
    const std::size_t size = output ? std::fread(text.data(), 1, text.size(), output.get()) : 0;
    if (std::from_chars(text.data(), text.data() + size, ms).ec != std::errc())
      return unavailable(fmt::format("{} cannot be run", self));
    all.push_back(ms);
  }
  return all;
}

}  // namespace padlock::bench
