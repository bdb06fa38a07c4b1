// Times two builds of Padlock beside each other, by turns in one process: the pads of cases.txt in all their variants,
// or short rows. It shows what a change costs where two runs of the whole benchmark drown it in the machine's moods.

#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/pad_program.h"
#include "bench/short_rows.h"
#include "padlock/padlock.h"
#include "support/file.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {
namespace {

struct Arguments {
  std::string before, after;  // libraries
  std::string only, row;
  std::int64_t short_rows_bytes = 0;
  bool all = false;
  TimingOptions timing = {.rounds = 41, .least_rounds = 5, .budget_ms = 1000, .warm_up_ms = 5, .sample_ms = 1};
};

/// A program of a case, and by how many threads it runs.
struct Row {
  std::string name;
  PadSpec spec;
  int threads = 1;
};

/// Holds a row's call as one library compiled and bound it.
struct Call {
  decltype(&padlock_call_launch) launch = nullptr;
  padlock_call* call = nullptr;
  std::string code = {};
  std::vector<std::int64_t> result = {};  // its extents
  std::int64_t input_bytes = 0;
  std::int64_t result_bytes = 0;

  void run(const void* from, void* to) const {
    if (launch(call, &from, 1, &to, 1, nullptr, nullptr) != PADLOCK_OK) std::abort();
  }
};

template <class T>
T sized() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

/// One of the two libraries, through its C interface alone: inside, both have the same names. What it makes lives as
/// long as the process, which ends where something fails.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) fail(dlerror());
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      auto options = sized<padlock_context_options>();
      options.threads = static_cast<std::int32_t>(i) + 1;
      make("padlock_context_create", &padlock_context_create, contexts_[i], &options);
    }
  }

  /// Compiles, and binds to the case's sizes.
  [[nodiscard]] Call call(const Row& row) const {
    const std::string text = program_text(row.spec);
    padlock_program* program = nullptr;
    padlock_kernel* kernel = nullptr;
    padlock_text* code = nullptr;
    Call call{.launch = find("padlock_call_launch", &padlock_call_launch)};
    padlock_context* context = contexts_.at(static_cast<std::size_t>(row.threads - 1));
    make("padlock_program_parse", &padlock_program_parse, program, context, text.data(), text.size());
    make("padlock_program_compile", &padlock_program_compile, kernel, program, nullptr);
    make("padlock_program_emit", &padlock_program_emit, code, program, nullptr, "asm");
    call.code = find("padlock_text_data", &padlock_text_data)(code);
    const auto sizes = row.spec.literal_extents ? std::map<std::string, std::int64_t>() : sizes_of(row.spec.pad);
    std::vector<padlock_named_value> dims;
    for (const auto& [name, value] : sizes) dims.push_back({name.c_str(), value});
    auto options = sized<padlock_bind_options>();
    options.dims = dims.data();
    options.dim_count = dims.size();
    make("padlock_kernel_bind", &padlock_kernel_bind, call.call, kernel, &options);
    auto info = sized<padlock_tensor_info>();
    read("padlock_call_input", &padlock_call_input, call.call, info);
    call.input_bytes = info.storage_bytes;
    read("padlock_call_result", &padlock_call_result, call.call, info);
    call.result_bytes = info.storage_bytes;
    call.result.assign(info.extents, info.extents + info.ndim);
    return call;
  }

 private:
  /// The library's own function of that name; the declaration of it says of what type.
  template <class Function>
  Function* find(const char* name, Function* /*declared*/) const {
    auto* found = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (found == nullptr) fail(dlerror());
    return found;
  }
  template <class Function, class Made, class... Given>
  void make(const char* name, Function* declared, Made*& made, Given... given) const {
    check(find(name, declared),
          [&](auto* function, padlock_error** error) { return function(given..., &made, error); });
  }
  template <class Function>
  void read(const char* name, Function* declared, const padlock_call* call, padlock_tensor_info& info) const {
    check(find(name, declared), [&](auto* function, padlock_error** error) { return function(call, 0, &info, error); });
  }
  template <class Function, class Use>
  void check(Function* function, Use&& use) const {
    padlock_error* error = nullptr;
    if (use(function, &error) != PADLOCK_OK) fail(find("padlock_error_text", &padlock_error_text)(error));
  }
  [[noreturn]] static void fail(const char* why) {
    fmt::print(stderr, "padlock_bench_pairs: {}\n", why);
    std::exit(1);
  }

  void* handle_;
  std::array<padlock_context*, 2> contexts_{};
};

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

