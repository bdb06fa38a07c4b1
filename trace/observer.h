#pragma once

#include <memory>
#include <string>

#include "compiler/targets/target_compiler.h"
#include "support/error.h"
#include "trace/dump.h"

namespace padlock::trace {

inline constexpr const char* kDumpVariable = "PADLOCK_DUMP";
inline constexpr const char* kTimeVariable = "PADLOCK_TIME";

/// Returns whether one of these variables is set: a process of ours may then print.
[[nodiscard]] bool is_asked_for();

/// Makes compilers that show what they do, where a variable of the environment asks for it (docs/debugging.md): each
/// compile as a folder of files, and the milliseconds of its passes on stderr. Thread-safe.
class Observer {
 public:
  /// Reads the variables, once for all compilers that it makes. Warns on stderr of a value that it does not know.
  [[nodiscard]] static Observer from_environment();

  /// As TargetCompiler::create; the very same where no variable asks for more.
  [[nodiscard]] Result<std::unique_ptr<compiler::TargetCompiler>> create(const std::string& target) const;

 private:
  std::shared_ptr<DumpFolder> dumps_;  // shared by the compilers; null: nothing is dumped
  bool times_ = false;
};

}  // namespace padlock::trace
