// A pack's kernels compute what the interpreter computes, bit for bit, on the host and on the fake driver's GPU.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "session/compile/context.h"
#include "session/launch/launch_context.h"
#include "support/cpu/features.h"
#include "tests/common/base_target.h"
#include "tests/common/environment.h"
#include "tests/common/host_arrays.h"
#include "tests/runtime/cuda/fake_cubin.h"
#include "tests/session/cuda_twins.h"
#include "tests/session/tuning_testing.h"

namespace padlock::session {
namespace {

using Pack = std::shared_ptr<const runtime::PackFile>;

struct Case {
  const char* name;
  const char* text;
  std::vector<ir::BindRequest> sizes;
};

ir::BindRequest request(std::vector<std::vector<std::int64_t>> shapes, std::map<std::string, std::int64_t> symbols) {
  ir::BindRequest made;
  for (auto& extents : shapes) made.tensors.push_back(ir::ArgumentShape{.extents = std::move(extents), .strides = {}});
  made.symbols = std::move(symbols);
  return made;
}

/// Constants of several types, a kernel for each of two extents, quotients among the sizes, an indexed concat, a kernel
/// with preconditions.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"pad_relu",
       R"(program pad_relu(x: f32[B, S], lo: dim, v: f32) where 1 <= B, -8 <= lo <= 8, S + lo >= 0
{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v) z = relu(y) return z })",
       {request({{3, 37}}, {{"lo", 3}}), request({{1, 8}}, {{"lo", -7}}), request({{2, 2051}}, {{"lo", 0}}),
        request({{4, 0}}, {{"lo", 0}})}},
      {"two",
       R"(program two(x: i16[A, B], b: bool[A, B], k: dim, v: i16) where 0 <= k <= 4, A >= 5, B >= 5
{ y = pad(x, low = [k, 0], high = [0, k], mode = reflect) z = select(b, x, v) t = transpose(z, perm = [1, 0])
  return y, t })",
       {request({{5, 67}, {5, 67}}, {{"k", 4}}), request({{129, 5}, {129, 5}}, {{"k", 0}})}},
      {"cat",
       R"(program cat(x: u8[A, B, C], y: u8[A, D, C], k: dim) where A >= 1, B + D >= 1, C >= 1
{ z = concat(x, y, axis = 1) w = pad(z, low = [0, k, -1], high = [1, 0, k], mode = wrap) return w })",
       {request({{2, 3, 33}, {2, 0, 33}}, {{"k", 2}}), request({{1, 2, 300}, {1, 5, 300}}, {{"k", -1}})}},
      {"mixed",
       R"(program mixed(x: f16[N], y: f64[N])
{ a = cast(x, f64) c = mul(a, 0.1) d = add(c, y) e = clamp(d, lo = -1e300, hi = 3.25)
  f = pad(e, low = [5], high = [N floordiv 3], value = 0.75) return f })",
       {request({{1}, {1}}, {}), request({{1000}, {1000}}, {})}},
      {"products",
       R"(program products(x: f32[A, S], k: dim, m: dim, q: dim) where S >= 1
{ y = pad(x, low = [0, k*m], high = [0, 0], mode = edge) z = slice(y, start = [0, 0], limit = [A, S + k*m], step = [1, 3])
  v = pad(z, low = [0, q], high = [0, 0], mode = wrap) w = pad(v, low = [1, 0], high = [0, -((S + k*m) ceildiv 3)])
  return w })",
       {request({{2, 5}}, {{"k", 3}, {"m", 4}, {"q", 2}}), request({{0, 5}}, {{"k", 1 << 20}, {"m", 7}, {"q", 1}})}},
  };
  return kCases;
}

std::vector<Program> programs() {
  std::vector<Program> made;
  for (const Case& test : cases()) made.push_back(testing::program_of(test.text));
  return made;
}

