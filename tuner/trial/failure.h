#pragma once

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

#include "support/error.h"
#include "tuner/cache/verdict.h"

namespace padlock::tuner {

/// Failure describes a fault of a config.
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

/// Returns the value, or the error as `verdict`; a lost device keeps its own verdict.
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

/// The same for making or loading something: too little memory on the machine has its own verdict.
template <class T>
[[nodiscard]] Judged<T> judged_making(Result<T> result, Verdict verdict) {
  const bool memory =
      !result && result.error().code == Code::resource_exhausted && result.error().blame == Blame::environment;
  return judged(std::move(result), memory ? Verdict::out_of_memory : verdict);
}

}  // namespace padlock::tuner
