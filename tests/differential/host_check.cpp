#include "tests/differential/host_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstring>

#include "tests/differential/random_data.h"

namespace padlock::differential {
namespace {

std::uint64_t element_bits(std::span<const std::byte> bytes, std::size_t index, ir::DType dtype) {
  std::uint64_t bits = 0;
  const auto size = static_cast<std::size_t>(ir::byte_size(dtype));
  std::memcpy(&bits, bytes.data() + index * size, size);
  return bits;
}

std::vector<std::int64_t> coordinates_of(std::size_t index, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> coordinates(extents.size());
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t i = extents.size(); i-- > 0;) {
    coordinates[i] = rest % extents[i];
    rest /= extents[i];
  }
  return coordinates;
}

std::size_t skew_of(const Arrangement& a, Rng& rng) {
  return a.misaligned ? static_cast<std::size_t>(rng.between(1, 31)) : 0;
}

/// The buffers of one run, inputs and results by their place in the program's lists.
struct Buffers {
  std::vector<GuardedBuffer*> inputs, results;
};

Buffers make_buffers(const Problem& problem, GuardedArena& arena, const Arrangement& a, Rng& rng) {
  Buffers buffers;
  for (const auto& bytes : problem.inputs) {
    buffers.inputs.push_back(&arena.acquire(bytes.size(), a.placement, skew_of(a, rng)));
    std::ranges::copy(bytes, buffers.inputs.back()->data());
  }
  for (const auto& expected : problem.results) {
    buffers.results.push_back(&arena.acquire(expected.bytes.size(), a.placement, skew_of(a, rng)));
    std::ranges::fill(buffers.results.back()->bytes(), a.poison);
  }
  return buffers;
}

std::size_t place_of(const std::vector<ir::ValueId>& ids, ir::ValueId id) {
  return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
}

struct Span {
  std::int64_t first, last;
};

/// Covers rows x columns once, in one launch or in several rectangles.
void launch_range(ir::HostEntry entry, const ir::HostLaunch& launch, const ir::LaunchPlan& plan, bool split, Rng& rng) {
  const std::int64_t row_cut = split ? rng.between(0, plan.rows) : plan.rows;
  const std::int64_t column_cut = split ? rng.between(0, plan.columns) : plan.columns;
  for (const Span rows : {Span{row_cut, plan.rows}, Span{0, row_cut}})
    for (const Span columns : {Span{0, column_cut}, Span{column_cut, plan.columns}})
      if (rows.first < rows.last && columns.first < columns.last)
        entry(&launch, rows.first, rows.last, columns.first, columns.last);
}

std::string launch_kernel(const ir::HostExecutable& kernel, const Problem& problem, const Buffers& buffers, bool split,
                          Rng& rng) {
  const ir::KernelAbi& abi = kernel.abi();
  const ir::Program& program = *problem.program;
  std::vector<void*> pointers;
  for (const ir::ValueId id : abi.inputs)
    pointers.push_back(buffers.inputs.at(place_of(program.tensor_parameters(), id))->data());
  for (const ir::ValueId id : abi.results)
    pointers.push_back(buffers.results.at(place_of(program.results(), id))->data());
  std::vector<std::uint64_t> scalars;
  for (const ir::ValueId id : abi.scalars)
    scalars.push_back(problem.scalars.at(place_of(program.scalar_parameters(), id)));
  const Result<ir::LaunchPlan> plan = ir::plan_launch(abi, *problem.binding);
  if (!plan) return "the launch cannot be planned: " + plan.error().message;
  ir::AccessFault fault;
  const ir::HostLaunch launch{pointers.data(), plan->sizes.data(), scalars.data(), &fault};
  if (plan->rows < 0 || plan->columns < 0) return fmt::format("a launch of {} x {}", plan->rows, plan->columns);
  launch_range(kernel.entry(), launch, *plan, split, rng);
  if (fault.claimed == 0) return {};
  const auto access = static_cast<std::size_t>(fault.access);
  return fmt::format("bounds check: access {} at offset {} of {} elements",
                     access < abi.accesses.size() ? abi.accesses[access] : "?", fault.coordinate, fault.extent);
}

std::string compare_result(const Problem& problem, std::size_t index, std::span<const std::byte> actual) {
  const ir::Value& value = problem.program->value(problem.program->results()[index]);
  const Problem::Expected& expected = problem.results[index];
  if (std::ranges::equal(actual, expected.bytes)) return {};
  const std::size_t count = expected.bytes.size() / static_cast<std::size_t>(ir::byte_size(value.dtype));
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Element wanted{element_bits(expected.bytes, i, value.dtype), expected.nan_open[i]};
    const std::uint64_t found = element_bits(actual, i, value.dtype);
    if (ir::same_element(value.dtype, wanted, found)) continue;
    const std::vector<std::int64_t> extents = problem.binding->extents_of(value);
    return fmt::format("{} ({} {}): at {} expected {:#x}{}, found {:#x}", value.name, ir::name_of(value.dtype), extents,
                       coordinates_of(i, extents), wanted.bits, wanted.nan_open ? " (any NaN)" : "", found);
  }
  return {};
}

