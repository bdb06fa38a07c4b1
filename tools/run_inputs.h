#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/arguments.h"
#include "api/compiled_program.h"
#include "api/memory.h"
#include "tools/arguments.h"
#include "tools/array_file.h"
#include "tools/failure.h"

namespace padlock::tools {

/// The inputs of a run: first what the command line says of them, then, once sizes are bound, their memory.
class RunInputs {
 public:
  /// Matches arguments with parameters, reads literals and opens files (their headers alone). Failures: `usage` for
  /// names and literals, `file`, and `mismatch` for a file of another type.
  [[nodiscard]] static Outcome<RunInputs> open(const ir::Program& program, const std::vector<InputArgument>& arguments);

  /// What to bind sizes from. Failure: `usage` where a symbol has no value.
  [[nodiscard]] Outcome<ir::BindRequest> request(const std::map<std::string, std::int64_t>& symbols) const;
  /// Allocates every input and fills it.
  [[nodiscard]] Outcome<void> load(const api::BoundProgram& bound, std::uint64_t seed, api::MemoryBudget& memory);

  /// Whether the seed matters.
  [[nodiscard]] bool any_random() const;
  /// In the program's orders; buffers after `load`.
  [[nodiscard]] const std::vector<api::UserBuffer>& buffers() const { return buffers_; }
  [[nodiscard]] const std::vector<std::uint64_t>& scalars() const { return scalars_; }

 private:
  explicit RunInputs(const ir::Program& program) : program_(&program) {}
  Outcome<void> add_tensor(const ir::Value& parameter, const InputArgument& argument);
  Outcome<void> add_scalar(const ir::Value& parameter, const InputArgument& argument);

  const ir::Program* program_;                   // borrowed (outlives this)
  std::vector<std::optional<ArrayFile>> files_;  // one a tensor parameter; nullopt: random
  std::vector<std::uint64_t> scalars_;
  std::vector<api::Allocation> allocations_;
  std::vector<api::UserBuffer> buffers_;
};

}  // namespace padlock::tools
