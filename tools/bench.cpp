#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>

#include "api/argument_sets.h"
#include "api/context.h"
#include "api/device_run.h"
#include "api/plain_copy.h"
#include "support/side_by_side.h"
#include "tools/arguments.h"
#include "tools/bench_report.h"
#include "tools/cache_choice.h"
#include "tools/command.h"
#include "tools/load_program.h"
#include "tools/run_inputs.h"
#include "tools/run_outputs.h"

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

constexpr double kBudgetMs = 5000;  // of a comparison, three rounds excepted

/// What no cache of a CPU holds.
std::int64_t beyond_caches() {
  return 2 * std::max<std::int64_t>(::sysconf(_SC_LEVEL3_CACHE_SIZE), std::int64_t{32} << 20);
}

/// The inputs that are given, and random ones for the other tensors.
Outcome<std::vector<InputArgument>> inputs_of(const BenchOptions& options, const ir::Program& program) {
  std::vector<InputArgument> inputs;
  for (const std::string& text : options.inputs) {
    auto input = parse_input(text);
    if (!input) return std::unexpected(std::move(input).error());
    inputs.push_back(*std::move(input));
  }
  for (const ir::ValueId id : program.tensor_parameters()) {
    const std::string& name = program.value(id).name;
    if (std::ranges::find(inputs, name, &InputArgument::name) == inputs.end())
      inputs.push_back({.name = name, .value = RandomArgument{}});
  }
  return inputs;
}

/// A bound program with the arrays that it is timed on. All borrowed.
struct Subject {
  const api::BoundProgram& bound;
  api::LaunchArguments arguments;
  api::MemoryBudget& memory;
  TimingOptions timing;

  [[nodiscard]] std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const auto* tensors : {&bound.inputs(), &bound.results()})
      for (const api::TensorInfo& tensor : *tensors) sum += tensor.storage_bytes;
    return sum;
  }
};

/// Times `launch` beside `copy`; the first of their errors.
Result<padlock::Comparison> time_beside_copy(const Subject& subject, const char* title, api::PlainCopy& copy,
                                             const std::function<Status()>& launch) {
  Status failed;
  const auto noting = [&failed](Status status) {
    if (failed) failed = std::move(status);
  };
  PADLOCK_CHECK(launch());
  padlock::Comparison comparison =
      padlock::compare(title, static_cast<double>(subject.bytes()),
                       {{"copy", [&] { noting(copy.run()); }}, {"padlock", [&] { noting(launch()); }}}, subject.timing);
  PADLOCK_CHECK(failed);
  return comparison;
}

Result<padlock::Comparison> time_warm(const Subject& subject) {
  PADLOCK_TRY(api::DeviceRun run, api::DeviceRun::begin(subject.bound, subject.arguments));
  PADLOCK_TRY(api::PlainCopy copy, api::PlainCopy::create(subject.bound, subject.bytes(), 0, subject.memory));
  return time_beside_copy(subject, "warm", copy, [&run] { return run.launch(); });
}

Result<padlock::Comparison> time_cold(const Subject& subject) {
  PADLOCK_TRY(api::ArgumentSets sets,
              api::ArgumentSets::create(subject.bound, subject.arguments.inputs, beyond_caches(), subject.memory));
  PADLOCK_TRY(api::PlainCopy copy,
              api::PlainCopy::create(subject.bound, subject.bytes(), beyond_caches(), subject.memory));
  return time_beside_copy(subject, "cold", copy, [&] {
    sets.advance();
    return subject.bound.launch(sets.arguments(subject.arguments.scalars));
  });
}

/// One comparison with the data where the last launch left it, and on the host one with data that is in no cache.
Outcome<std::vector<padlock::Comparison>> time_all(const Subject& subject, const api::Device& device) {
  std::vector<padlock::Comparison> all;
  for (const auto time : {time_warm, time_cold}) {
    if (time == time_cold && device.kind != api::DeviceKind::host) continue;
    auto comparison = time(subject);
    if (!comparison) return fail(ExitCode::mismatch, comparison.error());
    all.push_back(*std::move(comparison));
  }
  return all;
}

Outcome<void> print(const BenchOptions& options, const BenchReport& report) {
  if (!options.json.empty())
    if (auto written = write_text(options.json, bench_json(report)); !written) return written;
  if (options.quiet || options.json == kStandardOutput) return {};
  return write_text(kStandardOutput, bench_text(report));
}

Outcome<ExitCode> execute(const BenchOptions& options, const api::Program& program, const api::Device& device,
                          RunInputs& inputs, const ir::BindRequest& request) {
  api::Context context({.threads = static_cast<int>(options.threads), .parallel_for = {}});
  if (auto used = use_cache(context, options.cache); !used) return std::unexpected(used.error());
  const auto compiled = context.compile(program, {.device = device, .config = options.config});
  if (!compiled) return compile_failure(compiled.error(), program.file());
  const auto bound = compiled->bind(request);
  if (!bound) return fail(ExitCode::mismatch, bound.error(), program.file());

  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  api::MemoryBudget memory = api::MemoryBudget::of_this_process();
  auto outputs = RunOutputs::open(program.ir(), {}, {});
  if (!outputs) return std::unexpected(outputs.error());
  if (auto allocated = outputs->allocate(*bound, memory); !allocated) return std::unexpected(allocated.error());
  if (auto loaded = inputs.load(*bound, seed, memory); !loaded) return std::unexpected(loaded.error());
  const Subject subject{
      .bound = *bound,
      .arguments = {inputs.buffers(), outputs->buffers(), inputs.scalars()},
      .memory = memory,
      .timing = {.rounds = static_cast<int>(options.rounds), .budget_ms = kBudgetMs, .warm_up_ms = 20, .seed = seed}};
  const auto comparisons = time_all(subject, device);
  if (!comparisons) return std::unexpected(comparisons.error());
  const BenchReport report{.bound = *bound, .comparisons = *comparisons, .bytes = subject.bytes(), .seed = seed};
  if (auto printed = print(options, report); !printed) return std::unexpected(printed.error());
  return ExitCode::ok;
}

Outcome<ExitCode> bench(const BenchOptions& options) {
  const auto device = api::Device::parse(options.device);
  if (!device) return fail(ExitCode::usage, device.error());
  if (const Status status = api::availability(*device); !status) return fail(ExitCode::unavailable, status.error());
  const auto symbols = parse_bind(options.binds);
  if (!symbols) return std::unexpected(symbols.error());
  const auto program = load_program(options.program);
  if (!program) return std::unexpected(program.error());
  const auto arguments = inputs_of(options, program->ir());
  if (!arguments) return std::unexpected(arguments.error());
  auto inputs = RunInputs::open(program->ir(), *arguments);
  if (!inputs) return std::unexpected(std::move(inputs).error());
  if (auto checked = check_symbols(program->ir(), *symbols); !checked) return std::unexpected(checked.error());
  const auto request = inputs->request(*symbols);
  if (!request) return std::unexpected(request.error());
  return execute(options, *program, *device, *inputs, *request);
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
