// Times two builds of Padlock beside each other, by turns in one process: the pads of cases.txt in all their variants,
// short rows, or the programs of a list. It shows what a change costs where two runs of the whole benchmark drown it in
// the machine's moods.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/listed_program.h"
#include "bench/loaded_library.h"
#include "bench/pad_program.h"
#include "bench/short_rows.h"
#include "support/file.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {
namespace {

struct Arguments {
  std::string before, after;  // libraries
  std::string only, row;
  std::string programs;               // file of a list of programs
  CompiledFor before_for, after_for;  // of listed programs
  std::int64_t short_rows_bytes = 0;
  bool all = false;
  bool memcpy = false;  // takes turns, too
  TimingOptions timing = {.rounds = 41, .least_rounds = 5, .budget_ms = 1000, .warm_up_ms = 5, .sample_ms = 1};
};

/// A program of a case, and by how many threads it runs.
struct Row {
  std::string name;
  PadSpec spec;
  int threads = 1;
};

ListedProgram listed(const Row& row) {
  const auto sizes = row.spec.literal_extents ? std::map<std::string, std::int64_t>() : sizes_of(row.spec.pad);
  return {.name = row.name, .text = program_text(row.spec), .sizes = sizes};
}

/// The variants of a case that padlock_bench_host times warm; `numbers` has numbers for its pads.
std::vector<Row> rows_of(const PadCase& pad, const PadCase& numbers) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, PadSpec spec) -> Row& {
    rows.push_back({pad.name + ": " + std::move(name), std::move(spec)});
    return rows.back();
  };
  add("f32", {.pad = pad});
  add("f32 relu", {.pad = pad, .relu = true});
  add("f32, 2 threads", {.pad = pad}).threads = 2;
  add("f32 relu, 2 threads", {.pad = pad, .relu = true}).threads = 2;
  add("f32 literal", {.pad = numbers, .literal_extents = true});
  if (pad.rank() >= 4) add("f32 rank 2", {.pad = as_rank_2(numbers)});
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16, ir::DType::i8}) {
    const std::string type(ir::name_of(dtype));
    add(type, {.pad = of_type(numbers, dtype), .dtype = dtype});
    if (numbers.low.back() != 0 || numbers.high.back() != "0")
      add(type + " misaligned", {.pad = of_type(numbers, dtype, 1), .dtype = dtype});
  }
  for (const char* mode : {"constant", "reflect", "symmetric", "edge", "wrap"}) {
    if (pad.mode == mode) continue;
    Row& row = add(mode, {.pad = pad});
    row.spec.pad.mode = mode;
  }
  return rows;
}

/// Adds up the logarithms of the rows' ratios, for their geometric mean.
struct Sum {
  int rows = 0;
  int same = 0;  // code, to the byte
  double logarithm = 0;
};

using Calls = std::array<LoadedCall, 2>;  // before, after

/// Error: internal where the two compute different results.
Status compare_results(const std::string& name, const Calls& calls, PadArrays& arrays) {
  std::vector<std::vector<std::byte>> results;
  const auto bytes = static_cast<std::ptrdiff_t>(calls[0].results.extent_bytes);
  for (const LoadedCall& call : calls) {
    std::ranges::fill(arrays.result(), std::byte{0});
    call.run();
    results.emplace_back(arrays.result().begin(), arrays.result().begin() + bytes);
  }
  if (results[0] == results[1]) return {};
  return internal_error(fmt::format("{}: the results differ", name));
}

/// The arrays have room for the calls' inputs and results.
Status time_calls(const std::string& name, Calls calls, PadArrays& arrays, const Arguments& arguments, Sum& sum) {
  const bool same = calls[0].code == calls[1].code;
  if (same) ++sum.same;
  if (same && !arguments.all) return {};
  for (LoadedCall& call : calls) call.place(arrays.input().data(), arrays.result().data());
  PADLOCK_CHECK(compare_results(name, calls, arrays));
  std::vector<Contestant> contestants;
  for (const LoadedCall& call : calls)
    contestants.push_back({.name = contestants.empty() ? "before" : "after", .run = [&call] { call.run(); }});
  if (arguments.memcpy)
    contestants.push_back({.name = "memcpy", .run = [&] {
                             const auto half =
                                 static_cast<std::size_t>(calls[0].inputs.bytes + calls[0].results.bytes) / 2;
                             std::memcpy(arrays.result().data(), arrays.input().data(), half);
                             asm volatile("" ::: "memory");
                           }});
  const Comparison compared =
      compare(name, static_cast<double>(calls[0].inputs.bytes + calls[0].results.bytes), contestants, arguments.timing);
  const TimedRow& again = compared.rows.at(1);
  const TimedRow& timed = compared.rows.at(2);
  fmt::print("{:6.3f} {:6.3f} {:6.3f} {:6.3f} {:5} {:10.5f} {} {}", timed.ratio.value, timed.ratio.low,
             timed.ratio.high, again.ratio.value, timed.samples_ms.size(), timed.median_ms, same ? "same" : "new ",
             name);
  if (arguments.memcpy) {
    const double copied = compared.rows.at(3).median_ms;
    fmt::print(" of memcpy {:.3f} {:.3f}", copied / compared.rows.at(0).median_ms, copied / timed.median_ms);
  }
  fmt::print("\n");
  std::fflush(stdout);
  ++sum.rows;
  sum.logarithm += std::log(timed.ratio.value);
  return {};
}

