#include "tuner/cache/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace padlock::tuner {
namespace {

constexpr std::size_t kMemory = 0, kUser = 1;  // indices of layers

/// Finds, among records of other keys, the one to name in a reason.
class Nearest {
 public:
  void consider(const KeyFields& wanted, const KeyFields& recorded, const KeyDifference& difference) {
    const int distance = count_must_differences(wanted, recorded);
    if (distance >= distance_) return;
    distance_ = distance;
    reason_ = fmt::format("the nearest record differs in {}", difference.to_string());
  }
  [[nodiscard]] std::string reason(const CacheKey& key) const {
    return reason_.empty() ? fmt::format("no record of the program with fingerprint {}", key.fields().program)
                           : reason_;
  }

 private:
  int distance_ = std::numeric_limits<int>::max();
  std::string reason_;
};

/// A key with records in a layer.
struct Candidate {
  std::size_t layer;
  Record key;
  std::optional<KeyDifference> difference;
};

}  // namespace

Result<std::unique_ptr<Store>> Store::open(StoreOptions options) {
  const ForkGuard inside;
  PADLOCK_CHECK(inside.status());
  std::unique_ptr<Store> store(new Store(std::move(options)));
  const Mode mode = store->options_.mode;
  if (mode != Mode::off && mode != Mode::read_write) PADLOCK_CHECK(store->ensure_open());
  return store;
}

/// Precondition: files_mutex_ is held. Errors only in Mode::require.
Status Store::ensure_open() { return std::exchange(opened_, true) ? reopen_files() : open_layers(); }

Status Store::open_layers() {
  PADLOCK_TRY(StoreFile memory, StoreFile::in_memory());
  layers_.push_back({.path = {}, .file = std::move(memory)});
  const Access access = options_.mode == Mode::read_write ? Access::write : Access::read;
  auto user = options_.user_file.empty() ? default_cache_file() : Result<std::string>(options_.user_file);
  if (!user) {
    layers_.push_back({});
    PADLOCK_CHECK(trouble_of_user(layers_.back(), user.error().message));
  } else {
    PADLOCK_CHECK(open_layer(*user, access));
  }
  for (const std::string& path : options_.shipped) PADLOCK_CHECK(open_layer(path, Access::snapshot));
  return {};
}

Status Store::open_layer(const std::string& path, Access access) {
  layers_.push_back({.path = path, .access = access, .file = {}});
  return open(layers_.back());
}

Status Store::open(Layer& layer) {
  const auto& [path, access] = std::tie(layer.path, layer.access);
  if (access == Access::write)
    if (Status made = make_cache_folder(path); !made) return trouble_of_user(layer, made.error().message);
  auto file = StoreFile::open(path, access);
  // A file that cannot be written may still be read.
  if (!file && access == Access::write && file.error().code == Code::permission_denied)
    file = StoreFile::open(path, Access::read);
  if (file) {
    layer.file = *std::move(file);
    return {};
  }
  const bool absent = file.error().code == Code::not_found && access != Access::write;
  if (absent) return {};
  return access == Access::write ? trouble_of_user(layer, file.error().message) : trouble(layer, file.error().message);
}

/// Reports trouble with a file that was to be written, and remembers it for not_kept.
Status Store::trouble_of_user(Layer& layer, const std::string& what) {
  if (options_.mode == Mode::read_write) not_kept_ = what;
  return trouble(layer, what);
}

/// Precondition: no thread holds files_mutex_. SQLite's connections cannot be carried across a fork: the child would
/// believe that it holds its parent's locks, which it does not.
void Store::close_files() {
  for (std::size_t i = kUser; i < layers_.size(); ++i) {
    if (!layers_[i].file) continue;
    layers_[i].file.reset();
    layers_[i].closed = true;
  }
}

/// Precondition: files_mutex_ is held. Errors only in Mode::require.
Status Store::reopen_files() {
  for (Layer& layer : layers_)
    if (std::exchange(layer.closed, false)) PADLOCK_CHECK(open(layer));
  return {};
}

/// Warns once per file; returns the error if the mode makes it one.
Status Store::trouble(Layer& layer, const std::string& what) {
  if (options_.mode == Mode::require) return failed_precondition(fmt::format("the cache is unusable: {}", what));
  if (!std::exchange(layer.warned, true) && options_.warn) options_.warn(fmt::format("cache: {}", what));
  return {};
}

Status Store::take(Layer& layer, RecordSet& set) {
  if (set.problems.empty()) return {};
  std::string what = set.problems.front();
  if (!layer.path.empty() && !what.starts_with(layer.path)) what = fmt::format("{}: {}", layer.path, what);
  return trouble(layer, what);
}

