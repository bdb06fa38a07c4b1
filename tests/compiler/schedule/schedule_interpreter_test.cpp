#include "tests/compiler/schedule/schedule_interpreter.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/compiler/llvm/compiled.h"
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
  for (const std::string_view config :
       {"map=rows,threads=128,items=1", "map=rows,threads=128,items=4,vector_bytes=8", "map=tiles,threads=128,items=1",
        "map=tiles,threads=256,items=2,vector_bytes=8,persistent=1", "map=tiles,threads=128,split=0",
        "map=flat,threads=128,items=2", "map=flat,threads=128,items=1,persistent=1"}) {
    CAPTURE(std::string(config));
    const Schedule schedule = schedule_of(program, config);
    for (const auto& [rows, extent] : {std::pair(1, 1), {5, 3}, {9, 250}, {2, 1030}, {1, 2500}})
      for (const std::int64_t blocks : {0, 1, 3}) {
        const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", rows}, {"S", extent}, {"lo", 5}});
        for (const LoopStrategyKind strategy :
             {LoopStrategyKind::scalar, LoopStrategyKind::cooperative, LoopStrategyKind::cooperative_realigned,
              LoopStrategyKind::cooperative_aligned}) {
          const Result<Trace> trace = interpret_grid(schedule, sizes, blocks, {.strategy = strategy, .peel = 1});
          REQUIRE(trace.has_value());
          CHECK(trace->events.empty());
          CHECK(trace->writes == rows * (extent + 10));
          const bool vectors = strategy != LoopStrategyKind::scalar && schedule.bodies.back().lanes > 1;
          if (extent < 250) continue;
          CHECK((trace->vectors > 0) == vectors);
          CHECK((trace->realigned > 0) == (vectors && strategy == LoopStrategyKind::cooperative_realigned));
        }
      }
  }
}

// Columns [0, 8) read x backwards, from its last element on; the others all of it.
constexpr std::string_view kFolded =
    "program p(x: f32[S], p: dim) where S >= 2, 0 <= p < S { y = pad(x, low = [p], high = [0], mode = reflect) "
    "return y }";
constexpr std::string_view kVectorsOfFour = "map=rows,threads=128,items=1,vector_bytes=16";

TEST_CASE("a vector that is realigned reads the two aligned ones around it") {
  const ir::Program program = program_of(kFolded);
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"S", 9}, {"p", 8}});
  const auto trace_at = [&](Mutation mutation, int misalignment) {
    const Execution execution{.strategy = LoopStrategyKind::cooperative_realigned, .misalignment = misalignment};
    const Result<Trace> trace = interpret_grid(schedule_of(program, kVectorsOfFour, mutation), sizes, 0, execution);
    REQUIRE(trace.has_value());
    return *trace;
  };
  const auto misread = [&](Mutation mutation, int misalignment) {
    std::set<std::int64_t> columns;
    for (const Event& event : trace_at(mutation, misalignment).events)
      if (event.kind == ObligationKind::load) columns.insert(event.column.value_or(-100));
    return columns;
  };
  using Columns = std::set<std::int64_t>;
  // Without room before it: the vectors at columns 0, reversed, and 8.
  CHECK(misread(Mutation::realigned_too_early, 1) == Columns{-3, -2, -1, 7});
  CHECK(misread(Mutation::realigned_too_early, 2) == Columns{-2, -1, 6, 7});
  CHECK(misread(Mutation::realigned_too_early, 3) == Columns{-1, 5, 6, 7});
  // Without room after it: those at 4, after which x has one element left, and at 12, after which it has one, too.
  CHECK(misread(Mutation::realigned_too_late, 1) == Columns{17, 18});
  CHECK(misread(Mutation::realigned_too_late, 2) == Columns{9, 17});
  CHECK(misread(Mutation::realigned_too_late, 3) == Columns{9, 10});
  for (const int misalignment : {0, 1, 2, 3}) CHECK(misread(Mutation::none, misalignment).empty());
  // Two vectors, each of which reads four elements more than it has.
  CHECK(trace_at(Mutation::realigned_too_late, 1).realigned == 2);
  CHECK(trace_at(Mutation::realigned_too_late, 1).loads == 17 + 2 * 4);
  // Aligned, they are not realigned.
  CHECK(trace_at(Mutation::realigned_too_late, 0).realigned == 0);
  CHECK(trace_at(Mutation::realigned_too_late, 0).loads == 17);
}

