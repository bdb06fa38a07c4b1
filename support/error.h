#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace padlock {

/// The canonical status codes that gRPC, IREE and PJRT share (without OK, which a Result's value is).
enum class Code : std::uint8_t {
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

/// The party that has to act on an error: the caller, the operator of the machine, or the maintainers.
enum class Blame : std::uint8_t { user, environment, internal };

/// The position of an error in a program's text. Lines and columns count from 1; line 0 means "nowhere".
struct SourceSpan {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string source_line;  ///< the text of that line, without its newline; may be empty

  [[nodiscard]] bool known() const { return line != 0; }
};

/// A symbol or another named quantity of a message, with its value.
struct NamedValue {
  std::string name;
  std::int64_t value = 0;
};

/// A vector of an Error's parts. Functions outside the header make, move and destroy it: inline, in every function that
/// returns a Result, they would be a tenth of a small library.
template <class T>
class ErrorParts : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  ErrorParts();
  ErrorParts(std::vector<T> parts);  // NOLINT(google-explicit-constructor): the same thing
  ErrorParts(const ErrorParts& other);
  ErrorParts(ErrorParts&& other) noexcept;
  ~ErrorParts();
  ErrorParts& operator=(const ErrorParts& other);
  ErrorParts& operator=(ErrorParts&& other) noexcept;
};

/// The subject of a message, for programs that read it: a constraint, or the extent or stride of one axis.
struct ErrorSubject {
  int axis = -1;                  ///< of the tensor that the message names; -1: none
  std::string expression;         ///< in the language's syntax; empty: none
  ErrorParts<NamedValue> values;  ///< of the symbols in it
};

/// An error as a value. `message` says what was expected and what was found, without a trailing newline.
struct Error {
  Code code = Code::unknown;
  Blame blame = Blame::internal;
  std::string message;
  SourceSpan where = {};
  ErrorParts<std::string> context = {};  ///< outermost last: "while compiling pad_relu"
  ErrorSubject subject = {};
  /// Further errors of the same text, in its order; none of them has others.
  ErrorParts<Error> others = {};

  /// Returns the error with one more line of context.
  [[nodiscard]] Error in(std::string note) && {
    context.push_back(std::move(note));
    return std::move(*this);
  }

  /// Formats "LINE:COL: message", then the source line and a caret if they are known, then the context. `file`, if not
  /// empty, comes before the position. The others follow, each on lines of its own.
  [[nodiscard]] std::string to_string(const std::string& file = {}) const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] const char* name_of(Code code);

// Short makers, by blame. They return std::unexpected so that `return invalid_argument(...)` reads well.
[[nodiscard]] std::unexpected<Error> invalid_argument(std::string message, SourceSpan where = {});
[[nodiscard]] std::unexpected<Error> failed_precondition(std::string message);
[[nodiscard]] std::unexpected<Error> resource_exhausted(std::string message);
/// Makes an error of the code resource_exhausted for something refused for its own size: more memory would not help, so
/// the caller is to blame.
[[nodiscard]] std::unexpected<Error> beyond_limits(std::string message);
[[nodiscard]] std::unexpected<Error> unavailable(std::string message);
/// Makes the error for a device that stopped for good: its contents are lost, and every later call to it fails. Its
/// code, aborted, has no other use. As in gRPC, repeating the call does not help, but starting over may.
[[nodiscard]] std::unexpected<Error> device_lost(std::string message);
[[nodiscard]] std::unexpected<Error> internal_error(std::string message);

[[nodiscard]] inline bool is_device_lost(const Error& error) { return error.code == Code::aborted; }

}  // namespace padlock

#define PADLOCK_CONCAT_(a, b) a##b
#define PADLOCK_CONCAT(a, b) PADLOCK_CONCAT_(a, b)

/// PADLOCK_TRY(auto x, f()): x is the value of f(), or the enclosing function returns f()'s error.
#define PADLOCK_TRY(declaration, expression) \
  PADLOCK_TRY_(PADLOCK_CONCAT(padlock_result_, __LINE__), declaration, expression)
#define PADLOCK_TRY_(result, declaration, expression)             \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)

/// The same for a Status: returns its error, if any.
#define PADLOCK_CHECK(expression)                                        \
  do {                                                                   \
    if (auto padlock_check_status = (expression); !padlock_check_status) \
      return std::unexpected(std::move(padlock_check_status).error());   \
  } while (false)
