#include "tests/differential/differential_run.h"

#include <fmt/format.h>

#include "tests/common/crash_report.h"
#include "tests/compiler/seeded/plan_always.h"
#include "tests/compiler/seeded/seeded_bugs.h"
#include "tests/differential/programs/next_values.h"

namespace padlock::differential {
namespace {

std::string describe(const compiler::TargetCompiler::Options& options) {
  return fmt::format("{}{}{}", options.config ? to_string(*options.config) : "default config",
                     options.bounds_check ? ", bounds check" : "",
                     options.edits == compiler::plan_always() ? ", short rows of any number" : "");
}

}  // namespace

/// A compiled program.
struct DifferentialRun::Case {
  const GeneratedProgram& generated;
  const ir::Program& program;
  const runtime::HostImage& code;
};

Result<std::unique_ptr<DifferentialRun>> DifferentialRun::create(const RunSettings& settings) {
  std::unique_ptr<DifferentialRun> run(new DifferentialRun(settings));
  PADLOCK_TRY(run->compiler_, compiler::TargetCompiler::create("host"));
  run->configs_ = compiler::HostConfig::all();
  return run;
}

std::vector<compiler::TargetCompiler::Options> DifferentialRun::draw_options(testing::Rng& rng) {
  compiler::TargetCompiler::Options options;
  options.edits = compiler::edits_of(settings_.mutation);
  if (rng.chance(50) && options.edits == nullptr) options.edits = compiler::plan_always();
  options.bounds_check = settings_.bounds_check.value_or(rng.chance(16));
  if (settings_.configs == ConfigChoice::random && rng.chance(60)) options.config = rng.pick(configs_);
  std::vector<compiler::TargetCompiler::Options> drawn = {options};
  for (std::size_t i = 0; settings_.configs == ConfigChoice::all && i < configs_.size(); ++i) {
    options.config = configs_[i];
    drawn.push_back(options);
  }
  return drawn;
}

std::optional<Finding> DifferentialRun::check_program(std::uint64_t index) {
  const GeneratedProgram generated = random_program(settings_.seed, index);
  testing::Rng rng = testing::Rng(settings_.seed).fork(index).fork(2);
  for (const compiler::TargetCompiler::Options& options : draw_options(rng)) {
    coverage_.count("run", options.config ? "other config" : "default config");
    if (options.bounds_check) coverage_.count("run", "bounds check");
    if (auto finding = check_with(generated, index, options, rng.fork(3))) return finding;
  }
  return std::nullopt;
}

std::optional<SymbolValues> DifferentialRun::next_values(const GeneratedProgram& generated, const ir::Program& program,
                                                         testing::Rng& rng, std::string& failure) {
  const auto is_refused = [&](const SymbolValues& values) {
    coverage_.count("run", "refused binding");
    return !ir::Binding::bind(program, generated.request(values, rng)).has_value();
  };
  return differential::next_values(generated, is_refused, rng, failure);
}

std::string DifferentialRun::check_binding(const Case& c, const SymbolValues& values, testing::Rng& rng) {
  const Result<ir::Binding> binding = ir::Binding::bind(c.program, c.generated.request(values, rng));
  if (!binding) return "a legal binding was refused: " + binding.error().to_string();
  const Result<Problem> problem = random_problem(c.program, *binding, rng);
  if (!problem) return "the interpreter failed: " + problem.error().to_string();
  return check_both_placements(c.code, *problem, arena_, rng);
}

std::optional<Finding> DifferentialRun::check_with(const GeneratedProgram& generated, std::uint64_t index,
                                                   const compiler::TargetCompiler::Options& options, testing::Rng rng) {
  Finding finding{index, generated.text(), "", describe(options), ""};
  name_current_case(fmt::format("--seed={} --first={} --programs=1\n{}", settings_.seed, index, finding.text));
  const auto fail = [&](std::string message) { return finding.message = std::move(message), finding; };
  const Result<ir::Program> program = ir::parse_program(finding.text);
  if (!program) return fail("the program is refused: " + program.error().to_string());
  const Result<runtime::HostImage> code = load(compiler_->compile(*program, options));
  if (!code) return fail("it does not compile: " + code.error().to_string());
  for (int k = 0; k < settings_.sizes; ++k) {
    std::string failure;
    const auto values = k == 0 ? std::optional(generated.seed_values) : next_values(generated, *program, rng, failure);
    if (!failure.empty()) return fail(std::move(failure));
    // Where no other legal size was found, other data for the program's own.
    const SymbolValues& chosen = values ? *values : generated.seed_values;
    finding.binding = describe(chosen);
    failure = check_binding({generated, *program, *code}, chosen, rng);
    if (!failure.empty()) {
      finding.message = std::move(failure);
      shrink(generated, chosen, options, finding);
      return finding;
    }
    coverage_.count_run(generated, chosen);
    coverage_.count("run", "both placements");
  }
  return std::nullopt;
}

std::string DifferentialRun::check_text(const GeneratedProgram& generated, const std::string& text,
                                        const SymbolValues& values, const compiler::TargetCompiler::Options& options) {
  const Result<ir::Program> program = ir::parse_program(text);
  if (!program) return {};
  const Result<runtime::HostImage> code = load(compiler_->compile(*program, options));
  if (!code) return {};
  std::string failure;
  for (std::uint64_t data = 0; data < 4 && failure.empty(); ++data) {
    testing::Rng rng(data);
    failure = check_binding({generated, *program, *code}, values, rng);
  }
  return failure;
}

/// Reduces a finding to a single result with its statements, and to the default config, if these fail as well.
void DifferentialRun::shrink(const GeneratedProgram& generated, const SymbolValues& values,
                             const compiler::TargetCompiler::Options& options, Finding& finding) {
  std::vector<std::string> candidates = generated.results;
  for (const GeneratedStatement& s : generated.statements) candidates.insert(candidates.begin(), s.name);
  compiler::TargetCompiler::Options plain = options;
  plain.config.reset();
  plain.bounds_check = false;
  for (const std::string& result : candidates) {
    const std::string text = generated.text_of({result}, true);
    if (text.size() >= finding.text.size()) continue;
    for (const compiler::TargetCompiler::Options& tried : {plain, options}) {
      std::string failure = check_text(generated, text, values, tried);
      if (failure.empty()) continue;
      finding.text = text;
      finding.options = describe(tried);
      finding.message = std::move(failure);
      break;
    }
  }
}

}  // namespace padlock::differential
