#include "tests/differential/host_check.h"
#include "tests/common/plan_launch.h"

#include <fmt/format.h>
#include <algorithm>

#include "ir/reference/interpreter.h"

namespace padlock::differential {
namespace {

std::size_t place_of(const std::vector<ir::ValueId>& ids, ir::ValueId id) {
  return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
}

struct Span {
  std::int64_t first, last;
};

/// Covers rows x columns once, in one launch or in several rectangles.
void launch_range(abi::HostEntry entry, const abi::HostLaunch& launch, const abi::LaunchPlan& plan, bool split,
                  testing::Rng& rng) {
  const std::int64_t row_cut = split ? rng.between(0, plan.rows) : plan.rows;
  const std::int64_t column_cut = split ? rng.between(0, plan.columns) : plan.columns;
  for (const Span rows : {Span{row_cut, plan.rows}, Span{0, row_cut}})
    for (const Span columns : {Span{0, column_cut}, Span{column_cut, plan.columns}})
      if (rows.first < rows.last && columns.first < columns.last)
        entry(&launch, rows.first, rows.last, columns.first, columns.last);
}

/// Memory of a launch's plan, with bytes behind it that must not change.
class PlanMemory {
 public:
  explicit PlanMemory(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)), memory_(bytes_ + 2 * kRed, kByte) {}
  void* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (abi::kPlanAlignment - at % abi::kPlanAlignment) % abi::kPlanAlignment;
  }
  bool is_whole() {
    const std::byte* const end = static_cast<std::byte*>(data()) + bytes_;
    return std::all_of(end, end + kRed - abi::kPlanAlignment, [](std::byte b) { return b == kByte; });
  }

 private:
  static constexpr std::byte kByte{0xA5};
  static constexpr std::size_t kRed = 256;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// Returns the variant without assumptions, or one whose guards hold.
const runtime::HostVariant& any_variant(const std::vector<runtime::HostVariant>& variants, const Problem& problem,
                                        testing::Rng& rng) {
  std::size_t chosen = 0;
  if (!variants.front().abi.guards.empty()) std::abort();  // there is always a variant that assumes nothing
  for (std::size_t i = 1; i < variants.size(); ++i)
    if (abi::guards_hold(variants[i].abi, *problem.binding) && rng.between(0, 1) == 1) chosen = i;
  return variants[chosen];
}

std::string launch_kernel(const runtime::HostVariant& kernel, const Problem& problem, const GuardedBuffers& buffers,
                          bool split, testing::Rng& rng) {
  const abi::KernelAbi& abi = kernel.abi;
  const ir::Program& program = *problem.program;
  std::vector<void*> pointers;
  for (const ir::ValueId id : abi.inputs)
    pointers.push_back(buffers.inputs.at(place_of(program.tensor_parameters(), id))->data());
  for (const ir::ValueId id : abi.results)
    pointers.push_back(buffers.results.at(place_of(program.results(), id))->data());
  std::vector<std::uint64_t> scalars;
  for (const ir::ValueId id : abi.scalars)
    scalars.push_back(problem.scalars.at(place_of(program.scalar_parameters(), id)));
  const Result<abi::LaunchPlan> plan = padlock::testing::plan_launch(abi, *problem.binding);
  if (!plan) return "the launch cannot be planned: " + plan.error().message;
  abi::AccessFault fault;
  abi::HostLaunch launch{pointers.data(), plan->sizes.data(), scalars.data(), &fault};
  PlanMemory memory(plan->shared_bytes);
  if (kernel.planner != nullptr && plan->shared_bytes > 0 && rng.chance(90)) {
    launch.plan = memory.data();
    kernel.planner(&launch);
  }
  if (plan->rows < 0 || plan->columns < 0) return fmt::format("a launch of {} x {}", plan->rows, plan->columns);
  launch_range(kernel.entry, launch, *plan, split, rng);
  if (!memory.is_whole()) return fmt::format("a plan of more than {} bytes", plan->shared_bytes);
  if (fault.claimed == 0) return {};
  const auto access = static_cast<std::size_t>(fault.access);
  return fmt::format("bounds check: access {} at offset {} of {} elements",
                     access < abi.accesses.size() ? abi.accesses[access] : "?", fault.coordinate, fault.extent);
}

}  // namespace

Status solve(Problem& problem) {
  ir::Interpreter reference(*problem.binding, {problem.inputs.begin(), problem.inputs.end()}, problem.scalars);
  problem.results.clear();
  for (const ir::ValueId id : problem.program->results()) {
    Problem::Expected& expected = problem.results.emplace_back();
    const ir::Value& value = problem.program->value(id);
    std::int64_t elements = 1;
    for (const std::int64_t n : problem.binding->extents_of(value)) elements *= n;
    expected.bytes.resize(static_cast<std::size_t>(elements * ir::byte_size(value.dtype)));
    std::vector<bool> nan_open;
    PADLOCK_CHECK(reference.evaluate(id, expected.bytes, &nan_open));
    expected.nan_open = [flags = std::move(nan_open)](std::size_t element) { return flags[element]; };
  }
  return {};
}

Result<Problem> random_problem(const ir::Program& program, const ir::Binding& binding, testing::Rng& rng) {
  Problem problem = Problem::unsolved(program, binding, rng);
  PADLOCK_CHECK(solve(problem));
  return problem;
}

static Launch launch_of(const runtime::HostImage& code, const Problem& problem) {
  return [&](const GuardedBuffers& buffers, bool split, testing::Rng& rng) {
    std::string failure;
    for (const auto& variants : code.kernels)
      if (failure.empty()) failure = launch_kernel(any_variant(variants, problem, rng), problem, buffers, split, rng);
    return failure;
  };
}

static bool is_of_gpu(const runtime::HostImage& code) {
  return !code.kernels.empty() && code.kernels.front().front().abi.threads > 0;
}

std::string check_once(const runtime::HostImage& code, const Problem& problem, GuardedArena& arena,
                       Arrangement arrangement, testing::Rng& rng) {
  arrangement.elements = is_of_gpu(code);
  return run_and_compare(launch_of(code, problem), problem, arena, arrangement, rng);
}

std::string check_both_placements(const runtime::HostImage& code, const Problem& problem, GuardedArena& arena,
                                  testing::Rng& rng) {
  return check_both_placements(launch_of(code, problem), problem, arena, rng, is_of_gpu(code));
}

}  // namespace padlock::differential
