#include "tuner/exchange/sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/hash.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

constexpr int kMostListings = 100;

/// Adds a problem unless it repeats the last one: after a server is lost, every call reports the same problem.
void add_new(std::vector<std::string>& problems, std::string problem) {
  if (problems.empty() || problems.back() != problem) problems.push_back(std::move(problem));
}

/// Holds an export's text with an index of its lines. Caches that meet often share nearly all lines, which then need no
/// parsing.
class KnownText {
 public:
  explicit KnownText(std::string text) : text_(std::move(text)), name_(hash128(text_)) {}
  KnownText(const KnownText&) = delete;
  KnownText& operator=(const KnownText&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns the lines of another text that are not in this one.
  [[nodiscard]] std::string unknown_of(std::string_view other) {
    if (lines_.empty()) {  // built on the first question, which often never comes
      lines_.reserve(static_cast<std::size_t>(std::ranges::count(text_, '\n')));
      for (const std::string_view line : split_lines(text_)) lines_.insert(line);
    }
    std::string unknown;
    for (const std::string_view line : split_lines(other))
      if (!lines_.contains(line)) unknown.append(line) += '\n';
    return unknown;
  }

 private:
  struct Hash {
    std::size_t operator()(std::string_view line) const { return checksum64(line); }
  };
  const std::string text_, name_;
  std::unordered_set<std::string_view, Hash> lines_;
};

/// Gathers the readable records of an exchange that are in no known line.
class Gathering {
 public:
  Gathering(CacheExchange& exchange, KnownText& known) : exchange_(exchange), known_(known) {}

  /// Writers remove an export after another one with its records is there. If an export is gone, looks for that other
  /// one.
  Status gather(Result<std::vector<std::string>> names) {
    for (int listings = 1;; ++listings) {
      if (!names) return std::unexpected(names.error());
      bool again = false;
      for (const std::string& name : *names)
        if (seen_.insert(name).second) again |= !take(name);
      if (!again || listings == kMostListings) return {};
      names = exchange_.names();
    }
  }

  std::vector<Row> rows;
  std::set<std::string> taken;  ///< names of the exports that they come from
  std::int64_t parsed = 0;      ///< lines
  std::vector<std::string> problems;

 private:
  /// Returns false if the export is gone.
  bool take(const std::string& name) {
    const auto text = exchange_.read(name);
    if (!text && text.error().code == Code::not_found) return false;
    auto found = text ? rows_of(name, *text) : std::unexpected(text.error());
    if (!found) {
      add_new(problems, std::move(found).error().message);
      return true;
    }
    if (rows.empty())
      rows = *std::move(found);
    else
      std::ranges::move(*found, std::back_inserter(rows));
    taken.insert(name);
    return true;
  }

  Result<std::vector<Row>> rows_of(const std::string& name, const std::string& text) {
    RowSet set;
    if (hash128(text) != name)
      set.problems.emplace_back("expected an export that its name is the hash of");
    else if (name != known_.name())
      set = parse_unknown(text);
    if (set.problems.empty()) return std::move(set.rows);
    return invalid_argument(fmt::format("{}: {}; nothing is taken", exchange_.title(name), set.problems.front()));
  }

  RowSet parse_unknown(const std::string& text) {
    const bool all = known_.text().empty();
    const std::string some = all ? std::string() : known_.unknown_of(text);
    const std::string& unknown = all ? text : some;
    parsed += std::ranges::count(unknown, '\n');
    RowSet set = parse_rows(unknown);
    if (!set.problems.empty()) set = parse_rows(text);  // finds the export's line of the problem
    return set;
  }

  CacheExchange& exchange_;  // borrowed, like the next member
  KnownText& known_;
  std::set<std::string> seen_;
};

/// The rows of two caches together, by place.
struct Union {
  std::vector<Row> incoming;    ///< rows that the first lacks, or has in an older form
  std::vector<const Row*> all;  ///< borrowed, in the order of their places
};

Union unite(const std::vector<Row>& own, std::vector<Row> others) {
  Union both;
  both.incoming.reserve(others.size());  // so that no row moves
  both.all.reserve(own.size() + others.size());
  auto mine = own.begin();
  for (Row& other : others) {
    for (; mine != own.end() && mine->place() < other.place(); ++mine) both.all.push_back(&*mine);
    const bool met = mine != own.end() && mine->place() == other.place();
    if (met && !supersedes(other, *mine)) continue;
    both.all.push_back(&both.incoming.emplace_back(std::move(other)));
    if (met) ++mine;
  }
  for (; mine != own.end(); ++mine) both.all.push_back(&*mine);
  return both;
}

/// Writes an export of this text and removes the exports that it contains.
Status leave(CacheExchange& exchange, const std::string& own, const std::string& text,
             const std::set<std::string>& taken) {
  if (text.empty()) return {};
  if (!taken.contains(own)) PADLOCK_CHECK(exchange.write(own, text));
  for (const std::string& name : taken)
    if (name != own) exchange.remove(name);
  return {};
}

/// Returns whether the only export equals the file to the byte: then there is nothing to do.
bool is_met(StoreFile& file, CacheExchange& exchange, const Result<std::vector<std::string>>& names) {
  if (!names || names->size() != 1) return false;
  const auto lines = file.unchecked_lines();
  if (!lines || lines->empty() || hash128(*lines) != names->front()) return false;
  return exchange.read(names->front()) == *lines;
}

}  // namespace

Result<Synced> sync(StoreFile& file, CacheExchange& exchange) {
  auto names = exchange.names();
  if (is_met(file, exchange, names)) return Synced{};
  RowSet own = file.rows();
  own.rows = merge(std::move(own.rows));  // a damaged file may have them in any order
  KnownText known(lines_of(own.rows));
  Gathering found(exchange, known);
  const Status reached = found.gather(std::move(names));
  // `both` holds everything taken, whatever happens to the file meanwhile.
  const Union both = unite(own.rows, merge(std::move(found.rows)));
  Synced done{.parsed = found.parsed, .problems = std::move(own.problems)};
  PADLOCK_TRY(done.written, file.put(both.incoming, Conflict::keep_later));
  std::ranges::move(found.problems, std::back_inserter(done.problems));
  const auto left = [&]() -> Status {
    if (!reached) return reached;
    if (both.incoming.empty()) return leave(exchange, known.name(), known.text(), found.taken);
    const std::string text = lines_of(both.all);
    return leave(exchange, hash128(text), text, found.taken);
  }();
  if (!left) add_new(done.problems, left.error().message);
  return done;
}

}  // namespace padlock::tuner
