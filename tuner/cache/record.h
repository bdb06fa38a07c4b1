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

// Records hold what tuning learns, as data: of a key, which configs were tried and how each went, and which one serves
// which sizes.
namespace padlock::tuner {

[[nodiscard]] Result<Verdict> verdict_from_name(std::string_view name);

/// Names the run that a result comes from.
struct Provenance {
  std::uint64_t seed = 0;
  std::string date;     ///< UTC, "2026-01-31T12:00:00Z"
  std::string version;  ///< Padlock's

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// Values of a program's symbols, by name.
using Sizes = std::map<std::string, std::int64_t>;
[[nodiscard]] std::string to_string(const Sizes& sizes);  ///< "B=4,S=1024"

/// Times of a config over those of the default, from samples taken in turn, by the names of settings (name_of). They
/// decide a search.
struct Ratios {
  std::map<std::string, std::int64_t> ppm;        ///< medians, in millionths
  std::map<std::string, std::int64_t> noise_ppm;  ///< half the width of each one's confidence interval

  friend bool operator==(const Ratios&, const Ratios&) = default;
};

/// One config, tried once at one binding for one region of sizes.
struct Measurement {
  std::string region;  ///< as Choice::region
  std::string config;
  Sizes sizes;
  Verdict verdict = Verdict::ok;
  std::string message = {};  ///< of a failure, for people
  std::vector<std::int64_t> samples_ps =
      {};                      ///< picoseconds of one launch each, in the order taken; of ok at least one
  std::int64_t median_ps = 0;  ///< of ok: between the least and the greatest sample; else 0
  std::int64_t noise_ps = 0;   ///< half the width of the median's confidence interval
  Provenance provenance = {};
  std::optional<Regime> regime = {};  ///< as Choice::regime; the samples are of its first setting
  std::optional<Ratios> ratios = {};  ///< of a config that raced with the default

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Coverage says how much of a search a choice rests on.
struct Coverage {
  std::int64_t measured = 0;    ///< configs, failures among them; at least one
  std::int64_t candidates = 0;  ///< configs that the search measures in time enough

  friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// The config for a region of sizes: guards over the program's symbols, "S >= 1024, S mod 4 == 0" (see choice.h); empty
/// means all sizes.
struct Choice {
  std::string region;
  std::string config;
  Provenance provenance;
  std::optional<Coverage> coverage = {};  ///< records of earlier versions do not say it
  std::optional<Regime> regime = {};      ///< absent in records of earlier versions: they are cold

  friend bool operator==(const Choice&, const Choice&) = default;
};

template <class T, class U>
concept ConstOrNot = std::same_as<std::remove_const_t<T>, U>;

// Each member under the name that it has as text, in the order of these: one list for all who write and read it.

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

/// Record is what a cache holds a number of: a key, or what was learnt under one.
struct Record {
  std::string program;  ///< KeyFields::program
  std::string key;      ///< CacheKey::digest()
  std::variant<KeyFields, Choice, Measurement> content;

  friend bool operator==(const Record&, const Record&) = default;
};

[[nodiscard]] Record record_of(const CacheKey& key);
[[nodiscard]] Record record_of(const CacheKey& key, Choice choice);
[[nodiscard]] Record record_of(const CacheKey& key, Measurement measurement);

/// Returns when it was made: a key, when it was first seen.
[[nodiscard]] const std::string& date_of(const Record& record);

/// Says at which sizes and in which regime something was measured: "B=4,S=1024 warm". Either may be missing.
[[nodiscard]] std::string state_text(const Sizes& sizes, std::optional<Regime> regime);

/// Place says what a record is about: a cache holds one record a place. Also the order of an export.
struct Place {
  std::string program;
  int kind = 0;  ///< index of Record::content
  std::string key;
  std::string region;  ///< empty for a key
  std::string config;  ///< of a measurement
  std::string sizes;   ///< of a measurement; of both also the regime, where the record says one

  friend auto operator<=>(const Place&, const Place&) = default;
};
[[nodiscard]] Place place_of(const Record& record);
/// Compares the places of two records, without making them.
[[nodiscard]] std::strong_ordering compare_places(const Record& a, const Record& b);

/// Checks that every value is one that a cache may hold: lengths, ranges, printable ASCII, dates; a key whose digest is
/// its own. Error: invalid_argument, naming the value.
[[nodiscard]] Status validate(const Record& record);

/// The text with what is not printable ASCII replaced by '?', cut where it is longer than `most`: for messages and
/// names from elsewhere.
inline constexpr std::size_t kMaxMessage = 500;
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = kMaxMessage);

}  // namespace padlock::tuner
