#include "session/launch/pack_json.h"

#include <utility>

#include "support/json_writer.h"

namespace padlock::session {
namespace {

void add_target(JsonWriter& json, const runtime::PackTarget& target) {
  json.begin_object().member("name", target.name).member("description", target.description);
  json.member("features", target.features).member("reason", target.reason);
  json.key("codes").begin_array();
  for (const runtime::PackConfig& code : target.codes)
    json.begin_object()
        .member("config", code.config)
        .member("code_bytes", code.code.size())
        .member("cubin_bytes", code.cubin.size())
        .end_object();
  json.end_array().key("choices").begin_array();
  for (const runtime::PackChoice& choice : target.choices)
    json.begin_object().member("region", choice.region).member("config", choice.config).end_object();
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const runtime::PackContents& contents) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "pack").member("build", contents.build);
  json.key("programs").begin_array();
  for (const runtime::PackProgram& program : contents.programs) {
    json.begin_object().member("name", program.name).member("fingerprint", program.fingerprint);
    json.member("text", program.text).key("targets").begin_array();
    for (const runtime::PackTarget& target : program.targets) add_target(json, target);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return std::move(json).take();
}

}  // namespace padlock::session
