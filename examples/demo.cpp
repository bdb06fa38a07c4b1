// What Padlock is about: one program with symbolic sizes, compiled once, then run at any of them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "api/arguments.h"
#include "api/context.h"
#include "api/memory.h"

namespace {

using padlock::Result;
using padlock::Status;
namespace api = padlock::api;

constexpr const char* kProgram = R"(
// Pad a batch of rows on the left, and on the right up to a multiple of 8, then relu.
program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B, 0 <= S, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z
}
)";

struct Sizes {
  std::int64_t rows, columns, low;
};
/// Small, with rows that no vector divides; a crop (the amount is negative); and one that exceeds the caches.
constexpr Sizes kSizes[] = {{4, 10, 3}, {64, 1000, -1}, {8192, 8191, 5}};

/// The shortest of several calls, in milliseconds: the one that the rest of the machine disturbed least.
template <class Call>
double best_time(Call&& call) {
  constexpr int kCalls = 7;
  double best = 1e30;
  for (int i = 0; i < kCalls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

std::string time_text(double milliseconds) {
  return milliseconds < 1 ? fmt::format("{:.2f} us", milliseconds * 1000) : fmt::format("{:.1f} ms", milliseconds);
}

void fill(float* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 7) - 3.0f;
}

std::string first_values(const float* data, std::int64_t count) {
  std::vector<std::string> values;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 8); ++i) values.push_back(fmt::format("{:g}", data[i]));
  return fmt::format("{} ...", fmt::join(values, " "));
}

Status run(const api::CompiledProgram& compiled, const Sizes& sizes) {
  PADLOCK_TRY(const api::SourceRequest source,
              api::request_for(compiled.program().ir(), {{{{sizes.rows, sizes.columns}}}}, {{"lo", sizes.low}}));
  PADLOCK_TRY(const api::BoundProgram bound, compiled.bind(source.request));
  const api::TensorInfo& x = bound.inputs()[0];
  const api::TensorInfo& z = bound.results()[0];

  api::MemoryBudget memory = api::MemoryBudget::of_this_process();
  PADLOCK_TRY(const api::Allocation input, memory.allocate(x.storage_bytes, "x"));
  PADLOCK_TRY(const api::Allocation output, memory.allocate(z.storage_bytes, "z"));
  PADLOCK_TRY(const api::Allocation copy, memory.allocate(z.storage_bytes, "the copy"));
  fill(reinterpret_cast<float*>(input.data()), input.bytes() / 4);

  const api::UserBuffer inputs[] = {input.user_buffer()};
  const api::UserBuffer outputs[] = {output.user_buffer()};
  Status status;
  const double kernel_ms = best_time([&] {
    if (status) status = bound.launch({inputs, outputs, {}});
  });
  PADLOCK_CHECK(status);
  // Reads and writes as many bytes as the result has.
  const double copy_ms =
      best_time([&] { std::memcpy(copy.data(), output.data(), static_cast<std::size_t>(z.storage_bytes)); });

  fmt::print("x [{}] {} bytes, lo = {}  ->  z [{}] {} bytes\n", fmt::join(x.extents, ", "), x.storage_bytes, sizes.low,
             fmt::join(z.extents, ", "), z.storage_bytes);
  fmt::print("  values  {}\n", first_values(reinterpret_cast<const float*>(output.data()), output.bytes() / 4));
  fmt::print("  time    {}; a plain memcpy of the result's bytes: {}\n\n", time_text(kernel_ms), time_text(copy_ms));
  return {};
}

Status demo() {
  PADLOCK_TRY(const api::Program program, api::Program::from_text(kProgram));
  fmt::print("{}\n", kProgram + 1);

  api::Context context({.threads = 1, .parallel_for = {}});  // one thread, as memcpy has
  const auto start = std::chrono::steady_clock::now();
  PADLOCK_TRY(const api::CompiledProgram compiled, context.compile(program));
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("compiled for all sizes in {:.1f} ms (config {})\n\n", elapsed.count(), compiled.config());

  for (const Sizes& sizes : kSizes) PADLOCK_CHECK(run(compiled, sizes));
  fmt::print("kernels compiled: {}\n", context.compile_count());
  return {};
}

}  // namespace

int main() {
  const Status status = demo();
  if (status) return 0;
  fmt::print(stderr, "demo: error: {}\n", status.error().to_string());
  return 1;
}
