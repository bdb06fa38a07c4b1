// Class K, keys: caches that returned records of another device, CPU, config or way of measuring, or of other sizes.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/regressions/tuned.h"

namespace padlock::regressions {
namespace {

using session::Context;
using tuner::Mode;

constexpr runtime::DeviceId kGpu{runtime::DeviceKind::cuda};

}  // namespace

TEST_CASE("tensorrt_llm_17664: what was learnt on one GPU serves no other, and its name is none of what differs") {
  const Folder folder;
  const session::FakeGpu fake;
  const session::Program program = program_of(kTunedPad);
  const session::CompileOptions on_gpu{.device = kGpu};
  const std::string tuned_config = "threads=512";
  {
    Context context;
    learn(folder / "t.db", key_of(context, program, on_gpu), "", tuned_config);
  }
  const auto reason_with = [&](auto&& change) {
    fake->settings = {};
    change(fake->settings);
    Context context;
    use(context, folder / "t.db", Mode::read);
    const session::BoundProgram made = bound(context, program, sizes(3, 4), on_gpu);
    const bool is_tuned = contains(made.compiled().config(), tuned_config);
    CHECK(is_tuned == made.reason().ends_with("tuned for all sizes (warm)"));
    return made.reason();
  };
  const std::string miss = "the default of this target: the cache missed, the nearest record differs in ";
  CHECK(reason_with([](auto&) {}).ends_with("tuned for all sizes (warm)"));
  CHECK(reason_with([](auto& gpu) {
          gpu.name = "The same silicon, sold otherwise";
        }).ends_with("tuned for all sizes (warm)"));
  CHECK(reason_with([](auto& gpu) { gpu.driver_version = 13010; }).ends_with("tuned for all sizes (warm)"));
  CHECK(reason_with([](auto& gpu) { gpu.multiprocessors = 66; }) ==
        miss + "multiprocessors: wanted '66', recorded '132'");
  CHECK(reason_with([](auto& gpu) { gpu.compute_major = 8; }) == miss + "target: wanted 'sm_80', recorded 'sm_90'");
  // A limit of the code as the driver made it is no field of any key: the record is there, and the default runs.
  const std::string limited = reason_with([](auto& gpu) { gpu.function_threads = 300; });
  CHECK(contains(limited, "has blocks of 512 threads, cuda:0 runs at most 300 of its code"));
  CHECK(limited.ends_with("not tuned: the default config"));
  Context strict;
  use(strict, folder / "t.db", Mode::require);
  const auto compiled = strict.compile(program, on_gpu);
  REQUIRE(compiled);
  ir::BindRequest request{.tensors = {}, .symbols = sizes(3, 4)};
  request.tensors.resize(program.ir().tensor_parameters().size());
  const auto refused = compiled->bind(request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::failed_precondition);
}

TEST_CASE("ocannl_594: two GPUs of one machine have keys of their own") {
  const Folder folder;
  const session::FakeGpu fake;
  fake->settings.devices = 2;
  const session::Program program = program_of(kTunedPad);
  const session::CompileOptions first{.device = {runtime::DeviceKind::cuda, 0}},
      second{.device = {runtime::DeviceKind::cuda, 1}};
  {
    Context context;
    learn(folder / "t.db", key_of(context, program, first), "", "threads=512");
  }
  Context context;
  use(context, folder / "t.db", Mode::read);
  CHECK(bound(context, program, sizes(3, 4), first).reason().starts_with("the cache hit"));
  fake->settings.multiprocessors = 16;  // when the second one is asked about
  CHECK(bound(context, program, sizes(3, 4), second).reason() ==
        "the default of this target: the cache missed, the nearest record differs in multiprocessors: wanted '16', "
        "recorded '132'");
  CHECK(bound(context, program, sizes(3, 4), first).reason().starts_with("the cache hit"));
}

TEST_CASE("triton_1242: each config has code of its own, whichever was compiled first") {
  const session::Program program = program_of(kTunedPad);
  const std::vector<std::string> configs = {"unroll=1", "unroll=4", "vector_bytes=16", "split=0"};
  std::map<std::string, std::string> code;
  for (const std::string& config : configs) {
    Context alone;
    code[config] = *alone.emit(program, session::Stage::llvm, {.config = config});
  }
  for (const auto& [one, first] : code)
    for (const auto& [other, second] : code) CHECK((one == other) == (first == second));
  for (const bool backwards : {false, true}) {
    std::vector<std::string> order = configs;
    if (backwards) std::ranges::reverse(order);
    Context context;
    for (const std::string& config : order) {
      const session::BoundProgram made = bound(context, program, sizes(37, 53), {.config = config});
      CHECK(made.compiled().config() == *context.choose_config({.config = config}));
      check_results(made, sizes(37, 53));
      CHECK(*context.emit(program, session::Stage::llvm, {.config = config}) == code[config]);
    }
    CHECK(context.compile_count() == static_cast<std::int64_t>(configs.size()));
  }
}

TEST_CASE("triton_9118: how samples were taken is part of the key") {
  const Folder folder;
  const session::Program program = program_of(kTunedPad);
  Context context;
  tuner::KeyFields otherwise = key_of(context, program).fields();
  otherwise.policy += "0";
  learn(folder / "t.db", tuner::CacheKey(otherwise), "", kSlow);
  use(context, folder / "t.db", Mode::read);
  CHECK(contains(bound(context, program, sizes(3, 4)).reason(), "the nearest record differs in policy: wanted '"));
}

TEST_CASE("triton_4808: sizes choose by their names, in whichever order and way they are given") {
  const Folder folder;
  const session::Program program = program_of(
      "program p(hi: dim, x: f32[A, B], lo: dim) where 0 <= lo <= 99, 0 <= hi <= 99 {"
      "  y = pad(x, low = [0, lo], high = [0, hi]) return y }");
  Context context;
  learn(folder / "t.db", key_of(context, program), "hi >= 50, B == 4", kSlow);
  use(context, folder / "t.db", Mode::read);
  const auto compiled = context.compile(program);
  REQUIRE(compiled);
  const std::string chosen = *context.choose_config({.config = kSlow});
  const auto is_tuned = [&](const ir::BindRequest& request) {
    const auto made = compiled->bind(request);
    REQUIRE(made);
    return made->compiled().config() == chosen;
  };
  CHECK(is_tuned({.tensors = {std::nullopt}, .symbols = {{"lo", 1}, {"hi", 50}, {"B", 4}, {"A", 5}}}));
  CHECK(is_tuned({.tensors = {ir::ArgumentShape{{5, 4}, std::nullopt}}, .symbols = {{"hi", 50}, {"lo", 1}}}));
  CHECK_FALSE(is_tuned({.tensors = {std::nullopt}, .symbols = {{"lo", 50}, {"hi", 1}, {"B", 4}, {"A", 5}}}));
  CHECK_FALSE(is_tuned({.tensors = {ir::ArgumentShape{{4, 5}, std::nullopt}}, .symbols = {{"hi", 50}, {"lo", 1}}}));
}

TEST_CASE("facebookexperimental_triton_3514: each launch has its own config's block, whatever was launched before") {
  const Folder folder;
  const session::FakeGpu fake;
  const session::Program program = program_of(kTunedPad);
  Context context;
  learn(folder / "t.db", key_of(context, program, {.device = kGpu}), "A == 1", "threads=512");
  learn(folder / "t.db", key_of(context, program, {.device = kGpu}), "A == 2", "threads=128,map=vector_grid");
  use(context, folder / "t.db", Mode::read);
  const auto compiled = context.compile(program, {.device = kGpu});
  REQUIRE(compiled);
  std::vector<unsigned> blocks;
  const auto record = [](void* seen, const std::uint64_t*, std::size_t, unsigned, unsigned block_x) {
    static_cast<std::vector<unsigned>*>(seen)->push_back(block_x);
  };
  const auto kernels = compiled->kernels();
  REQUIRE(kernels.size() == 1);
  for (const abi::KernelAbi* variant : kernels.front()) fake->register_twin(variant->name, record, &blocks);
  for (const std::int64_t a : {1, 2, 3, 2, 1, 3, 1}) {
    const auto made = compiled->bind({.tensors = {std::nullopt}, .symbols = sizes(a, 40)});
    REQUIRE(made);
    const session::Arrays arrays(*made);
    REQUIRE(padlock::testing::run_on_host_arrays(*made, arrays.arguments()));
  }
  CHECK(blocks == std::vector<unsigned>{512, 128, 256, 128, 512, 256, 512});
}

TEST_CASE("julia_actions_cache_114: what a CPU with AVX-512 has learnt or compiled does not serve one without") {
  const Folder folder;
  const session::Program program = program_of(kTunedPad);
  Context context;
  tuner::KeyFields elsewhere = key_of(context, program).fields();
  REQUIRE(elsewhere.cpu == *context.describe_target("host"));
  REQUIRE(contains(elsewhere.cpu, "avx512f,"));  // all that LLVM knows are there, with their signs
  char& sign = elsewhere.cpu[elsewhere.cpu.find("avx512f,") - 1];
  const bool runs_here = sign == '+';
  sign = runs_here ? '-' : '+';
  learn(folder / "t.db", tuner::CacheKey(elsewhere), "", kSlow);
  for (const tuner::Match match : {tuner::Match::strict, tuner::Match::loose}) {
    Context reader;
    tuner::StoreOptions options;
    options.mode = Mode::read;
    options.match = match;
    options.user_file = folder / "t.db";
    REQUIRE(reader.use_cache(options));
    CHECK(contains(bound(reader, program, sizes(3, 4)).reason(), "the nearest record differs in cpu: wanted '"));
  }
  const auto other = context.compile(program, {.target = "host:x86-64-v4"});
  if (!runs_here) {
    REQUIRE_FALSE(other);
    CHECK(other.error().code == Code::failed_precondition);
    CHECK(other.error().message == "code for CPU x86-64-v4 may not run on this machine");
    return;
  }
  const session::BoundProgram made = bound(context, program, sizes(3, 4), {.target = "host:x86-64-v4"});
  const session::Arrays arrays(made);
  const Status launched = made.launch(arrays.arguments());
  REQUIRE_FALSE(launched);
  CHECK(launched.error().code == Code::failed_precondition);
}

}  // namespace padlock::regressions
