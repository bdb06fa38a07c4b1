#include "tuner/search/cost_model.h"

#include <algorithm>
#include <cmath>

#include "compiler/schedule/schedule.h"

namespace padlock::tuner {
namespace {

using compiler::KernelCost;

// Bytes a nanosecond, and nanoseconds; see the performance section of the design for where they were measured.
constexpr double kHostMemory = 20, kHostChunk = 0.4, kHostTask = 300, kHostLaunch = 1000;
constexpr double kGpuMemory = 3000, kGpuChunk = 1.0 / 32, kGpuLaunch = 3000;
constexpr int kThreadsOfMultiprocessor = 2048;

double host_ns(const KernelCost& cost, std::int64_t task_bytes, const Machine& machine) {
  // Nothing is found in a cache: a tuner's buffers are used in turn until they exceed them. A plain store fetches its
  // line first, one that goes past the caches does not.
  const bool streams =
      cost.always_streams ||
      (cost.streams && cost.write_bytes >= static_cast<double>(compiler::streamed_bytes(machine.cache_bytes)));
  const double memory = (cost.read_bytes + cost.write_bytes * (streams ? 1 : 2)) / kHostMemory;
  const double compute = cost.chunks * kHostChunk;
  const double task = static_cast<double>(std::max<std::int64_t>(task_bytes, 1));
  const double waves = std::ceil(std::max(1.0, std::ceil(cost.write_bytes / task)) / machine.threads);
  // A wave takes what a whole task does: the last one may be half empty.
  const double share = std::min(1.0, task / std::max(cost.write_bytes, 1.0));
  return std::max(memory, compute) * share * waves + kHostTask * waves + kHostLaunch;
}

double gpu_ns(const KernelCost& cost, const Machine& machine) {
  const double resident = std::max(
      1.0, static_cast<double>(machine.multiprocessors) * (kThreadsOfMultiprocessor / std::max(cost.threads, 1)));
  const double memory = (cost.read_bytes + cost.write_bytes) / kGpuMemory;
  const double compute = cost.chunks * kGpuChunk / machine.multiprocessors;
  const double filled = std::max(cost.tiles, 1.0) / resident;
  return std::max(memory, compute) * std::min(std::ceil(filled) / filled, 4.0) + kGpuLaunch;
}

}  // namespace

double predicted_ns(std::span<const KernelCost> kernels, std::int64_t task_bytes, const Machine& machine) {
  double sum = 0;
  for (const KernelCost& cost : kernels)
    sum += machine.multiprocessors > 0 ? gpu_ns(cost, machine) : host_ns(cost, task_bytes, machine);
  return sum;
}

}  // namespace padlock::tuner
