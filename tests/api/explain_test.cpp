#include "api/explain.h"

#include <doctest/doctest.h>

namespace padlock::api {
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
}  // namespace padlock::api
