#include "bench/pad_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "bench/by_hand.h"

namespace padlock::bench {
namespace {

constexpr std::int64_t kPad = 1;
constexpr float kFill = 0.5F;

constexpr const char* kText = R"(program pad_relu(x: f32[H, W])
{
  y = pad(x, low = [1, 1], high = [1, 1], value = 0.5)
  z = relu(y)
  return z
})";

/// Values of both signs, so that relu has something to do. A linear congruential generator: quick on 256 MiB.
void fill_with_noise(std::vector<float>& data) {
  std::uint32_t state = 12345;
  for (float& v : data) {
    state = state * 1664525U + 1013904223U;
    v = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
}

std::int64_t bytes_of(const std::vector<float>& data) { return static_cast<std::int64_t>(data.size() * sizeof(float)); }

}  // namespace

PadProblem::PadProblem(std::int64_t rows, std::int64_t columns)
    : rows_(rows),
      columns_(columns),
      in_(static_cast<std::size_t>(rows * columns)),
      out_(static_cast<std::size_t>((rows + 2 * kPad) * (columns + 2 * kPad))) {
  fill_with_noise(in_);
}

Result<std::unique_ptr<PadProblem>> PadProblem::create(api::Context& context, std::int64_t rows, std::int64_t columns) {
  std::unique_ptr<PadProblem> problem(new PadProblem(rows, columns));
  PADLOCK_CHECK(problem->compile(context));
  PADLOCK_CHECK(problem->verify());
  return problem;
}

double PadProblem::bytes() const { return static_cast<double>(bytes_of(in_) + bytes_of(out_)); }

Status PadProblem::compile(api::Context& context) {
  PADLOCK_TRY(const api::Program program, api::Program::from_text(kText));
  for (const std::string config : {"", "store=plain", "store=nontemporal"}) {
    PADLOCK_TRY(const api::CompiledProgram compiled, context.compile(program, {.device = {}, .config = config}));
    PADLOCK_TRY(api::BoundProgram bound,
                compiled.bind({.tensors = {std::nullopt}, .symbols = {{"H", rows_}, {"W", columns_}}}));
    variants_.push_back({config.empty() ? "padlock" : "padlock " + config, std::move(bound)});
  }
  return {};
}

Status PadProblem::launch(const Variant& variant) {
  const runtime::UserBuffer input(std::as_const(in_).data(), bytes_of(in_));
  const runtime::UserBuffer output(out_.data(), bytes_of(out_));
  return variant.bound.launch({.inputs = {&input, 1}, .outputs = {&output, 1}, .scalars = {}});
}

void PadProblem::run_by_hand() { pad_relu_by_hand(in_.data(), out_.data(), rows_, columns_, kPad, kPad, kFill); }

Status PadProblem::verify() {
  run_by_hand();
  const std::vector<float> expected = out_;
  for (const Variant& variant : variants_) {
    std::ranges::fill(out_, -1.0F);
    PADLOCK_CHECK(launch(variant));
    if (std::memcmp(expected.data(), out_.data(), static_cast<std::size_t>(bytes_of(out_))) != 0)
      return internal_error(
          fmt::format("{} of {}x{} differs from the loop written by hand", variant.name, rows_, columns_));
  }
  return {};
}

std::vector<Contestant> PadProblem::contestants() {
  // memcpy reads and writes in equal parts; the result is a little larger than the input.
  const auto bytes = static_cast<std::size_t>(bytes_of(in_));
  std::vector<Contestant> all{{"memcpy", [this, bytes] { std::memcpy(out_.data(), in_.data(), bytes); }},
                              {"C++ by hand", [this] { run_by_hand(); }}};
  for (const Variant& variant : variants_) {
    all.push_back({variant.name, [this, &variant] {
                     // It succeeded when it was verified; one that fails now must not pass for a fast one.
                     if (!launch(variant)) std::abort();
                   }});
  }
  return all;
}

}  // namespace padlock::bench
