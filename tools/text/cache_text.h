#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/text/json_value.h"

// Print parts of padlock_cache_describe's report: `keys` are members of its "keys", borrowed.
namespace padlock::tools {

using CacheKeys = std::vector<const JsonValue*>;

/// A field of a key, "target"; empty where there is none.
[[nodiscard]] std::string key_field(const JsonValue& key, std::string_view name);
/// "18 of 24 configs measured"; empty for a choice of an earlier version, which does not say it.
[[nodiscard]] std::string coverage_text(const JsonValue& choice);

/// The time of a config over that of the default: the mean over the settings in which they raced.
struct Ratio {
  double value = 1, noise = 0;
  std::string slower_in = {};  ///< a setting in which it loses by more than the noise: "warm and then read"; else empty
};
/// Of a measurement, or of a tuned region; nothing where there was no race.
[[nodiscard]] std::optional<Ratio> ratio_of(const JsonValue& measured);
/// "0.931 +- 0.004 warm, 0.962 +- 0.010 warm and then read of the default's time"; empty where there was no race.
[[nodiscard]] std::string ratios_text(const JsonValue& measured);

/// One line a key: what it is of, and how much is known.
[[nodiscard]] std::string list_text(const CacheKeys& keys);
[[nodiscard]] std::string list_json(const std::string& cache, const CacheKeys& keys);

/// Every field, choice and measurement; those that failed come last, with their verdicts.
[[nodiscard]] std::string show_text(const CacheKeys& keys);
[[nodiscard]] std::string show_json(const std::string& cache, const CacheKeys& keys);

}  // namespace padlock::tools
