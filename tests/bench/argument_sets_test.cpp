#include "bench/argument_sets.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "session/compile/context.h"

namespace padlock::bench {
namespace {

using runtime::MemoryBudget;
using runtime::UserBuffer;
using session::BoundProgram;
using session::Context;
using session::LaunchArguments;
using session::Program;

BoundProgram bound(Context& context, std::int64_t size) {
  const auto program = Program::from_text("program p(x: f32[A], w: f32[B]) { y = concat(x, w, axis = 0) return y }");
  REQUIRE(program);
  const auto compiled = context.compile(*program);
  REQUIRE(compiled);
  auto made = compiled->bind({.tensors = {std::nullopt, std::nullopt}, .symbols = {{"A", size}, {"B", 2}}});
  REQUIRE(made);
  return *std::move(made);
}

std::vector<float> floats_of(const UserBuffer& buffer) {
  const auto* const data = static_cast<const float*>(buffer.data());
  return {data, data + buffer.bytes() / 4};
}

}  // namespace

TEST_CASE("each set has the inputs' data and a result of its own, and after the last comes the first") {
  Context context({.threads = 1, .parallel_for = {}});
  const BoundProgram program = bound(context, 3);
  const std::vector<float> x = {1, 2, 3}, w = {4, 5};
  const std::vector<UserBuffer> inputs = {{x.data(), 12}, {w.data(), 8}};
  MemoryBudget memory(1 << 20);
  auto sets = ArgumentSets::create(program, inputs, 3 * (12 + 8 + 20), memory);
  REQUIRE(sets);
  REQUIRE(sets->count() == 3);
  std::set<const void*> seen;
  for (std::size_t i = 0; i < sets->count(); ++i, sets->advance()) {
    const LaunchArguments arguments = sets->arguments();
    REQUIRE(program.launch(arguments));
    CHECK(floats_of(arguments.inputs[0]) == x);
    CHECK(floats_of(arguments.inputs[1]) == w);
    CHECK(floats_of(arguments.outputs[0]) == std::vector<float>{1, 2, 3, 4, 5});
    for (const UserBuffer& buffer : {arguments.inputs[0], arguments.inputs[1], arguments.outputs[0]}) {
      CHECK(seen.insert(buffer.data()).second);
      CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
    }
  }
  CHECK(seen.contains(sets->arguments().inputs[0].data()));
}

TEST_CASE("one set at least, and no more memory than there is") {
  Context context({.threads = 1, .parallel_for = {}});
  MemoryBudget memory(1 << 20);
  const auto one = ArgumentSets::create(bound(context, 3), {}, 0, memory);
  REQUIRE(one);
  CHECK(one->count() == 1);
  const auto empty = ArgumentSets::create(bound(context, 0), {}, 0, memory);
  REQUIRE(empty);
  CHECK(bound(context, 0).launch(empty->arguments()));
  const std::vector<float> w = {4, 5};
  const std::vector<UserBuffer> inputs = {UserBuffer(), {w.data(), 8}};
  const auto no_address = ArgumentSets::create(bound(context, 0), inputs, 0, memory);
  REQUIRE(no_address);
  CHECK(floats_of(no_address->arguments().inputs[1]) == w);
  const auto refused = ArgumentSets::create(bound(context, 1 << 20), {}, 0, memory);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message.starts_with("input x needs "));
}

TEST_CASE("a plain copy works on arrays of its own, of any size that there is memory for") {
  for (const std::int64_t bytes : {0, 1, 4096}) {
    MemoryBudget memory(1 << 20);
    auto copy = PlainCopy::create(bytes, 64 << 10, memory);
    REQUIRE(copy);
    for (int i = 0; i < 100; ++i) copy->run();
  }
  MemoryBudget little(1 << 10);
  const auto refused = PlainCopy::create(1 << 20, 0, little);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.starts_with("an array to copy needs "));
}

}  // namespace padlock::bench