/// Error: resource_exhausted.
Result<PadArrays> arrays_for(const LoadedCall& call) {
  return PadArrays::create(std::max(call.inputs.extent_bytes, call.results.extent_bytes));
}

Status time_cases(const LoadedLibrary& before, const LoadedLibrary& after, const Arguments& arguments, Sum& sum) {
  PADLOCK_TRY(const std::string text, read_text_file(PADLOCK_BENCH_FOLDER "/cases.txt", std::int64_t{1} << 20));
  PADLOCK_TRY(const std::vector<PadCase> cases, parse_cases(text, "programs"));
  for (const PadCase& pad : cases) {
    if (!pad.name.contains(arguments.only)) continue;
    const LoadedCall first = before.call(listed({.name = pad.name, .spec = {.pad = pad}}));
    PADLOCK_TRY(PadArrays arrays, arrays_for(first));
    for (const Row& row : rows_of(pad, with_numbers(pad, first.result_extents))) {
      if (!row.name.contains(arguments.row)) continue;
      Calls calls = {before.call(listed(row), {.threads = row.threads}),
                     after.call(listed(row), {.threads = row.threads})};
      PADLOCK_CHECK(time_calls(row.name, std::move(calls), arrays, arguments, sum));
    }
  }
  return {};
}

Status time_programs(const LoadedLibrary& before, const LoadedLibrary& after,
                     const std::vector<ListedProgram>& programs, const Arguments& arguments, Sum& sum) {
  for (const ListedProgram& program : programs) {
    if (!program.name.contains(arguments.only)) continue;
    Calls calls = {before.call(program, arguments.before_for), after.call(program, arguments.after_for)};
    PADLOCK_TRY(PadArrays arrays, arrays_for(calls[0]));
    PADLOCK_CHECK(time_calls(program.name, std::move(calls), arrays, arguments, sum));
  }
  return {};
}

Result<std::vector<ListedProgram>> listed_programs(const std::string& file) {
  PADLOCK_TRY(const std::string text, read_text_file(file, std::int64_t{1} << 20));
  return parse_listed_programs(text);
}

std::vector<ListedProgram> listed_short_rows(std::int64_t bytes) {
  std::vector<ListedProgram> programs;
  for (const PadSpec& spec : short_rows(bytes)) programs.push_back(listed({.name = spec.pad.name, .spec = spec}));
  return programs;
}

Status time_all(const LoadedLibrary& before, const LoadedLibrary& after, const Arguments& arguments, Sum& sum) {
  if (arguments.short_rows_bytes > 0)
    return time_programs(before, after, listed_short_rows(arguments.short_rows_bytes), arguments, sum);
  if (arguments.programs.empty()) return time_cases(before, after, arguments, sum);
  PADLOCK_TRY(const std::vector<ListedProgram> programs, listed_programs(arguments.programs));
  return time_programs(before, after, programs, arguments, sum);
}

Status run(const Arguments& arguments) {
  const LoadedLibrary before(arguments.before);
  const LoadedLibrary after(arguments.after);
  Sum sum;
  fmt::print(" after/before, interval; before again; rounds; ms after; code; row\n");
  PADLOCK_CHECK(time_all(before, after, arguments, sum));
  fmt::print("{} rows timed, geometric mean {:.3f}; of all, {} have the same code to the byte\n", sum.rows,
             std::exp(sum.logarithm / std::max(sum.rows, 1)), sum.same);
  return {};
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Times two builds of Padlock beside each other, on the programs of cases.txt.");
  app.add_option("before", arguments.before, "libpadlock.so of the one")->required();
  app.add_option("after", arguments.after, "libpadlock.so of the other")->required();
  app.add_option("--only", arguments.only, "cases whose name has this in it");
  app.add_option("--row", arguments.row, "rows whose name has this in it");
  app.add_option("--short-rows", arguments.short_rows_bytes, "instead rows of 1 to 64 bytes, of so many bytes together")
      ->excludes("--row");
  app.add_option("--programs", arguments.programs, "instead the programs of a list such as bench/pairs.txt")
      ->excludes("--row")
      ->excludes("--short-rows");
  for (const auto& [name, how] : {std::pair("before", &arguments.before_for), {"after", &arguments.after_for}}) {
    app.add_option(fmt::format("--{}-config", name), how->config, "of listed programs: \"key=value,...\"");
    app.add_option(fmt::format("--{}-target", name), how->target, "of listed programs: \"host:x86-64-v3\"")
        ->excludes(fmt::format("--{}-config", name));
    app.add_option(fmt::format("--{}-threads", name), how->threads, "of listed programs: 1 or 2")
        ->check(CLI::Range(1, 2));
  }
  app.add_flag("--memcpy", arguments.memcpy, "and says what part of the speed of memcpy of the same bytes each has");
  app.add_flag("--all", arguments.all, "rows, too, of which both have the same code");
  app.add_option("--rounds", arguments.timing.rounds, "samples of each at most");
  app.add_option("--least-rounds", arguments.timing.least_rounds, "samples of each at least");
  app.add_option("--budget-ms", arguments.timing.budget_ms, "time of a row, after which no round begins");
  app.add_option("--seed", arguments.timing.seed, "of the order of turns");
  CLI11_PARSE(app, argc, argv);
  const Status status = run(arguments);
  if (status) return 0;
  fmt::print(stderr, "padlock_bench_pairs: error: {}\n", status.error().to_string());
  return 1;
}

}  // namespace
}  // namespace padlock::bench

int main(int argc, char** argv) { return padlock::bench::main_of(argc, argv); }
