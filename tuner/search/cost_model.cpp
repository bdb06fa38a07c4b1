#include "tuner/search/cost_model.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/model/schedule.h"

namespace padlock::tuner {
namespace {

using compiler::KernelCost;

// Bytes a nanosecond, and nanoseconds; see the performance section of the design for where they were measured.
constexpr double kHostMemory = 20, kHostChunk = 0.4, kHostTask = 300, kHostLaunch = 1000;
// For a GPU a trip to memory, and instructions of a multiprocessor's warps a nanosecond, half of the peak.
constexpr double kGpuMemory = 3000, kGpuTrip = 700, kGpuIssue = 4, kGpuLaunch = 2000;

double host_ns(const KernelCost& cost, std::int64_t task_bytes, const Machine& machine) {
  // Nothing is found in a cache: a tuner's buffers are used in turn until they exceed them. A plain store fetches its
  // line first, one that goes past the caches does not.
  const bool nontemporal =
      cost.always_nontemporal ||
      (cost.nontemporal && cost.write_bytes >= static_cast<double>(compiler::nontemporal_bytes(machine.cache_bytes)));
  const double memory = (cost.read_bytes + cost.write_bytes * (nontemporal ? 1 : 2)) / kHostMemory;
  const double compute = cost.chunks * kHostChunk;
  const double task = static_cast<double>(std::max<std::int64_t>(task_bytes, 1));
  const double waves = std::ceil(std::max(1.0, std::ceil(cost.write_bytes / task)) / machine.threads);
  // A wave takes what a whole task does: the last one may be half empty.
  const double share = std::min(1.0, task / std::max(cost.write_bytes, 1.0));
  return std::max(memory, compute) * share * waves + kHostTask * waves + kHostLaunch;
}

double gpu_ns(const KernelCost& cost, const Machine& machine) {
  const double blocks = std::max(cost.blocks, 1.0);
  const double busy = std::min<double>(blocks, machine.multiprocessors);
  // Little's law: what is read in the time of a trip is what is on its way.
  const double flight = std::min(blocks, machine.multiprocessors * std::max(cost.resident_blocks, 1.0)) *
                        std::max(cost.flight_bytes, 1.0);
  const double memory =
      std::max((cost.read_bytes + cost.write_bytes) / kGpuMemory, cost.read_bytes / flight * kGpuTrip);
  return std::max(memory, cost.instructions / (busy * kGpuIssue)) + cost.trips * kGpuTrip + kGpuLaunch;
}

}  // namespace

double predicted_ns(std::span<const KernelCost> kernels, std::int64_t task_bytes, const Machine& machine) {
  double sum = 0;
  for (const KernelCost& cost : kernels)
    sum += machine.multiprocessors > 0 ? gpu_ns(cost, machine) : host_ns(cost, task_bytes, machine);
  return sum;
}

}  // namespace padlock::tuner
