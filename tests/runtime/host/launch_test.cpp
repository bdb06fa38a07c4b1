#include "runtime/host/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/arguments.h"
#include "runtime/host/thread_pool.h"

namespace padlock::runtime {
namespace {

constexpr const char* kProgram = R"(
program p(a: f32[N], v: f32, x: f32[R, C]) {
  y = add(x, v)
  return y, a
})";

/// Stands for compiled code: y[row, column] = row * 1000 + column + (the bits of v), x unread but passed.
void entry(const abi::HostLaunch* launch, std::int64_t row_first, std::int64_t row_last, std::int64_t column_first,
           std::int64_t column_last) {
  auto* const y = static_cast<std::int32_t*>(launch->buffers[1]);
  const std::int64_t columns = launch->sizes[0];
  for (std::int64_t row = row_first; row < row_last; ++row)
    for (std::int64_t column = column_first; column < column_last; ++column)
      y[row * columns + column] =
          static_cast<std::int32_t>(row * 1000 + column + static_cast<std::int64_t>(launch->scalars[0]));
}

/// Stands for a planner: the plan is the row's length, and zeros.
void planner(const abi::HostLaunch* launch) {
  auto* const plan = static_cast<std::int64_t*>(launch->plan);
  CHECK(reinterpret_cast<std::uintptr_t>(plan) % abi::kPlanAlignment == 0);
  plan[0] = launch->sizes[0];
  for (std::int64_t i = 1; i < launch->sizes[0]; ++i) plan[i] = 0;
}
/// y[row, column] = the plan's value for the column.
void planned_entry(const abi::HostLaunch* launch, std::int64_t row_first, std::int64_t row_last,
                   std::int64_t column_first, std::int64_t column_last) {
  auto* const y = static_cast<std::int32_t*>(launch->buffers[1]);
  const auto* const plan = static_cast<const std::int64_t*>(launch->plan);
  for (std::int64_t row = row_first; row < row_last; ++row)
    for (std::int64_t column = column_first; column < column_last; ++column)
      y[row * launch->sizes[0] + column] = static_cast<std::int32_t>(plan[column]);
}

void failing_entry(const abi::HostLaunch* launch, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  launch->fault->claimed = 1;
  launch->fault->access = 1;
  launch->fault->coordinate = 12;
  launch->fault->extent = 10;
}

void forbidden_entry(const abi::HostLaunch*, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
  FAIL("an empty output is launched");
}

/// A variant of the only kernel, with that code.
HostVariant variant(const ir::Program& program, abi::HostEntry code) {
  ir::ExprContext& exprs = program.exprs();
  const ir::Value& y = program.value(*program.find("y"));
  return {.abi = {.name = "k",
                  .inputs = {*program.find("x")},
                  .results = {*program.find("y")},
                  .scalars = {*program.find("v")},
                  .sizes = {{.value = y.extents()[1]}},
                  .rows = y.extents()[0],
                  .columns = y.extents()[1],
                  .row_bytes = exprs.mul(y.extents()[1], exprs.constant(4)),
                  .accesses = {"load of x", "store of y"}},
          .entry = code};
}

/// A program, bound to R rows and C columns, with buffers for all its arguments.
struct Problem {
  Problem(std::int64_t rows, std::int64_t columns)
      : program(*ir::parse_program(kProgram)),
        binding(*ir::Binding::bind(program, {.tensors = {{}, {}}, .symbols = {{"N", 4}, {"R", rows}, {"C", columns}}})),
        sizes(*ArgumentSizes::of(binding)),
        a(4),
        x(static_cast<std::size_t>(rows * columns)),
        y(x.size(), -1),
        a_copy(4) {}

  std::vector<BufferView> inputs() { return {view(a), view(x)}; }
  std::vector<BufferView> outputs() { return {view(y), view(a_copy)}; }
  static BufferView view(std::vector<std::int32_t>& data) {
    return BufferView(UserBuffer(data.data(), static_cast<std::int64_t>(data.size() * 4)));
  }
  [[nodiscard]] bool is_right(std::int64_t columns) const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      if (y[i] != index / columns * 1000 + index % columns + 5) return false;
    }
    return true;
  }

  ir::Program program;
  ir::Binding binding;
  ArgumentSizes sizes;
  std::vector<std::int32_t> a, x, y, a_copy;
};

constexpr std::uint64_t kScalars[] = {5};

