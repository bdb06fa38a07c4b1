#include "bench/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace padlock::bench {

std::string Entry::name() const {
  std::string text = engine;
  for (const std::string& part : {op, dtype})
    if (!part.empty()) text += " " + part;
  text += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
  return variant.empty() ? text : text + ", " + variant;
}

void Entries::add(const Entry& entry, std::function<void()> run) {
  contestants_.push_back({.name = entry.name(), .run = std::move(run)});
  entries_.push_back(entry);
}

void Entries::add_remote(const Entry& entry, std::function<std::optional<double>(int)> time_ms, const Entry& ours) {
  contestants_.push_back({.name = entry.name(), .run = {}, .time_ms = std::move(time_ms), .rival = ours.name()});
  entries_.push_back(entry);
}

const Entry* Entries::find(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace padlock::bench
