#include <algorithm>
#include <set>
#include <string_view>

#include <doctest/doctest.h>

#include "support/error.h"
#include "support/int128.h"

using namespace padlock;

namespace {

constexpr Int128 kMost = (Int128{1} << 126) + ((Int128{1} << 126) - 1);  // the largest 128-bit integer

Result<int> half(int v) {
  if (v % 2 != 0) return invalid_argument("expected an even number, found " + std::to_string(v));
  return v / 2;
}
Result<int> quarter(int v) {
  PADLOCK_TRY(const int h, half(v));
  return half(h);
}
Status check_quarter(int v) {
  PADLOCK_CHECK(quarter(v));
  return {};
}

}  // namespace

TEST_CASE("128-bit integers print in full") {
  CHECK(to_string(Int128{0}) == "0");
  CHECK(to_string(Int128{-7}) == "-7");
  CHECK(to_string(kInt64Min) == "-9223372036854775808");
  CHECK(to_string(Int128{1} << 100) == "1267650600228229401496703205376");
  CHECK(to_string(kMost) == "170141183460469231731687303715884105727");
  CHECK(to_string(-kMost - 1) == "-170141183460469231731687303715884105728");
}

TEST_CASE("checked arithmetic says when a result does not fit") {
  CHECK(checked_add<std::int64_t>(1, 2) == 3);
  CHECK_FALSE(checked_add<std::int64_t>(INT64_MAX, 1));
  CHECK_FALSE(checked_sub<std::int64_t>(INT64_MIN, 1));
  CHECK_FALSE(checked_mul<std::int64_t>(INT64_MIN, -1));
  CHECK(checked_mul<Int128>(kInt64Min, kInt64Min) == Int128{1} << 126);
  CHECK_FALSE(checked_mul<Int128>(kMost, 2));
  CHECK_FALSE(checked_add<Int128>(kMost, 1));
  CHECK(fits_int64(kInt64Max));
  CHECK_FALSE(fits_int64(kInt64Max + 1));
  CHECK(fits_int64(kInt64Min));
  CHECK_FALSE(fits_int64(kInt64Min - 1));
}

TEST_CASE("division rounds to minus infinity and remainders are not negative") {
  for (std::int64_t b = 1; b <= 9; ++b) {
    for (std::int64_t a = -30; a <= 30; ++a) {
      const std::int64_t q = floor_div(a, b), r = floor_mod(a, b);
      CHECK(q * b + r == a);
      CHECK((r >= 0 && r < b));
    }
  }
  CHECK(floor_div<Int128>(-kMost - 1, 1) == -kMost - 1);
  CHECK(floor_mod<Int128>(-kMost - 1, kMost) == kMost - 1);
}

TEST_CASE("an error prints its place, its line with a caret, and its context") {
  const Error error{Code::invalid_argument, Blame::user, "expected ')', found '}'", {3, 7, "\tx = f(}"}, {}};
  CHECK(error.to_string("a.pad") == "a.pad:3:7: expected ')', found '}'\n  \tx = f(}\n  \t     ^");
  CHECK(error.to_string() == "3:7: expected ')', found '}'\n  \tx = f(}\n  \t     ^");
  const Error plain{Code::internal, Blame::internal, "no", {}, {}};
  CHECK(plain.to_string() == "no");
  CHECK(plain.to_string("a.pad") == "a.pad: no");
  CHECK(Error(plain).in("while compiling f").in("while tuning").to_string() ==
        "no\n  while compiling f\n  while tuning");
}

TEST_CASE("a caret may stand just behind the line, and a place beyond it is no crash") {
  const Error at_end{Code::invalid_argument, Blame::user, "expected ')'", {1, 4, "f(x"}, {}};
  CHECK(at_end.to_string() == "1:4: expected ')'\n  f(x\n     ^");
  const Error unknown_column{Code::invalid_argument, Blame::user, "m", {1, 0, "f(x"}, {}};
  CHECK(unknown_column.to_string().starts_with("1:0: m"));
}

TEST_CASE("makers set code and blame") {
  CHECK(invalid_argument("m").error().code == Code::invalid_argument);
  CHECK(invalid_argument("m", {2, 1, ""}).error().where.line == 2);
  CHECK(invalid_argument("m").error().blame == Blame::user);
  CHECK(failed_precondition("m").error().code == Code::failed_precondition);
  CHECK(failed_precondition("m").error().blame == Blame::user);
  CHECK(resource_exhausted("m").error().blame == Blame::environment);
  CHECK(unavailable("m").error().code == Code::unavailable);
  CHECK(unavailable("m").error().blame == Blame::environment);
  CHECK(is_device_lost(device_lost("m").error()));
  CHECK_FALSE(is_device_lost(unavailable("m").error()));
  CHECK(device_lost("m").error().blame == Blame::environment);
  CHECK(internal_error("m").error().code == Code::internal);
  CHECK(internal_error("m").error().blame == Blame::internal);
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Code::unauthenticated); ++i) names.insert(name_of(static_cast<Code>(i)));
  CHECK(names.size() == 16);
  CHECK(std::string_view(name_of(Code::cancelled)) == "CANCELLED");
  CHECK(std::string_view(name_of(Code::unauthenticated)) == "UNAUTHENTICATED");
}

TEST_CASE("the macros hand on values and errors") {
  CHECK(quarter(12) == 3);
  const auto odd = quarter(6);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message == "expected an even number, found 3");
  CHECK(check_quarter(8));
  REQUIRE_FALSE(check_quarter(7));
  CHECK(check_quarter(7).error().message == "expected an even number, found 7");
}
