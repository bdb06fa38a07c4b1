#include "tuner/cache/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/text/syntax.h"

namespace padlock::tuner {
namespace {

// Far above what tuning writes. A file with more was not written by tuning, and must cost neither memory nor time.
constexpr std::size_t kMaxText = 8192, kMaxSizes = 256, kMaxSamples = 4096;

bool is_printable(char c) { return c >= 0x20 && c <= 0x7e; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Status check_text(std::string_view what, std::string_view text, std::size_t most = kMaxText) {
  if (text.size() > most)
    return invalid_argument(fmt::format("expected {} of at most {} characters, found {}", what, most, text.size()));
  if (!std::ranges::all_of(text, is_printable))
    return invalid_argument(fmt::format("expected {} in printable ASCII", what));
  return {};
}

Status check_config(std::string_view config) {
  if (config.empty()) return invalid_argument("expected a config, found none");
  return check_text("a config", config);
}

Status check_hash(std::string_view what, std::string_view text) {
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  if (text.size() == 32 && std::ranges::all_of(text, is_hex)) return {};
  return invalid_argument(fmt::format("expected {} of 32 hexadecimal digits", what));
}

Status check_provenance(const Provenance& provenance) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  const auto fits = [](char c, char shape) { return shape == '0' ? is_digit(c) : c == shape; };
  if (!std::ranges::equal(provenance.date, kShape, fits))
    return invalid_argument("expected a date like 2026-01-31T12:00:00Z");
  return check_text("a version", provenance.version, 64);
}

Status check_coverage(const Coverage& coverage) {
  if (coverage.measured > 0 && coverage.measured <= coverage.candidates) return {};
  return invalid_argument(fmt::format("expected 1 to {} measured configs of as many candidates, found {}",
                                      coverage.candidates, coverage.measured));
}

Status check_samples(const Measurement& m) {
  if (m.verdict != Verdict::ok) {
    if (m.samples_ps.empty() && m.median_ps == 0 && m.noise_ps == 0) return {};
    return invalid_argument(fmt::format("expected no time of a config whose verdict is '{}'", name_of(m.verdict)));
  }
  if (m.samples_ps.empty() || m.samples_ps.size() > kMaxSamples)
    return invalid_argument(fmt::format("expected 1 to {} samples, found {}", kMaxSamples, m.samples_ps.size()));
  const auto [least, greatest] = std::ranges::minmax(m.samples_ps);
  if (least <= 0) return invalid_argument(fmt::format("expected samples above 0 ps, found {}", least));
  if (m.median_ps < least || m.median_ps > greatest)
    return invalid_argument(fmt::format("expected a median among its samples, found {} ps", m.median_ps));
  if (m.noise_ps < 0) return invalid_argument(fmt::format("expected noise of 0 ps or more, found {}", m.noise_ps));
  if (!m.message.empty()) return invalid_argument("expected no message of a config that is ok");
  return {};
}

Status check_ratios(const Measurement& m) {
  if (!m.ratios) return {};
  if (m.verdict != Verdict::ok) return invalid_argument("expected no ratios of a config that is not ok");
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (m.ratios->ppm.empty() || !std::ranges::equal(m.ratios->ppm, m.ratios->noise_ppm, same_name))
    return invalid_argument("expected a ratio and its noise for each setting");
  for (const auto& [setting, ppm] : m.ratios->ppm) {
    if (std::ranges::find(kSettingNames, setting) == kSettingNames.end())
      return invalid_argument(fmt::format("expected a setting, found '{}'", printable(setting)));
    if (ppm <= 0 || m.ratios->noise_ppm.at(setting) < 0)
      return invalid_argument(fmt::format("expected a ratio above 0 and noise of 0 or more, found {}", ppm));
  }
  return {};
}

Status check_sizes(const Sizes& sizes) {
  if (sizes.size() > kMaxSizes)
    return invalid_argument(fmt::format("expected at most {} sizes, found {}", kMaxSizes, sizes.size()));
  for (const auto& [name, value] : sizes)
    if (!ir::syntax::is_identifier(name)) return invalid_argument("expected a symbol's name among the sizes");
  return {};
}

Status check_content(const Record& record, const KeyFields& fields) {
  for (const KeyField& field : kKeyFields) PADLOCK_CHECK(check_text(field.name, fields.*field.value));
  if (fields.program != record.program) return invalid_argument("expected a key of the record's program");
  if (CacheKey(fields).digest() != record.key) return invalid_argument("expected a key whose digest is its own");
  return {};
}
Status check_content(const Record&, const Choice& choice) {
  PADLOCK_CHECK(check_text("a region", choice.region));
  PADLOCK_CHECK(check_config(choice.config));
  if (choice.coverage) PADLOCK_CHECK(check_coverage(*choice.coverage));
  return check_provenance(choice.provenance);
}
Status check_content(const Record&, const Measurement& measurement) {
  PADLOCK_CHECK(check_text("a region", measurement.region));
  PADLOCK_CHECK(check_config(measurement.config));
  PADLOCK_CHECK(check_sizes(measurement.sizes));
  PADLOCK_CHECK(check_text("a message", measurement.message, kMaxMessage));
  PADLOCK_CHECK(check_samples(measurement));
  PADLOCK_CHECK(check_ratios(measurement));
  return check_provenance(measurement.provenance);
}

const std::string& date_of(const KeyFields& fields) { return fields.date; }
const std::string& date_of(const Choice& choice) { return choice.provenance.date; }
const std::string& date_of(const Measurement& measurement) { return measurement.provenance.date; }

void add_place(Place&, const KeyFields&) {}
void add_place(Place& place, const Choice& choice) {
  place.region = choice.region;
  place.sizes = state_text({}, choice.regime);
}
void add_place(Place& place, const Measurement& measurement) {
  place.region = measurement.region;
  place.config = measurement.config;
  place.sizes = state_text(measurement.sizes, measurement.regime);
}

std::strong_ordering compare(const KeyFields&, const KeyFields&) { return std::strong_ordering::equal; }
std::strong_ordering compare(const Choice& a, const Choice& b) {
  if (const auto order = a.region <=> b.region; order != 0) return order;
  return state_text({}, a.regime) <=> state_text({}, b.regime);
}
std::strong_ordering compare(const Measurement& a, const Measurement& b) {
  if (const auto order = std::tie(a.region, a.config) <=> std::tie(b.region, b.config); order != 0) return order;
  if (a.sizes == b.sizes && a.regime == b.regime) return std::strong_ordering::equal;
  return state_text(a.sizes, a.regime) <=> state_text(b.sizes, b.regime);
}

}  // namespace

Result<Verdict> verdict_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kVerdictNames, name);
  if (found != kVerdictNames.end()) return static_cast<Verdict>(found - kVerdictNames.begin());
  return invalid_argument(fmt::format("expected a verdict, found '{}'", printable(name)));
}

