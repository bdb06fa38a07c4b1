#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "tests/runtime/cuda/fake_cubin.h"
#include "tests/runtime/cuda/fake_entry_points.h"

namespace padlock::runtime::cuda {
namespace {

void write_log(std::string_view log, unsigned options, const CUjit_option* names, void* const* values) {
  char* buffer = nullptr;
  std::size_t size = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (names[i] == CUjit_option::error_log_buffer) buffer = static_cast<char*>(values[i]);
    if (names[i] == CUjit_option::error_log_buffer_size_bytes) size = reinterpret_cast<std::size_t>(values[i]);
  }
  if (buffer != nullptr) log.copy(buffer, size);
}

/// Compiles PTX as the driver would, for modules and for linking.
CUresult compile(const FakeState& fake, std::string_view ptx, std::vector<FakeEntry>* entries, unsigned options,
                 const CUjit_option* names, void* const* values) {
  if (fake.module_status != CUresult::success) {
    write_log(fake.module_log, options, names, values);
    return fake.module_status;
  }
  auto found = parse_entries(ptx);
  if (!found) {
    write_log("ptxas fatal   : Missing .version directive at start of file\n", options, names, values);
    return CUresult::invalid_ptx;
  }
  *entries = *std::move(found);
  return CUresult::success;
}

FakeFunction* find_function(FakeState& fake, CUfunction handle) {
  for (const auto& module : fake.modules)
    if (const auto found = find_handle(module->functions, handle); found != module->functions.end())
      return found->get();
  return nullptr;
}

struct Packed {
  const std::uint64_t* words = nullptr;
  std::size_t bytes = 0;
};

Packed unpack(void** extra) {
  Packed packed;
  for (; extra != nullptr && reinterpret_cast<std::uintptr_t>(*extra) != kLaunchParamEnd; extra += 2) {
    const auto tag = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (tag == kLaunchParamBufferPointer) packed.words = static_cast<const std::uint64_t*>(extra[1]);
    if (tag == kLaunchParamBufferSize) packed.bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  return packed;
}

}  // namespace

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned options, CUjit_option* names, void** values) {
  PADLOCK_ENTER(enter_unsafe, cuModuleLoadDataEx);
  const char* text = static_cast<const char*>(image);
  const bool is_cubin = std::string_view(text, std::min<std::size_t>(std::strlen(text), 4)) ==
                        "\x7F"
                        "ELF";
  if (is_cubin && fake.settings.cubin_status != CUresult::success) return fake.settings.cubin_status;
  if (is_cubin) text += kFakeCubinHead;
  std::vector<FakeEntry> entries;
  const CUresult compiled = compile(fake, text + (*text == kFakeCubin ? 1 : 0), &entries, options, names, values);
  if (compiled != CUresult::success) return compiled;
  auto loaded = std::make_unique<FakeModule>(FakeModule{.context = FakeState::current()});
  for (FakeEntry& entry : entries)
    loaded->functions.push_back(std::make_unique<FakeFunction>(FakeFunction{FakeState::current(), std::move(entry)}));
  *module = handle_of<CUmodule>(loaded.get());
  fake.modules.push_back(std::move(loaded));
  ++fake.made_counts.modules;
  return CUresult::success;
}

CUresult cuLinkCreate_v2(unsigned options, CUjit_option* names, void** values, CUlinkState* state) {
  PADLOCK_ENTER(enter_context, cuLinkCreate_v2);
  auto link = std::make_unique<FakeLink>(FakeLink{.context = FakeState::current()});
  link->names.assign(names, names + options);
  link->values.assign(values, values + options);
  *state = handle_of<CUlinkState>(link.get());
  fake.links.push_back(std::move(link));
  ++fake.made_counts.links;
  return CUresult::success;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes, const char* /*name*/,
                          unsigned options, CUjit_option* /*names*/, void** /*values*/) {
  PADLOCK_ENTER(enter_context, cuLinkAddData_v2);
  const auto found = find_handle(fake.links, state);
  if (found == fake.links.end()) return fake.misuse("a link");
  FakeLink& link = **found;
  const std::string_view text(static_cast<const char*>(data), bytes);
  // PTX ends with a zero, which counts.
  if (type != CUjitInputType::ptx || options != 0 || !link.text.empty() || text.empty() || text.back() != '\0')
    return CUresult::invalid_value;
  std::vector<FakeEntry> entries;
  const auto count = static_cast<unsigned>(link.names.size());
  const CUresult compiled = compile(fake, text, &entries, count, link.names.data(), link.values.data());
  if (compiled == CUresult::success) link.text = text;
  return compiled;
}

CUresult cuLinkComplete(CUlinkState state, void** cubin, std::size_t* bytes) {
  PADLOCK_ENTER(enter_context, cuLinkComplete);
  const auto found = find_handle(fake.links, state);
  if (found == fake.links.end()) return fake.misuse("a link");
  FakeLink& link = **found;
  link.image = kFakeCubin + link.text;
  *cubin = link.image.data();
  *bytes = link.image.size();
  return CUresult::success;
}

