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

TEST_CASE("one line has no blanks, and as many digits as are asked for") {
  JsonWriter json({.one_line = true, .digits = 6});
  json.begin_object().member("a", 2e9).member("b", 1.23456789).member("c", std::vector<double>{1, 2});
  json.key("d").begin_array().begin_object().end_object().value(true).end_array().member("e", 123456789).end_object();
  CHECK(std::move(json).take() == R"({"a":2e+09,"b":1.23457,"c":[1,2],"d":[{},true],"e":123456789})"
                                  "\n");
}

}  // namespace
}  // namespace padlock
