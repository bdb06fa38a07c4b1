#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>

#include "support/cpu_cache.h"
#include "support/paired_benchmark.h"
#include "tools/arrays/arguments.h"
#include "tools/arrays/bench_arrays.h"
#include "tools/arrays/device_run.h"
#include "tools/arrays/run_inputs.h"
#include "tools/arrays/run_outputs.h"
#include "tools/commands/command.h"
#include "tools/commands/model_names.h"
#include "tools/commands/open.h"
#include "tools/text/bench_report.h"
#include "tools/text/waiting.h"

namespace padlock::tools {
namespace {

struct BenchOptions {
  std::string program;
  std::vector<std::string> inputs, binds;
  std::string device = "host";
  std::string config;
  CacheChoice cache;
  std::string json;
  std::optional<std::uint64_t> seed;
  std::int64_t rounds = 31;
  std::int64_t threads = 0;
  bool quiet = false;
};

constexpr double kBudgetMs = 5000;  // for one comparison, beyond three rounds

/// Returns the given inputs, and random ones for the other tensors.
Outcome<std::vector<InputArgument>> inputs_of(const BenchOptions& options, const lib::Program& program) {
  std::vector<InputArgument> inputs;
  for (const std::string& text : options.inputs) {
    PADLOCK_TRY(auto input, parse_input(text));
    inputs.push_back(std::move(input));
  }
  for (const padlock_parameter_info& parameter : program.parameters()) {
    if (parameter.kind != PADLOCK_TENSOR) continue;
    const std::string name = parameter.name;
    if (std::ranges::find(inputs, name, &InputArgument::name) == inputs.end())
      inputs.push_back({.name = name, .value = RandomArgument{}});
  }
  return inputs;
}

/// A call with its arrays; all borrowed.
struct Subject {
  const lib::Context& context;
  const lib::Call& call;
  const std::string& device;
  const RunInputs& inputs;
  const RunOutputs& outputs;
  TimingOptions timing;

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto& tensors : {call.inputs(), call.results()})
      for (const lib::TensorInfo& tensor : tensors) sum += tensor.storage_bytes;
    return sum;
  }
};

using Timed = lib::Expected<padlock::Comparison>;

/// Times `launch` beside `copy`. Returns the first of their errors.
Timed time_beside_copy(const Subject& subject, const char* title, PlainCopy& copy,
                       const std::function<lib::Status()>& launch) {
  lib::Status failed;
  const auto noting = [&failed](lib::Status status) {
    if (failed) failed = std::move(status);
  };
  noting(launch());
  if (!failed) return failed.error();
  padlock::Comparison comparison =
      padlock::compare(title, static_cast<double>(subject.bytes()),
                       {{"copy", [&] { noting(copy.run()); }}, {"padlock", [&] { noting(launch()); }}}, subject.timing);
  if (!failed) return failed.error();
  return comparison;
}

Timed time_warm(const Subject& subject) {
  PADLOCK_TRY(auto run, DeviceRun::begin(subject.context, subject.call, subject.device, subject.inputs.memory(),
                                         subject.outputs.memory()));
  PADLOCK_TRY(auto copy, PlainCopy::create(subject.context, subject.device, subject.bytes(), 0));
  return time_beside_copy(subject, "warm", copy, [&run] { return run.launch(); });
}

Timed time_cold(const Subject& subject) {
  PADLOCK_TRY(auto sets,
              ArgumentSets::create(subject.context, subject.call, subject.inputs.memory(), bytes_beyond_caches()));
  PADLOCK_TRY(auto copy, PlainCopy::create(subject.context, subject.device, subject.bytes(), bytes_beyond_caches()));
  return time_beside_copy(subject, "cold", copy, [&] { return sets.launch(subject.call); });
}

