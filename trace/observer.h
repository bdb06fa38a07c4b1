#pragma once

#include <memory>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "support/error.h"
#include "trace/dump.h"

namespace padlock::trace {

inline constexpr const char* kDumpVariable = "PADLOCK_DUMP";
inline constexpr const char* kTimeVariable = "PADLOCK_TIME";

/// Returns whether one of these variables is set, so that the process may print.
[[nodiscard]] bool is_asked_for();

/// Makes compilers that report each compile if a variable of the environment asks for it (docs/debugging.md): as a
/// folder of files, and as milliseconds of its passes on stderr. Thread-safe.
class Observer {
 public:
  /// Reads the variables, once for all compilers that it makes. Warns on stderr of an unknown value.
  [[nodiscard]] static Observer from_environment();

  /// As TargetCompiler::create; unless a variable asks for more, returns that compiler itself.
  [[nodiscard]] Result<std::unique_ptr<compiler::TargetCompiler>> create(const std::string& target) const;

 private:
  std::shared_ptr<DumpFolder> dumps_;  // shared by the compilers; null: nothing is dumped
  bool times_ = false;
};

}  // namespace padlock::trace
