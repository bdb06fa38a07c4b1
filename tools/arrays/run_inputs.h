#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/arrays/arguments.h"
#include "tools/arrays/array_file.h"
#include "tools/arrays/shown_names.h"
#include "tools/failure.h"

namespace padlock::tools {

/// The inputs of a run: first the command line's description of them, then, once sizes are bound, their memory.
class RunInputs {
 public:
  /// Matches arguments with parameters by the shown names, reads literals and opens files (only their headers).
  /// Failures: `usage` for names and literals, `file`, and `mismatch` for a file of another type.
  [[nodiscard]] static Outcome<RunInputs> open(const lib::Program& program, const std::vector<InputArgument>& arguments,
                                               const ShownNames& names = {});

  /// Makes the binding, which borrows this. Failures: `usage` for a symbol without a value; `file` for a file of too
  /// many elements.
  [[nodiscard]] Outcome<lib::Binding> binding(const std::map<std::string, std::int64_t>& symbols);
  /// Allocates every input and fills it.
  [[nodiscard]] Outcome<void> load(const lib::Context& context, const lib::Call& call, std::uint64_t seed);

  /// Returns whether an input is random, so that the seed matters.
  [[nodiscard]] bool any_random() const;
  /// Returns the memory of each input in the program's order, after `load`; borrowed from this.
  [[nodiscard]] const std::vector<lib::Memory>& memory() const { return memory_; }
  [[nodiscard]] std::vector<const void*> pointers() const;

 private:
  explicit RunInputs(lib::Program program) : program_(std::move(program)) {}
  Outcome<void> add_tensor(const padlock_parameter_info& parameter, const InputArgument& argument);
  Outcome<void> add_scalar(const padlock_parameter_info& parameter, const InputArgument& argument);

  lib::Program program_;
  std::vector<std::optional<ArrayFile>> files_;  // one for each tensor parameter; nullopt: random
  std::deque<lib::TensorView> views_;            // of the files; the binding points to them
  std::vector<DLDataType> types_;                // one for each tensor parameter
  std::vector<std::uint64_t> scalars_;
  std::vector<lib::Memory> memory_;
};

}  // namespace padlock::tools
