#include <fmt/format.h>

#include <memory>

#include "support/json_writer.h"
#include "tools/commands/command.h"
#include "tools/commands/open.h"
#include "tools/commit.h"

namespace padlock::tools {
namespace {

struct VersionOptions {
  std::string json;
  bool verbose = false;
};

/// One line that a report about a fault needs.
struct Fact {
  std::string name;  // in JSON
  std::string value;
};

template <class T>
std::string text_or_reason(const lib::Expected<T>& text) {
  return text ? std::string(text->view()) : std::string("not available: ") + text.error().message();
}

void add_devices(std::vector<Fact>& facts, const lib::Context& context) {
  const auto found = context.devices();
  if (!found) return facts.push_back({"devices", std::string("not available: ") + found.error().message()});
  std::string driver = "none";
  for (const padlock_device_info& device : found->list()) {
    if (device.driver_version > 0)
      driver = fmt::format("CUDA {}.{}", device.driver_version / 1000, device.driver_version % 1000 / 10);
    facts.push_back({fmt::format("device {}", device.name), device.description});
  }
  facts.push_back({"driver", driver});
}

Outcome<std::vector<Fact>> facts_of_machine() {
  PADLOCK_TRY(const auto context, open_context());
  std::vector<Fact> facts = {{"commit", kCommit}, {"api", std::to_string(padlock_api_version())}};
  facts.push_back({"cpu", text_or_reason(context.describe_target("host"))});
  add_devices(facts, context);
  const auto cache = context.cache();
  facts.push_back({"cache", cache ? cache->path() : std::string("not available: ") + cache.error().message()});
  facts.push_back({"worker", text_or_reason(context.find_worker())});
  return facts;
}

Outcome<ExitCode> version(const VersionOptions& options) {
  std::vector<Fact> facts;
  if (options.verbose) {
    PADLOCK_TRY(facts, facts_of_machine());
  }
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "version").member("version", padlock_version());
  json.member("llvm", PADLOCK_LLVM_VERSION);
  std::string text = version_line() + "\n";
  for (const auto& [name, value] : facts) {
    json.member(name, value);
    text += fmt::format("{:<12}  {}\n", name, value);
  }
  return print(options.json, std::move(json.end_object()).take(), text);
}

}  // namespace

std::string version_line() { return fmt::format("padlock {} (LLVM {})", padlock_version(), PADLOCK_LLVM_VERSION); }

void add_version(Subcommand& app) {
  Subcommand command = app.subcommand("version", "print the version");
  const auto options = std::make_shared<VersionOptions>();  // shared: the callback outlives this function
  command.flag("--verbose", options->verbose, "what a report of a fault needs: commit, CPU, devices, cache, worker");
  command.json(options->json);
  command.examples("padlock version", "padlock version --verbose");
  command.runs([options] { return version(*options); });
}

}  // namespace padlock::tools
