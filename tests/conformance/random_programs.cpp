#include "tests/conformance/random_programs.h"

#include <fmt/format.h>

#include "tests/common/crash_report.h"
#include "tests/differential/programs/next_values.h"

namespace padlock::conformance {

using differential::GeneratedProgram;
using differential::Problem;
using differential::SymbolValues;
using testing::Rng;

std::string RandomPrograms::check(std::uint64_t index) {
  if (checked_++ % kProgramsPerContext == 0) context_ = std::make_unique<session::Context>();
  const GeneratedProgram generated = differential::random_program(seed_, index);
  const std::string text = generated.text();
  differential::name_current_case(
      fmt::format("--device={} --seed={} --first={} --programs=1\n{}", device_.device.to_string(), seed_, index, text));
  Rng rng = Rng(seed_).fork(index).fork(4);
  DeviceUnderTest some = {device_.device, {device_.variants[0]}};
  if (device_.variants.size() > 1)
    some.variants.push_back(device_.variants[static_cast<std::size_t>(
        rng.between(1, static_cast<std::int64_t>(device_.variants.size()) - 1))]);
  const auto program = DeviceProgram::compile(*context_, some, text);
  std::string failure = program ? check_sizes(*program, generated, rng) : program.error().to_string();
  return failure.empty() ? failure : fmt::format("{}with {}", text, failure);
}

std::string RandomPrograms::check_sizes(const DeviceProgram& program, const GeneratedProgram& generated, Rng& rng) {
  for (int k = 0; k < kSizes; ++k) {
    std::string failure;
    const auto is_refused = [&](const SymbolValues& values) {
      const ir::BindRequest request = generated.request(values, rng);
      return !program.bind(request).has_value() && program.check_binding(request).empty();
    };
    const auto values =
        k == 0 ? std::optional(generated.seed_values) : differential::next_values(generated, is_refused, rng, failure);
    if (!failure.empty()) return failure;
    const SymbolValues& chosen = values ? *values : generated.seed_values;
    const ir::BindRequest request = generated.request(chosen, rng);
    const auto bound = program.bind(request);
    if (!bound) return differential::describe(chosen) + ": " + bound.error().to_string();
    Problem problem = Problem::unsolved(program.program().ir(), bound->binding(), rng);
    const Status solved = DeviceProgram::solve(*bound, problem);
    failure = solved ? program.check(request, problem, arena_, rng) : "the reference: " + solved.error().to_string();
    if (!failure.empty()) return differential::describe(chosen) + ": " + failure;
  }
  return {};
}

}  // namespace padlock::conformance
