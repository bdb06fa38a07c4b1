#include "tests/compiler/schedule/schedule_interpreter.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/compiler/emit/compiled.h"
#include "tests/compiler/prover/mutant_case.h"

namespace padlock::compiler {
namespace {

constexpr std::string_view kPad =
    "program p(x: f32[B, S], lo: dim) where B >= 1, S >= 1, lo >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, lo]) return y }";

std::vector<std::int64_t> sizes_of(const ir::Program& program, const std::map<std::string, std::int64_t>& named) {
  std::vector<std::int64_t> sizes(program.exprs().symbol_count(), 0);
  for (const auto& [name, value] : named) sizes[program.exprs().find_symbol(name)->symbol()] = value;
  return sizes;
}

Schedule schedule_of(const ir::Program& program, std::string_view config, Mutation mutation = Mutation::none) {
  Result<std::vector<Schedule>> schedules = schedules_of(program, config, mutation);
  if (!schedules) FAIL(schedules.error().to_string());
  return std::move(schedules->front());
}

Trace trace_of(const Schedule& schedule, std::span<const std::int64_t> sizes, std::vector<Task> tasks,
               const Execution& execution) {
  Result<Trace> trace = interpret(schedule, sizes, tasks, execution);
  if (!trace) FAIL(trace.error().to_string());
  return *std::move(trace);
}

std::vector<std::string> texts_of(const Trace& trace, ObligationKind kind) {
  std::vector<std::string> texts;
  for (const Event& event : trace.events)
    if (event.kind == kind) texts.push_back(event.text);
  return texts;
}

}  // namespace

TEST_CASE("a right kernel does nothing wrong, however its runs are walked") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "vector_bytes=16,unroll=2,store=nontemporal");
  for (const std::int64_t extent : {1, 3, 4, 5, 8, 40, 300}) {
    const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 3}, {"S", extent}, {"lo", 5}});
    const Task whole = whole_launch(schedule, sizes);
    CHECK(whole.row_last == 3);
    CHECK(whole.column_last == extent + 10);
    for (const LoopStrategyKind strategy :
         {LoopStrategyKind::scalar, LoopStrategyKind::peeled_vector, LoopStrategyKind::nontemporal})
      for (const int bits : {64, 32}) {
        const Trace trace =
            trace_of(schedule, sizes, {whole}, {.strategy = strategy, .shift = 1, .peel = 7, .index_bits = bits});
        CHECK(trace.events.empty());
        CHECK(trace.writes >= 3 * (extent + 10));
        CHECK((trace.vectors > 0) == (strategy != LoopStrategyKind::scalar));
      }
  }
}

TEST_CASE("by elements each is written once, and read once where the input has it") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "");
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 4}, {"S", 50}, {"lo", 6}});
  const Trace trace = trace_of(schedule, sizes, {whole_launch(schedule, sizes)}, {});
  CHECK(trace.writes == 4 * 62);
  CHECK(trace.loads == 4 * 50);
}

TEST_CASE("an element that is in no task, or in two, is noticed") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "");
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 1}, {"S", 4}, {"lo", 1}});
  const Trace gap = trace_of(schedule, sizes, {{0, 1, 0, 3}, {0, 1, 4, 6}}, {});
  CHECK(texts_of(gap, ObligationKind::cover) == std::vector<std::string>{"column 3 is nobody's"});
  const Trace overlap = trace_of(schedule, sizes, {{0, 1, 0, 4}, {0, 1, 3, 6}}, {});
  CHECK(texts_of(overlap, ObligationKind::disjoint) == std::vector<std::string>{"column 3 is written by two tasks"});
}

TEST_CASE("the threads of a right grid write every element, each once") {
  const ir::Program program = program_of(kPad);
  for (const std::string_view config : {"map=vector_grid,threads=128,items=1", "map=vector_grid,threads=256,items=4",
                                        "map=vector_grid,threads=128,split=0"}) {
    CAPTURE(std::string(config));
    const Schedule schedule = schedule_of(program, config);
    for (const auto& [rows, extent] : {std::pair(1, 1), {5, 3}, {9, 250}, {2, 1030}, {1, 2500}})
      for (const std::int64_t phase : {0, 1, 3}) {
        const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", rows}, {"S", extent}, {"lo", 5}});
        for (const LoopStrategyKind strategy : {LoopStrategyKind::scalar, LoopStrategyKind::whole_vector}) {
          const Result<Trace> trace = interpret_grid(schedule, sizes, {.strategy = strategy, .phase = phase});
          REQUIRE(trace.has_value());
          CHECK(trace->events.empty());
          CHECK(trace->writes == rows * (extent + 10));
          const bool vectors = strategy == LoopStrategyKind::whole_vector && schedule.bodies.back().lanes > 1;
          if (extent >= 250) CHECK((trace->vectors > 0) == vectors);
        }
      }
  }
}

