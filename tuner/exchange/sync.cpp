#include "tuner/exchange/sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "support/hash.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

constexpr int kMostListings = 100;

/// Adds a problem that is not the last one: once a server is lost, every call says the same.
void add_new(std::vector<std::string>& problems, std::string problem) {
  if (problems.empty() || problems.back() != problem) problems.push_back(std::move(problem));
}

/// Gathers the records of an exchange, as far as they can be read.
class Gathering {
 public:
  explicit Gathering(CacheExchange& exchange) : exchange_(exchange) {}

  /// Writers remove an export once another that holds its records is there: where one is gone, that one is looked for.
  Status gather() {
    bool again = true;
    for (int listings = 0; again && listings < kMostListings; ++listings) {
      again = false;
      PADLOCK_TRY(const std::vector<std::string> names, exchange_.names());
      for (const std::string& name : names)
        if (seen_.insert(name).second) again |= !take(name);
    }
    return {};
  }

  std::vector<Record> records;
  std::set<std::string> taken;  ///< names of the exports that they are from
  std::vector<std::string> problems;

 private:
  /// Returns false if it is gone.
  bool take(const std::string& name) {
    const auto text = exchange_.read(name);
    if (!text && text.error().code == Code::not_found) return false;
    auto found = text ? records_of(name, *text) : std::unexpected(text.error());
    if (!found) {
      add_new(problems, std::move(found).error().message);
      return true;
    }
    if (records.empty())
      records = *std::move(found);
    else
      std::ranges::move(*found, std::back_inserter(records));
    taken.insert(name);
    return true;
  }

  Result<std::vector<Record>> records_of(const std::string& name, const std::string& text) const {
    RecordSet set;
    if (hash128(text) != name)
      set.problems.emplace_back("expected an export that its name is the hash of");
    else
      set = parse_lines(text);
    if (set.problems.empty()) return std::move(set.records);
    return invalid_argument(fmt::format("{}: {}; nothing is taken", exchange_.title(name), set.problems.front()));
  }

  CacheExchange& exchange_;  // borrowed
  std::set<std::string> seen_;
};

/// The records of two caches together, by place.
struct Union {
  std::vector<Record> incoming;    ///< what the first lacks, or has earlier
  std::vector<const Record*> all;  ///< borrowed, in the order of their places
};

Union unite(const std::vector<Record>& own, std::vector<Record> others) {
  Union both;
  both.incoming.reserve(others.size());  // so that nothing moves
  both.all.reserve(own.size() + others.size());
  auto mine = own.begin();
  for (Record& other : others) {
    for (; mine != own.end() && compare_places(*mine, other) < 0; ++mine) both.all.push_back(&*mine);
    const bool met = mine != own.end() && compare_places(*mine, other) == 0;
    if (met && !supersedes(other, *mine)) continue;
    both.all.push_back(&both.incoming.emplace_back(std::move(other)));
    if (met) ++mine;
  }
  for (; mine != own.end(); ++mine) both.all.push_back(&*mine);
  return both;
}

/// Leaves an export of `records` and removes those that it was made of.
Status leave(CacheExchange& exchange, std::span<const Record* const> records, const std::set<std::string>& taken) {
  if (records.empty()) return {};
  const std::string text = sorted_lines(records), own = hash128(text);
  if (!taken.contains(own)) PADLOCK_CHECK(exchange.write(own, text));
  for (const std::string& name : taken)
    if (name != own) exchange.remove(name);
  return {};
}

}  // namespace

Result<Synced> sync(StoreFile& file, CacheExchange& exchange) {
  RecordSet own = file.all();
  Gathering found(exchange);
  const Status reached = found.gather();
  own.records = merge(std::move(own.records));  // of a damaged file they may be in any order
  // All of what is taken is in `both`, whatever becomes of the file meanwhile.
  const Union both = unite(own.records, merge(std::move(found.records)));
  Synced done{.problems = std::move(own.problems)};
  PADLOCK_TRY(done.written, file.put(both.incoming, Conflict::keep_later));
  std::ranges::move(found.problems, std::back_inserter(done.problems));
  const Status left = reached ? leave(exchange, both.all, found.taken) : reached;
  if (!left) add_new(done.problems, left.error().message);
  return done;
}

}  // namespace padlock::tuner