Pack pack_for(const std::vector<std::string>& targets) {
  Context context;
  const auto bytes = context.pack(programs(), targets);
  REQUIRE_MESSAGE(bytes, (bytes ? "" : bytes.error().to_string()));
  auto pack = runtime::PackFile::parse(*bytes);
  REQUIRE_MESSAGE(pack, (pack ? "" : pack.error().to_string()));
  return *std::move(pack);
}

CompiledProgram load(LaunchContext& context, const runtime::PackFile& pack, const char* program,
                     runtime::DeviceId device = {}) {
  auto loaded = context.load(pack, program, device);
  REQUIRE_MESSAGE(loaded, (loaded ? "" : loaded.error().to_string()));
  return *std::move(loaded);
}

TEST_CASE("on the host, packed programs compute what the interpreter does") {
  // Code for the oldest CPU has constants in memory that code for a newer one computes.
  for (const char* target : {"host", padlock::testing::kBaseTarget, "host:x86-64-v3", "host:neoverse-v2"}) {
    CAPTURE(target);
    if (std::string_view(target) == "host:x86-64-v3" && !cpu_has("avx2").value_or(false)) continue;
    if (std::string_view(target) == "host:neoverse-v2" && !cpu_has("sve2").value_or(false)) continue;
    LaunchContext context({.threads = 2});
    const Pack pack = pack_for({target});
    for (const Case& test : cases()) {
      CAPTURE(test.name);
      const CompiledProgram program = load(context, *pack, test.name);
      for (const ir::BindRequest& sizes : test.sizes) {
        const auto bound = program.bind(sizes);
        REQUIRE_MESSAGE(bound, (bound ? "" : bound.error().to_string()));
        const Arrays arrays(*bound);
        REQUIRE(bound->launch(arrays.arguments()));
        CHECK(arrays.results == reference_results(program.program(), sizes, arrays));
      }
    }
  }
}

TEST_CASE("on a GPU, packed programs compute what the interpreter does") {
  const FakeGpu fake;
  const Pack pack = pack_for({"host", "sm_90"});
  LaunchContext context;
  int runs = 0;
  for (const Case& test : cases()) {
    CAPTURE(test.name);
    TwinProgram twins(fake, load(context, *pack, test.name, {runtime::DeviceKind::cuda}));
    for (const ir::BindRequest& sizes : test.sizes) {
      const BoundProgram bound = twins.bind(sizes);
      const Arrays arrays(bound);
      const Status status = padlock::testing::run_on_host_arrays(bound, arrays.arguments());
      REQUIRE_MESSAGE(status, (status ? "" : status.error().to_string()));
      (void)twins.take_launches();
      CHECK(arrays.results == reference_results(twins.compiled().program(), sizes, arrays));
      ++runs;
    }
  }
  CHECK(runs == 12);
  CHECK(fake->launches() > runs);
}

/// A shell script that stands for ptxas; beside it lies a file with the beginning of a fake cubin.
class Assembler {
 public:
  explicit Assembler(std::string_view script) {
    const std::vector<std::byte> cubin = runtime::cuda::fake_cubin("");
    std::ofstream(folder_ / "head").write(reinterpret_cast<const char*>(cubin.data()), runtime::cuda::kFakeCubinHead);
    std::ofstream(path()) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return folder_ / "assembler"; }

 private:
  testing::Folder folder_;
};

constexpr const char* kAssembles = R"({ cat "$(dirname "$0")/head" "$4"; printf '\0'; } > "$3")";

