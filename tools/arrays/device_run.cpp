#include "tools/arrays/device_run.h"

namespace padlock::tools {
namespace {

lib::Expected<lib::Memory> mirror(const lib::Context& context, const std::string& device, const lib::Memory& array,
                                  std::string_view role, std::string_view name) {
  auto made = context.allocate(array.bytes(), std::string(role).append(name), device);
  if (made)
    if (const lib::Status copied = made->copy_from(array); !copied) return copied.error();
  return made;
}

}  // namespace

bool is_gpu(const std::string& device) { return device.starts_with("cuda:"); }

lib::Expected<DeviceRun> DeviceRun::begin(const lib::Context& context, const lib::Call& call, const std::string& device,
                                          const std::vector<lib::Memory>& inputs,
                                          const std::vector<lib::Memory>& results) {
  DeviceRun run(call);
  run.results_ = results;
  const auto add = [&](const lib::Memory& array, std::string_view role, std::string_view name) -> lib::Expected<void*> {
    if (!is_gpu(device)) return array.data();
    PADLOCK_TRY(auto made, mirror(context, device, array, role, name));
    run.mirrored_.push_back(made);
    return made.data();
  };
  const auto input_infos = call.inputs(), result_infos = call.results();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PADLOCK_TRY(const auto pointer, add(inputs[i], "input ", input_infos[i].name));
    run.sources_.push_back(pointer);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    PADLOCK_TRY(const auto pointer, add(results[i], "result ", result_infos[i].name));
    run.targets_.push_back(pointer);
  }
  return run;
}

lib::Status DeviceRun::launch() {
  if (lib::Status launched = call_->launch(sources_.data(), sources_.size(), targets_.data(), targets_.size());
      !launched)
    return launched;
  return call_->synchronize();
}

lib::Status DeviceRun::finish() {
  if (mirrored_.empty()) return {};
  for (std::size_t i = 0; i < results_.size(); ++i)
    if (lib::Status copied = results_[i].copy_from(mirrored_[sources_.size() + i]); !copied) return copied;
  return {};
}

}  // namespace padlock::tools
