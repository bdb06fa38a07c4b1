#include "tuner/cache/prune.h"

#include <unordered_set>
#include <utility>

#include "tuner/cache/record.h"

namespace padlock::tuner {
namespace {

bool is_key_of_build(const Row& row, const KeyFields& build) {
  const auto record = row.is_key() ? record_of(row) : invalid_argument("no key");
  return record && is_of_build(std::get<KeyFields>(record->content), build);
}

}  // namespace

bool is_of_build(const KeyFields& recorded, const KeyFields& build) {
  return recorded.abi == build.abi && recorded.code == build.code && recorded.llvm == build.llvm &&
         recorded.policy == build.policy;
}

std::vector<bool> stale_rows(std::span<const Row> rows, const KeyFields& build, std::string_view before) {
  std::unordered_set<std::string_view> usable, needed;  // digests of keys
  for (const Row& row : rows)
    if (is_key_of_build(row, build)) usable.insert(row.place().key);
  std::vector<bool> stale(rows.size(), true);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!rows[i].is_key() && usable.contains(rows[i].place().key) && rows[i].date() >= before) {
      needed.insert(rows[i].place().key);
      stale[i] = false;
    }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_key() && needed.contains(rows[i].place().key)) stale[i] = false;
  return stale;
}

Pruned take_stale(RowSet set, const std::vector<bool>& stale) {
  Pruned pruned{.records = set.rows.size(), .stale = {}, .problems = std::move(set.problems)};
  for (std::size_t i = 0; i < set.rows.size(); ++i)
    if (stale[i]) pruned.stale.push_back(std::move(set.rows[i]));
  return pruned;
}

}  // namespace padlock::tuner
