#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "support/error.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/regime.h"
#include "tuner/cache/verdict.h"

// The records of tuning's results: for a key, the tried configs and their outcomes, and the chosen config for each
// region of sizes.
namespace padlock::tuner {

[[nodiscard]] Result<Verdict> verdict_from_name(std::string_view name);

/// Names the run that produced a result.
struct Provenance {
  std::uint64_t seed = 0;
  std::string date;     ///< UTC, "2026-01-31T12:00:00Z"
  std::string version;  ///< Padlock's

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Values of a program's symbols, by name.
using Sizes = std::map<std::string, std::int64_t>;
[[nodiscard]] std::string to_string(const Sizes& sizes);  ///< "B=4,S=1024"

/// Times of a config divided by those of the default, from samples taken in turn, by setting (name_of). They decide a
/// search.
struct Ratios {
  std::map<std::string, std::int64_t> ppm;        ///< medians, in millionths
  std::map<std::string, std::int64_t> noise_ppm;  ///< half the width of each median's confidence interval

  friend bool operator==(const Ratios&, const Ratios&) = default;
};

/// One config, tried once at one binding for one region of sizes.
struct Measurement {
  std::string region;  ///< as Choice::region
  std::string config;
  Sizes sizes;
  Verdict verdict = Verdict::ok;
  std::string message = {};                   ///< of a failure, for people to read
  std::vector<std::int64_t> samples_ps = {};  ///< picoseconds per launch, in the order taken; at least one if ok
  std::int64_t median_ps = 0;                 ///< if ok: between the least and the greatest sample; else 0
  std::int64_t noise_ps = 0;                  ///< half the width of the median's confidence interval
  Provenance provenance = {};
  std::optional<Regime> regime = {};  ///< as Choice::regime; the samples are of the regime's first setting
  std::optional<Ratios> ratios = {};  ///< set if the config raced with the default

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Coverage says how much of a search supports a choice.
struct Coverage {
  std::int64_t measured = 0;    ///< configs, including failures; at least one
  std::int64_t candidates = 0;  ///< configs that the search would measure, given time

  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// The config for a region of sizes: guards over the program's symbols, "S >= 1024, S mod 4 == 0" (see choice.h); empty
/// means all sizes.
struct Choice {
  std::string region;
  std::string config;
  Provenance provenance;
  std::optional<Coverage> coverage = {};  ///< absent in records of earlier versions
  std::optional<Regime> regime = {};      ///< absent in records of earlier versions: they are cold

  friend bool operator==(const Choice&, const Choice&) = default;
};

template <class T, class U>
concept ConstOrNot = std::same_as<std::remove_const_t<T>, U>;

// Each member with its name in the text, in the order of the names: one list for all readers and writers.

template <ConstOrNot<Provenance> T, class Visit>
void visit_members(T& data, const Visit& visit) {
  visit("date", data.date);
  visit("seed", data.seed);
  visit("version", data.version);
}
template <ConstOrNot<Coverage> T, class Visit>
void visit_members(T& data, const Visit& visit) {
  visit("candidates", data.candidates);
  visit("measured", data.measured);
}
template <ConstOrNot<Ratios> T, class Visit>
void visit_members(T& data, const Visit& visit) {
  visit("noise_ppm", data.noise_ppm);
  visit("ppm", data.ppm);
}
template <ConstOrNot<Choice> T, class Visit>
void visit_members(T& data, const Visit& visit) {
  visit("config", data.config);
  visit("coverage", data.coverage);
  visit("provenance", data.provenance);
  visit("regime", data.regime);
  visit("region", data.region);
}
template <ConstOrNot<Measurement> T, class Visit>
void visit_members(T& data, const Visit& visit) {
  visit("config", data.config);
  visit("median_ps", data.median_ps);
  visit("message", data.message);
  visit("noise_ps", data.noise_ps);
  visit("provenance", data.provenance);
  visit("ratios", data.ratios);
  visit("regime", data.regime);
  visit("region", data.region);
  visit("samples_ps", data.samples_ps);
  visit("sizes", data.sizes);
  visit("verdict", data.verdict);
}

/// A cache holds Records: a key, or something learnt under a key.
struct Record {
  std::string program;  ///< KeyFields::program
  std::string key;      ///< CacheKey::digest()
  std::variant<KeyFields, Choice, Measurement> content;

  friend bool operator==(const Record&, const Record&) = default;
};

[[nodiscard]] Record record_of(const CacheKey& key);
[[nodiscard]] Record record_of(const CacheKey& key, Choice choice);
[[nodiscard]] Record record_of(const CacheKey& key, Measurement measurement);

/// Returns the date of a record; of a key, when it was first seen.
[[nodiscard]] const std::string& date_of(const Record& record);

/// Returns sizes and regime of a measurement as text: "B=4,S=1024 warm". Either may be missing.
[[nodiscard]] std::string state_text(const Sizes& sizes, std::optional<Regime> regime);

/// Place identifies the subject of a record: a cache holds one record per place. Places also order an export.
struct Place {
  std::string program;
  int kind = 0;  ///< index of Record::content
  std::string key;
  std::string region;  ///< the region of a choice or measurement; empty for a key
  std::string config;  ///< set for a measurement
  std::string sizes;   ///< set for a measurement; with the regime of a choice or measurement, if it is recorded

  friend auto operator<=>(const Place&, const Place&) = default;
};
[[nodiscard]] Place place_of(const Record& record);
/// Compares the places of two records, without making the places.
[[nodiscard]] std::strong_ordering compare_places(const Record& a, const Record& b);

/// Checks that a cache may hold every value: lengths, ranges, printable ASCII, dates; a key's digest must be its own.
/// Error: invalid_argument, naming the value.
[[nodiscard]] Status validate(const Record& record);

/// Replaces characters outside printable ASCII by '?' and cuts text longer than `most`: for messages and foreign names.
inline constexpr std::size_t kMaxMessage = 500;
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = kMaxMessage);

}  // namespace padlock::tuner