Result<std::shared_ptr<const Lookup>> Store::look_up(const CacheKey& key, const Legal& legal) {
  const ForkGuard inside;
  PADLOCK_CHECK(inside.status());
  {
    const std::shared_lock lock(known_mutex_);
    if (const auto found = known_.find(key.digest()); found != known_.end()) return found->second;
  }
  if (options_.mode == Mode::off)
    return std::make_shared<const Lookup>(Lookup{.choices = {}, .reason = "the cache is off"});
  const std::lock_guard files(files_mutex_);
  PADLOCK_CHECK(ensure_open());
  PADLOCK_TRY(Lookup lookup, search(key, legal));
  if (!lookup.hit() && options_.mode == Mode::require)
    return std::unexpected(Error{.code = Code::not_found,
                                 .blame = Blame::environment,
                                 .message = fmt::format("the cache has no record to use: {}", lookup.reason)});
  auto shared = std::make_shared<const Lookup>(std::move(lookup));
  if (shared->hit()) {
    const std::lock_guard known(known_mutex_);
    known_[key.digest()] = shared;
  }
  return shared;
}

Result<Lookup> Store::search(const CacheKey& key, const Legal& legal) {
  std::vector<Candidate> strict, loose;
  Nearest nearest;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].file) continue;
    RecordSet keys = layers_[i].file->keys_of(key.fields().program);
    PADLOCK_CHECK(take(layers_[i], keys));
    for (Record& record : keys.records) {
      const auto& fields = std::get<KeyFields>(record.content);
      KeyMatch matched = match(key.fields(), fields, options_.match);
      if (!matched.hit) nearest.consider(key.fields(), fields, *matched.difference);
      if (matched.hit) (matched.difference ? loose : strict).push_back({i, std::move(record), matched.difference});
    }
  }
  Lookup lookup{.choices = {}, .reason = nearest.reason(key)};
  for (const std::vector<Candidate>* candidates : {&strict, &loose})
    for (const Candidate& candidate : *candidates) {
      if (candidates == &loose && lookup.hit()) return lookup;  // never mixes the choices of two loose records
      PADLOCK_CHECK(collect(layers_[candidate.layer], candidate.key, legal, lookup.choices));
      lookup.reason = lookup.hit() ? "" : "nothing was chosen yet, or nothing that is legal here";
      if (candidate.difference) lookup.reason = candidate.difference->to_string();
    }
  return lookup;
}

Status Store::collect(Layer& layer, const Record& found, const Legal& legal, std::vector<Choice>& choices) {
  RecordSet set = layer.file->choices_of(found.program, found.key);
  PADLOCK_CHECK(take(layer, set));
  for (Record& record : set.records) {
    auto& choice = std::get<Choice>(record.content);
    const auto same_place = [&](const Choice& c) { return c.region == choice.region && c.regime == choice.regime; };
    if (std::ranges::any_of(choices, same_place)) continue;
    if (const Status usable = legal(choice); !usable) {
      RecordSet unusable{.records = {}, .problems = {"a record cannot be used: " + usable.error().message}};
      PADLOCK_CHECK(take(layer, unusable));
      continue;
    }
    choices.push_back(std::move(choice));
  }
  return {};
}

std::vector<Measurement> Store::measurements(const CacheKey& key) {
  const ForkGuard inside;
  std::vector<Measurement> measured;
  if (inside.refuses()) return measured;
  const std::lock_guard files(files_mutex_);
  if (!ensure_open()) return measured;
  std::set<Place> places;
  for (Layer& layer : layers_) {
    if (!layer.file) continue;
    RecordSet set = layer.file->measurements_of(key.fields().program, key.digest());
    // Measurements only speed up a tuning run: losing some is an error in no mode.
    [[maybe_unused]] const Status said = take(layer, set);
    for (Record& record : set.records)
      if (places.insert(place_of(record)).second) measured.push_back(std::get<Measurement>(std::move(record.content)));
  }
  return measured;
}

Status Store::add(const CacheKey& key, std::span<const Measurement> measurements) {
  std::vector<Record> records = {record_of(key)};
  for (const Measurement& measurement : measurements) records.push_back(record_of(key, measurement));
  return add(std::move(records));
}

Status Store::add(const CacheKey& key, const Choice& choice) {
  const ForkGuard inside;
  PADLOCK_CHECK(inside.status());
  const Status added = add({record_of(key), record_of(key, choice)});
  const std::lock_guard known(known_mutex_);
  known_.erase(key.digest());
  return added;
}

std::string Store::not_kept() {
  const std::lock_guard files(files_mutex_);
  return not_kept_;
}

Status Store::add(std::vector<Record> records) {
  for (const Record& record : records) PADLOCK_CHECK(validate(record));
  if (options_.mode == Mode::off) return {};
  const ForkGuard inside;
  PADLOCK_CHECK(inside.status());
  const std::lock_guard files(files_mutex_);
  PADLOCK_CHECK(ensure_open());
  if (options_.mode == Mode::read_write && layers_[kUser].file) {
    const auto written = layers_[kUser].file->put(records, Conflict::replace);
    if (written) return {};
    not_kept_ = written.error().message;
    PADLOCK_CHECK(trouble(layers_[kUser], written.error().message));
  }
  if (const auto kept = layers_[kMemory].file->put(records, Conflict::replace); !kept)
    return std::unexpected(kept.error());
  return {};
}

}  // namespace padlock::tuner
