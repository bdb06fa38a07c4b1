#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/json_value.h"

// Print parts of padlock_cache_describe's report. `keys` are members of its "keys", borrowed.
namespace padlock::tools {

using CacheKeys = std::vector<const JsonValue*>;

/// Returns a field of a key, such as "target"; empty if it is missing.
[[nodiscard]] std::string key_field(const JsonValue& key, std::string_view name);
/// Returns "18 of 24 configs measured"; empty for a record of an earlier version, which lacks the numbers.
[[nodiscard]] std::string coverage_text(const JsonValue& choice);

/// A config's time divided by the default's: the mean over the settings in which they raced.
struct Ratio {
  double value = 1, noise = 0;
  std::string slower_in = {};  ///< a setting in which it loses by more than the noise: "warm and then read"; else empty
};
/// Returns the ratio of a measurement or a tuned region; nullopt without a race.
[[nodiscard]] std::optional<Ratio> ratio_of(const JsonValue& measured);
/// Returns "0.931 +- 0.004 warm, 0.962 +- 0.010 warm and then read of the default's time"; empty without a race.
[[nodiscard]] std::string ratios_text(const JsonValue& measured);

/// Prints one line for each key: its subject, and the numbers of choices and measurements.
[[nodiscard]] std::string list_text(const CacheKeys& keys);
[[nodiscard]] std::string list_json(const std::string& cache, const CacheKeys& keys);

/// Prints every field, choice and measurement. Failed ones come last, with their verdicts.
[[nodiscard]] std::string show_text(const CacheKeys& keys);
[[nodiscard]] std::string show_json(const std::string& cache, const CacheKeys& keys);

}  // namespace padlock::tools
