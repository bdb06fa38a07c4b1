#include "support/error.h"

#include <array>

#include <fmt/format.h>

namespace padlock {

const char* name_of(Code code) {
  static constexpr std::array kNames = {
      "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",   "NOT_FOUND",
      "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
      "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",         "DATA_LOSS",
      "UNAUTHENTICATED"};
  return kNames.at(static_cast<std::size_t>(code));
}

std::string Error::to_string(const std::string& file) const {
  std::string text;
  if (!file.empty()) text += file + ":";
  if (where.known()) text += fmt::format("{}:{}:", where.line, where.column);
  if (!text.empty()) text += " ";
  text += message;
  if (where.known() && !where.source_line.empty()) {
    // The caret's indent repeats the line's tabs, so that it stands under the column on any tab width.
    std::string indent = where.source_line.substr(0, where.column - 1);
    for (char& c : indent)
      if (c != '\t') c = ' ';
    text += fmt::format("\n  {}\n  {}^", where.source_line, indent);
  }
  for (const std::string& note : context) text += "\n  " + note;
  return text;
}

namespace {
std::unexpected<Error> make(Code code, Blame blame, std::string message, SourceSpan where = {}) {
  return std::unexpected(Error{code, blame, std::move(message), std::move(where), {}});
}
}  // namespace

std::unexpected<Error> invalid_argument(std::string message, SourceSpan where) {
  return make(Code::invalid_argument, Blame::user, std::move(message), std::move(where));
}
std::unexpected<Error> failed_precondition(std::string message) {
  return make(Code::failed_precondition, Blame::user, std::move(message));
}
std::unexpected<Error> resource_exhausted(std::string message) {
  return make(Code::resource_exhausted, Blame::environment, std::move(message));
}
std::unexpected<Error> beyond_limits(std::string message) {
  return make(Code::resource_exhausted, Blame::user, std::move(message));
}
std::unexpected<Error> unavailable(std::string message) {
  return make(Code::unavailable, Blame::environment, std::move(message));
}
std::unexpected<Error> device_lost(std::string message) {
  return make(Code::aborted, Blame::environment, std::move(message));
}
std::unexpected<Error> internal_error(std::string message) {
  return make(Code::internal, Blame::internal, std::move(message));
}

}  // namespace padlock
