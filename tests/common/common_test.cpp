#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/common/expect.h"
#include "tests/common/options.h"
#include "tests/common/rng.h"

namespace padlock::testing {
namespace {

TEST_CASE("an option sets what has its name, and is refused where its value is no number") {
  int number = 1;
  bool flag = false;
  double seconds = 0;
  std::string text;
  CHECK(Option("--sizes=0x10").sets("--sizes", number));
  CHECK(number == 16);
  CHECK(Option("--times").sets("--times", flag));
  CHECK(flag);
  CHECK(Option("--seconds=2.5").sets("--seconds", seconds));
  CHECK(seconds == 2.5);
  CHECK(Option("--filter=a=b").sets("--filter", text));
  CHECK(text == "a=b");
  CHECK_FALSE(Option("--sizes=7").sets("--size", number));
  CHECK(number == 16);
  for (const char* wrong : {"--sizes", "--sizes=", "--sizes=7x"}) CHECK_FALSE(Option(wrong).sets("--sizes", number));
  CHECK_FALSE(Option("--seconds=soon").sets("--seconds", seconds));
}

TEST_CASE("random numbers are the seed's, on every machine, and lie where they are asked for") {
  Rng rng(0);
  CHECK(rng.next() == 0xe220a8397b1dcdaf);  // as its authors' program prints it
  CHECK(Rng(7).fork(1).next() != Rng(7).fork(2).next());
  CHECK(Rng(7).fork(1).next() == Rng(7).fork(1).next());
  std::set<std::int64_t> drawn;
  for (int i = 0; i < 200; ++i) drawn.insert(rng.between(-2, 2));
  CHECK(drawn == std::set<std::int64_t>{-2, -1, 0, 1, 2});
  CHECK(rng.between(INT64_MIN, INT64_MAX) != rng.between(INT64_MIN, INT64_MAX));
  const std::vector<int> items = {5};
  CHECK(rng.pick(items) == 5);
}

TEST_CASE("a refusal is an error's message") {
  CHECK(refusal_of(ir::parse_program("program")).starts_with("expected the name of"));
  CHECK(program_of("program p(x: f32[A]) { y = relu(x) return y }").name() == "p");
}

}  // namespace
}  // namespace padlock::testing