CUresult cuLinkDestroy(CUlinkState state) {
  PADLOCK_ENTER_GIVING_BACK(cuLinkDestroy);
  return first_of(remove(fake, fake.links, state, "a link"), status);
}

CUresult cuModuleUnload(CUmodule module) {
  PADLOCK_ENTER_GIVING_BACK(cuModuleUnload);
  return first_of(remove(fake, fake.modules, module, "a module"), status);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  PADLOCK_ENTER(enter_context, cuModuleGetFunction);
  const auto found = find_handle(fake.modules, module);
  if (found == fake.modules.end()) return fake.misuse("a module");
  for (const auto& candidate : (*found)->functions) {
    if (candidate->entry.name != name) continue;
    *function = handle_of<CUfunction>(candidate.get());
    constexpr int kFirstWithFuncLoad = 12040;
    if (fake.settings.driver_version < kFirstWithFuncLoad) candidate->loaded = true;
    return CUresult::success;
  }
  return CUresult::not_found;
}

CUresult cuFuncLoad(CUfunction function) {
  PADLOCK_ENTER(enter_unsafe, cuFuncLoad);
  FakeFunction* const found = find_function(fake, function);
  if (found == nullptr) return fake.misuse("a function");
  found->loaded = true;
  return CUresult::success;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  PADLOCK_ENTER(enter_context, cuFuncGetAttribute);
  if (find_function(fake, function) == nullptr) return fake.misuse("a function");
  *value = 0;
  if (attribute == CUfunction_attribute::max_threads_per_block) *value = fake.settings.function_threads;
  if (attribute == CUfunction_attribute::num_regs) *value = 32;
  return CUresult::success;
}

namespace {

/// A launch as either of the driver's calls describes it.
CUresult launch(FakeState& fake, CUfunction function, const CUlaunchConfig& shape, void** parameters, void** extra) {
  FakeFunction* const found = find_function(fake, function);
  if (found == nullptr || found->context != FakeState::current()) return fake.misuse("a function");
  const bool shape_fits = shape.grid_x != 0 && shape.grid_x <= 2147483647U && shape.grid_y == 1 && shape.grid_z == 1 &&
                          shape.block_x != 0 && shape.block_x <= 1024 && shape.block_y == 1 && shape.block_z == 1 &&
                          shape.shared_bytes <= 49152;
  const Packed packed = unpack(extra);
  const auto expected = static_cast<std::size_t>(found->entry.parameters) * sizeof(std::uint64_t);
  if (!shape_fits || parameters != nullptr || packed.bytes != expected) return CUresult::invalid_value;
  if (shape.block_x > static_cast<unsigned>(fake.settings.function_threads)) return CUresult::launch_out_of_resources;
  const std::size_t count = packed.bytes / sizeof(std::uint64_t);

  if (!found->loaded && fake.invalidate_captures(found->context)) return CUresult::stream_capture_unsupported;
  found->loaded = true;
  FakeStream* const queue = fake.find_stream(shape.stream);
  const unsigned grid_x = shape.grid_x;
  const unsigned block_x = shape.block_x;
  if (queue == nullptr || queue->capture == CUstreamCaptureStatus::none) {
    // Without a copy of the parameters, so that a launch allocates nothing here either.
    return fake.submit(shape.stream, [&] { fake.run(found, packed.words, count, grid_x, block_x); });
  }
  const std::vector<std::uint64_t> copy(packed.words, packed.words + count);
  return fake.submit(shape.stream, [&fake, found, copy, grid_x, block_x] {
    fake.run(found, copy.data(), copy.size(), grid_x, block_x);
  });
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  PADLOCK_ENTER(enter_context, cuLaunchKernel);
  const CUlaunchConfig shape{.grid_x = grid_x,
                             .grid_y = grid_y,
                             .grid_z = grid_z,
                             .block_x = block_x,
                             .block_y = block_y,
                             .block_z = block_z,
                             .shared_bytes = shared_bytes,
                             .stream = stream};
  return launch(fake, function, shape, parameters, extra);
}

/// A kernel that may begin before the work before it has ended has to wait for it: one that does not is a race.
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  PADLOCK_ENTER(enter_context, cuLaunchKernelEx);
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const CUlaunchAttribute& attribute = config->attributes[i];
    if (attribute.id != kLaunchProgrammaticStreamSerialization) return CUresult::invalid_value;
    const FakeFunction* const found = find_function(fake, function);
    if (attribute.value[0] != 0 && found != nullptr && !found->entry.waits)
      return fake.misuse(fmt::format("kernel {}, which does not wait for the work before it", found->entry.name));
  }
  return launch(fake, function, *config, parameters, extra);
}

}  // namespace padlock::runtime::cuda
