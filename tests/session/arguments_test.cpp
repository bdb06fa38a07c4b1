#include "session/launch/arguments.h"

#include <doctest/doctest.h>

namespace padlock::session {
namespace {

using Strides = std::vector<std::int64_t>;

SourceRequest request(const ir::Program& program, const std::vector<std::optional<TensorSource>>& sources,
                      const std::map<std::string, std::int64_t>& symbols = {}) {
  auto result = request_for(program, sources, symbols);
  if (!result) FAIL(result.error().message);
  return *std::move(result);
}

ir::Program parse(const char* text) {
  auto program = ir::parse_program(text);
  if (!program) FAIL(program.error().to_string());
  return *std::move(program);
}

TEST_CASE("dense strides in both orders") {
  CHECK(*dense_strides({2, 3, 4}, ElementOrder::row_major) == Strides{12, 4, 1});
  CHECK(*dense_strides({2, 3, 4}, ElementOrder::column_major) == Strides{1, 2, 6});
  CHECK(dense_strides({}, ElementOrder::column_major)->empty());
}

TEST_CASE("an array too large to address has no strides") {
  const std::int64_t big = std::int64_t{1} << 40;
  CHECK(dense_strides({big, big}, ElementOrder::row_major).error().message ==
        "expected an array of fewer than 2^62 elements");
  CHECK(dense_strides({0, big, big}, ElementOrder::row_major).error().code == Code::invalid_argument);
  CHECK(dense_strides({-1}, ElementOrder::row_major).error().message == "expected an extent >= 0, found -1");
}

TEST_CASE("a dense parameter is bound row-major, whatever the array's order") {
  const ir::Program program = parse("program p(x: f32[A, B]) { y = relu(x) return y }");
  for (const ElementOrder order : {ElementOrder::row_major, ElementOrder::column_major}) {
    const SourceRequest r = request(program, {TensorSource{{3, 5}, order}});
    CHECK(r.missing.empty());
    CHECK(r.request.tensors[0]->strides == Strides{5, 1});
    CHECK(ir::Binding::bind(program, r.request));
  }
}

TEST_CASE("declared strides are the ones elements are placed at") {
  const ir::Program program =
      parse("program p(x: f32[N, C, H, W] strides [H*W*C, 1, W*C, C]) { y = relu(x) return y }");
  const SourceRequest r = request(program, {TensorSource{{2, 3, 4, 5}}});
  CHECK(r.request.tensors[0]->strides == Strides{60, 1, 15, 3});
  CHECK(ir::Binding::bind(program, r.request));
}

TEST_CASE("a stride symbol comes from the request, else from the array's own order") {
  const ir::Program program = parse("program p(x: f32[A, B] strides [T, U]) { y = relu(x) return y }");
  CHECK(request(program, {TensorSource{{3, 5}}}).request.tensors[0]->strides == Strides{5, 1});
  CHECK(request(program, {TensorSource{{3, 5}, ElementOrder::column_major}}).request.tensors[0]->strides ==
        Strides{1, 3});
  const SourceRequest given = request(program, {TensorSource{{3, 5}}}, {{"T", 8}});
  CHECK(given.request.tensors[0]->strides == Strides{8, 1});
  const auto binding = ir::Binding::bind(program, given.request);
  REQUIRE(binding);
  CHECK(binding->storage_bytes(program.value(0)) == (2 * 8 + 4 + 1) * 4);
}

TEST_CASE("an axis with one element says nothing of its stride") {
  const ir::Program program = parse(
      "program p(x: f32[A, B] strides [T, 1], y: f32[C, D] strides [T, 1]) { u = relu(x) v = relu(y) return u, v }");
  // x has one row, so T comes from y.
  const SourceRequest r = request(program, {TensorSource{{1, 5}}, TensorSource{{2, 7}}});
  CHECK(r.request.tensors[0]->strides == Strides{7, 1});
  CHECK(ir::Binding::bind(program, r.request));
  // Without strides it is dense.
  CHECK(request(program, {TensorSource{{1, 5}}, TensorSource{{1, 7}}}).request.tensors[0]->strides == Strides{5, 1});
}

TEST_CASE("without an array, symbols give the extents and strides are dense unless given") {
  const ir::Program program = parse("program p(x: f32[A, B] strides [T, U]) { y = relu(x) return y }");
  const SourceRequest r = request(program, {std::nullopt}, {{"A", 3}, {"B", 5}});
  CHECK(r.missing.empty());
  CHECK(r.request.symbols.at("T") == 5);
  CHECK(r.request.symbols.at("U") == 1);
  CHECK(ir::Binding::bind(program, r.request));
  CHECK(request(program, {std::nullopt}, {{"A", 3}, {"B", 5}, {"T", 9}}).request.symbols.at("T") == 9);
}

TEST_CASE("symbols without a value are listed in declaration order") {
  const ir::Program program = parse("program p(x: f32[A, B], n: dim, m: dim) { y = relu(x) return y }");
  CHECK(request(program, {std::nullopt}, {{"n", 3}}).missing == std::vector<std::string>{"A", "B", "m"});
  CHECK(request(program, {TensorSource{{1, 2}}}, {{"n", 3}}).missing == std::vector<std::string>{"m"});
}

TEST_CASE("what disagrees is left for binding to say") {
  const ir::Program program = parse("program p(x: f32[A, A + 1]) { y = relu(x) return y }");
  const SourceRequest r = request(program, {TensorSource{{3, 5}}});
  const auto binding = ir::Binding::bind(program, r.request);
  REQUIRE_FALSE(binding);
  CHECK(binding.error().code == Code::failed_precondition);
  const SourceRequest other = request(program, {TensorSource{{3, 4}}}, {{"A", 7}});
  CHECK_FALSE(ir::Binding::bind(program, other.request));
  // A rank that does not fit must not be read past its end either.
  const SourceRequest rank = request(program, {TensorSource{{3}}});
  CHECK(ir::Binding::bind(program, rank.request).error().code == Code::invalid_argument);
}

}  // namespace
}  // namespace padlock::session
