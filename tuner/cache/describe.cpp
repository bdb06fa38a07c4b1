#include "tuner/cache/describe.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <optional>

#include "compiler/targets/revision.h"
#include "support/hash.h"

namespace padlock::tuner {
namespace {

std::string types_of(const ir::Program& program, const std::vector<ir::ValueId>& values) {
  std::string text;
  for (const ir::ValueId id : values)
    text += fmt::format("{}{}", text.empty() ? "" : ",", ir::name_of(program.value(id).dtype));
  return text;
}

std::string number(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : ""; }

std::string machine() {
  utsname names{};
  return uname(&names) == 0 ? names.machine : "unknown";
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "";
}

/// UTC, "2026-01-31T12:00:00Z".
std::string date_now() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

}  // namespace

void describe_program(KeyFields& fields, const ir::Program& program) {
  fields.program = hash128(ir::to_string(program));
  fields.types = fmt::format("{};{}->{}", types_of(program, program.tensor_parameters()),
                             types_of(program, program.scalar_parameters()), types_of(program, program.results()));
}

void describe_build(KeyFields& fields) {
  fields.abi = std::to_string(compiler::kAbiRevision);
  fields.code = std::to_string(compiler::kCodeRevision);
  fields.llvm = compiler::llvm_version();
  fields.policy = std::to_string(kMeasuringPolicy);
  fields.host = host_name();
  fields.date = date_now();
}

void describe_host(KeyFields& fields, const runtime::HostInfo& info, std::string_view cpu) {
  fields.target = "host";
  fields.architecture = machine();
  fields.cpu = printable(cpu, cpu.size());  // not cut: the end of the list matters, too
  fields.threads = std::to_string(info.threads);
  fields.l2_bytes = number(info.l2_bytes);
  fields.l3_bytes = number(info.l3_bytes);
  fields.device = printable(info.cpu);
}

void describe_gpu(KeyFields& fields, const runtime::GpuFacts& facts, std::string_view target) {
  fields.target = target;
  fields.architecture = facts.architecture();
  fields.multiprocessors = std::to_string(facts.multiprocessors);
  fields.bandwidth = bandwidth_class(facts);
  fields.l2_bytes = std::to_string(facts.l2_bytes);
  fields.device = printable(facts.name);
  fields.driver = std::to_string(facts.driver_version);
}

std::string bandwidth_class(const runtime::GpuFacts& facts) {
  if (facts.memory_bandwidth <= 0) return printable(fmt::format("that of {}", facts.name));
  std::int64_t unit = 1'000'000'000;
  while (facts.memory_bandwidth / unit >= 100) unit *= 10;
  const std::int64_t rounded = (facts.memory_bandwidth + unit / 2) / unit;
  return fmt::format("{} GB/s", rounded * (unit / 1'000'000'000));
}

Provenance provenance_now(std::uint64_t seed) { return {.seed = seed, .date = date_now(), .version = PADLOCK_VERSION}; }

}  // namespace padlock::tuner
