// Times pad and relu on a GPU beside cuMemcpyDtoD of the same bytes, with every result checked, and what a launch, a
// binding and a compilation cost. See README.md beside this.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu/gpu_report.h"
#include "bench/gpu/host_cost.h"
#include "support/file.h"

namespace padlock::bench::gpu {
namespace {

constexpr int kUnavailable = 7;  // as the padlock command's

const std::map<std::string, Family>& families_by_name() {
  static const std::map<std::string, Family> kFamilies = {{"table", Family::table},         {"rows", Family::rows},
                                                          {"transpose", Family::transpose}, {"images", Family::images},
                                                          {"variants", Family::variants},   {"bf16", Family::bf16}};
  return kFamilies;
}

struct Arguments {
  std::string device = "cuda:0";
  std::vector<std::string> sizes;
  bool quick = false;
  bool list = false;
  std::vector<std::string> parts = {"host", "table"};
  std::vector<std::string> families = {"table"};
  std::string filter;
  std::string config;
  int all_configs = 0;
  RunOptions run;
  std::string json;
  std::string commit;
};

Result<std::vector<Problem>> asked_problems(const Arguments& arguments) {
  std::vector<std::string> texts = arguments.sizes;
  if (texts.empty() && arguments.quick) texts = {"64K", "16M", "256M"};
  if (texts.empty()) texts = {"64K", "256K", "1M", "4M", "16M", "64M", "256M", "1G", "2G"};
  std::vector<std::int64_t> sizes;
  for (const std::string& text : texts) {
    PADLOCK_TRY(const std::int64_t size, parse_size(text));
    sizes.push_back(size);
  }
  std::vector<Family> families;
  for (const std::string& name : arguments.families) families.push_back(families_by_name().at(name));
  std::vector<Problem> problems = problems_of(families, sizes);
  std::erase_if(problems,
                [&](const Problem& p) { return p.program_name().find(arguments.filter) == std::string::npos; });
  return problems;
}

/// The config that was asked for, else the default, then a draw of the others.
Result<std::vector<std::pair<std::string, compiler::GpuConfig>>> configs_of(const Arguments& arguments) {
  PADLOCK_TRY(const compiler::GpuConfig first,
              compiler::GpuConfig::parse(arguments.config, compiler::GpuConfig::standard()));
  std::vector<std::pair<std::string, compiler::GpuConfig>> configs = {{"padlock", first}};
  std::vector<compiler::GpuConfig> others = compiler::GpuConfig::all();
  if (std::ranges::find(others, first) == others.end())
    return invalid_argument(fmt::format("expected a config of the search space, found {}", first.to_string()));
  std::erase(others, first);
  std::mt19937_64 random(arguments.run.seed);
  std::shuffle(others.begin(), others.end(), random);
  others.resize(std::min(others.size(), static_cast<std::size_t>(arguments.all_configs)));
  for (const compiler::GpuConfig& other : others) configs.emplace_back("padlock best", other);
  return configs;
}

class Bench {
 public:
  Bench(const Arguments& arguments, Rig& rig, std::unique_ptr<const CopyKernels> copies)
      : arguments_(arguments), rig_(rig), copies_(std::move(copies)) {
    json_ = json_line(rig.facts(), arguments.commit);
    fmt::print("{}\n", text_of(rig.facts()));
  }

  [[nodiscard]] const std::string& json() const { return json_; }
  [[nodiscard]] int failures() const { return failures_; }

  Status run_host() {
    const HostCostOptions options{.rounds = arguments_.run.rounds, .seed = arguments_.run.seed};
    PADLOCK_TRY(const std::vector<Timing> compiles, compile_costs(rig_.compiler(), options));
    add("text to PTX, warm, proofs cached", compiles);
    PADLOCK_TRY(const std::vector<Timing> binds, bind_costs(rig_.compiler(), options));
    add("binding", binds);
    if (rig_.facts().simulated) {
      fmt::print("launch: not measured, {} has no driver\n\n", rig_.facts().device);
      return {};
    }
    PADLOCK_TRY(const std::vector<Timing> launches, launch_costs(rig_, options));
    add("launch, host time", launches);
    return {};
  }

  Status run_table(const std::vector<Problem>& problems) {
    for (std::size_t i = 0; i < problems.size();) {
      const std::size_t begin = i;
      while (i < problems.size() && problems[i].program_name() == problems[begin].program_name()) ++i;
      PADLOCK_CHECK(run_program(
          {problems.begin() + static_cast<std::ptrdiff_t>(begin), problems.begin() + static_cast<std::ptrdiff_t>(i)}));
    }
    return {};
  }

 private:
  void add(const std::string& title, const std::vector<Timing>& timings) {
    json_ += json_lines(title, timings, arguments_.run.rounds);
    fmt::print("{}\n", table_of(title, timings));
    std::fflush(stdout);
  }

  /// The text of a problem's schedule without the config's, of which several make the same.
  Result<std::string> schedule_of(const Problem& problem, const compiler::GpuConfig& config) {
    PADLOCK_TRY(const ir::Program program, ir::parse_program(problem.program_text()));
    PADLOCK_TRY(std::string text, rig_.compiler().emit(program, compiler::Stage::schedule, {.config = config}));
    const std::size_t named = text.find("\n  config ");
    return text.erase(named, text.find('\n', named + 1) - named);
  }