TEST_CASE("what a seeded bug makes of a grid's vectors is seen when it is executed") {
  const ir::Program program = program_of(kPad);
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 3}, {"S", 700}, {"lo", 5}});
  const auto events_of = [&](Mutation mutation) {
    const Schedule schedule = schedule_of(program, "map=vector_grid,threads=128,items=2", mutation);
    const Result<Trace> trace =
        interpret_grid(schedule, sizes, {.strategy = LoopStrategyKind::whole_vector, .phase = 1});
    REQUIRE(trace.has_value());
    return trace->events;
  };
  CHECK(events_of(Mutation::none).empty());
  const std::vector<Event> twice = events_of(Mutation::vectors_overlap);
  REQUIRE_FALSE(twice.empty());
  CHECK(twice[0].text == "column 2 is written by thread 0 of block 0 and thread 1 of block 0");
  CHECK(twice[0].writers == std::vector<Writer>{{0, 0}, {0, 1}});
  // 2130 elements from the middle of a vector on: all but the last 82 are in 4 blocks of 128 vectors.
  const std::vector<Event> missed = events_of(Mutation::vector_tiles_rounded_down);
  REQUIRE(missed.size() == 83);
  CHECK(missed.back().text == "column 709 is never written");
  CHECK(missed.back().row == std::vector<std::int64_t>{2});
  CHECK(std::ranges::all_of(missed, [](const Event& event) { return event.kind == ObligationKind::cover; }));
  const std::vector<Event> beside = events_of(Mutation::edge_taken_whole);
  CHECK(std::ranges::any_of(beside, [](const Event& event) { return event.kind == ObligationKind::store; }));
  CHECK(std::ranges::any_of(beside, [](const Event& event) { return event.kind == ObligationKind::load; }));
}

TEST_CASE("rows that are not there are noticed") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "");
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 2}, {"S", 1}, {"lo", 0}});
  const Trace trace = trace_of(schedule, sizes, {{0, 3, 0, 1}}, {});
  CHECK(texts_of(trace, ObligationKind::store) == std::vector<std::string>{"row 2 is written of 2"});
  CHECK(texts_of(trace, ObligationKind::load) ==
        std::vector<std::string>{"coordinate 2 on axis 0 of x, whose extent is 2",
                                 "element 2 of x is read where its storage has 2"});
}

TEST_CASE("indices of 32 bits wrap where those of 64 do not") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "");
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 70'000}, {"S", 40'000}, {"lo", 0}});
  const std::vector<Task> last_elements = {{69'999, 70'000, 0, 2}};
  const Execution wide{.rows = std::pair<std::int64_t, std::int64_t>(0, 0)};
  CHECK(trace_of(schedule, sizes, last_elements, wide).events.empty());
  Execution narrow = wide;
  narrow.index_bits = 32;
  const Trace wrapped = trace_of(schedule, sizes, last_elements, narrow);
  // 69999 * 40000 - 2^32
  CHECK(texts_of(wrapped, ObligationKind::load) ==
        std::vector<std::string>{"element -1495007296 of x is read where its storage has 2800000000",
                                 "element -1495007295 of x is read where its storage has 2800000000"});
  CHECK(texts_of(wrapped, ObligationKind::store) ==
        std::vector<std::string>{"element -1495007296 is written", "element -1495007295 is written"});
  // Below 2^31 both agree.
  const std::vector<Task> first_elements = {{50'000, 50'001, 0, 2}};
  CHECK(trace_of(schedule, sizes, first_elements, narrow).events.empty());
}

TEST_CASE("more than some millions of elements are refused") {
  const ir::Program program = program_of(kPad);
  const Schedule schedule = schedule_of(program, "");
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 1}, {"S", 10'000'000}, {"lo", 0}});
  const std::vector<Task> whole = {whole_launch(schedule, sizes)};
  const Result<Trace> trace = interpret(schedule, sizes, whole, {});
  REQUIRE_FALSE(trace.has_value());
  CHECK(trace.error().code == Code::resource_exhausted);
  CHECK(trace.error().message == "the interpreter of schedules takes kernels of some millions of elements");
}

}  // namespace padlock::compiler
