#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <random>

#include "tools/arrays/arguments.h"
#include "tools/arrays/device_run.h"
#include "tools/arrays/run_inputs.h"
#include "tools/arrays/run_outputs.h"
#include "tools/commands/command.h"
#include "tools/commands/model_names.h"
#include "tools/commands/open.h"
#include "tools/text/run_report.h"

namespace padlock::tools {
namespace {

struct RunOptions {
  std::string program;
  std::string packed;  // the name of a program in a pack
  std::vector<std::string> inputs, outputs, expects, binds;
  std::string device = "host";
  std::string target;
  std::string config;
  CacheChoice cache;
  std::string json;
  std::optional<std::uint64_t> seed;
  std::uint64_t ulp = 0;
  bool bounds_check = false;
  bool quiet = false;
};

/// The parsed texts of options.
struct RunRequest {
  std::vector<InputArgument> inputs;
  std::vector<OutputArgument> outputs;
  std::vector<ExpectArgument> expects;
  std::map<std::string, std::int64_t> symbols;
};

template <class T, class Parse>
Outcome<void> parse_all(const std::vector<std::string>& texts, std::vector<T>& out, Parse parse) {
  for (const std::string& text : texts) {
    PADLOCK_TRY(auto value, parse(text));
    out.push_back(std::move(value));
  }
  return {};
}

Outcome<RunRequest> parse_options(const RunOptions& options) {
  RunRequest request;
  PADLOCK_CHECK(parse_all(options.inputs, request.inputs, parse_input));
  PADLOCK_CHECK(parse_all(options.outputs, request.outputs, parse_output));
  PADLOCK_CHECK(parse_all(options.expects, request.expects, parse_expect));
  PADLOCK_TRY(auto symbols, parse_bind(options.binds));
  request.symbols = std::move(symbols);
  return request;
}

/// Failures: usage for an unknown device, or a target that the device does not run; unavailable.
Outcome<void> check_options(const lib::Context& context, const RunOptions& options) {
  if (auto checked = check_device(context, options.device); !checked && checked.error().code == ExitCode::usage)
    return checked;
  if (!options.target.empty() && options.device != "simt")
    return fail(ExitCode::usage,
                fmt::format("--target is for --device=simt; a run on {} is made for it", options.device));
  return check_device(context, options.device);
}

/// Returns the milliseconds of the launch, without copies to and from a device.
Outcome<double> launch(const lib::Context& context, const lib::Call& call, const std::string& device,
                       const RunInputs& inputs, const RunOutputs& outputs) {
  PADLOCK_TRY(auto run,
              or_fail(ExitCode::mismatch, DeviceRun::begin(context, call, device, inputs.memory(), outputs.memory())));
  const auto start = std::chrono::steady_clock::now();
  lib::Status status = run.launch();
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (status) status = run.finish();
  if (!status) return fail(ExitCode::mismatch, status.error());
  return elapsed.count();
}

/// Prints on stderr the first difference of each --expect, as the report does.
Outcome<ExitCode> verdict(const std::vector<ExpectReport>& reports) {
  for (const ExpectReport& report : reports) {
    const Comparison& comparison = report.comparison;
    if (comparison.equal()) continue;
    const std::string count = comparison.elements == 0 ? std::string()
                                                       : fmt::format("{} of {} elements differ; the first ",
                                                                     comparison.differing, comparison.elements);
    Failure failure =
        failure_of(ExitCode::differs, fmt::format("--expect={}: {}{}", report.result, count, comparison.first));
    failure.has_report = true;
    return std::unexpected(std::move(failure));
  }
  return ExitCode::ok;
}

/// A program to run, and a function that makes a kernel from it once the inputs are known to be there.
struct Source {
  lib::Program program;
  std::string file;  // the file that its errors name; may be empty
  std::function<Outcome<lib::Kernel>()> compile;
};

bool is_pack(const RunOptions& options) { return kind_of_file(options.program) == FileKind::pack; }

/// Refuses options of compiling for a pack, whose programs are already compiled.
Outcome<void> check_pack_options(const RunOptions& options) {
  const auto refuse = [&](const char* option) {
    return fail(ExitCode::usage, fmt::format("{} is for programs; {} is compiled", option, options.program));
  };
  if (!options.config.empty()) return refuse("--config");
  if (!options.cache.file.empty() || !options.cache.mode.empty()) return refuse("--cache");
  if (options.bounds_check) return refuse("--bounds-check");
  return {};
}

Outcome<Source> open_pack(const RunOptions& options, const lib::Context& context) {
  PADLOCK_TRY(const auto pack, load_pack(context, options.program));
  const auto program = pack.program(options.packed);
  if (!program && program.error().status() == PADLOCK_NOT_FOUND) return fail(ExitCode::usage, program.error());
  if (!program) return pack_failure(program.error(), options.program);
  const auto kernel = pack.kernel(options.packed, options.device);
  if (!kernel) return pack_failure(kernel.error(), options.program);
  return Source{*program, {}, [kernel = *kernel] { return kernel; }};
}

Outcome<Source> open_program(const RunOptions& options, const lib::Context& context) {
  if (!options.packed.empty())
    return fail(ExitCode::usage, fmt::format("--program is for packs (F.pack); {} is a program", options.program));
  PADLOCK_TRY(const auto program, load_program(context, options.program));
  return Source{program, options.program, [&options, program]() -> Outcome<lib::Kernel> {
                  lib::CompileOptions how;
                  how.device = options.device;
                  how.target = options.target;
                  how.config = options.config;
                  how.bounds_check = options.bounds_check;
                  return or_compile_failure(program.compile(how), options.program);
                }};
}

/// Replaces a model's own names of inputs, results and symbols.
Outcome<ShownNames> take_model_names(const RunOptions& options, const lib::Context& context, RunRequest& request) {
  if (!is_model(options.program)) return ShownNames{};
  PADLOCK_TRY(const auto made, import_model(context, options.program));
  PADLOCK_TRY(const auto names, ModelNames::read(made.interface.view()));
  for (OutputArgument& output : request.outputs) output.name = names.result(output.name);
  for (ExpectArgument& expect : request.expects) expect.name = names.result(expect.name);
  PADLOCK_CHECK(names.take_inputs(request.inputs, request.symbols));
  return names.shown();
}

Outcome<ExitCode> execute(const RunOptions& options, const lib::Context& context, const Source& source,
                          const RunRequest& request, const ShownNames& names, OutputFiles& files) {
  const lib::Program& program = source.program;
  PADLOCK_TRY(auto inputs, RunInputs::open(program, request.inputs, names));
  PADLOCK_CHECK(check_symbols(program, request.symbols));
  PADLOCK_TRY(auto outputs, RunOutputs::open(program, request.outputs, request.expects, names));
  PADLOCK_TRY(const auto binding, inputs.binding(request.symbols));

  PADLOCK_TRY(const auto kernel, source.compile());
  PADLOCK_TRY(const auto call, or_fail(ExitCode::mismatch, kernel.bind(binding), source.file));

  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  PADLOCK_CHECK(outputs.allocate(context, call));
  PADLOCK_CHECK(inputs.load(context, call, seed));
  PADLOCK_TRY(const auto milliseconds, launch(context, call, options.device, inputs, outputs));

  PADLOCK_CHECK(outputs.write_files(files));
  PADLOCK_TRY(const auto expects, outputs.compare(call, inputs.pointers(), options.ulp));
  const RunReport report{.program = program.name(),
                         .device = options.device,
                         .config = call.config(),
                         .reason = call.reason(),
                         .outputs = outputs,
                         .expects = expects,
                         .seed = inputs.any_random() ? std::optional(seed) : std::nullopt,
                         .milliseconds = milliseconds};
  PADLOCK_CHECK(print(options.json, report_json(report), report_text(report), options.quiet, &files));
  return verdict(expects);
}

Outcome<ExitCode> run(const RunOptions& options) {
  PADLOCK_TRY(auto request, parse_options(options));
  const bool packed = is_pack(options);
  if (packed) PADLOCK_CHECK(check_pack_options(options));
  PADLOCK_TRY(const auto chosen, context_options(options.cache));
  OutputFiles files;
  PADLOCK_TRY(const auto context, open_context(chosen));
  PADLOCK_CHECK(check_options(context, options));
  PADLOCK_TRY(const auto source, packed ? open_pack(options, context) : open_program(options, context));
  PADLOCK_TRY(const ShownNames names, take_model_names(options, context, request));
  return execute(options, context, source, request, names, files);
}

}  // namespace

void add_run(Subcommand& app) {
  Subcommand command = app.subcommand("run", "compile, bind, launch, write results");
  const auto options = std::make_shared<RunOptions>();  // shared: the callback outlives this function
  command.program(options->program, "PROGRAM.pad | MODEL.onnx | PACK | -");
  command.option("--program", options->packed, "NAME", "which program of a pack, F.pack, is run");
  command.repeated("--input", options->inputs,
                   "NAME=@FILE.npy, NAME=4x16xf32=@FILE.bin (raw), NAME=random, or for a scalar NAME=LITERAL or a file "
                   "of one element");
  command.repeated("--bind", options->binds, "NAME=INTEGER,...: symbols that no input fixes");
  command.repeated("--output", options->outputs, "NAME=@FILE.npy or NAME=@FILE.bin (raw)");
  command.repeated("--expect", options->expects, "NAME=@FILE: compare a result with a file");
  command.option("--ulp", options->ulp, "N", "how far floats may be from what is expected");
  command.option("--device", options->device, "DEVICE", "host, reference, simt or cuda:N");
  command.option("--target", options->target, "TARGET", "what simt pretends to be");
  command.option("--config", options->config, "CONFIG", "key=value,...: forces a config");
  add_cache_options(command, options->cache);
  command.flag("--bounds-check", options->bounds_check, "test every access");
  command.option("--seed", options->seed, "N", "for random inputs");
  command.json(options->json);
  command.flag("--quiet", options->quiet, "print errors alone");
  command.examples("padlock run examples/pad_relu.pad --input=x=random --bind=B=4,S=10,lo=3 --seed=1",
                   "padlock run examples/pad_relu.pad --input=x=random --bind=B=2,S=5,lo=-2 --device=reference --json");
  command.runs([options] { return run(*options); });
}

}  // namespace padlock::tools