TEST_CASE("a GPU of just that architecture takes what an assembler made, others take PTX") {
  const Assembler assembler(kAssembles);
  Context context({.assembler = assembler.path()});
  const Program program = *Program::from_text(cases().front().text);
  const auto bytes = context.pack({program}, {padlock::testing::kBaseTarget, "sm_80"});
  REQUIRE_MESSAGE(bytes, (bytes ? "" : bytes.error().to_string()));
  const Pack pack = *runtime::PackFile::parse(*bytes);
  const auto& targets = pack->contents().programs.front().targets;
  CHECK(targets[0].codes.front().cubin.empty());
  CHECK(targets[1].codes.front().cubin.size() > targets[1].codes.front().code.size());
  for (const int minor : {0, 6}) {
    CAPTURE(minor);
    FakeGpu fake;
    fake->settings.compute_major = 8;
    fake->settings.compute_minor = minor;
    LaunchContext launching;
    TwinProgram twins(fake, load(launching, *pack, "pad_relu", {runtime::DeviceKind::cuda}));
    for (const auto& shape : {std::vector<std::int64_t>{3, 37}, std::vector<std::int64_t>{4096, 4000}})
      (void)twins.bind(request({shape}, {{"lo", 0}}));
    CHECK(fake->live().modules == (minor == 0 ? 1 : 2));
  }
}

TEST_CASE("an assembler that is not there, fails, or leaves nothing is an error") {
  const Program program = *Program::from_text(cases().front().text);
  const auto message = [&](const std::string& assembler) {
    Context context({.assembler = assembler});
    const auto bytes = context.pack({program}, {"sm_90"});
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error().code == Code::unavailable);
    CHECK(bytes.error().context == std::vector<std::string>{"while packing pad_relu for sm_90"});
    return bytes.error().message;
  };
  CHECK(message("no_such_assembler") == "expected an assembler for PTX, found no program no_such_assembler on PATH");
  // (qemu starts a process first, and then it is too late to say why it cannot.)
  if (!padlock::testing::is_emulated())
    CHECK(message("/nowhere/ptxas") == "cannot start /nowhere/ptxas: No such file or directory");
  const Assembler failing(R"(echo "ptxas fatal: no $1" >&2; exit 3)");
  CHECK(message(failing.path()) == failing.path() + " exited with 3: ptxas fatal: no -arch=sm_90");
  const Assembler idle("exit 0");
  CHECK(message(idle.path()) == idle.path() + " made no cubin");
  const Assembler wrong(R"(cp "$4" "$3")");
  CHECK(message(wrong.path()) == wrong.path() + " made no cubin");
}

TEST_CASE("a cubin that is not whole is damage") {
  const Assembler assembler(kAssembles);
  Context context({.assembler = assembler.path()});
  const Program program = *Program::from_text(cases().front().text);
  const Pack pack = *runtime::PackFile::parse(*context.pack({program}, {"sm_90"}));
  runtime::PackContents contents = pack->contents();
  runtime::PackConfig& code = contents.programs.front().targets.front().codes.front();
  code.cubin = code.cubin.first(100);
  const Pack cut = *runtime::PackFile::parse(*runtime::write_pack(contents));
  const FakeGpu fake;
  LaunchContext launching;
  const auto loaded = launching.load(*cut, "pad_relu", {runtime::DeviceKind::cuda});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == Code::data_loss);
  CHECK(loaded.error().message.ends_with("a cubin is not whole"));
}

TEST_CASE("contracts are what they were before they were packed") {
  const Pack pack = pack_for({"host"});
  Context compiling;
  LaunchContext context;
  std::size_t preconditions = 0;
  for (const Case& test : cases()) {
    const CompiledProgram packed = load(context, *pack, test.name);
    const auto compiled = compiling.compile(packed.program());
    REQUIRE(compiled);
    const auto expected = compiled->kernels(), found = packed.kernels();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].size() == expected[i].size());
      for (std::size_t v = 0; v < found[i].size(); ++v) {
        const abi::KernelAbi &a = *expected[i][v], &b = *found[i][v];
        CHECK(a.name == b.name);
        // Of one context: the same expression is the same handle.
        CHECK(a.rows == b.rows);
        CHECK(a.columns == b.columns);
        CHECK(a.row_bytes == b.row_bytes);
        CHECK(a.accesses == b.accesses);
        REQUIRE(a.sizes.size() == b.sizes.size());
        for (std::size_t s = 0; s < a.sizes.size(); ++s) {
          CHECK(a.sizes[s].value == b.sizes[s].value);
          CHECK(a.sizes[s].fit == b.sizes[s].fit);
          CHECK(a.sizes[s].input == b.sizes[s].input);
        }
        REQUIRE(a.preconditions.size() == b.preconditions.size());
        preconditions += a.preconditions.size();
        for (std::size_t p = 0; p < a.preconditions.size(); ++p) {
          CHECK(a.preconditions[p].lhs == b.preconditions[p].lhs);
          CHECK(a.preconditions[p].comparison == b.preconditions[p].comparison);
          CHECK(a.preconditions[p].rhs == b.preconditions[p].rhs);
        }
        REQUIRE(a.guards.size() == b.guards.size());
        for (std::size_t g = 0; g < a.guards.size(); ++g) CHECK(a.guards[g].holds.lhs == b.guards[g].holds.lhs);
      }
    }
  }
  CHECK(preconditions > 0);
}

