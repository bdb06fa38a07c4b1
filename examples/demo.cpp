// Shows what Padlock is about: one program with symbolic sizes, compiled once, then run at any of them. Any program can
// do this: it is written on the C++ interface alone, which is installed.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "padlock/padlock.hpp"

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

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
template <class Function>
double best_time(const Function& function) {
  constexpr int kCalls = 7;
  double best = 1e30;
  for (int i = 0; i < kCalls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    function();
    best = std::min(best, Milliseconds(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

std::string time_text(double milliseconds) {
  char text[32];
  if (milliseconds < 1)
    std::snprintf(text, sizeof text, "%.2f us", milliseconds * 1000);
  else
    std::snprintf(text, sizeof text, "%.1f ms", milliseconds);
  return text;
}

/// "[4, 16] 256 bytes".
std::string shape_text(const padlock::TensorInfo& tensor) {
  std::string text;
  for (const std::int64_t extent : tensor.extents) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text + "] " + std::to_string(tensor.storage_bytes) + " bytes";
}

void fill(float* data, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i % 7) - 3.0f;
}

void print_first(const float* data, std::int64_t count) {
  std::printf("  values  ");
  for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 8); ++i) std::printf("%g ", data[i]);
  std::printf("...\n");
}

void run(const padlock::Context& context, const padlock::Kernel& kernel, const Sizes& sizes) {
  // The data are not looked at before the launch.
  const auto described = padlock::TensorView::of<float>(nullptr, {sizes.rows, sizes.columns});
  const padlock::Call call = kernel.bind({{described.get()}, {{"lo", sizes.low}}}).value();
  const padlock::TensorInfo x = call.inputs()[0], z = call.results()[0];

  const padlock::Memory input = context.allocate(x.storage_bytes, "x").value();
  const padlock::Memory output = context.allocate(z.storage_bytes, "z").value();
  const padlock::Memory copy = context.allocate(z.storage_bytes, "the copy").value();
  fill(static_cast<float*>(input.data()), input.bytes() / 4);

  const double kernel_ms = best_time([&] { call.launch({input.data()}, {output.data()}).value(); });
  // Reads and writes as many bytes as the result has.
  const double copy_ms =
      best_time([&] { std::memcpy(copy.data(), output.data(), static_cast<std::size_t>(z.storage_bytes)); });

  std::printf("x %s, lo = %d  ->  z %s\n", shape_text(x).c_str(), static_cast<int>(sizes.low), shape_text(z).c_str());
  print_first(static_cast<const float*>(output.data()), output.bytes() / 4);
  std::printf("  time    %s; a plain memcpy of the result's bytes: %s\n\n", time_text(kernel_ms).c_str(),
              time_text(copy_ms).c_str());
}

void demo() {
  padlock_context_options options = padlock::Context::options();
  options.threads = 1;  // as memcpy has
  const padlock::Context context = padlock::Context::create(options).value();
  const padlock::Program program = context.parse(kProgram).value();
  std::printf("%s\n", kProgram + 1);

  const auto start = std::chrono::steady_clock::now();
  const padlock::Kernel kernel = program.compile().value();
  std::printf("compiled for all sizes in %.1f ms (config %s)\n\n",
              Milliseconds(std::chrono::steady_clock::now() - start).count(), kernel.config());

  for (const Sizes& sizes : kSizes) run(context, kernel, sizes);
  std::printf("kernels compiled: %d\n", static_cast<int>(context.statistics().programs_compiled));
}

}  // namespace

int main() {
  try {
    demo();
  } catch (const padlock::Exception& exception) {
    std::fprintf(stderr, "demo: error: %s\n", exception.what());
    return 1;
  }
  return 0;
}
