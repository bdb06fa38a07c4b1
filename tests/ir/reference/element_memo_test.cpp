#include "ir/reference/element_memo.h"

#include <vector>

#include <doctest/doctest.h>

using namespace padlock::ir;

TEST_CASE("a memo finds what was put in, by value and coordinates, until it is cleared") {
  ElementMemo memo;
  const std::vector<std::int64_t> none;
  const std::vector<std::int64_t> a = {1, 2}, b = {2, 1};
  CHECK_FALSE(memo.find(0, none).has_value());
  memo.insert(0, none, {.bits = 7});
  memo.insert(3, a, {.bits = 8, .nan_open = true});
  memo.insert(4, a, {.bits = 9});
  REQUIRE(memo.find(0, none).has_value());
  CHECK(memo.find(0, none)->bits == 7);
  REQUIRE(memo.find(3, a).has_value());
  CHECK(memo.find(3, a)->bits == 8);
  CHECK(memo.find(3, a)->nan_open);
  CHECK(memo.find(4, a)->bits == 9);
  CHECK_FALSE(memo.find(3, b).has_value());
  CHECK_FALSE(memo.find(5, a).has_value());
  memo.clear();
  CHECK_FALSE(memo.find(0, none).has_value());
  CHECK_FALSE(memo.find(3, a).has_value());
}

TEST_CASE("a memo grows without losing anything") {
  ElementMemo memo;
  for (int round = 0; round < 3; ++round) {
    memo.clear();
    for (std::int64_t i = 0; i < 5000; ++i) {
      const std::int64_t at[] = {i % 70, i / 70};
      memo.insert(static_cast<ValueId>(i % 3), at, {.bits = static_cast<std::uint64_t>(i * 4 + round)});
    }
    int failures = 0;
    for (std::int64_t i = 0; i < 5000; ++i) {
      const std::int64_t at[] = {i % 70, i / 70};
      const auto found = memo.find(static_cast<ValueId>(i % 3), at);
      failures += found && found->bits == static_cast<std::uint64_t>(i * 4 + round) ? 0 : 1;
      failures += memo.find(static_cast<ValueId>(i % 3 + 1), at).has_value() && i % 3 == 2 ? 1 : 0;
    }
    CHECK(failures == 0);
  }
}
