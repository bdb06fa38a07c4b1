#include "tuner/cache/merge.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tuner/cache/samples.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

Row row_of(const Record& record) { return {record, to_line(record)}; }

Row chosen(const std::string& region, const std::string& config, const std::string& date) {
  Choice choice = testing::choice(region, config);
  choice.provenance.date = date;
  return row_of(record_of(testing::key(), choice));
}

const Row kOld = chosen("", "unroll=1", "2026-01-01T00:00:00Z");
const Row kNew = chosen("", "unroll=2", "2026-01-02T00:00:00Z");
const Row kSameDate = chosen("", "unroll=4", "2026-01-02T00:00:00Z");
const Row kOther = chosen("S >= 8", "unroll=1", "2026-01-01T00:00:00Z");

TEST_CASE("of one place the later record stays, whatever the order") {
  CHECK(supersedes(kNew, kOld));
  CHECK_FALSE(supersedes(kOld, kNew));
  CHECK_FALSE(supersedes(kNew, kNew));
  CHECK(supersedes(kSameDate, kNew) != supersedes(kNew, kSameDate));
  std::vector<Row> list = {kOld, kNew, kOther, kSameDate};
  const std::vector<Row> merged = merge(list);
  CHECK(merged.size() == 2);
  CHECK(merge(merged) == merged);
  std::ranges::sort(list, {}, &Row::line);
  do CHECK(merge(list) == merged);
  while (std::ranges::next_permutation(list, {}, &Row::line).found);
}

TEST_CASE("configs and sizes have places of their own") {
  Measurement at_other_sizes = testing::measurement("", "unroll=1");
  at_other_sizes.sizes["S"] = 8;
  const std::vector<Record> list = {record_of(testing::key(), testing::measurement("", "unroll=1")),
                                    record_of(testing::key(), testing::measurement("", "unroll=2")),
                                    record_of(testing::key(), testing::measurement("S >= 8", "unroll=1")),
                                    record_of(testing::key(), at_other_sizes), record_of(testing::key())};
  CHECK(merge(testing::rows_of(list)).size() == list.size());
}

TEST_CASE("rows go into the order of their places, and none is lost") {
  const Row key = row_of(record_of(testing::key()));
  CHECK(in_order({kOther, kNew, key, kOld}) == std::vector<Row>{key, kNew, kOld, kOther});
  CHECK(in_order({key, kOld, kNew}) == std::vector<Row>{key, kOld, kNew});
}

TEST_CASE("a difference names what each side has alone, and what changed") {
  const Difference found = difference({kOld, kOther}, {kNew, row_of(record_of(testing::key()))});
  CHECK(found.only_left == std::vector<Row>{kOther});
  CHECK(found.only_right == std::vector<Row>{row_of(record_of(testing::key()))});
  CHECK(found.changed == std::vector<Row>{kNew});
  const Difference none = difference({kOld, kOther}, {kOther, kOld});
  CHECK((none.only_left.empty() && none.only_right.empty() && none.changed.empty()));
}

}  // namespace
}  // namespace padlock::tuner
