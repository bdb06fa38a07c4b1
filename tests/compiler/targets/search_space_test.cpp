// The configs that a tuner tries: each makes code that differs from the code of all before it.

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "compiler/pipeline.h"
#include "compiler/schedule/model/schedule_key.h"
#include "compiler/targets/cost.h"
#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_config.h"
#include "compiler/targets/target_compiler.h"

namespace padlock::compiler {
namespace {

constexpr const char* kPad =
    "program p(x: f32[A, B], lo: dim) where 0 <= lo <= 9 { y = pad(x, low = [1, lo], high = [1, 3]) z = relu(y) "
    "return z }";

std::unique_ptr<TargetCompiler> compiler_of(const std::string& target) {
  auto made = TargetCompiler::create(target);
  REQUIRE(made);
  return *std::move(made);
}

SearchSpace space_of(TargetCompiler& compiler, const ir::Program& program,
                     const std::vector<ir::Binding>& bindings = {}) {
  auto space = compiler.search_space(program, bindings);
  REQUIRE_MESSAGE(space, (space ? "" : space.error().to_string()));
  return *std::move(space);
}

std::vector<std::string> configs_of(TargetCompiler& compiler, const std::string& text) {
  const auto program = ir::parse_program(text);
  REQUIRE(program);
  std::vector<std::string> configs;
  for (const SearchPoint& point : space_of(compiler, *program).points) configs.push_back(to_string(point.config));
  return configs;
}

CodeKey key_at(const ir::Program& program, const char* config) {
  auto kernels = lower(program);
  REQUIRE(kernels);
  const auto parsed = HostConfig::parse(config, HostConfig{});
  REQUIRE(parsed);
  return key_of(schedule_for_host(std::move(kernels->front()), *parsed));
}

}  // namespace

TEST_CASE("the search space of a rank-2 pad begins with the default and holds no config twice") {
  for (const auto& [target, least, most] :
       {std::tuple("host", std::size_t{32}, std::size_t{256}), {"sm_90", std::size_t{30}, std::size_t{64}}}) {
    CAPTURE(target);
    const auto compiler = compiler_of(target);
    const std::vector<std::string> space = configs_of(*compiler, kPad);
    CHECK(space.size() >= least);
    CHECK(space.size() <= most);
    CHECK(space.front() == to_string(compiler->default_config()));
    CHECK(std::set(space.begin(), space.end()).size() == space.size());
    CHECK(configs_of(*compiler, kPad) == space);
    for (const std::string& config : space) CHECK(to_string(*compiler->parse_config(config)) == config);
  }
}

TEST_CASE("what a config says of vectors is nothing to code without vectors") {
  const auto program = ir::parse_program("program p(x: f32[A]) { z = pad(x, low = [1], high = [3]) return z }");
  REQUIRE(program);
  CHECK(key_at(*program, "split=0,vector_bytes=16") == key_at(*program, "split=0,vector_bytes=64"));
  CHECK(key_at(*program, "split=0,store=plain") == key_at(*program, "split=0,store=nontemporal"));
  CHECK(key_at(*program, "split=1,vector_bytes=16") != key_at(*program, "split=1,vector_bytes=64"));
  CHECK(key_at(*program, "split=1,store=plain") != key_at(*program, "split=1,store=nontemporal"));
  CHECK(key_at(*program, "split=1,store=automatic") != key_at(*program, "split=1,store=nontemporal"));
  CHECK(key_at(*program, "split=1,unroll=1") != key_at(*program, "split=1,unroll=4"));
  CHECK(key_at(*program, "split=1") != key_at(*program, "split=0"));
}

TEST_CASE("a search lowers its program once, schedules each kernel once a config, and proves what is new") {
  const auto program =
      ir::parse_program("program p(x: f16[A, B]) { y = pad(x, low = [1, 0], high = [1, 3]) z = relu(x) return y, z }");
  REQUIRE(program);
  const auto binding = ir::Binding::bind(*program, {.tensors = {std::nullopt}, .symbols = {{"A", 62}, {"B", 61}}});
  REQUIRE(binding);
  constexpr int kKernels = 2;  // results of two sizes
  // The default, once as itself and once of the list, and the same with the other kind of store have boxes of the pad,
  // too.
  for (const auto& [target, tried_boxes, boxes] : {std::tuple("host", 0, 0), {"sm_90", 3, 2}}) {
    CAPTURE(target);
    const auto compiler = compiler_of(target);
    const SearchSpace space = space_of(*compiler, *program, {*binding, *binding});
    const auto configs = static_cast<int>(compiler->all_configs().size()) + 1;  // and the default
    CHECK(space.passes.lowered == 1);
    CHECK(space.passes.scheduled == kKernels * configs + tried_boxes);
    CHECK(space.passes.proved == kKernels * static_cast<int>(space.points.size()) + boxes);
    for (const SearchPoint& point : space.points) {
      CHECK(compiler->parse_config(to_string(point.config)) == point.config);
      REQUIRE(point.costs.size() == 2);
      for (const std::vector<KernelCost>& costs : point.costs) {
        REQUIRE(costs.size() == kKernels);
        CHECK(costs[0].write_bytes == 64 * 64 * 2);
        CHECK(costs[1].write_bytes == 62 * 61 * 2);
      }
    }
  }
}

TEST_CASE("plans are tried with and without where a binding has one, and nowhere else") {
  const auto program =
      ir::parse_program("program p(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [0, 1]) return y }");
  REQUIRE(program);
  const auto compiler = compiler_of("host:x86-64-v3");
  const auto without_plan = [&](const std::vector<std::int64_t>& columns) {
    std::vector<ir::Binding> bindings;
    for (const std::int64_t b : columns) {
      auto binding = ir::Binding::bind(*program, {.tensors = {std::nullopt}, .symbols = {{"A", 4096}, {"B", b}}});
      REQUIRE(binding);
      bindings.push_back(*std::move(binding));
    }
    return std::ranges::count_if(space_of(*compiler, *program, bindings).points, [](const SearchPoint& point) {
      return to_string(point.config).find("plan=0") != std::string::npos;
    });
  };
  CHECK(without_plan({}) > 0);
  CHECK(without_plan({7}) == without_plan({}));
  CHECK(without_plan({1000, 7}) == without_plan({}));
  CHECK(without_plan({1000}) == 0);
}

TEST_CASE("a config says how large its tasks are, and is of one target's compiler") {
  const auto program = ir::parse_program(kPad);
  REQUIRE(program);
  const auto host = compiler_of("host");
  const auto gpu = compiler_of("sm_90");
  CHECK(task_bytes(host->default_config()) == 256 << 10);
  CHECK(task_bytes(host->parse_config("task_kib=1024").value()) == 1024 << 10);
  CHECK(task_bytes(gpu->default_config()) == 64 << 10);
  for (const auto& [compiler, config, message] :
       {std::tuple(host.get(), gpu->default_config(), "found map=tiles"),
        {gpu.get(), host->default_config(), "expected a config of target sm_90, found vector_bytes="}}) {
    const auto refused = compiler->compile(*program, {.config = config});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::invalid_argument);
    CHECK_MESSAGE(refused.error().message.find(message) != std::string::npos, refused.error().message);
  }
}

