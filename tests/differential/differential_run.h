#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "tests/compiler/seeded/mutation.h"
#include "tests/differential/coverage.h"
#include "tests/differential/host_check.h"
#include "tests/differential/programs/random_program.h"

namespace padlock::differential {

enum class ConfigChoice : std::uint8_t { defaults, random, all };

struct RunSettings {
  std::uint64_t seed = 0;
  int sizes = 5;  ///< bindings of each program, with its own
  ConfigChoice configs = ConfigChoice::random;
  std::optional<bool> bounds_check;  ///< absent: on for a sixth of the programs
  compiler::Mutation mutation = compiler::Mutation::none;
};

/// A difference between the host kernel and the interpreter, and how to reproduce it.
struct Finding {
  std::uint64_t index = 0;
  std::string text;     ///< the program, reduced if a smaller one fails too
  std::string binding;  ///< "N0=4 d1=-2"
  std::string options;  ///< config and bounds check
  std::string message;
};

/// Generates, compiles and checks programs one after another on one thread. Counts coverage.
class DifferentialRun {
 public:
  [[nodiscard]] static Result<std::unique_ptr<DifferentialRun>> create(const RunSettings& settings);

  /// Checks program number `index` under all its bindings.
  [[nodiscard]] std::optional<Finding> check_program(std::uint64_t index);
  [[nodiscard]] Coverage& coverage() { return coverage_; }

 private:
  explicit DifferentialRun(const RunSettings& settings) : settings_(settings) {}
  struct Case;
  std::optional<Finding> check_with(const GeneratedProgram& generated, std::uint64_t index,
                                    const compiler::TargetCompiler::Options& options, testing::Rng rng);
  std::string check_binding(const Case& c, const SymbolValues& values, testing::Rng& rng);
  std::optional<SymbolValues> next_values(const GeneratedProgram& generated, const ir::Program& program,
                                          testing::Rng& rng, std::string& failure);
  std::vector<compiler::TargetCompiler::Options> draw_options(testing::Rng& rng);
  void shrink(const GeneratedProgram& generated, const SymbolValues& values,
              const compiler::TargetCompiler::Options& options, Finding& finding);
  std::string check_text(const GeneratedProgram& generated, const std::string& text, const SymbolValues& values,
                         const compiler::TargetCompiler::Options& options);

  RunSettings settings_;
  std::unique_ptr<compiler::TargetCompiler> compiler_;
  std::vector<compiler::HostConfig> configs_;
  GuardedArena arena_;
  Coverage coverage_;
};

}  // namespace padlock::differential