TEST_CASE("sizes select the variant whose guards hold") {
  Problem problem(3, 8);
  ir::ExprContext& exprs = problem.program.exprs();
  HostVariant small = variant(problem.program, entry);
  const HostVariant any = variant(problem.program, forbidden_entry);
  const ir::Expr columns = small.abi.columns;
  small.abi.guards = {{abi::Assumption::index32, {columns, ir::Comparison::le, exprs.constant(8)}}};
  const KernelLauncher launcher = *KernelLauncher::create({any, small}, problem.program);
  const BoundKernel bound = *launcher.bind(problem.binding, 64);
  CHECK(&bound.abi() == &launcher.variants()[1].abi);
  REQUIRE(bound.run(problem.inputs(), problem.outputs(), kScalars, {}));
  CHECK(problem.is_right(8));
  const ir::Binding wider =
      *ir::Binding::bind(problem.program, {.tensors = {{}, {}}, .symbols = {{"N", 4}, {"R", 3}, {"C", 9}}});
  CHECK(&launcher.bind(wider, 64)->abi() == &launcher.abi());
  // All of them must hold.
  small.abi.guards.push_back({abi::Assumption::index32, {columns, ir::Comparison::ge, exprs.constant(9)}});
  const KernelLauncher both = *KernelLauncher::create({any, small}, problem.program);
  CHECK(&both.bind(problem.binding, 64)->abi() == &both.abi());
}

TEST_CASE("a plan is written once for a launch's sizes, and handed to each launch of it, in several tasks") {
  ThreadPool pool(3);
  Problem problem(37, 211);
  HostVariant planned = variant(problem.program, planned_entry);
  ir::ExprContext& exprs = problem.program.exprs();
  planned.abi.shared_bytes = exprs.mul(planned.abi.columns, exprs.constant(8));
  planned.planner = planner;
  const KernelLauncher launcher = *KernelLauncher::create({planned}, problem.program);
  const BoundKernel bound = *launcher.bind(problem.binding, 64);
  for (int i = 0; i < 2; ++i) {
    std::ranges::fill(problem.y, -1);
    REQUIRE(bound.run(problem.inputs(), problem.outputs(), kScalars, pool.as_parallel_for()));
    for (std::size_t at = 0; at < problem.y.size(); ++at) REQUIRE(problem.y[at] == (at % 211 == 0 ? 211 : 0));
  }
  // Sizes that need no memory have no plan.
  planned.abi.shared_bytes = exprs.constant(0);
  planned.entry = [](const abi::HostLaunch* launch, std::int64_t, std::int64_t, std::int64_t, std::int64_t) {
    CHECK(launch->plan == nullptr);
  };
  const KernelLauncher without = *KernelLauncher::create({planned}, problem.program);
  REQUIRE(without.bind(problem.binding, 64)->run(problem.inputs(), problem.outputs(), kScalars, {}));
}

TEST_CASE("a variant that takes other arguments is refused") {
  const Problem problem(1, 1);
  const HostVariant any = variant(problem.program, entry);
  HostVariant other = any;
  other.abi.name = "k.other";
  other.abi.scalars = {};
  const auto launcher = KernelLauncher::create({any, other}, problem.program);
  REQUIRE_FALSE(launcher.has_value());
  CHECK(launcher.error().message == "kernel k.other takes other arguments than k");
}

TEST_CASE("a launch passes each argument in the kernel's order and covers the output") {
  ThreadPool pool(3);
  for (const std::int64_t task_bytes : {1, 64, 4096, 1 << 20}) {
    CAPTURE(task_bytes);
    Problem problem(37, 211);
    const KernelLauncher launcher = *KernelLauncher::create({variant(problem.program, entry)}, problem.program);
    const BoundKernel bound = *launcher.bind(problem.binding, task_bytes);
    REQUIRE(bound.run(problem.inputs(), problem.outputs(), kScalars, pool.as_parallel_for()));
    CHECK(problem.is_right(211));
  }
}

TEST_CASE("a caller's own loop is used, and a small output does without it") {
  struct Calls {
    int loops = 0;
    std::int64_t count = 0;
  } calls;
  const ParallelFor own{.run =
                            [](void* user, std::int64_t count, ParallelBody body, void* state) {
                              auto& self = *static_cast<Calls*>(user);
                              ++self.loops;
                              self.count = count;
                              for (std::int64_t i = count; i-- > 0;) body(state, i);
                            },
                        .user = &calls,
                        .threads = 2};
  Problem problem(8, 16);
  const KernelLauncher launcher = *KernelLauncher::create({variant(problem.program, entry)}, problem.program);
  REQUIRE(launcher.bind(problem.binding, 1 << 20)->run(problem.inputs(), problem.outputs(), kScalars, own));
  CHECK(calls.loops == 0);
  REQUIRE(launcher.bind(problem.binding, 64)->run(problem.inputs(), problem.outputs(), kScalars, own));
  CHECK(calls.loops == 1);
  CHECK(calls.count == 8);
  CHECK(problem.is_right(16));
}