TEST_CASE("costs count bytes and vectors") {
  const auto program = ir::parse_program(kPad);
  REQUIRE(program);
  const auto binding =
      ir::Binding::bind(*program, {.tensors = {std::nullopt}, .symbols = {{"A", 62}, {"B", 61}, {"lo", 0}}});
  REQUIRE(binding);
  const auto cost = [&](const char* config) {
    auto kernels = lower(*program);
    REQUIRE(kernels);
    REQUIRE(kernels->size() == 1);
    return cost_of(schedule_for_host(std::move(kernels->front()), *HostConfig::parse(config, HostConfig{})), *binding);
  };
  CHECK(cost("").read_bytes == 62 * 61 * 4);
  CHECK(cost("").write_bytes == 64 * 64 * 4);
  CHECK(cost("split=0").chunks == 64 * 64);
  CHECK(cost("vector_bytes=32").chunks < 64 * 64 / 4);
  CHECK(cost("vector_bytes=32").chunks > cost("vector_bytes=64").chunks);
  CHECK(cost("store=nontemporal").always_nontemporal);
  CHECK_FALSE(cost("store=plain").nontemporal);
  CHECK(cost("").blocks == 0);
}

TEST_CASE("the search space of a GPU has some fifty configs for a program, of which no two make the same schedule") {
  CHECK(GpuConfig::all().size() == 384);
  const auto compiler = compiler_of("sm_90");
  for (const auto& [text, points] :
       // The default alone also makes vectors element by element, with either kind of store.
       {std::pair(kPad, std::size_t{50}),
        // Nothing to split, and no predicate.
        {"program p(x: f16[A, B]) { y = relu(x) return y }", std::size_t{24}},
        // Read across its rows, so it also has tiles. Their blocks have at least 128 threads. Small tiles of 512
        // threads are those of 256; small tiles of 128 threads are medium ones of 256. For narrow outputs `auto` also
        // has 64 threads, with either kind of store. Boxes exist only for the default, with either kind of store.
        {"program p(x: i8[A, B]) { y = transpose(x, perm = [1, 0]) return y }", std::size_t{30}}}) {
    CAPTURE(text);
    const auto program = ir::parse_program(text);
    REQUIRE(program);
    const SearchSpace space = space_of(*compiler, *program);
    std::set<std::string> schedules;
    for (const SearchPoint& point : space.points) {
      auto kernels = lower(*program);
      REQUIRE(kernels);
      std::string all;
      for (const Schedule& schedule :
           schedules_for_gpu(std::move(kernels->front()), std::get<GpuConfig>(point.config))) {
        const std::string made = to_string(schedule);
        all += made.substr(0, made.find("  config")) + made.substr(made.find("  rows"));
      }
      schedules.insert(all);
    }
    CHECK(space.points.size() == points);
    CHECK(schedules.size() == points);
  }
}

