#include "session/compile/explain.h"

#include <doctest/doctest.h>

namespace padlock::session {
namespace {

constexpr const char* kProgram = R"(program p(x: f32[B, S], lo: dim)
where S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, 2])
  return y
})";

TEST_CASE("sizes are expressions, and with a binding numbers too") {
  Context context;
  const Program program = *Program::from_text(kProgram);
  const auto plain = explain(context, program, {}, std::nullopt);
  REQUIRE(plain);
  REQUIRE(plain->results.size() == 1);
  CHECK(plain->results[0].extents[1].expression == "S + lo + 2");
  CHECK_FALSE(plain->results[0].extents[1].value.has_value());
  REQUIRE(plain->kernels.size() == 1);
  CHECK(plain->kernels[0].results == std::vector<std::string>{"y"});
  CHECK(plain->reason == "the default of this target");

  const auto bound =
      explain(context, program, {}, ir::BindRequest{.tensors = {{}}, .symbols = {{"B", 3}, {"S", 5}, {"lo", -1}}});
  REQUIRE(bound);
  CHECK(bound->results[0].extents[1].value == 6);
  CHECK(bound->results[0].storage_bytes.value == 72);
  CHECK(bound->inputs[0].storage_bytes.value == 60);
}

TEST_CASE("requirements say which are bounds of symbols alone") {
  Context context;
  const auto e = explain(context, *Program::from_text(kProgram), {}, std::nullopt);
  REQUIRE(e);
  bool found = false;
  for (const RequirementExplanation& requirement : e->requirements)
    if (requirement.constraint == "S + lo >= 0") {
      found = true;
      CHECK_FALSE(requirement.is_bound);
    }
  CHECK(found);
}

TEST_CASE("a variant is shown with its guards, and under a binding whether they hold") {
  Context context;
  const Program program = *Program::from_text(
      "program p(x: f32[S], n: dim) where S >= 1, n >= 0 { y = pad(x, low = [n], high = [n], mode = wrap) return y }");
  const auto plain = explain(context, program, {}, std::nullopt);
  REQUIRE(plain);
  REQUIRE(plain->kernels[0].variants.size() == 1);
  const VariantExplanation& variant = plain->kernels[0].variants[0];
  CHECK(variant.name == "p_0.index32");
  REQUIRE(variant.guards.size() == 1);
  CHECK(variant.guards[0].assumption == "index32");
  CHECK(variant.guards[0].constraint == "S + 2*n <= 1073741824");
  CHECK_FALSE(variant.guards[0].holds.has_value());
  CHECK_FALSE(variant.selected.has_value());
  for (const std::int64_t n : {0, 1}) {
    const ir::BindRequest sizes{.tensors = {{}}, .symbols = {{"S", 1 << 30}, {"n", n}}};
    const auto bound = explain(context, program, {}, sizes);
    REQUIRE(bound);
    CHECK(bound->kernels[0].variants[0].guards[0].holds == (n == 0));
    CHECK(bound->kernels[0].variants[0].selected == (n == 0));
  }
}

TEST_CASE("a binding that does not fit is an error") {
  Context context;
  const auto e = explain(context, *Program::from_text(kProgram), {},
                         ir::BindRequest{.tensors = {{}}, .symbols = {{"B", 3}, {"S", 5}, {"lo", -6}}});
  REQUIRE_FALSE(e);
  CHECK(e.error().code == Code::failed_precondition);
}

TEST_CASE("a forced config is said to be forced") {
  Context context;
  const auto e = explain(context, *Program::from_text(kProgram), {.config = "unroll=1"}, std::nullopt);
  REQUIRE(e);
  CHECK(e->reason.find("forced") != std::string::npos);
  CHECK(e->config.find("unroll=1") != std::string::npos);
}

}  // namespace
}  // namespace padlock::session
