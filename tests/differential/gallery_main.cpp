// The programs of examples/gallery: each names its source, is proved without anything undecided, and equals the
// interpreter on the host and (a GPU's code on this machine) at the sizes that it names and near them.
#include <fmt/format.h>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "tests/common/environment.h"
#include "tests/differential/gallery_files.h"
#include "tests/differential/host_check.h"

namespace padlock::differential {
namespace {

constexpr std::size_t kLeastPrograms = 50;

/// Returns the sizes that a program names, and those with one size set to 0, to 1, or changed by one.
std::vector<Sizes> near(const Sizes& named) {
  std::vector<Sizes> all = {named};
  for (const auto& [name, value] : named)
    for (const std::int64_t other : {value - 1, value + 1, std::int64_t{1}, std::int64_t{0}}) {
      all.push_back(named);
      all.back()[name] = other;
    }
  return all;
}

class Gallery {
 public:
  Gallery(std::unique_ptr<compiler::TargetCompiler> host, std::unique_ptr<compiler::TargetCompiler> gpu,
          std::uint64_t seed)
      : host_(std::move(host)), gpu_(std::move(gpu)), rng_(seed) {}

  /// What is wrong with a program; empty if nothing is.
  std::string check(const std::string& text) {
    if (line_after(text, "// From: ").empty()) return "does not say where it comes from";
    const Sizes named = named_sizes(text);
    const Result<ir::Program> program = ir::parse_program(text);
    if (!program) return "is refused: " + program.error().to_string();
    std::string wrong = check_on(*program, named, *host_, compiler::TargetCompiler::Options{});
    const compiler::TargetCompiler::Options simt{.config = compiler::GpuConfig{}, .for_simt = true};
    return wrong.empty() ? check_on(*program, named, *gpu_, simt) : wrong;
  }

  [[nodiscard]] int runs() const { return runs_; }

 private:
  template <class Compiler, class Options>
  std::string check_on(const ir::Program& program, const Sizes& named, Compiler& compiler, const Options& options) {
    const auto proofs = compiler.prove(program, options);
    if (!proofs) return "is not proved: " + proofs.error().to_string();
    for (const compiler::Proof& proof : *proofs)
      for (const compiler::Obligation& one : proof.obligations)
        if (one.verdict == compiler::Verdict::checked || one.verdict == compiler::Verdict::refuted)
          return to_string(one);
    const Result<runtime::HostImage> code = load(compiler.compile(program, options));
    if (!code) return "does not compile: " + code.error().to_string();
    for (const Sizes& sizes : near(named)) {
      ir::BindRequest request{.tensors = {}, .symbols = sizes};
      request.tensors.resize(program.tensor_parameters().size());
      const Result<ir::Binding> binding = ir::Binding::bind(program, request);
      if (!binding && sizes == named) return "its own sizes are refused: " + binding.error().to_string();
      if (!binding) continue;
      const Result<Problem> problem = random_problem(program, *binding, rng_);
      if (!problem) return "the interpreter failed: " + problem.error().to_string();
      ++runs_;
      if (std::string wrong = check_both_placements(*code, *problem, arena_, rng_); !wrong.empty()) return wrong;
    }
    return {};
  }

  std::unique_ptr<compiler::TargetCompiler> host_;
  std::unique_ptr<compiler::TargetCompiler> gpu_;
  GuardedArena arena_;
  testing::Rng rng_;
  int runs_ = 0;
};

int run() {
  const std::uint64_t seed = testing::seed_or(50);
  auto host = compiler::TargetCompiler::create("host");
  auto gpu = compiler::TargetCompiler::create("sm_90");
  if (!host || !gpu) return fmt::print("no compiler\n"), 1;
  Gallery gallery(*std::move(host), *std::move(gpu), seed);
  const std::vector<std::filesystem::path> files = files_below(PADLOCK_GALLERY);
  int failed = 0;
  for (const auto& file : files) {
    const std::string wrong = gallery.check(read_file(file));
    if (wrong.empty()) continue;
    fmt::print("FAILED {}: {}\n", file.filename().string(), wrong);
    ++failed;
  }
  fmt::print("{} programs, {} runs, {} failed, seed {}\n", files.size(), gallery.runs(), failed, seed);
  return failed == 0 && files.size() >= kLeastPrograms ? 0 : 1;
}

}  // namespace
}  // namespace padlock::differential

int main() { return padlock::differential::run(); }