TEST_CASE("a packed kernel checks its preconditions when it is bound") {
  const Pack pack = pack_for({"host"});
  LaunchContext context;
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  const auto bound = load(context, *pack, "products").bind(request({{0, 5}}, {{"k", kFar}, {"m", kFar}, {"q", 1}}));
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == Code::failed_precondition);
  CHECK(bound.error().message.starts_with("indices of kernel 'products_0' in 64 bits: "));
}

TEST_CASE("a pack brings its tuned choices by regions of sizes") {
  const testing::Folder folder;
  const std::string cache = folder / "tuning.db";
  const Program program = programs().front();
  Context context;
  const std::string normal = *context.choose_config({});
  const std::string tuned =
      *context.choose_config({.config = normal.find("unroll=1") == std::string::npos ? "unroll=1" : "unroll=2"});
  REQUIRE(normal != tuned);
  testing::learn(cache, *context.cache_key(program), "S >= 64", tuned);
  Context packing;
  tuner::StoreOptions options;
  options.match = tuner::Match::loose;
  options.user_file = cache;
  REQUIRE(packing.use_cache(options));
  const auto bytes = packing.pack({program}, {"host"});
  REQUIRE_MESSAGE(bytes, (bytes ? "" : bytes.error().to_string()));
  const Pack pack = *runtime::PackFile::parse(*bytes);
  CHECK(pack->contents().programs.front().targets.front().codes.size() == 2);
  LaunchContext launching;
  const CompiledProgram loaded = load(launching, *pack, "");
  CHECK(loaded.config() == normal);
  for (const auto& [extent, config] : {std::pair(63, normal), std::pair(64, tuned)}) {
    const ir::BindRequest sizes = request({{2, extent}}, {{"lo", 1}});
    const auto bound = loaded.bind(sizes);
    REQUIRE(bound);
    CHECK(bound->compiled().config() == config);
    const Arrays arrays(*bound);
    REQUIRE(bound->launch(arrays.arguments()));
    CHECK(arrays.results == reference_results(program, sizes, arrays));
  }
}

TEST_CASE("the first target that the CPU can run is taken, and what it lacks is named") {
  const Pack pack = pack_for({padlock::testing::kBaseTarget, "host"});
  runtime::PackContents contents = pack->contents();
  contents.programs.resize(1);
  std::vector<runtime::PackTarget>& targets = contents.programs.front().targets;
  LaunchContext context;
  const auto load_edited = [&] { return context.load(**runtime::PackFile::parse(*runtime::write_pack(contents)), ""); };
  CHECK(load_edited()->target() == targets[0].description);
  targets[0].features.push_back("flux-capacitor");
  CHECK(load_edited()->target() == targets[1].description);
  targets[1].features = {padlock::testing::kBaseFeature, "avx1024"};
  const auto refused = load_edited();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::unavailable);
  CHECK(
      refused.error().message ==
      fmt::format("the pack has no code of pad_relu for device host ({}: the code needs flux-capacitor, which this CPU "
                  "lacks; host: the code needs avx1024, which this CPU lacks)",
                  padlock::testing::kBaseTarget));
  targets.clear();
  CHECK(load_edited().error().message == "the pack has no code of pad_relu for device host (none at all)");
}

