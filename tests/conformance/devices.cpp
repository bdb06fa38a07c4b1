#include "tests/conformance/devices.h"

#include <cstdlib>

#include <fmt/format.h>

namespace padlock::conformance {
namespace {

struct VariantRow {
  const char* name;
  const char* config;
  bool bounds_check;
};

struct DeviceRow {
  runtime::DeviceKind kind;
  std::vector<VariantRow> variants;
};

/// Of the search space of GPUs.
std::vector<VariantRow> gpu_variants() {
  return {{"default", "", false},
          {"one vector, streaming", "map=vector_grid,threads=128,items=1,cache=evict_first", false},
          {"four vectors", "map=vector_grid,threads=256,items=4", false},
          {"no split, large tiles", "threads=512,split=0,tiles=large", false},
          {"small tiles", "tiles=small", false},
          {"transposes by elements", "map=vector_grid,threads=256,items=2", false}};
}

/// As many kinds in fewer configs, for it compiles slowly. All its code checks bounds.
std::vector<VariantRow> simt_variants() {
  return {{"default", "", false},
          {"no split, many threads, large tiles", "threads=256,split=0,tiles=large", false},
          {"small tiles", "tiles=small", false},
          {"four vectors, transposes by elements, streaming", "map=vector_grid,threads=512,items=4,cache=evict_first",
           false}};
}

/// Those of GPUs, and the code that checks bounds.
std::vector<VariantRow> cuda_variants() {
  std::vector<VariantRow> variants = gpu_variants();
  variants.push_back({"bounds check", "", true});
  return variants;
}

/// Configs that differ in kind, and the code that checks bounds.
std::vector<DeviceRow> table() {
  using enum runtime::DeviceKind;
  return {
      {host,
       {{"default", "", false},
        {"bounds check", "", true},
        {"narrow, no split", "vector_bytes=16,unroll=1,split=0", false},
        {"wide, past the caches", "vector_bytes=64,unroll=4,store=nontemporal", false}}},
      {reference, {{"default", "", false}}},
      {simt, simt_variants()},
      {cuda, cuda_variants()},
  };
}

}  // namespace

Result<DeviceUnderTest> find_device(std::string_view name) {
  PADLOCK_TRY(const runtime::DeviceId device, runtime::DeviceId::parse(name));
  PADLOCK_CHECK(runtime::Devices::check(device));
  for (const DeviceRow& row : table()) {
    if (row.kind != device.kind) continue;
    DeviceUnderTest found{device, {}};
    for (const VariantRow& v : row.variants)
      found.variants.push_back({v.name, {.device = device, .config = v.config, .bounds_check = v.bounds_check}});
    return found;
  }
  return unavailable(
      fmt::format("expected a device of the suite's table (host, reference, simt, cuda:N), found {}", name));
}

std::string device_name_from_environment() {
  const char* name = std::getenv("PADLOCK_DEVICE");
  return name == nullptr ? "host" : name;
}

Result<DeviceUnderTest> device_from_environment() { return find_device(device_name_from_environment()); }

}  // namespace padlock::conformance