TEST_CASE("of two loads one may be aligned where the other is not") {
  const ir::Program program = program_of("program p(x: f32[S], y: f32[S]) where S >= 1 { z = add(x, y) return z }");
  const Schedule schedule = schedule_of(program, kVectorsOfFour, Mutation::realigned_too_late);
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"S", 8}});
  for (const auto& [misalignment, farthest] : {std::pair(0, "element 11 of x"), std::pair(3, "element 11 of y")}) {
    const Execution execution{.strategy = LoopStrategyKind::cooperative_realigned, .misalignment = misalignment};
    const Result<Trace> trace = interpret_grid(schedule, sizes, 0, execution);
    REQUIRE(trace.has_value());
    CHECK(trace->realigned == 1);
    const std::vector<std::string> texts = texts_of(*trace, ObligationKind::load);
    CHECK(std::ranges::count(texts, std::string(farthest) + " is read where its storage has 8") == 1);
  }
}

TEST_CASE("the first and the last elements of a team's run are dealt as one") {
  const ir::Program program = program_of("program p(x: f32[S]) where S >= 1 { y = relu(x) return y }");
  Schedule schedule = schedule_of(program, kVectorsOfFour);
  // After elements 0 to 5 the vectors at 6 and 10; what is left begins at 14, and one too early here.
  VectorLoop& tail = schedule.bodies.front().strategies[1].loops.back();
  tail.from = schedule.exprs().sub(tail.from, schedule.exprs().constant(1));
  const Execution execution{.strategy = LoopStrategyKind::cooperative_realigned, .peel = 2};
  const Result<Trace> trace = interpret_grid(schedule, sizes_of(program, {{"S", 20}}), 0, execution);
  REQUIRE(trace.has_value());
  REQUIRE(trace->events.size() == 1);
  CHECK(trace->events[0].text == "column 13 is written by thread 1 of block 0 and thread 6 of block 0");
  CHECK(trace->writes == 21);
}

TEST_CASE("threads of a grid that share a row wrongly are named") {
  const ir::Program program = program_of(kPad);
  const std::vector<std::int64_t> sizes = sizes_of(program, {{"B", 2}, {"S", 4}, {"lo", 0}});
  const auto events_of = [&](const ThreadMap& wrong) {
    Schedule schedule = schedule_of(program, "map=tiles,threads=128,items=1");
    schedule.threads = wrong;
    const Result<Trace> trace = interpret_grid(schedule, sizes, 0, {});
    REQUIRE(trace.has_value());
    return trace->events;
  };
  // A team of two, where the chunks are dealt to 32: of four columns two are nobody's, in each row.
  const std::vector<Event> missed = events_of({.threads = 128, .team = 2, .tile_rows = 4, .tile_columns = 512});
  REQUIRE(missed.size() == 4);
  CHECK(missed[1].kind == ObligationKind::cover);
  CHECK(missed[1].row == std::vector<std::int64_t>{0});
  CHECK(missed[1].column == 3);
  CHECK(missed[1].text == "column 3 is never written");
  // Teams of 64 among 96 threads: the rest of the threads is one more team than the rows are dealt to.
  const std::vector<Event> twice = events_of({.threads = 96, .team = 64, .tile_rows = 4, .tile_columns = 512});
  REQUIRE_FALSE(twice.empty());
  CHECK(twice[0].kind == ObligationKind::disjoint);
  CHECK(twice[0].row == std::vector<std::int64_t>{1});
  CHECK(twice[0].text == "column 0 is written by thread 0 of block 0 and thread 64 of block 0");
  CHECK(twice[0].writers == std::vector<Writer>{{0, 0}, {0, 64}});
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