TEST_CASE("costs of a GPU count blocks, what is on its way, trips and instructions") {
  const auto program = ir::parse_program(kPad);
  REQUIRE(program);
  const auto cost = [&](std::int64_t rows, std::int64_t columns, std::int64_t lo, const char* config) {
    const auto binding = ir::Binding::bind(
        *program, {.tensors = {std::nullopt}, .symbols = {{"A", rows - 2}, {"B", columns - lo - 3}, {"lo", lo}}});
    REQUIRE(binding);
    auto kernels = lower(*program);
    REQUIRE(kernels);
    // The default's last schedule makes vectors element by element; other configs have their grid alone.
    return cost_of(
        schedules_for_gpu(std::move(kernels->front()), *GpuConfig::parse(config, GpuConfig::standard())).back(),
        *binding);
  };
  const KernelCost two = cost(4096, 4096, 5, "map=vector_grid,items=2");
  CHECK(two.chunks == 0);
  CHECK(two.write_bytes == 4096 * 4096 * 4);
  // 4096 * 1024 vectors, and a part of one for an output that begins inside of a vector.
  CHECK(two.blocks == 4096 * 1024 / 512 + 1);
  CHECK(two.flight_bytes == 256 * 2 * 16);
  const KernelCost one = cost(4096, 4096, 5, "map=vector_grid,items=1");
  CHECK(one.blocks == 4096 * 1024 / 256 + 1);
  CHECK(one.flight_bytes == 256 * 16);
  CHECK(one.resident_blocks >= two.resident_blocks);
  CHECK(cost(4096, 4096, 5, "map=vector_grid,items=1,threads=512").blocks == 4096 * 1024 / 512 + 1);
  const KernelCost narrow = cost(4096 * 256, 16, 5, "map=vector_grid,items=2");
  CHECK(narrow.blocks == one.blocks);  // whatever the config says, each thread takes one vector of short rows
  // By element a vector takes one trip, in fewer instructions than edges of short rows.
  const KernelCost by_element = cost(4096 * 256, 16, 5, "");
  CHECK(by_element.trips == 1);
  CHECK(by_element.blocks == narrow.blocks);
  CHECK(narrow.trips > 1);
  CHECK(narrow.instructions > by_element.instructions);
  // Few vectors of long rows are edges, which are trips of their own.
  CHECK(one.trips == 2);
  CHECK(one.instructions > 4096 * 1024 / 32 * 130);
  // Without segments every vector is an edge.
  CHECK(cost(4096, 4096, 5, "split=0").instructions > narrow.instructions);
  // Each thread takes one vector of a small output, for any config.
  CHECK(cost(64, 64, 5, "map=vector_grid,items=4").flight_bytes == one.flight_bytes);
}

TEST_CASE("costs of tiles: more threads are fewer words on each thread's way, and more instructions") {
  const auto program = ir::parse_program("program p(x: i8[A, B]) { y = transpose(x, perm = [1, 0]) return y }");
  REQUIRE(program);
  const auto cost = [&](std::int64_t side, std::string_view config) {
    const auto binding = ir::Binding::bind(*program, {.tensors = {ir::ArgumentShape{{side, side}, {}}}, .symbols = {}});
    REQUIRE(binding);
    auto kernels = lower(*program);
    REQUIRE(kernels);
    return cost_of(schedule_for_gpu(std::move(kernels->front()), *GpuConfig::parse(config, GpuConfig::standard())),
                   *binding);
  };
  const KernelCost few = cost(4096, "threads=128,tiles=large");
  const KernelCost many = cost(4096, "threads=512,tiles=large");
  CHECK(few.blocks == 33 * 32);  // of 128 x 128 bytes, and for rows that end in the halo of one more
  CHECK(many.blocks == few.blocks);
  CHECK(few.trips > many.trips);
  CHECK(few.instructions < many.instructions);
  CHECK(few.resident_blocks > many.resident_blocks);
  CHECK(few.flight_bytes == 128 * 20 * 4);
  CHECK(many.flight_bytes == 512 * 10 * 4);
  // By default an output of 64 MiB is made in large tiles, one of 16 MiB in medium ones, one of 4 MiB in small ones.
  CHECK(cost(8192, "").blocks == 65 * 64);
  CHECK(cost(4096, "").blocks == 65 * 32);
  CHECK(cost(4096, "").blocks == cost(4096, "tiles=medium").blocks);
  CHECK(cost(2048, "").blocks == 33 * 16);
  CHECK(cost(2048, "").instructions == cost(2048, "tiles=small").instructions);
  CHECK(cost(2048, "").instructions > cost(2048, "tiles=medium").instructions);  // of twice as many threads
}

}  // namespace padlock::compiler
