#include "runtime/cuda/kernel_launcher.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/allocation_count.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr std::size_t kWords = 9;
constexpr std::uint64_t kFault = 0xFA017;

constexpr const char* kProgram = R"(
program p(x: u8[R, C], v: f32[R, C], s: f32) {
  a = pad(x, low = [0, 0], high = [0, 0])
  b = pad(v, low = [0, 0], high = [0, 0], value = s)
  return b, a
})";

std::string text_of_kernels() {
  std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n";
  for (const char* name : {"any", "parts"}) {
    text += std::string(".visible .entry ") + name + "(";
    for (std::size_t i = 0; i < kWords; ++i)
      text += std::string(i == 0 ? "" : ",") + "\n  .param .u64 word" + std::to_string(i);
    text += "\n)\n{ ret; }\n";
  }
  return text;
}

/// Records the words and the grid of each launch, of either kernel. Allocates nothing.
struct Seen {
  struct Launch {
    std::array<std::uint64_t, kWords> words;
    unsigned grid_x, block_x;
    [[nodiscard]] Words all() const { return {words.begin(), words.end()}; }
  };
  static void take(void* seen, const std::uint64_t* words, std::size_t count, unsigned grid_x, unsigned block_x) {
    auto& self = *static_cast<Seen*>(seen);
    if (self.count == self.launches.size() || count != kWords) FAIL("an unexpected launch");
    Launch& launch = self.launches[self.count++];
    std::copy(words, words + count, launch.words.begin());
    launch.grid_x = grid_x;
    launch.block_x = block_x;
  }
  std::array<Launch, 4> launches;
  std::size_t count = 0;
};

/// A kernel of two variants, of which the second has offsets for 40 elements. Buffers are only addresses.
struct Problem {
  explicit Problem(const Fake& fake, int max_grid_x = 1 << 20)
      : context(fake.primary()), stream(*Stream::create(*context)) {
    for (const char* name : {"any", "parts"}) fake->register_twin(name, Seen::take, &seen);
    device.max_grid_x = max_grid_x;
    device.max_block_threads = 1024;
    modules = std::make_unique<const ProgramModules>(*context, text_of_kernels(), Module::load_ptx);
    auto made = KernelLauncher::create(*modules, {{any(), 0}, {parts(), 0}}, program, device, kFault);
    REQUIRE_MESSAGE(made, (made ? "" : made.error().to_string()));
    launcher.emplace(*std::move(made));
  }

  abi::KernelAbi any() {
    const auto id = [&](const char* name) { return *program.find(name); };
    const auto extents = program.value(id("a")).extents();
    ir::ExprContext& c = program.exprs();
    const ir::Expr elements = c.mul(extents[0], extents[1]);
    const auto k = [&](Int128 value) { return c.constant(value); };
    return {.name = "any",
            .inputs = {id("v"), id("x")},
            .results = {id("a"), id("b")},
            .scalars = {id("s")},
            .sizes = {{extents[0], abi::SizeArgument::Encoding::first_row},
                      {elements, abi::SizeArgument::Encoding::elements},
                      {extents[1], abi::SizeArgument::Encoding::from_origin, 1}},
            .rows = c.ceildiv(c.add(elements, k(3)), k(16)),
            .columns = k(1),
            .row_bytes = k(64),
            .threads = 32,
            .accesses = {}};
  }
  abi::KernelAbi parts() {
    abi::KernelAbi abi = any();
    abi.name = "parts";
    ir::ExprContext& c = program.exprs();
    const auto extents = program.value(abi.results[0]).extents();
    const ir::Expr rows = extents[0], columns = extents[1], elements = c.mul(rows, columns);
    abi.guards = {{abi::Assumption::offset32, {columns, ir::Comparison::lt, c.constant(100)}}};
    const ir::Expr last = c.sub(columns, c.constant(1));
    abi.parts = abi::LaunchParts{.extents = {rows},
                                 .columns = columns,
                                 .spans = {elements, elements},
                                 .reaches = {{0, {columns}, c.constant(0), last}, {1, {columns}, c.constant(0), last}},
                                 .block_elements = 16,
                                 .lanes = 4,
                                 .most_elements = 40};
    return abi;
  }