TEST_CASE("one pack has code for both architectures and a GPU, and each machine takes its own") {
  const FakeGpu fake;
  const Pack pack = pack_for({padlock::testing::kForeignTarget, padlock::testing::kBaseTarget, "sm_90"});
  LaunchContext context;
  for (const Case& test : cases()) {
    CAPTURE(test.name);
    const CompiledProgram program = load(context, *pack, test.name);
    const auto packed = *pack->find(test.name);
    CHECK(program.target() == packed->targets[1].description);
    CHECK(packed->targets[0].elf_number + packed->targets[1].elf_number == 62 + 183);
    CHECK(packed->targets[2].elf_number == 0);
    CHECK(load(context, *pack, test.name, {runtime::DeviceKind::cuda}).target() == "sm_90");
    const auto bound = program.bind(test.sizes.front());
    REQUIRE(bound);
    const Arrays arrays(*bound);
    REQUIRE(bound->launch(arrays.arguments()));
    CHECK(arrays.results == reference_results(program.program(), test.sizes.front(), arrays));
  }
}

TEST_CASE("a pack for other machines says what it has and what this machine is") {
  const Pack pack = pack_for({padlock::testing::kForeignTarget, "sm_90"});
  runtime::PackContents contents = pack->contents();
  LaunchContext context;
  const auto message = [&] {
    const auto refused = context.load(**runtime::PackFile::parse(*runtime::write_pack(contents)), "two");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Code::unavailable);
    return refused.error().message;
  };
  CHECK(message() ==
        fmt::format("the pack has no code of two for device host ({}: it is for {}, this machine is {}; sm_90: "
                    "it is for GPUs)",
                    padlock::testing::kForeignTarget, padlock::testing::kForeignArchitecture,
                    padlock::testing::kArchitecture));
  for (runtime::PackProgram& program : contents.programs) program.targets.front().elf_number = 243;
  CHECK(message().find("it is for an unknown architecture, this machine is ") != std::string::npos);
}

TEST_CASE("requests that no pack can serve say so") {
  const FakeGpu fake;
  const Pack pack = pack_for({"host"});
  LaunchContext context;
  const auto unknown = context.load(*pack, "nobody");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == Code::not_found);
  CHECK(unknown.error().message ==
        "expected the name of a program of the pack (pad_relu, two, cat, mixed, products), found 'nobody'");
  CHECK(context.load(*pack, "two", {runtime::DeviceKind::simt}).error().code == Code::invalid_argument);
  CHECK(context.load(*pack, "two", {runtime::DeviceKind::cuda}).error().message ==
        "the pack has no code of two for device cuda:0 (host: it is for CPUs)");
  Context packing;
  CHECK(packing.pack({}, {"host"}).error().message == "expected a program and a target at least");
  CHECK(packing.pack(programs(), {"host", "host"}).error().message == "expected targets that differ");
  CHECK(packing.pack({programs()[0], programs()[0]}, {"host"}).error().message == "two programs are called pad_relu");
  CHECK(packing.pack(programs(), {"sm_1"}).error().code == Code::invalid_argument);
}

TEST_CASE("a CPU says of itself what LLVM says of it") {
  Context context;
  const auto bytes = context.pack({programs().front()}, {"host"});
  REQUIRE(bytes);
  const Pack pack = *runtime::PackFile::parse(*bytes);
  const runtime::PackTarget& target = pack->contents().programs.front().targets.front();
  CHECK(target.features.size() >= 2);
  // "CPU +feature,-feature,...", all that LLVM asks a machine for.
  std::string_view rest = target.description.substr(target.description.find(' ') + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view feature = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    CAPTURE(feature);
    const std::optional<bool> found = cpu_has(feature.substr(1));
    REQUIRE(found.has_value());
    CHECK(*found == feature.starts_with('+'));
  }
}

}  // namespace
}  // namespace padlock::session
