// Classes M and H1, through the public interface: how often a program is compiled, and what a launch refuses.
#include <doctest/doctest.h>

#include "session/compile/context.h"
#include "tests/common/host_arrays.h"
#include "tests/conformance/devices.h"

namespace padlock::regressions {
namespace {

session::Program parse(std::string_view text) {
  auto program = session::Program::from_text(text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  return std::move(*program);
}

/// In the device's default way.
session::CompiledProgram compile(session::Context& context, const session::Program& program) {
  const auto device = conformance::device_from_environment();
  REQUIRE_MESSAGE(device.has_value(), (device ? "" : device.error().to_string()));
  auto compiled = context.compile(program, device->variants[0].options);
  REQUIRE_MESSAGE(compiled.has_value(), (compiled ? "" : compiled.error().to_string()));
  return std::move(*compiled);
}

constexpr std::string_view kPad =
    "program p(x: i32[A, B], lo: dim, hi: dim) {"
    "  y = pad(x, low = [0, lo], high = [0, hi], value = 7) return y }";

}  // namespace

TEST_CASE("pytorch_97348: the compile counter says 1 after a hundred pad amounts and sizes") {
  session::Context context;
  const session::Program program = parse(kPad);
  const session::CompiledProgram compiled = compile(context, program);
  for (std::int64_t k = 0; k < 100; ++k) {
    const std::int64_t rows = 1 + k % 3, columns = 40 + k, lo = k % 17 - 8, hi = 30 - k % 61;
    const auto bound = compiled.bind({{ir::ArgumentShape{{rows, columns}, std::nullopt}}, {{"lo", lo}, {"hi", hi}}});
    REQUIRE_MESSAGE(bound.has_value(), (bound ? "" : bound.error().to_string()));
    std::vector<std::int32_t> x(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i + 100);
    const std::int64_t width = lo + columns + hi;
    std::vector<std::int32_t> y(static_cast<std::size_t>(rows * width), -1), expected(y.size(), 7);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = std::max<std::int64_t>(0, lo); c < std::min(width, lo + columns); ++c)
        expected[static_cast<std::size_t>(r * width + c)] = x[static_cast<std::size_t>(r * columns + c - lo)];
    const runtime::UserBuffer in(x.data(), static_cast<std::int64_t>(x.size() * 4));
    const runtime::UserBuffer out(y.data(), static_cast<std::int64_t>(y.size() * 4));
    const Status launched = padlock::testing::run_on_host_arrays(*bound, {{&in, 1}, {&out, 1}, {}});
    REQUIRE_MESSAGE(launched.has_value(), (launched ? "" : launched.error().to_string()));
    CHECK(y == expected);
  }
  CHECK(context.compile_count() == static_cast<std::int64_t>(compiled.kernels().size()));
  CHECK(compiled.kernels().size() <= 1);
}

TEST_CASE("pytorch_97117: a pad of 0 into its own input is refused, not done in place") {
  session::Context context;
  const session::Program program = parse(kPad);
  const session::CompiledProgram compiled = compile(context, program);
  const auto bound = compiled.bind({{ir::ArgumentShape{{2, 3}, std::nullopt}}, {{"lo", 0}, {"hi", 0}}});
  REQUIRE(bound.has_value());
  std::vector<std::int32_t> data = {1, 2, 3, 4, 5, 6, 7};
  const runtime::UserBuffer in(data.data(), 24);
  for (const std::size_t shift : {0, 1}) {
    const runtime::UserBuffer out(data.data() + shift, 24);
    const Status launched = bound->launch({{&in, 1}, {&out, 1}, {}});
    REQUIRE_FALSE(launched.has_value());
    CHECK(launched.error().code == Code::invalid_argument);
    CHECK(launched.error().message.find("overlap") != std::string::npos);
  }
  CHECK(data == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7});
}

}  // namespace padlock::regressions
