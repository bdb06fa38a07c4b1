#include "tests/conformance/device_program.h"
#include "tests/common/host_arrays.h"

#include <fmt/format.h>

#include "ir/reference/interpreter.h"

namespace padlock::conformance {
namespace {

using differential::GuardedArena;
using differential::GuardedBuffers;
using differential::Problem;
using runtime::UserBuffer;
using testing::Rng;

UserBuffer buffer_of(std::span<const std::byte> bytes) {
  return {static_cast<const void*>(bytes.data()), static_cast<std::int64_t>(bytes.size())};
}

std::vector<UserBuffer> inputs_of(const Problem& problem) {
  std::vector<UserBuffer> buffers;
  for (const auto& bytes : problem.inputs) buffers.push_back(buffer_of(bytes));
  return buffers;
}

std::string launch(const session::BoundProgram& bound, const Problem& problem, const GuardedBuffers& buffers) {
  std::vector<UserBuffer> inputs, outputs;
  for (const auto* b : buffers.inputs) inputs.push_back(buffer_of(b->bytes()));
  for (const auto* b : buffers.results) outputs.push_back(buffer_of(b->bytes()));
  const Status launched = padlock::testing::run_on_host_arrays(bound, {inputs, outputs, problem.scalars});
  return launched ? std::string() : "the launch failed: " + launched.error().to_string();
}

}  // namespace

Result<DeviceProgram> DeviceProgram::compile(session::Context& context, const DeviceUnderTest& device,
                                             std::string_view text) {
  PADLOCK_TRY(const session::Program program, session::Program::from_text(text));
  PADLOCK_TRY(session::CompiledProgram reference,
              context.compile(program, {.device = runtime::DeviceId{runtime::DeviceKind::reference}}));
  DeviceProgram all(std::move(reference));
  for (const Variant& variant : device.variants) {
    PADLOCK_TRY(session::CompiledProgram compiled, context.compile(program, variant.options));
    all.compiled_.push_back({variant.name, std::move(compiled)});
  }
  return all;
}

Result<session::BoundProgram> DeviceProgram::bind(const ir::BindRequest& request) const {
  return reference_.bind(request);
}

std::string DeviceProgram::check_binding(const ir::BindRequest& request) const {
  const auto expected = reference_.bind(request);
  for (const Compiled& compiled : compiled_) {
    const auto found = compiled.program.bind(request);
    if (expected.has_value() == found.has_value()) continue;
    return fmt::format("{}: {}", compiled.variant,
                       found ? "it binds what the reference refuses: " + expected.error().to_string()
                             : "it refuses what the reference binds: " + found.error().to_string());
  }
  return {};
}

Status DeviceProgram::solve(const session::BoundProgram& bound, Problem& problem) {
  std::vector<UserBuffer> outputs;
  problem.results.resize(bound.results().size());
  for (std::size_t i = 0; i < problem.results.size(); ++i) {
    problem.results[i].bytes.resize(static_cast<std::size_t>(bound.results()[i].storage_bytes));
    outputs.emplace_back(static_cast<void*>(problem.results[i].bytes.data()), bound.results()[i].storage_bytes);
    // The handle is copied: it has to outlive this call.
    problem.results[i].nan_open = [bound, i, inputs = inputs_of(problem),
                                   scalars = problem.scalars](std::size_t element) {
      const auto open =
          bound.nan_is_open(i, ir::coordinates_of(element, bound.results()[i].extents), {inputs, {}, scalars});
      return open.value_or(false);
    };
  }
  return bound.launch({inputs_of(problem), outputs, problem.scalars});
}

std::string DeviceProgram::check(const ir::BindRequest& request, const Problem& problem, GuardedArena& arena,
                                 Rng& rng) const {
  for (const Compiled& compiled : compiled_) {
    const auto bound = compiled.program.bind(request);
    if (!bound) return fmt::format("{}: the binding was refused: {}", compiled.variant, bound.error().to_string());
    const std::string failure = differential::check_both_placements(
        [&](const GuardedBuffers& buffers, bool, Rng&) { return launch(*bound, problem, buffers); }, problem, arena,
        rng, compiled.program.device().id().kind == runtime::DeviceKind::simt);
    if (!failure.empty()) return fmt::format("{}: {}", compiled.variant, failure);
  }
  return {};
}

}  // namespace padlock::conformance
