#include "compiler/schedule/model/schedule.h"
#include "compiler/targets/host_config.h"
#include "tests/compiler/emit/compiled.h"

namespace padlock::compiler {
namespace {

struct Shape {
  std::size_t cases = 0;
  std::size_t segments = 0;  // the largest number over all cases
  std::size_t bodies = 0;
  std::size_t predicated = 0;  // bodies with one lane
};

Shape shape_of(std::string_view text) {
  const ir::Program program = program_of(text);
  const Schedule schedule = schedule_for_host(kernels_of(program).front(), HostConfig{});
  Shape shape;
  for (const ScheduledCase& row : schedule.cases) {
    shape.cases += !row.is_test();
    shape.segments = std::max(shape.segments, row.calls.size());
  }
  shape.bodies = schedule.bodies.size();
  for (const Body& body : schedule.bodies) shape.predicated += body.lanes == 1;
  return shape;
}

}  // namespace

TEST_CASE("a constant pad of a row is fill, copy, fill: two bodies") {
  const Shape shape = shape_of(
      "program p(x: f32[S], a: dim, b: dim) where S + a + b >= 0"
      " { y = pad(x, low = [a], high = [b]) return y }");
  CHECK(shape.cases == 1);
  CHECK(shape.segments == 3);
  CHECK(shape.bodies == 2);
  CHECK(shape.predicated == 0);
}

TEST_CASE("rows outside an outer pad are one run of fill") {
  const Shape shape = shape_of(
      "program p(x: f32[A, B], n: dim) where n >= 0"
      " { y = pad(x, low = [n, n], high = [n, n]) return y }");
  CHECK(shape.cases == 2);
  CHECK(shape.segments == 3);
  CHECK(shape.bodies == 2);
}

TEST_CASE("edge, reflect, symmetric and wrap share bodies between their laps") {
  const auto pad = [](const char* mode) {
    return fmt::format(
        "program p(x: f32[S], n: dim) where S >= 1, n >= 0"
        " {{ y = pad(x, low = [n], high = [n], mode = {}) return y }}",
        mode);
  };
  const Shape edge = shape_of(pad("edge"));
  CHECK(edge.segments == 3);
  CHECK(edge.bodies == 2);
  CHECK(edge.predicated == 0);
  for (const char* mode : {"reflect", "symmetric"}) {
    CAPTURE(std::string(mode));
    const Shape shape = shape_of(pad(mode));
    CHECK(shape.segments <= kMaxSegments);
    CHECK(shape.bodies == 3);      // forward, backward, and the laps beyond one
    CHECK(shape.predicated == 1);  // only the last of them is not a vector loop
  }
  const Shape wrap = shape_of(pad("wrap"));
  CHECK(wrap.bodies == 2);
  CHECK(wrap.predicated == 1);
}

TEST_CASE("cuts of nested pads are clamped to their consumer's segment") {
  const Shape shape = shape_of(
      "program p(x: f32[S], a: dim, b: dim) where S + a >= 0, S + a + b >= 0"
      " { y = pad(x, low = [a], high = [0], value = 1.0)"
      " z = pad(y, low = [b], high = [0], value = 2.0) return z }");
  CHECK(shape.segments == 3);
  CHECK(shape.bodies == 3);
}

TEST_CASE("more than eight segments keep predicates, and stay correct code") {
  const char* text =
      "program p(x: f32[S]) { a = pad(x, low = [1], high = [6]) b = pad(x, low = [2], high = [5])"
      " c = pad(x, low = [3], high = [4]) d = pad(x, low = [4], high = [3]) e = pad(x, low = [5], high = [2])"
      " s = add(a, b) t = add(c, d) u = add(s, t) v = add(u, e) return v }";
  const Shape shape = shape_of(text);
  CHECK(shape.segments <= kMaxSegments);
  CHECK(shape.predicated >= 1);
}

}  // namespace padlock::compiler
