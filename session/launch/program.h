#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "runtime/arguments.h"
#include "support/error.h"

namespace padlock::session {

/// A verified program and where it came from. A cheap handle: what is compiled from it shares the program, since
/// expressions and bindings point into it. Immutable; its expression context is thread-safe.
class Program {
 public:
  /// Errors: invalid_argument with position and source line where the text does not parse or verify; resource_exhausted
  /// where it is too large.
  [[nodiscard]] static Result<Program> from_text(std::string_view text, std::string file = {});
  /// Reads a .pad file of at most kMaxTextBytes. Errors also as support/file.h.
  [[nodiscard]] static Result<Program> load(const std::string& path);

  [[nodiscard]] const ir::Program& ir() const { return *ir_; }
  /// Binds what is compiled from it, whatever the config.
  [[nodiscard]] const runtime::ArgumentBinder& binder() const { return *binder_; }
  /// The path it was loaded from; empty for text.
  [[nodiscard]] const std::string& file() const { return file_; }

  /// The error with the text of the line that it stands on, where it has a position and no text yet.
  [[nodiscard]] Error with_source_line(Error error) const;

  static constexpr std::int64_t kMaxTextBytes = std::int64_t{16} << 20;

 private:
  Program() = default;
  std::shared_ptr<const ir::Program> ir_;
  std::shared_ptr<const runtime::ArgumentBinder> binder_;  // shared as the program is, which it borrows
  std::shared_ptr<const std::string> text_;                // shared as the program is, which remembers positions only
  std::string file_;
};

}  // namespace padlock::session
