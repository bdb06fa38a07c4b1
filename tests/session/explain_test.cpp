#include "session/compile/explain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "tests/common/base_target.h"
#include "tools/text/json_value.h"

namespace padlock::session {
namespace {

using tools::JsonValue;

/// Explains as the command reads it.
Result<JsonValue> explained(Context& context, const Program& program, const CompileOptions& options = {},
                            const std::optional<ir::BindRequest>& request = std::nullopt) {
  PADLOCK_TRY(const std::string json, explain(context, program, options, request));
  auto parsed = JsonValue::parse(json);
  REQUIRE(parsed);
  return *std::move(parsed);
}

const JsonValue& first(const JsonValue& list) { return list.items().at(0); }

constexpr const char* kProgram = R"(program p(x: f32[B, S], lo: dim)
where S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, 2])
  return y
})";

TEST_CASE("sizes are expressions, and with a binding numbers too") {
  Context context;
  const Program program = *Program::from_text(kProgram);
  const auto plain = explained(context, program);
  REQUIRE(plain);
  REQUIRE((*plain)["results"].items().size() == 1);
  const JsonValue& columns = first((*plain)["results"])["extents"].items().at(1);
  CHECK(columns["expression"].text() == "S + lo + 2");
  CHECK_FALSE(columns["value"].exists());
  REQUIRE((*plain)["kernels"].items().size() == 1);
  const JsonValue& results = first((*plain)["kernels"])["results"];
  REQUIRE(results.items().size() == 1);
  CHECK(first(results).text() == "y");
  CHECK((*plain)["reason"].text() == "the default of this target");

  const auto bound =
      explained(context, program, {}, ir::BindRequest{.tensors = {{}}, .symbols = {{"B", 3}, {"S", 5}, {"lo", -1}}});
  REQUIRE(bound);
  CHECK(first((*bound)["results"])["extents"].items().at(1)["value"].integer() == 6);
  CHECK(first((*bound)["results"])["storage_bytes"]["value"].integer() == 72);
  CHECK(first((*bound)["inputs"])["storage_bytes"]["value"].integer() == 60);
}

TEST_CASE("requirements say which are bounds of symbols alone") {
  Context context;
  const auto e = explained(context, *Program::from_text(kProgram));
  REQUIRE(e);
  bool found = false;
  for (const JsonValue& requirement : (*e)["requirements"].items())
    if (requirement["constraint"].text() == "S + lo >= 0") {
      found = true;
      CHECK(requirement["bound"].exists());
      CHECK_FALSE(requirement["bound"].truth());
    }
  CHECK(found);
}

TEST_CASE("preconditions of a kernel are among the requirements") {
  Context context;
  const auto e =
      explained(context, *Program::from_text("program p(x: f32[A, S], k: dim, m: dim, q: dim) where S >= 1 {"
                                             " y = pad(x, low = [0, k*m], high = [0, 0], mode = edge)"
                                             " z = slice(y, start = [0, 0], limit = [A, S + k*m], step = [1, 3])"
                                             " v = pad(z, low = [0, q], high = [0, 0], mode = wrap)"
                                             " w = pad(v, low = [1, 0], high = [0, -((S + k*m) ceildiv 3)])"
                                             " return w }"));
  REQUIRE(e);
  REQUIRE_FALSE((*e)["requirements"].items().empty());
  const JsonValue& last = (*e)["requirements"].items().back();
  CHECK(last["what"].text() == "indices of kernel 'p_0' in 64 bits");
  CHECK(last["constraint"].text().find("k*m") != std::string::npos);
  CHECK_FALSE(last["bound"].truth());
}

TEST_CASE("a variant is shown with its guards, and under a binding whether they hold") {
  Context context;
  const Program program = *Program::from_text(
      "program p(x: f32[S], n: dim) where S >= 1, n >= 0 { y = pad(x, low = [n], high = [n], mode = wrap) return y }");
  const CompileOptions gpu{.device = {runtime::DeviceKind::simt}, .target = "sm_90"};
  const auto plain = explained(context, program, gpu);
  REQUIRE_MESSAGE(plain.has_value(), plain.error().to_string());
  REQUIRE_FALSE(first((*plain)["kernels"])["variants"].items().empty());
  const JsonValue& variant = first(first((*plain)["kernels"])["variants"]);
  CHECK(variant["name"].text() == "p_0_index32");
  const auto on_extent = [](const JsonValue& of) -> const JsonValue& {
    const auto& guards = of["guards"].items();
    return *std::ranges::find_if(
        guards, [](const JsonValue& guard) { return guard["constraint"].text() == "S + 2*n <= 1073741824"; });
  };
  CHECK(on_extent(variant)["assumption"].text() == "index32");
  CHECK_FALSE(on_extent(variant)["holds"].exists());
  CHECK_FALSE(variant["selected"].exists());
  CHECK_FALSE(first((*plain)["kernels"])["launches"].exists());
  for (const std::int64_t n : {0, 1}) {
    const ir::BindRequest sizes{.tensors = {{}}, .symbols = {{"S", 2}, {"n", (1 << 29) - 1 + n}}};
    const auto bound = explained(context, program, gpu, sizes);
    REQUIRE(bound);
    const JsonValue& chosen = first(first((*bound)["kernels"])["variants"]);
    CHECK(on_extent(chosen)["holds"].exists());
    CHECK(on_extent(chosen)["holds"].truth() == (n == 0));
    CHECK(chosen["selected"].exists());
    CHECK(chosen["selected"].truth() == (n == 0));
    CHECK(first((*bound)["kernels"])["launches"].integer() == 1);
  }
}

TEST_CASE("memory that a launch takes beside its tensors is shown") {
  Context context;
  const Program program = *Program::from_text(
      "program p(x: f32[N, H, W]) where N >= 1, H >= 1, W >= 1 "
      "{ y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) return y }");
  for (const auto& [width, has_plan] : {std::pair(14, true), std::pair(1400, false)}) {
    const ir::BindRequest sizes{.tensors = {{}}, .symbols = {{"N", 100}, {"H", 14}, {"W", width}}};
    const auto host = explained(context, program, {.target = testing::kUsualTarget}, sizes);
    REQUIRE_MESSAGE(host.has_value(), host.error().to_string());
    const JsonValue& plan = first((*host)["kernels"])["shared_bytes"];
    CHECK_FALSE(plan["expression"].text().empty());
    CHECK((plan["value"].integer() > 0) == has_plan);
  }
  const Program bytes = *Program::from_text(
      "program p(x: i8[N, H, W]) where N >= 1, H >= 1, W >= 1 "
      "{ y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) return y }");
  const ir::BindRequest sizes{.tensors = {{}}, .symbols = {{"N", 100000}, {"H", 14}, {"W", 14}}};
  const auto gpu = explained(context, bytes, {.device = {runtime::DeviceKind::simt}, .target = "sm_90"}, sizes);
  REQUIRE(gpu);
  const JsonValue& grid = first((*gpu)["kernels"]);
  CHECK_FALSE(grid["shared_bytes"].exists());
  CHECK(grid["variants"].items().back()["shared_bytes"]["value"].integer() > 0);
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
  const auto e = explained(context, *Program::from_text(kProgram), {.config = "unroll=1"});
  REQUIRE(e);
  CHECK((*e)["reason"].text().find("forced") != std::string::npos);
  CHECK((*e)["config"].text().find("unroll=1") != std::string::npos);
}

}  // namespace
}  // namespace padlock::session