std::string inspect_buffers(const Problem& problem, const Buffers& buffers) {
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

Result<Problem> Problem::with_inputs(const ir::Program& program, const ir::Binding& binding,
                                     std::vector<std::vector<std::byte>> inputs, std::vector<std::uint64_t> scalars) {
  Problem problem{&program, &binding, std::move(inputs), std::move(scalars), {}};
  ir::Interpreter reference(binding, {problem.inputs.begin(), problem.inputs.end()}, problem.scalars);
  for (const ir::ValueId id : program.results()) {
    Expected& expected = problem.results.emplace_back();
    const ir::Value& value = program.value(id);
    std::int64_t elements = 1;
    for (const std::int64_t n : binding.extents_of(value)) elements *= n;
    expected.bytes.resize(static_cast<std::size_t>(elements * ir::byte_size(value.dtype)));
    PADLOCK_CHECK(reference.evaluate(id, expected.bytes, &expected.nan_open));
  }
  return problem;
}

Result<Problem> Problem::random(const ir::Program& program, const ir::Binding& binding, Rng& rng) {
  std::vector<std::vector<std::byte>> inputs;
  for (const ir::ValueId id : program.tensor_parameters()) {
    const ir::Value& value = program.value(id);
    inputs.emplace_back(static_cast<std::size_t>(binding.storage_bytes(value)));
    fill_random(inputs.back(), value.dtype, rng);
  }
  std::vector<std::uint64_t> scalars;
  for (const ir::ValueId id : program.scalar_parameters()) scalars.push_back(random_bits(program.value(id).dtype, rng));
  return with_inputs(program, binding, std::move(inputs), std::move(scalars));
}

std::string run_and_compare(const Kernels& kernels, const Problem& problem, GuardedArena& arena,
                            const Arrangement& arrangement, Rng& rng) {
  const Buffers buffers = make_buffers(problem, arena, arrangement, rng);
  std::string failure;
  for (const auto& kernel : kernels)
    if (failure.empty()) failure = launch_kernel(*kernel, problem, buffers, arrangement.split, rng);
  if (failure.empty()) failure = inspect_buffers(problem, buffers);
  arena.release_all();
  return failure;
}

std::string check_both_placements(const Kernels& kernels, const Problem& problem, GuardedArena& arena, Rng& rng) {
  const bool misaligned = rng.chance(35);
  const Arrangement first{Placement::after_guard, std::byte{0xA5}, misaligned, rng.chance(25)};
  const Arrangement second{Placement::before_guard, std::byte{0x5A}, misaligned && rng.chance(50), rng.chance(25)};
  std::string failure = run_and_compare(kernels, problem, arena, first, rng);
  if (!failure.empty()) return failure + " (buffers begin at a guard page)";
  failure = run_and_compare(kernels, problem, arena, second, rng);
  return failure.empty() ? failure : failure + " (buffers end at a guard page)";
}

}  // namespace padlock::differential
