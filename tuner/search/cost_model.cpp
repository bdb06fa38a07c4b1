#include "tuner/search/cost_model.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/model/schedule.h"

namespace padlock::tuner {
namespace {

using compiler::KernelCost;

// Bytes per nanosecond, and nanoseconds; the performance section of the design says where they were measured.
constexpr double kHostMemory = 20, kHostCache = 80, kHostChunk = 0.4, kHostTask = 300, kHostLaunch = 1000;
// For a GPU: the time of one trip to memory, and a multiprocessor's instructions per nanosecond, half of the peak.
constexpr double kGpuMemory = 3000, kGpuCache = 6000, kGpuTrip = 700, kGpuCacheTrip = 300, kGpuIssue = 4,
                 kGpuLaunch = 2000;

bool is_nontemporal(const KernelCost& cost, const Machine& machine) {
  const auto most_cached =
      static_cast<double>(compiler::nontemporal_bytes(machine.cache_bytes, machine.core_cache_bytes));
  return cost.always_nontemporal || (cost.nontemporal && cost.write_bytes >= most_cached);
}

/// In a cold launch no tensor is in a cache: a plain store fetches its line first, a store past the caches does not. In
/// a warm launch only stores past the caches go to memory.
double host_memory_ns(const KernelCost& cost, const Machine& machine, bool warm) {
  const bool nontemporal = is_nontemporal(cost, machine);
  if (!warm) return (cost.read_bytes + cost.write_bytes * (nontemporal ? 1 : 2)) / kHostMemory;
  return cost.read_bytes / kHostCache + cost.write_bytes / (nontemporal ? kHostMemory : kHostCache);
}

double host_ns(const KernelCost& cost, std::int64_t task_bytes, const Machine& machine, bool warm) {
  const double memory = host_memory_ns(cost, machine, warm);
  const double compute = cost.chunks * kHostChunk;
  const double task = static_cast<double>(std::max<std::int64_t>(task_bytes, 1));
  const double waves = std::ceil(std::max(1.0, std::ceil(cost.write_bytes / task)) / machine.threads);
  // A wave takes the time of a whole task, though the last wave may be half empty.
  const double share = std::min(1.0, task / std::max(cost.write_bytes, 1.0));
  return std::max(memory, compute) * share * waves + kHostTask * waves + kHostLaunch;
}

double gpu_ns(const KernelCost& cost, const Machine& machine, bool warm) {
  const double trip = warm ? kGpuCacheTrip : kGpuTrip;
  const double blocks = std::max(cost.blocks, 1.0);
  const double busy = std::min<double>(blocks, machine.multiprocessors);
  // Little's law: the bytes under way are the bytes read in the time of one trip.
  const double flight = std::min(blocks, machine.multiprocessors * std::max(cost.resident_blocks, 1.0)) *
                        std::max(cost.flight_bytes, 1.0);
  const double memory =
      std::max((cost.read_bytes + cost.write_bytes) / (warm ? kGpuCache : kGpuMemory), cost.read_bytes / flight * trip);
  return std::max(memory, cost.instructions / (busy * kGpuIssue)) + cost.trips * trip + kGpuLaunch;
}

}  // namespace

double predicted_ns(std::span<const KernelCost> kernels, std::int64_t task_bytes, const Machine& machine,
                    Regime regime) {
  if (regime == Regime::both)
    return (predicted_ns(kernels, task_bytes, machine, Regime::warm) +
            predicted_ns(kernels, task_bytes, machine, Regime::cold)) /
           2;
  const bool warm = regime == Regime::warm;
  double sum = 0;
  for (const KernelCost& cost : kernels)
    sum += machine.multiprocessors > 0 ? gpu_ns(cost, machine, warm) : host_ns(cost, task_bytes, machine, warm);
  return sum;
}

bool stores_past_caches(std::span<const KernelCost> kernels, const Machine& machine) {
  return std::ranges::any_of(kernels, [&](const KernelCost& cost) { return is_nontemporal(cost, machine); });
}

}  // namespace padlock::tuner
