#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/program.h"
#include "runtime/arguments.h"
#include "support/error.h"

namespace padlock::session {

/// A verified program and its origin. A cheap handle: compiled programs share the program, since expressions and
/// bindings point into it. Immutable; its expression context is thread-safe.
class Program {
 public:
  /// Errors: invalid_argument, with position and source line, if the text does not parse or verify; resource_exhausted
  /// if it is too large.
  [[nodiscard]] static Result<Program> from_text(std::string_view text, std::string file = {});
  /// Reads a .pad file of at most kMaxTextBytes. Errors also as support/file.h.
  [[nodiscard]] static Result<Program> load(const std::string& path);

  [[nodiscard]] const ir::Program& ir() const { return *ir_; }
  /// Makes bindings for programs compiled from it, with any config.
  [[nodiscard]] const runtime::ArgumentBinder& binder() const { return *binder_; }
  /// The path that it was loaded from; empty for text.
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Returns the error with the text of its line, if it has a position and no text yet.
  [[nodiscard]] Error with_source_line(Error error) const;

  static constexpr std::int64_t kMaxTextBytes = std::int64_t{16} << 20;

 private:
  Program() = default;
  std::shared_ptr<const ir::Program> ir_;
  std::shared_ptr<const runtime::ArgumentBinder> binder_;  // shared like the program, which it borrows
  std::shared_ptr<const std::string> text_;                // shared like the program, which only holds positions
  std::string file_;
};

}  // namespace padlock::session
