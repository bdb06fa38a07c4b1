#pragma once

#include <cstddef>
#include <vector>

#include "support/error.h"

namespace padlock {

/// Errors of one text, each with a fault of its own. An error that only follows from a listed one is a `consequence`:
/// functions return it to stop, and the list leaves it out.
class ErrorList {
 public:
  static constexpr std::size_t kMost = 20;

  /// Adds an error. A second error at the same position is left out, too.
  void add(Error error);
  [[nodiscard]] bool is_empty() const { return errors_.empty(); }
  /// Returns whether to stop looking for errors: the list is full, or one of them is not about the text alone, such as
  /// a limit's.
  [[nodiscard]] bool is_final() const { return is_final_; }

  /// Makes one error of a list that is not empty: the first of the text, which contains the others. If there were more
  /// than kMost, the last one says so.
  [[nodiscard]] std::unexpected<Error> take() &&;

  [[nodiscard]] static std::unexpected<Error> consequence();
  [[nodiscard]] static bool is_consequence(const Error& error);
  /// Returns `status` for a value, else lists the error and returns a consequence.
  template <class T>
  Status note(const Result<T>& result) {
    if (result) return {};
    add(result.error());
    return consequence();
  }

 private:
  std::vector<Error> errors_;
  bool is_final_ = false;
};

}  // namespace padlock