  [[nodiscard]] Result<BoundKernel> bind(std::int64_t rows, std::int64_t columns) const {
    return launcher->bind(*ir::Binding::bind(program, {.tensors = {{}, {}}, .symbols = {{"R", rows}, {"C", columns}}}));
  }
  [[nodiscard]] Status launch(const BoundKernel& bound) const {
    const auto buffer = [](std::uint64_t address) {
      return BufferView(UserBuffer(std::bit_cast<void*>(address), 1 << 20));
    };
    const BufferView inputs[] = {buffer(0x10000000), buffer(0x20000000)};   // x, v
    const BufferView outputs[] = {buffer(0x30000000), buffer(0x40000000)};  // b, a
    const std::uint64_t scalars[] = {7};
    const auto scope = ContextScope::enter(*context);
    REQUIRE(scope);
    const long before = testing::allocation_count();
    Status status = bound.launch(*scope, inputs, outputs, scalars, stream);
    const long after = testing::allocation_count();
    if (status) CHECK(after == before);
    return status;
  }

  Seen seen;
  std::unique_ptr<const Context> context;
  Stream stream;
  ir::Program program = *ir::parse_program(kProgram);
  GpuFacts device;
  std::unique_ptr<const ProgramModules> modules;
  std::optional<KernelLauncher> launcher;
};

TEST_CASE("a variant's code is loaded by the first sizes that take it, and no driver call is made for others") {
  const Fake fake;
  const Problem problem(fake);
  CHECK(fake->live().modules == 0);
  REQUIRE(problem.bind(4, 10));
  CHECK(fake->live().modules == 1);
  REQUIRE(problem.bind(2, 41));
  CHECK(fake->live().modules == 2);
  fake->forget_calls();
  for (const std::int64_t columns : {10, 41, 12}) REQUIRE(problem.bind(3, columns));
  REQUIRE(problem.bind(0, 10));
  CHECK(fake->calls().empty());
}

