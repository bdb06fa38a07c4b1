#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "runtime/gpu_facts.h"
#include "runtime/host/host_info.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/record.h"

// The fields of a key, each from the part of Padlock that knows it.
namespace padlock::tuner {

/// Raised when the way of taking samples changes, so that times cannot be compared with earlier ones.
inline constexpr int kMeasuringPolicy = 4;

/// program and types.
void describe_program(KeyFields& fields, const ir::Program& program);
/// Fills abi, code, llvm and policy, and now's values: this machine's name and the date, "2026-01-31T12:00:00Z".
void describe_build(KeyFields& fields);
/// Fills target, architecture, cpu and what a CPU's speed depends on. `cpu`: TargetCompiler::description().
void describe_host(KeyFields& fields, const runtime::HostInfo& info, std::string_view cpu);
/// The same for a GPU. `target`: the target of the code, "sm_90".
void describe_gpu(KeyFields& fields, const runtime::GpuFacts& facts, std::string_view target);

/// Returns the peak memory bandwidth to two digits, "4800 GB/s": equal for GPUs of one model, different for an H100 and
/// an H200, which share architecture, multiprocessors and L2. If the driver does not know it, the device's name.
[[nodiscard]] std::string bandwidth_class(const runtime::GpuFacts& facts);
/// Returns the provenance of a result made now, by this build, with random choices from `seed`.
[[nodiscard]] Provenance provenance_now(std::uint64_t seed);

}  // namespace padlock::tuner