/// Stands for GPU code with tiles of 16 elements: y[i] = x[i] + 1000 * (first row) + (origin of x).
void tile_entry(const abi::HostLaunch* launch, std::int64_t row_first, std::int64_t row_last, std::int64_t,
                std::int64_t) {
  const auto* const x = static_cast<const std::int32_t*>(launch->buffers[0]);
  auto* const y = static_cast<std::int32_t*>(launch->buffers[1]);
  const std::int64_t first_row = launch->sizes[0], elements = launch->sizes[1], origin = -launch->sizes[2];
  for (std::int64_t i = row_first * 16; i < std::min(row_last * 16, elements); ++i)
    y[i] = x[i] + static_cast<std::int32_t>(1000 * first_row + origin);
}

TEST_CASE("code for fewer elements than there are is run in parts, each with pointers and sizes of its own") {
  ThreadPool pool(3);
  Problem problem(8, 10);
  for (std::size_t i = 0; i < problem.x.size(); ++i) problem.x[i] = static_cast<std::int32_t>(i);
  ir::ExprContext& exprs = problem.program.exprs();
  HostVariant parted = variant(problem.program, tile_entry);
  const ir::Expr rows = parted.abi.rows, columns = parted.abi.columns, elements = exprs.mul(rows, columns);
  const ir::Expr zero = exprs.constant(0), last = exprs.sub(columns, exprs.constant(1));
  parted.abi.rows = exprs.ceildiv(elements, exprs.constant(16));
  parted.abi.columns = exprs.constant(1);
  parted.abi.row_bytes = exprs.constant(64);
  parted.abi.sizes = {{rows, abi::SizeArgument::Encoding::first_row},
                      {elements, abi::SizeArgument::Encoding::elements},
                      {zero, abi::SizeArgument::Encoding::from_origin, 0}};
  parted.abi.parts = abi::LaunchParts{.extents = {rows},
                                      .columns = columns,
                                      .spans = {elements},
                                      .reaches = {{0, {columns}, zero, last}},
                                      .block_elements = 16,
                                      .lanes = 1,
                                      .most_elements = 40};
  const KernelLauncher launcher =
      *KernelLauncher::create({variant(problem.program, forbidden_entry), parted}, problem.program);
  for (const std::int64_t task_bytes : {64, 1 << 20}) {
    for (const ParallelFor& loop : {pool.as_parallel_for(), ParallelFor()}) {
      CAPTURE(task_bytes);
      std::ranges::fill(problem.y, -1);
      const BoundKernel bound = *launcher.bind(problem.binding, task_bytes);
      CHECK(bound.rows() == 6);
      REQUIRE(bound.run(problem.inputs(), problem.outputs(), kScalars, loop));
      for (std::int32_t i = 0; i < 80; ++i)
        CHECK(problem.y[static_cast<std::size_t>(i)] == i + (i < 40 ? 0 : 1000 * 4 + 40));
    }
  }
}

TEST_CASE("an empty output is not launched") {
  ThreadPool pool(2);
  Problem problem(0, 16);
  const KernelLauncher launcher = *KernelLauncher::create({variant(problem.program, forbidden_entry)}, problem.program);
  const BoundKernel bound = *launcher.bind(problem.binding, 64);
  CHECK(bound.run(problem.inputs(), problem.outputs(), kScalars, pool.as_parallel_for()));
}

TEST_CASE("a fault is an internal error that names access, offset and storage") {
  ThreadPool pool(1);
  Problem problem(2, 3);
  HostVariant failing = variant(problem.program, failing_entry);
  const KernelLauncher launcher = *KernelLauncher::create({failing}, problem.program);
  const BoundKernel bound = *launcher.bind(problem.binding, 64);
  Status status = bound.run(problem.inputs(), problem.outputs(), kScalars, pool.as_parallel_for());
  REQUIRE_FALSE(status);
  CHECK(status.error().code == Code::internal);
  CHECK(status.error().message == "kernel k: store of y is out of bounds: offset 12, storage of 10 elements");
  failing.abi.accesses.clear();  // an index that the contract does not have must not be followed
  const KernelLauncher nameless = *KernelLauncher::create({failing}, problem.program);
  status =
      nameless.bind(problem.binding, 64)->run(problem.inputs(), problem.outputs(), kScalars, pool.as_parallel_for());
  CHECK(status.error().message == "kernel k: access 1 is out of bounds: offset 12, storage of 10 elements");
}

TEST_CASE("a contract that names what is no argument is refused") {
  Problem problem(2, 3);
  HostVariant wrong = variant(problem.program, entry);
  wrong.abi.inputs = {*problem.program.find("y")};
  const auto launcher = KernelLauncher::create({wrong}, problem.program);
  REQUIRE_FALSE(launcher);
  CHECK(launcher.error().code == Code::internal);
}