TEST_CASE("a variant is loaded once, however many threads take it at a time") {
  const Fake fake;
  const Problem problem(fake);
  std::array<const Function*, 8> found{};
  std::vector<std::thread> threads;
  for (const Function*& place : found) threads.emplace_back([&] { place = &problem.bind(4, 10)->function(); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::count(found, found.front()) == std::ssize(found));
  CHECK(found.front()->name() == "parts");
  CHECK(fake->made().modules == 1);
}

TEST_CASE("code that does not load is an error of the sizes that take it, by its name, each time") {
  const Fake fake;
  const Problem problem(fake);
  REQUIRE(problem.bind(4, 10));
  fake->refuse_modules(CUresult::invalid_ptx, "ptxas fatal   : so it goes");
  for (int round = 0; round < 2; ++round) {
    const Error error = error_of(problem.bind(2, 41));
    CHECK(error.context == std::vector<std::string>{"while loading module any", "ptxas fatal   : so it goes"});
  }
  CHECK(problem.bind(4, 10));
  fake->refuse_modules(CUresult::success, "");
  CHECK(problem.bind(2, 41));
}

TEST_CASE(
    "code that allows fewer threads than its blocks have is an error each time, and a contract without code, too") {
  const Fake fake;
  fake->settings.function_threads = 16;
  Problem problem(fake);
  for (int round = 0; round < 2; ++round)
    CHECK(contains(error_of(problem.bind(4, 10)).message,
                   "kernel parts has blocks of 32 threads, cuda:0 runs at most 16"));
  abi::KernelAbi other = problem.any();
  other.name = "other";
  CHECK(error_of(KernelLauncher::create(*problem.modules, {{other, 0}}, problem.program, problem.device, kFault))
            .message == "the PTX has no entry other");
}

TEST_CASE("what one launch may take is one driver call, with the caller's pointers") {
  const Fake fake;
  const Problem problem(fake);
  const auto bound = problem.bind(4, 10);
  REQUIRE(bound);
  CHECK(bound->abi().name == "parts");
  CHECK(bound->launches().size() == 1);
  CHECK(bound->shape().grid_x == 3);
  CHECK(std::ranges::equal(bound->words(), Words{kFault, 0, 0, 0, 0, 0, 0, 40, 10}));
  REQUIRE(problem.launch(*bound));
  REQUIRE(problem.seen.count == 1);
  CHECK(problem.seen.launches[0].all() == Words{kFault, 0x20000000, 0x10000000, 0x40000000, 0x30000000, 7, 0, 40, 10});
}

TEST_CASE("more is a driver call for each part, whose pointers are moved by the bytes of its elements") {
  const Fake fake;
  Problem problem(fake);
  const auto bound = problem.bind(8, 10);
  REQUIRE(bound);
  CHECK(bound->abi().name == "parts");
  CHECK(bound->launches().size() == 2);
  for (int round = 0; round < 2; ++round) {  // a launch leaves no trace in the binding
    problem.seen.count = 0;
    fake->forget_calls();
    REQUIRE(problem.launch(*bound));
    CHECK(std::ranges::count(fake->calls(), "cuLaunchKernel") == 2);
    REQUIRE(problem.seen.count == 2);
    for (const std::size_t part : {0, 1}) {
      CAPTURE(part);
      CHECK(problem.seen.launches[part].grid_x == 3);
      CHECK(problem.seen.launches[part].block_x == 32);
    }
    CHECK(problem.seen.launches[0].all() ==
          Words{kFault, 0x20000000, 0x10000000, 0x40000000, 0x30000000, 7, 0, 40, 10});
    CHECK(problem.seen.launches[1].all() == Words{kFault, 0x20000000 + 160, 0x10000000 + 40, 0x40000000 + 40,
                                                  0x30000000 + 160, 7, 4, 40, std::uint64_t{0} - 30});
  }
}

TEST_CASE("a row that no launch of a part may take is launched by code that counts them all") {
  const Fake fake;
  const Problem problem(fake);
  const auto bound = problem.bind(2, 41);
  REQUIRE(bound);
  CHECK(bound->abi().name == "any");
  CHECK(bound->launches().size() == 1);
  CHECK(bound->shape().grid_x == 6);
}

TEST_CASE("an empty output is no driver call") {
  const Fake fake;
  const Problem problem(fake);
  const auto bound = problem.bind(0, 10);
  REQUIRE(bound);
  CHECK(bound->launches().empty());
  CHECK(bound->shape().grid_x == 0);
  CHECK(bound->words().empty());
  fake->forget_calls();
  CHECK(problem.launch(*bound));
  CHECK(std::ranges::count(fake->calls(), "cuLaunchKernel") == 0);
}

TEST_CASE("the grid of each launch, not that of all, is what a device limits") {
  const Fake fake;
  CHECK(Problem(fake, 3).bind(8, 10)->launches().size() == 2);
  const Problem problem(fake, 2);
  const Error error = error_of(problem.bind(8, 10));
  CHECK(error.code == Code::resource_exhausted);
  CHECK(error.message == "kernel parts has 3 blocks of these sizes, cuda:0 launches at most 2");
}

TEST_CASE("a part that the driver refuses ends the launch") {
  const Fake fake;
  const Problem problem(fake);
  const auto bound = problem.bind(8, 10);
  REQUIRE(bound);
  for (const int nth : {1, 2}) {
    CAPTURE(nth);
    fake->fail({.function = "cuLaunchKernel", .nth = nth, .status = CUresult::launch_out_of_resources});
    CHECK_FALSE(problem.launch(*bound));
  }
  CHECK(problem.seen.count == 1);
}

}  // namespace
}  // namespace padlock::runtime::cuda