  /// All sizes of one program.
  Status run_program(const std::vector<Problem>& problems) {
    const Problem& first = problems.front();
    const Data data(first.dtype);
    PADLOCK_CHECK(data.check_closed_form(first));
    PADLOCK_TRY(const auto configs, configs_of(arguments_));
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<Candidate> candidates;
    std::set<std::string> schedules;
    for (const auto& [name, config] : configs) {
      PADLOCK_TRY(const std::string schedule, schedule_of(first, config));
      if (!schedules.insert(schedule).second) continue;
      auto kernel = Kernel::compile(rig_, first.program_text(), config);
      if (!kernel) return std::unexpected(std::move(kernel).error().in("while compiling " + config.to_string()));
      kernels.push_back(*std::move(kernel));
      candidates.push_back({name, config.to_string(), kernels.back().get()});
    }
    for (const Problem& problem : problems) {
      PADLOCK_TRY(const auto report, run_problem(rig_, problem, data, candidates, copies_.get(), arguments_.run));
      if (!report) {
        fmt::print("{}, {}: not measured, too little memory\n", problem.program_name(),
                   size_text(problem.nominal_bytes));
        continue;
      }
      json_ += json_lines(*report, rig_.facts(), arguments_.run.rounds);
      failures_ += static_cast<int>(report->failures.size());
      fmt::print("{}", table_of(*report));
      std::fflush(stdout);
    }
    return {};
  }

  const Arguments& arguments_;
  Rig& rig_;
  std::unique_ptr<const CopyKernels> copies_;
  std::string json_;
  int failures_ = 0;
};

Status write_file(const std::string& path, const std::string& text) {
  PADLOCK_TRY(AtomicFile file, AtomicFile::create(path));
  PADLOCK_CHECK(file.write(text));
  return file.commit();
}

Status list(const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) fmt::print("{}", json_line(problem));
  return {};
}

/// The figures measured so far are written also where a later one fails.
Status run(const Arguments& arguments, int& failures) {
  PADLOCK_TRY(const std::vector<Problem> problems, asked_problems(arguments));
  if (arguments.list) return list(problems);
  PADLOCK_TRY([[maybe_unused]] const auto configs, configs_of(arguments));  // before anything is measured
  PADLOCK_TRY(const std::unique_ptr<Rig> rig, Rig::open(arguments.device));
  PADLOCK_TRY(std::unique_ptr<const CopyKernels> copies, CopyKernels::load(*rig));
  Bench bench(arguments, *rig, std::move(copies));
  Status status;
  for (const std::string& part : arguments.parts)
    if (status) status = part == "host" ? bench.run_host() : bench.run_table(problems);
  failures = bench.failures();
  if (arguments.json.empty()) return status;
  const Status written = write_file(arguments.json, bench.json());
  return status ? written : status;
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Times pad and relu on a GPU beside a copy of the same bytes. Every result is checked.");
  app.add_option("--device", arguments.device, "cuda:N, or simt: the same path without a GPU, its times mean nothing");
  app.add_option("--sizes", arguments.sizes, "of the input: 64K,16M,2G,...")->delimiter(',');
  app.add_flag("--quick", arguments.quick, "three sizes instead of nine");
  app.add_flag("--list", arguments.list, "print the problems as JSON lines, for the peers, and measure nothing");
  app.add_option("--parts", arguments.parts, "host (what launch, binding and compiling cost), table, or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"host", "table"}));
  app.add_option("--families", arguments.families,
                 "of problems: table (the default), rows (lengths), transpose, images (channels to the innermost axis, "
                 "and from it), variants (modes, literal extents)")
      ->delimiter(',')
      ->check(CLI::IsMember(families_by_name()));
  app.add_option("--filter", arguments.filter, "only programs whose name holds this: f16, rank4, misaligned, ...");
  app.add_option("--config", arguments.config, "key=value,...: instead of the default config");
  app.add_option("--all-configs", arguments.all_configs, "also try that many drawn configs and time the best of them")
      ->check(CLI::Range(0, 10000));
  app.add_option("--finalists", arguments.run.finalists, "how many of them")->check(CLI::Range(1, 100));
  app.add_option("--rounds", arguments.run.rounds, "samples of each contestant")->check(CLI::Range(1, 10000));
  app.add_option("--sample-ms", arguments.run.sample_ms, "how long one sample is")->check(CLI::Range(0.001, 1000.0));
  app.add_option("--seed", arguments.run.seed, "of the order of contestants and of the draw of configs");
  app.add_option("--json", arguments.json, "write the figures to this file as JSON lines");
  app.add_option("--commit", arguments.commit, "goes into the JSON lines");
  CLI11_PARSE(app, argc, argv);

  // The driver would keep what it compiled, and loading would then be no compilation.
  setenv("CUDA_CACHE_DISABLE", "1", 0);
  int failures = 0;
  const Status status = run(arguments, failures);
  if (failures > 0) fmt::print("{} wrong results\n", failures);
  if (status) return failures == 0 ? 0 : 1;
  fmt::print(stderr, "padlock_bench_gpu: error: {}\n", status.error().to_string());
  return status.error().code == Code::unavailable ? kUnavailable : 1;
}

}  // namespace
}  // namespace padlock::bench::gpu

int main(int argc, char** argv) { return padlock::bench::gpu::main_of(argc, argv); }