Status time_row(const Library& before, const Library& after, const Row& row, PadArrays& arrays,
                const Arguments& arguments, Sum& sum) {
  const std::array calls = {before.call(row), after.call(row)};
  const bool same = calls[0].code == calls[1].code;
  if (same) ++sum.same;
  if (same && !arguments.all) return {};
  std::vector<std::vector<std::byte>> results;
  const auto bytes = static_cast<std::size_t>(calls[0].result_bytes);
  for (const Call& call : calls) {
    call.run(arrays.input().data(), arrays.result().data());
    results.emplace_back(arrays.result().begin(), arrays.result().begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  if (results[0] != results[1]) return internal_error(fmt::format("{}: the results differ", row.name));
  std::vector<Contestant> contestants;
  for (const Call& call : calls)
    contestants.push_back({.name = contestants.empty() ? "before" : "after",
                           .run = [&call, &arrays] { call.run(arrays.input().data(), arrays.result().data()); }});
  const Comparison compared = compare(row.name, static_cast<double>(calls[0].input_bytes + calls[0].result_bytes),
                                      contestants, arguments.timing);
  const TimedRow& again = compared.rows.at(1);
  const TimedRow& timed = compared.rows.at(2);
  fmt::print("{:6.3f} {:6.3f} {:6.3f} {:6.3f} {:5} {:10.5f} {} {}\n", timed.ratio.value, timed.ratio.low,
             timed.ratio.high, again.ratio.value, timed.samples_ms.size(), timed.median_ms, same ? "same" : "new ",
             row.name);
  std::fflush(stdout);
  ++sum.rows;
  sum.logarithm += std::log(timed.ratio.value);
  return {};
}

Status time_cases(const Library& before, const Library& after, const Arguments& arguments, Sum& sum) {
  PADLOCK_TRY(const std::string text, read_text_file(PADLOCK_BENCH_FOLDER "/cases.txt", std::int64_t{1} << 20));
  PADLOCK_TRY(const std::vector<PadCase> cases, parse_cases(text, "programs"));
  for (const PadCase& pad : cases) {
    if (!pad.name.contains(arguments.only)) continue;
    const Call first = before.call({.name = pad.name, .spec = {.pad = pad}});
    PADLOCK_TRY(PadArrays arrays, PadArrays::create(std::max(first.input_bytes, first.result_bytes)));
    for (const Row& row : rows_of(pad, with_numbers(pad, first.result)))
      if (row.name.contains(arguments.row)) PADLOCK_CHECK(time_row(before, after, row, arrays, arguments, sum));
  }
  return {};
}

Status time_short_rows(const Library& before, const Library& after, const Arguments& arguments, Sum& sum) {
  for (const PadSpec& spec : short_rows(arguments.short_rows_bytes)) {
    const Row row{.name = spec.pad.name, .spec = spec};
    if (!row.name.contains(arguments.only)) continue;
    const Call first = before.call(row);
    PADLOCK_TRY(PadArrays arrays, PadArrays::create(std::max(first.input_bytes, first.result_bytes)));
    PADLOCK_CHECK(time_row(before, after, row, arrays, arguments, sum));
  }
  return {};
}

Status run(const Arguments& arguments) {
  const Library before(arguments.before);
  const Library after(arguments.after);
  Sum sum;
  fmt::print(" after/before, interval; before again; rounds; ms after; code; row\n");
  PADLOCK_CHECK((arguments.short_rows_bytes > 0 ? time_short_rows : time_cases)(before, after, arguments, sum));
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
