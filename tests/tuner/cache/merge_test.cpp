#include "tuner/cache/merge.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tuner/cache/samples.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

Record chosen(const std::string& region, const std::string& config, const std::string& date) {
  Choice choice = testing::choice(region, config);
  choice.provenance.date = date;
  return record_of(testing::key(), choice);
}

const Record kOld = chosen("", "unroll=1", "2026-01-01T00:00:00Z");
const Record kNew = chosen("", "unroll=2", "2026-01-02T00:00:00Z");
const Record kSameDate = chosen("", "unroll=4", "2026-01-02T00:00:00Z");
const Record kOther = chosen("S >= 8", "unroll=1", "2026-01-01T00:00:00Z");

TEST_CASE("of one place the later record stays, whatever the order") {
  CHECK(supersedes(kNew, kOld));
  CHECK_FALSE(supersedes(kOld, kNew));
  CHECK_FALSE(supersedes(kNew, kNew));
  CHECK(supersedes(kSameDate, kNew) != supersedes(kNew, kSameDate));
  std::vector<Record> list = {kOld, kNew, kOther, kSameDate};
  const std::vector<Record> merged = merge(list);
  CHECK(merged.size() == 2);
  CHECK(merge(merged) == merged);
  std::ranges::sort(list, {}, to_line);
  do CHECK(merge(list) == merged);
  while (std::ranges::next_permutation(list, {}, to_line).found);
}

TEST_CASE("configs and sizes have places of their own") {
  Measurement at_other_sizes = testing::measurement("", "unroll=1");
  at_other_sizes.sizes["S"] = 8;
  const std::vector<Record> list = {record_of(testing::key(), testing::measurement("", "unroll=1")),
                                    record_of(testing::key(), testing::measurement("", "unroll=2")),
                                    record_of(testing::key(), testing::measurement("S >= 8", "unroll=1")),
                                    record_of(testing::key(), at_other_sizes), record_of(testing::key())};
  CHECK(merge(list).size() == list.size());
}

TEST_CASE("a difference names what each side has alone, and what changed") {
  const Difference found = difference({kOld, kOther}, {kNew, record_of(testing::key())});
  CHECK(found.only_left == std::vector<Record>{kOther});
  CHECK(found.only_right == std::vector<Record>{record_of(testing::key())});
  CHECK(found.changed == std::vector<Record>{kNew});
  const Difference none = difference({kOld, kOther}, {kOther, kOld});
  CHECK((none.only_left.empty() && none.only_right.empty() && none.changed.empty()));
}

}  // namespace
}  // namespace padlock::tuner
