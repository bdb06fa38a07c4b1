#include "support/error.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "support/messages/error_list.h"

namespace padlock {

template <class T>
ErrorParts<T>::ErrorParts() = default;
template <class T>
ErrorParts<T>::ErrorParts(std::vector<T> parts) : std::vector<T>(std::move(parts)) {}
template <class T>
ErrorParts<T>::ErrorParts(const ErrorParts& other) = default;
template <class T>
ErrorParts<T>::ErrorParts(ErrorParts&& other) noexcept = default;
template <class T>
ErrorParts<T>::~ErrorParts() = default;
template <class T>
ErrorParts<T>& ErrorParts<T>::operator=(const ErrorParts& other) = default;
template <class T>
ErrorParts<T>& ErrorParts<T>::operator=(ErrorParts&& other) noexcept = default;

template class ErrorParts<NamedValue>;
template class ErrorParts<std::string>;
template class ErrorParts<Error>;

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
  for (const Error& other : others) text += "\n" + other.to_string(file);
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

namespace {

// Errors of a text never have this code otherwise.
constexpr Code kConsequence = Code::cancelled;

}  // namespace

void ErrorList::add(Error error) {
  const auto is_there = [&](const Error& other) {
    return error.where.known() && other.where.line == error.where.line && other.where.column == error.where.column;
  };
  if (is_consequence(error) || errors_.size() > kMost || std::ranges::any_of(errors_, is_there)) return;
  std::vector<Error> others = std::move(error.others);
  error.others.clear();
  is_final_ = is_final_ || errors_.size() == kMost || error.code != Code::invalid_argument;
  errors_.push_back(std::move(error));
  for (Error& other : others) add(std::move(other));
}

std::unexpected<Error> ErrorList::take() && {
  const bool are_more = errors_.size() > kMost;
  if (are_more) errors_.pop_back();
  std::ranges::stable_sort(errors_, std::less{},
                           [](const Error& error) { return std::tuple(error.where.line, error.where.column); });
  if (are_more)
    errors_.back().context.push_back(
        fmt::format("there are more errors: the first {} that were found are shown", kMost));
  Error first = std::move(errors_.front());
  first.others.assign(std::make_move_iterator(errors_.begin() + 1), std::make_move_iterator(errors_.end()));
  return std::unexpected(std::move(first));
}

std::unexpected<Error> ErrorList::consequence() {
  return std::unexpected(Error{kConsequence, Blame::user, "this follows from an error that is listed"});
}

bool ErrorList::is_consequence(const Error& error) { return error.code == kConsequence; }

}  // namespace padlock
