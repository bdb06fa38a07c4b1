#include "session/compile/tuning_cache.h"

#include <doctest/doctest.h>

#include "session/compile/context.h"

namespace padlock::session {
namespace {

const char* const kText = "program p(x: f32[A]) { y = pad(x, low = [1], high = [0]) return y }";

TEST_CASE("a program's key on this machine is the same each time, and another's is not") {
  const auto program = Program::from_text(kText);
  const auto other = Program::from_text("program p(x: f32[A]) { y = pad(x, low = [2], high = [0]) return y }");
  REQUIRE((program && other));
  Context context({.threads = 1, .parallel_for = {}}), again({.threads = 1, .parallel_for = {}});
  const auto key = context.cache_key(*program), same = again.cache_key(*program), differs = context.cache_key(*other);
  REQUIRE((key && same && differs));
  CHECK(key->digest() == same->digest());
  CHECK(key->digest() != differs->digest());
  CHECK(key->fields().target == "host");
  CHECK(key->fields().cpu == *context.describe_target("host"));
  CHECK(validate(record_of(*key)));
}

TEST_CASE("the threads that a launch can have are part of the key, and the CPU that code is made for") {
  const auto program = Program::from_text(kText);
  REQUIRE(program);
  Context one({.threads = 1, .parallel_for = {}}), three({.threads = 3, .parallel_for = {}});
  const auto a = one.cache_key(*program), b = three.cache_key(*program);
  const auto old = one.cache_key(*program, {.target = "host:x86-64"});
  REQUIRE((a && b && old));
  CHECK(match(a->fields(), b->fields(), tuner::Match::strict).difference->to_string() ==
        "threads: wanted '1', recorded '3'");
  CHECK(match(a->fields(), old->fields(), tuner::Match::loose).difference->field == "cpu");
}

TEST_CASE("devices that are not tuned have no key") {
  const auto program = Program::from_text(kText);
  REQUIRE(program);
  Context context;
  for (const runtime::DeviceKind kind : {runtime::DeviceKind::reference, runtime::DeviceKind::simt}) {
    const auto key = context.cache_key(*program, {.device = {kind}});
    REQUIRE_FALSE(key);
    CHECK(key.error().code == Code::invalid_argument);
    CHECK(key.error().message.starts_with("expected a device that is tuned, found "));
  }
  CHECK(context.cache_key(*program, {.target = "sm_90"}).error().message ==
        "expected a target of device host, found sm_90");
}

}  // namespace
}  // namespace padlock::session
