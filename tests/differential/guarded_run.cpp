#include "tests/differential/guarded_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "ir/reference/interpreter.h"
#include "ir/reference/scalar_ops.h"
#include "tests/differential/random_data.h"

namespace padlock::differential {
namespace {

std::size_t skew_of(const Arrangement& a, ir::DType dtype, testing::Rng& rng) {
  const int unit = a.elements ? ir::byte_size(dtype) : 1;
  return a.misaligned ? static_cast<std::size_t>(rng.between(1, 31) * unit) : 0;
}

GuardedBuffers make_buffers(const Problem& problem, GuardedArena& arena, const Arrangement& a, testing::Rng& rng) {
  GuardedBuffers buffers;
  const ir::Program& program = *problem.program;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const auto& bytes = problem.inputs[i];
    const ir::DType dtype = program.value(program.tensor_parameters()[i]).dtype;
    buffers.inputs.push_back(&arena.acquire(bytes.size(), a.placement, skew_of(a, dtype, rng)));
    std::ranges::copy(bytes, buffers.inputs.back()->data());
  }
  for (std::size_t i = 0; i < problem.results.size(); ++i) {
    const ir::DType dtype = program.value(program.results()[i]).dtype;
    const std::size_t bytes = problem.results[i].bytes.size();
    buffers.results.push_back(&arena.acquire(bytes, a.placement, skew_of(a, dtype, rng)));
    std::ranges::fill(buffers.results.back()->bytes(), a.poison);
  }
  return buffers;
}

std::string compare_result(const Problem& problem, std::size_t index, std::span<const std::byte> actual) {
  const ir::Value& value = problem.program->value(problem.program->results()[index]);
  const Problem::Expected& expected = problem.results[index];
  if (std::ranges::equal(actual, expected.bytes)) return {};
  const std::size_t count = expected.bytes.size() / static_cast<std::size_t>(ir::byte_size(value.dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = ir::element_bits(expected.bytes, i, value.dtype);
    const std::uint64_t found = ir::element_bits(actual, i, value.dtype);
    if (found == bits) continue;
    const ir::Element wanted{bits, expected.nan_open(i)};
    if (ir::same_element(value.dtype, wanted, found)) continue;
    const std::vector<std::int64_t> extents = problem.binding->extents_of(value);
    return fmt::format("{} ({} {}): at {} expected {:#x}{}, found {:#x}", value.name, ir::name_of(value.dtype), extents,
                       ir::coordinates_of(i, extents), wanted.bits, wanted.nan_open ? " (any NaN)" : "", found);
  }
  return {};
}

std::string inspect_buffers(const Problem& problem, const GuardedBuffers& buffers) {
  const ir::Program& program = *problem.program;
  for (std::size_t i = 0; i < buffers.inputs.size(); ++i) {
    const std::string& name = program.value(program.tensor_parameters()[i]).name;
    if (const std::string damage = buffers.inputs[i]->damage(); !damage.empty()) return name + ": " + damage;
    if (!std::ranges::equal(buffers.inputs[i]->bytes(), problem.inputs[i])) return name + ": the input was changed";
  }
  for (std::size_t i = 0; i < buffers.results.size(); ++i)
    if (const std::string damage = buffers.results[i]->damage(); !damage.empty())
      return program.value(program.results()[i]).name + ": " + damage;
  for (std::size_t i = 0; i < buffers.results.size(); ++i)
    if (std::string difference = compare_result(problem, i, buffers.results[i]->bytes()); !difference.empty())
      return difference;
  return {};
}

}  // namespace

Problem Problem::unsolved(const ir::Program& program, const ir::Binding& binding, testing::Rng& rng) {
  Problem problem{&program, &binding, {}, {}, {}};
  for (const ir::ValueId id : program.tensor_parameters()) {
    const ir::Value& value = program.value(id);
    problem.inputs.emplace_back(static_cast<std::size_t>(binding.storage_bytes(value)));
    fill_random(problem.inputs.back(), value.dtype, rng);
  }
  for (const ir::ValueId id : program.scalar_parameters())
    problem.scalars.push_back(random_bits(program.value(id).dtype, rng));
  return problem;
}

std::string run_and_compare(const Launch& launch, const Problem& problem, GuardedArena& arena,
                            const Arrangement& arrangement, testing::Rng& rng) {
  const GuardedBuffers buffers = make_buffers(problem, arena, arrangement, rng);
  std::string failure = launch(buffers, arrangement.split, rng);
  if (failure.empty()) failure = inspect_buffers(problem, buffers);
  arena.release_all();
  return failure;
}

std::string check_both_placements(const Launch& launch, const Problem& problem, GuardedArena& arena, testing::Rng& rng,
                                  bool elements) {
  const bool misaligned = rng.chance(35);
  const Arrangement first{Placement::after_guard, std::byte{0xA5}, misaligned, elements, rng.chance(25)};
  const Arrangement second{Placement::before_guard, std::byte{0x5A}, misaligned && rng.chance(50), elements,
                           rng.chance(25)};
  std::string failure = run_and_compare(launch, problem, arena, first, rng);
  if (!failure.empty()) return failure + " (buffers begin at a guard page)";
  failure = run_and_compare(launch, problem, arena, second, rng);
  return failure.empty() ? failure : failure + " (buffers end at a guard page)";
}

}  // namespace padlock::differential
