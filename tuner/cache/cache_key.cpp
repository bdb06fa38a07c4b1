#include "tuner/cache/cache_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/hash.h"

namespace padlock::tuner {
namespace {

/// Writes each value behind its length, so that different lists of fields give different texts.
std::string identity(const KeyFields& fields) {
  std::string text;
  for (const KeyField& field : kKeyFields)
    if (field.field_class != FieldClass::info)
      text += fmt::format("{}={}:{};", field.name, (fields.*field.value).size(), fields.*field.value);
  return text;
}

std::optional<KeyDifference> first_difference(const KeyFields& wanted, const KeyFields& recorded, FieldClass of) {
  for (const KeyField& field : kKeyFields)
    if (field.field_class == of && wanted.*field.value != recorded.*field.value)
      return KeyDifference{of, field.name, wanted.*field.value, recorded.*field.value};
  return std::nullopt;
}

/// Returns the part of `text` from shortly before `position`: lists of CPU features have some thousand characters.
std::string around(const std::string& text, std::size_t position) {
  constexpr std::size_t kBefore = 16, kMost = 64;
  const std::size_t begin = text.size() <= kMost || position <= kBefore ? 0 : position - kBefore;
  const bool cut = text.size() - begin > kMost;
  return fmt::format("'{}{}{}'", begin > 0 ? "..." : "", text.substr(begin, kMost), cut ? "..." : "");
}

}  // namespace

std::string_view name_of(FieldClass c) {
  return c == FieldClass::must ? "must" : c == FieldClass::perf ? "perf" : "info";
}

CacheKey::CacheKey(KeyFields fields) : fields_(std::move(fields)), digest_(hash128(identity(fields_))) {}

std::string KeyDifference::to_string() const {
  const auto [a, b] = std::ranges::mismatch(wanted, recorded);
  const auto position = static_cast<std::size_t>(a - wanted.begin());
  return fmt::format("{}: wanted {}, recorded {}", field, around(wanted, position), around(recorded, position));
}

KeyMatch match(const KeyFields& wanted, const KeyFields& recorded, Match how) {
  if (auto must = first_difference(wanted, recorded, FieldClass::must)) return {false, std::move(must)};
  auto perf = first_difference(wanted, recorded, FieldClass::perf);
  return {how == Match::loose || !perf, std::move(perf)};
}

int count_must_differences(const KeyFields& wanted, const KeyFields& recorded) {
  int count = 0;
  for (const KeyField& field : kKeyFields)
    if (field.field_class == FieldClass::must && wanted.*field.value != recorded.*field.value) ++count;
  return count;
}

}  // namespace padlock::tuner
