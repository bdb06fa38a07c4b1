#include "compiler/targets/host_config.h"

#include <doctest/doctest.h>

#include <set>

namespace padlock::compiler {

TEST_CASE("every config of the search space prints and parses to itself, and none is there twice") {
  std::set<std::string> texts;
  for (const HostConfig& config : HostConfig::all()) {
    const Result<HostConfig> parsed = HostConfig::parse(config.to_string(), HostConfig{});
    REQUIRE(parsed.has_value());
    CHECK(*parsed == config);
    CHECK(texts.insert(config.to_string()).second);
  }
  CHECK(texts.size() == 324);
}

TEST_CASE("a missing key keeps its value, in any order") {
  const HostConfig base{.vector_bytes = 64, .unroll = 4};
  const Result<HostConfig> parsed = HostConfig::parse("store=nontemporal,unroll=1", base);
  REQUIRE(parsed.has_value());
  CHECK(parsed->vector_bytes == 64);
  CHECK(parsed->unroll == 1);
  CHECK(parsed->store == StoreKind::nontemporal);
}

TEST_CASE("a config outside the search space is refused and says what the key takes") {
  const auto message = [](std::string_view text) {
    const Result<HostConfig> parsed = HostConfig::parse(text, HostConfig{});
    REQUIRE_FALSE(parsed.has_value());
    CHECK(parsed.error().code == Code::invalid_argument);
    return parsed.error().message;
  };
  CHECK(message("vector_bytes=48") == "config key 'vector_bytes': expected 32, 64 or 16, found '48'");
  CHECK(message("unroll=2x") == "config key 'unroll': expected 1, 2 or 4, found '2x'");
  CHECK(message("split=yes") == "config key 'split': expected 0 or 1, found 'yes'");
  CHECK(message("store=fast") == "config key 'store': expected plain, nontemporal or automatic, found 'fast'");
  CHECK(message("unroll=1,unroll=2") == "config key 'unroll': expected one value, found two");
  CHECK(message("warp=4") ==
        "unknown config key 'warp': expected vector_bytes, unroll, split, store, plan or task_kib");
  CHECK(message("unroll") == "config: expected key=value, found 'unroll'");
}

}  // namespace padlock::compiler