/// Compares with the data as the last launch left it, and on the host also with data outside all caches.
Outcome<std::vector<padlock::Comparison>> time_all(const Subject& subject) {
  std::vector<padlock::Comparison> all;
  for (const auto time : {time_warm, time_cold}) {
    if (time == time_cold && subject.device != "host") continue;
    PADLOCK_TRY(auto comparison, or_fail(ExitCode::mismatch, time(subject)));
    all.push_back(std::move(comparison));
  }
  return all;
}

Outcome<ExitCode> execute(const BenchOptions& options, const lib::Context& context, const lib::Program& program,
                          RunInputs& inputs, const lib::Binding& binding) {
  lib::CompileOptions how;
  how.device = options.device;
  how.config = options.config;
  PADLOCK_TRY(const auto kernel, or_compile_failure(program.compile(how), options.program));
  PADLOCK_TRY(const auto call, or_fail(ExitCode::mismatch, kernel.bind(binding), options.program));

  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  PADLOCK_TRY(auto outputs, RunOutputs::open(program, {}, {}));
  PADLOCK_CHECK(outputs.allocate(context, call));
  PADLOCK_CHECK(inputs.load(context, call, seed));
  const Subject subject{
      .context = context,
      .call = call,
      .device = options.device,
      .inputs = inputs,
      .outputs = outputs,
      .timing = {.rounds = static_cast<int>(options.rounds), .budget_ms = kBudgetMs, .warm_up_ms = 20, .seed = seed}};
  std::optional<Waiting> waiting(std::in_place, fmt::format("timing {} beside a copy", program.name()));
  PADLOCK_TRY(const auto comparisons, time_all(subject));
  waiting.reset();
  const BenchReport report{.program = program.name(),
                           .device = options.device,
                           .call = call,
                           .comparisons = comparisons,
                           .bytes = subject.bytes(),
                           .seed = seed};
  return print(options.json, bench_json(report), bench_text(report), options.quiet);
}

Outcome<ExitCode> bench(const BenchOptions& options) {
  PADLOCK_TRY(auto chosen, context_options(options.cache));
  chosen.threads = static_cast<std::int32_t>(options.threads);
  PADLOCK_TRY(const auto context, open_context(chosen));
  PADLOCK_CHECK(check_device(context, options.device));
  PADLOCK_TRY(auto symbols, parse_bind(options.binds));
  PADLOCK_TRY(const auto program, load_program(context, options.program));
  PADLOCK_CHECK(take_model_symbols(context, options.program, symbols));
  PADLOCK_TRY(const auto arguments, inputs_of(options, program));
  PADLOCK_TRY(auto inputs, RunInputs::open(program, arguments));
  PADLOCK_CHECK(check_symbols(program, symbols));
  PADLOCK_TRY(const auto binding, inputs.binding(symbols));
  return execute(options, context, program, inputs, binding);
}

}  // namespace

void add_bench(Subcommand& app) {
  Subcommand command = app.subcommand("bench", "time a program on given sizes beside a plain copy of the same bytes");
  const auto options = std::make_shared<BenchOptions>();  // shared: the callback outlives this function
  command.program(options->program);
  command.repeated("--bind", options->binds, "NAME=INTEGER,...: symbols that no input fixes");
  command.repeated("--input", options->inputs, "as of run; tensors that are not given are random");
  command.option("--device", options->device, "DEVICE", "host, reference, simt or cuda:N");
  command.option("--config", options->config, "CONFIG", "key=value,...: forces a config");
  add_cache_options(command, options->cache);
  command.option("--threads", options->threads, 1, 1024, "N", "of the host; else as many as there are");
  command.option("--rounds", options->rounds, 3, 100000, "N", "samples of each, in five seconds at most");
  command.option("--seed", options->seed, "N", "for random inputs and the order of the samples");
  command.json(options->json);
  command.flag("--quiet", options->quiet, "print errors alone");
  command.examples("padlock bench examples/pad_relu.pad --bind=B=64,S=1000,lo=3",
                   "padlock bench examples/pad_relu.pad --bind=B=64,S=1000,lo=3 --threads=1 --rounds=11 --json");
  command.runs([options] { return bench(*options); });
}

}  // namespace padlock::tools
