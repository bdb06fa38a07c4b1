#include "tools/failure.h"

#include <cstdio>
#include <string_view>

#include "support/json_writer.h"

namespace padlock::tools {
namespace {

ExitCode code_for(ExitCode code, bool lost, bool internal) {
  if (internal) return ExitCode::internal;
  return lost ? ExitCode::unavailable : code;
}

const char* status_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage:
      return "INVALID_ARGUMENT";
    case ExitCode::file:
    case ExitCode::unavailable:
      return "UNAVAILABLE";
    case ExitCode::mismatch:
    case ExitCode::differs:
    case ExitCode::cache:
      return "FAILED_PRECONDITION";
    case ExitCode::no_config:
      return "NOT_FOUND";
    case ExitCode::interrupted:
      return "CANCELLED";
    case ExitCode::ok:
    case ExitCode::internal:
      break;
  }
  return "INTERNAL";
}

/// `own` is the error's text without the other errors'.
FailureItem item_of(const lib::Error& error, std::string_view own, const std::string& file) {
  const std::string shown = file == "-" ? "<stdin>" : file;
  const std::string head = file.empty() ? "" : shown + (error.line() > 0 ? ":" : ": ");
  return {.text = head + std::string(own),
          .status = padlock_status_name(error.status()),
          .message = error.message(),
          .file = shown,
          .line = error.line(),
          .column = error.column(),
          .axis = error.axis(),
          .expression = error.expression(),
          .values = error.values()};
}

Failure failure_of(ExitCode code, const lib::Error& error, const std::string& file) {
  const std::vector<lib::Error> others = error.others();
  std::string_view own = error.text();
  for (const lib::Error& other : others) own.remove_suffix(std::string_view(other.text()).size() + 1);
  Failure failure{.code = code, .errors = {item_of(error, own, file)}};
  for (const lib::Error& other : others) failure.errors.push_back(item_of(other, other.text(), file));
  return failure;
}

}  // namespace

void say(const std::string& text) { static_cast<void>(std::fputs(text.c_str(), stderr)); }

Failure failure_of(ExitCode code, std::string text) {
  FailureItem item{.text = text, .status = status_of(code), .message = std::move(text)};
  return {.code = code, .errors = {std::move(item)}};
}

std::string to_json(const Failure& failure, const std::string& command) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", command);
  json.member("exit_code", static_cast<int>(failure.code)).key("errors").begin_array();
  for (const FailureItem& error : failure.errors) {
    json.begin_object().member("status", error.status).member("message", error.message);
    if (!error.file.empty()) json.member("file", error.file);
    if (error.line > 0) json.member("line", error.line).member("column", error.column);
    if (error.axis >= 0) json.member("axis", error.axis);
    if (!error.expression.empty()) json.member("expression", error.expression);
    if (!error.values.empty()) {
      json.key("values").begin_object();
      for (const auto& [name, value] : error.values) json.member(name, value);
      json.end_object();
    }
    json.end_object();
  }
  return std::move(json.end_array().end_object()).take();
}

std::unexpected<Failure> fail(ExitCode code, std::string text) {
  return std::unexpected(failure_of(code, std::move(text)));
}

std::unexpected<Failure> fail(ExitCode code, const lib::Error& error, const std::string& file) {
  const bool lost = error.status() == PADLOCK_ABORTED, internal = error.blame() == PADLOCK_BLAME_LIBRARY;
  return std::unexpected(failure_of(code_for(code, lost, internal), error, file));
}

std::unexpected<Failure> fail(ExitCode code, const Error& error, const std::string& file) {
  Failure failure =
      failure_of(code_for(code, error.code == Code::aborted, error.blame == Blame::internal), error.to_string(file));
  failure.errors[0].status = name_of(error.code);
  return std::unexpected(std::move(failure));
}

std::unexpected<Failure> compile_failure(const lib::Error& error, const std::string& file) {
  switch (error.status()) {
    case PADLOCK_INVALID_ARGUMENT:
      return fail(ExitCode::usage, error);
    case PADLOCK_UNAVAILABLE:
      return fail(ExitCode::unavailable, error);
    case PADLOCK_FAILED_PRECONDITION:
      return fail(ExitCode::mismatch, error, file);
    case PADLOCK_NOT_FOUND:
      return fail(ExitCode::cache, error);  // the cache was required and had nothing
    case PADLOCK_RESOURCE_EXHAUSTED:
      // The blame tells a lack of memory (for loading the code) from a program beyond the limits.
      return error.blame() == PADLOCK_BLAME_ENVIRONMENT ? fail(ExitCode::mismatch, error)
                                                        : fail(ExitCode::file, error, file);
    default:
      return fail(ExitCode::internal, error, file);
  }
}

}  // namespace padlock::tools