std::string to_string(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) {
    if (!text.empty()) text += ',';
    const fmt::format_int digits(value);
    text.append(name).append("=").append(digits.data(), digits.size());
  }
  return text;
}

std::string state_text(const Sizes& sizes, std::optional<Regime> regime) {
  std::string text = to_string(sizes);
  if (!regime) return text;
  if (!text.empty()) text += ' ';
  return text.append(name_of(*regime));
}

Record record_of(const CacheKey& key) { return {key.fields().program, key.digest(), key.fields()}; }
Record record_of(const CacheKey& key, Choice choice) { return {key.fields().program, key.digest(), std::move(choice)}; }
Record record_of(const CacheKey& key, Measurement measurement) {
  return {key.fields().program, key.digest(), std::move(measurement)};
}

const std::string& date_of(const Record& record) {
  return std::visit([](const auto& content) -> const std::string& { return date_of(content); }, record.content);
}

Place place_of(const Record& record) {
  Place place{.program = record.program,
              .kind = static_cast<int>(record.content.index()),
              .key = record.key,
              .region = {},
              .config = {},
              .sizes = {}};
  std::visit([&](const auto& content) { add_place(place, content); }, record.content);
  return place;
}

std::strong_ordering compare_places(const Record& a, const Record& b) {
  const auto kind_of = [](const Record& record) { return record.content.index(); };
  if (const auto order = a.program <=> b.program; order != 0) return order;
  if (const auto order = kind_of(a) <=> kind_of(b); order != 0) return order;
  if (const auto order = a.key <=> b.key; order != 0) return order;
  return std::visit(
      [&b]<class Content>(const Content& content) { return compare(content, std::get<Content>(b.content)); },
      a.content);
}

Status validate(const Record& record) {
  PADLOCK_CHECK(check_hash("a program's fingerprint", record.program));
  PADLOCK_CHECK(check_hash("a key's digest", record.key));
  return std::visit([&](const auto& content) { return check_content(record, content); }, record.content);
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out(text.substr(0, most));
  std::ranges::replace_if(out, [](char c) { return !is_printable(c); }, '?');
  return out;
}

}  // namespace padlock::tuner