TEST_CASE("buffers are checked against the storage they must hold") {
  Problem problem(4, 4);
  const auto message = [&](std::vector<BufferView> inputs, std::vector<BufferView> outputs) {
    const Status status = problem.sizes.check(inputs, outputs);
    return status ? std::string("ok") : status.error().message;
  };
  const auto buffer = [](void* data, std::int64_t bytes) { return BufferView(UserBuffer(data, bytes)); };
  alignas(64) static std::byte memory[512];
  const BufferView a = buffer(memory, 16), x = buffer(memory + 64, 64), y = buffer(memory + 128, 64),
                   copy = buffer(memory + 256, 16);
  CHECK(message({a, x}, {y, copy}) == "ok");
  CHECK(message({a}, {y, copy}) == "expected 2 input and 2 output buffers, found 1 and 2");
  CHECK(message({a, buffer(memory + 64, 63)}, {y, copy}) == "the buffer of input x has 63 bytes, 64 are needed");
  CHECK(message({a, x}, {buffer(memory + 128, 60), copy}) == "the buffer of result y has 60 bytes, 64 are needed");
  CHECK(message({a, buffer(nullptr, 64)}, {y, copy}) == "the buffer of input x is null, 64 bytes are needed");
  // Byte by byte: touching is not overlapping, one shared byte is. Inputs may overlap each other.
  CHECK(message({a, x}, {buffer(memory + 127, 64), copy}) == "the buffers of result y and input x overlap");
  CHECK(message({a, x}, {buffer(memory + 1, 64), copy}) == "the buffers of result y and input a overlap");
  CHECK(message({a, x}, {y, buffer(memory + 191, 16)}) == "the buffers of results y and a overlap");
  CHECK(message({x, x}, {y, copy}) == "ok");
  // What a buffer has beyond the storage is not touched, so it overlaps nothing.
  CHECK(message({a, buffer(memory + 64, 400)}, {y, copy}) == "ok");
}

TEST_CASE("a program's binder says of its bindings what is evaluated of each alone, beyond 64 bits, too") {
  const ir::Program program = *ir::parse_program("program p(x: f32[A, B, C]) { y = relu(x) return y, x }");
  const ArgumentBinder binder(program);
  const std::int64_t far = std::int64_t{1} << 40;
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{2, 3, 5}, {0, far, far}, {1, 0, 4}}) {
    const auto binding = binder.bind({.tensors = {ir::ArgumentShape{extents, std::nullopt}}, .symbols = {}});
    REQUIRE(binding);
    const auto sizes = binder.sizes(*binding), alone = ArgumentSizes::of(*binding);
    REQUIRE(sizes);
    CHECK(std::ranges::equal(sizes->input_bytes(), alone->input_bytes()));
    CHECK(std::ranges::equal(sizes->output_bytes(), alone->output_bytes()));
    const ir::Value& x = program.value(program.tensor_parameters()[0]);
    std::vector<std::int64_t> expected = binding->extents_of(x);
    for (const std::int64_t stride : binding->strides_of(x)) expected.push_back(stride);
    std::vector<std::int64_t> all = expected;
    for (int result = 0; result < 2; ++result) all.insert(all.end(), expected.begin(), expected.end());
    std::vector<std::int64_t> wide;
    CHECK(std::ranges::equal(binder.shapes(*binding, wide), all));
    CHECK(wide.empty() == (extents[1] != far));
  }
}

TEST_CASE("empty tensors overlap nothing and need no memory") {
  Problem problem(0, 4);
  std::byte memory[64];
  const BufferView whole(UserBuffer(memory, 16)), copy(UserBuffer(memory + 32, 16)), none{};
  CHECK(problem.sizes.check(std::vector{whole, none}, std::vector{whole, copy}));
}

TEST_CASE("a returned parameter is dense, whatever its strides") {
  const ir::Program program = *ir::parse_program("program p(x: f32[4, 8] strides [0, 1]) { return x }");
  const ir::Binding binding = *ir::Binding::bind(program, {.tensors = {{}}, .symbols = {}});
  const ArgumentSizes sizes = *ArgumentSizes::of(binding);
  CHECK(sizes.input_bytes()[0] == 32);
  CHECK(sizes.output_bytes()[0] == 128);
}

TEST_CASE("a result beyond 2^47 bytes is refused even where its input is small") {
  const ir::Program program = *ir::parse_program("program p(x: f32[N, M] strides [0, 0]) { return x }");
  const auto binding = ir::Binding::bind(program, {.tensors = {{}}, .symbols = {{"N", 1 << 30}, {"M", 1 << 30}}});
  // Either check may refuse it first; nothing of that size may pass.
  if (!binding) {
    CHECK(binding.error().code == Code::failed_precondition);
    return;
  }
  const auto sizes = ArgumentSizes::of(*binding);
  REQUIRE_FALSE(sizes);
  CHECK(sizes.error().message ==
        "the storage of result x is below 2^47 bytes: it has 1152921504606846976 elements of f32");
}

}  // namespace
}  // namespace padlock::runtime
