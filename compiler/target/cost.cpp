#include "compiler/target/cost.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace padlock::compiler {
namespace {

double value_of(ir::Expr e, const ir::Binding& binding) {
  const Result<Int128> value = ir::evaluate(binding.program().exprs(), e, binding.values());
  return value ? std::max(0.0, static_cast<double>(*value)) : 0;
}

/// Counts the vectors of one row in the case, of which a short row is a part.
double chunks_of(const Schedule& schedule, const ScheduledCase& scheduled, const ir::Binding& binding) {
  double chunks = 0;
  const double row = value_of(schedule.columns, binding);
  if (const auto& permuted = scheduled.permuted; permuted && row <= permuted->loop.longest_row)
    return row / permuted->loop.lanes;
  for (const SegmentCall& call : scheduled.calls) {
    const double columns = value_of(call.end, binding) - value_of(call.begin, binding);
    const Body& body = schedule.bodies[static_cast<std::size_t>(call.body)];
    if (columns <= 0) continue;
    // A vector that is peeled at either end goes element by element.
    chunks += std::ceil(columns / body.lanes) + (body.lanes > 1 ? 1 : 0);
  }
  return chunks;
}

double read_bytes(const Schedule& schedule, const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  std::set<ir::ValueId> tensors;
  for (const ScheduledCase& scheduled : schedule.cases)
    for (const SegmentCall& call : scheduled.calls)
      for (const Stream& stream : call.streams) tensors.insert(stream.tensor);
  double bytes = 0;
  for (const ir::ValueId id : tensors)
    bytes += value_of(program.value(id).layout.element_count(), binding) * ir::byte_size(program.value(id).dtype);
  return bytes;
}

}  // namespace

KernelCost cost_of(const Schedule& schedule, const ir::Binding& binding) {
  KernelCost cost{.read_bytes = read_bytes(schedule, binding)};
  const ir::Program& program = binding.program();
  for (const ir::ValueId id : schedule.kernel.results)
    cost.write_bytes +=
        value_of(program.value(id).layout.element_count(), binding) * ir::byte_size(program.value(id).dtype);
  double row = 0;  // which rows are in which case is not looked at: the dearest counts for all
  for (const ScheduledCase& scheduled : schedule.cases) row = std::max(row, chunks_of(schedule, scheduled, binding));
  cost.chunks = row * value_of(schedule.rows, binding);
  cost.streams = std::ranges::any_of(schedule.bodies, may_stream);
  cost.always_streams = cost.streams && schedule.store == StoreKind::nontemporal;
  if (schedule.threads == 0) return cost;
  cost.tiles = value_of(schedule.tiles(), binding);
  cost.threads = schedule.threads;
  return cost;
}

}  // namespace padlock::compiler
