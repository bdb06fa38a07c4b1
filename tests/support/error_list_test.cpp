#include <string>

#include <doctest/doctest.h>

#include "support/messages/error_list.h"

using namespace padlock;

namespace {

Error at(std::uint32_t line, std::string message) {
  return Error{Code::invalid_argument, Blame::user, std::move(message), {line, 1, {}}};
}

}  // namespace

TEST_CASE("the errors of a list stand in the order of the text, without those that follow from others") {
  ErrorList list;
  list.add(at(3, "third"));
  list.add(at(1, "first"));
  list.add(ErrorList::consequence().error());
  list.add(at(3, "third again"));
  CHECK_FALSE(list.is_final());
  const Error error = std::move(list).take().error();
  CHECK(error.to_string("a.pad") == "a.pad:1:1: first\na.pad:3:1: third");
  CHECK(error.others.size() == 1);
}

TEST_CASE("beyond the most errors that are kept the last says that there are more") {
  ErrorList list;
  for (std::uint32_t line = 1; line <= ErrorList::kMost; ++line) list.add(at(line, "wrong"));
  CHECK_FALSE(list.is_final());
  list.add(at(1000, "one more"));
  list.add(at(1001, "and more"));
  CHECK(list.is_final());
  const Error error = std::move(list).take().error();
  CHECK(error.others.size() == ErrorList::kMost - 1);
  CHECK(error.others.back().to_string() ==
        "20:1: wrong\n  there are more errors: the first 20 that were found are shown");
}

TEST_CASE("an error of a limit ends the list") {
  ErrorList list;
  list.add(beyond_limits("expected less").error());
  CHECK(list.is_final());
}

TEST_CASE("an error that is noted becomes a consequence for whoever goes on") {
  ErrorList list;
  CHECK(list.note(Result<int>(1)).has_value());
  const Status noted = list.note(Result<int>(std::unexpected(at(1, "wrong"))));
  REQUIRE_FALSE(noted.has_value());
  CHECK(ErrorList::is_consequence(noted.error()));
  CHECK_FALSE(list.note(noted).has_value());
  CHECK(std::move(list).take().error().others.empty());
}
