// The same in C++: one kernel, and a size for every batch. What does not fit is a value, not an exception.
#include <cstdio>
#include <vector>

#include "padlock/padlock.hpp"

namespace {

constexpr const char* kProgram = R"(program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B, 0 <= S, S + lo >= 0
{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z })";

padlock::Status run(const padlock::Kernel& kernel, std::int64_t rows, std::int64_t columns, std::int64_t low) {
  std::vector<float> x(static_cast<std::size_t>(rows * columns), 1.0f);
  const auto view = padlock::TensorView::of(x.data(), {rows, columns});
  const auto call = kernel.bind({{view.get()}, {{"lo", low}}});
  if (!call) return call.error();
  const padlock::TensorInfo result = call->results()[0];
  std::vector<float> z(static_cast<std::size_t>(result.storage_bytes) / sizeof(float));
  if (auto status = call->launch({x.data()}, {z.data()}); !status) return status.error();
  std::printf("[%d, %d] with lo = %d gives [%d, %d]\n", static_cast<int>(rows), static_cast<int>(columns),
              static_cast<int>(low), static_cast<int>(result.extents[0]), static_cast<int>(result.extents[1]));
  return {};
}

}  // namespace

int main() {
  try {
    // value() is the one thing that throws; here, as nothing can be done without a kernel.
    const padlock::Context context = padlock::Context::create().value();
    const padlock::Kernel kernel = context.parse(kProgram).value().compile().value();
    run(kernel, 2, 5, 3).value();
    run(kernel, 4, 1000, -8).value();
    // Three columns, of which five are to be cropped.
    const padlock::Status refused = run(kernel, 2, 3, -5);
    if (refused) return 1;
    std::printf("%s breaks", refused.error().expression());
    for (const auto& [name, value] : refused.error().values())
      std::printf(" %s = %d", name.c_str(), static_cast<int>(value));
    std::printf("\n");
  } catch (const padlock::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
  return 0;
}
