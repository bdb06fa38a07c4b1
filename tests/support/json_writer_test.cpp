#include "support/json_writer.h"

#include <doctest/doctest.h>

#include <limits>

namespace padlock {
namespace {

TEST_CASE("objects, arrays and values") {
  JsonWriter json;
  json.begin_object().member("a", 1).member("b", true).member("c", std::vector<std::int64_t>{1, 2});
  json.key("d").begin_array().begin_object().end_object().end_array();
  json.key("e").begin_array().end_array().end_object();
  CHECK(std::move(json).take() == R"({
  "a": 1,
  "b": true,
  "c": [1, 2],
  "d": [
    {}
  ],
  "e": []
}
)");
}

TEST_CASE("text is escaped, and what is no number is null") {
  JsonWriter json;
  json.begin_array().value("a\"b\\c\n\x01").value(1.5).value(std::numeric_limits<double>::quiet_NaN()).end_array();
  CHECK(std::move(json).take() == "[\n  \"a\\\"b\\\\c\\u000a\\u0001\",\n  1.5,\n  null\n]\n");
}

}  // namespace
}  // namespace padlock
