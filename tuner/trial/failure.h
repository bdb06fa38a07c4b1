#pragma once

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

#include "support/error.h"
#include "tuner/cache/verdict.h"

namespace padlock::tuner {

/// Failure says what is wrong with a config.
struct Failure {
  Verdict verdict = Verdict::run;
  std::string message = {};
  bool device_lost = false;
};

template <class T>
using Judged = std::expected<T, Failure>;

[[nodiscard]] inline std::unexpected<Failure> failed(Verdict verdict, std::string message) {
  return std::unexpected(Failure{.verdict = verdict, .message = std::move(message)});
}

/// The value, or the error as `verdict`, except that a lost device is one whatever was being done.
template <class T>
[[nodiscard]] Judged<T> judged(Result<T> result, Verdict verdict) {
  if (result) {
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::move(result);
    }
  }
  const bool lost = is_device_lost(result.error());
  return std::unexpected(Failure{
      .verdict = lost ? Verdict::device_lost : verdict, .message = result.error().to_string(), .device_lost = lost});
}

/// The same of what makes or loads something: where the machine's memory does not suffice, that is the verdict.
template <class T>
[[nodiscard]] Judged<T> judged_making(Result<T> result, Verdict verdict) {
  const bool memory =
      !result && result.error().code == Code::resource_exhausted && result.error().blame == Blame::environment;
  return judged(std::move(result), memory ? Verdict::out_of_memory : verdict);
}

}  // namespace padlock::tuner
