#include <fmt/format.h>

#include <memory>

#include "support/json_writer.h"
#include "tools/commands/command.h"
#include "tools/commands/open.h"
#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

/// Describes this machine's target, or says why the compiler cannot be asked.
std::string host_target(const lib::Context& context) {
  const auto target = context.describe_target("host");
  return target ? std::string(target->view()) : std::string("not available: ") + target.error().message();
}

void add_gpu(JsonWriter& json, const padlock_device_info& gpu) {
  json.member("gpu", gpu.gpu_name).member("architecture", gpu.architecture);
  json.member("multiprocessors", gpu.multiprocessors).member("l2_bytes", gpu.l2_bytes);
  json.member("memory_bytes", gpu.memory_bytes).member("memory_bandwidth", gpu.memory_bandwidth);
  json.member("driver_version", gpu.driver_version);
}

Outcome<ExitCode> devices(const std::string& destination) {
  PADLOCK_TRY(const auto context, open_context());
  PADLOCK_TRY(const auto found, or_fail(ExitCode::internal, context.devices()));
  const std::string target = host_target(context);
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "devices").key("devices").begin_array();
  std::string text;
  for (const padlock_device_info& info : found.list()) {
    text += fmt::format("{:<10} {}\n", info.name, info.description);
    json.begin_object().member("name", info.name).member("available", info.available != 0);
    json.member("description", info.description);
    if (*info.gpu_name != 0) add_gpu(json, info);
    if (info.name == std::string_view("host")) {
      text += fmt::format("{:<10} target {}\n", "", target_summary(target));
      json.member("target", target);
    }
    json.end_object();
  }
  json.end_array().end_object();
  return print(destination, std::move(json).take(), text);
}

}  // namespace

void add_devices(Subcommand& app) {
  Subcommand command = app.subcommand("devices", "list where programs can run");
  const auto destination = std::make_shared<std::string>();  // shared: the callback outlives this function
  command.json(*destination);
  command.examples("padlock devices", "padlock devices --json");
  command.runs([destination] { return devices(*destination); });
}

}  // namespace padlock::tools
