#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/int128.h"

// The integer points of linear inequalities. The only use of isl, in one place, so that what it answers cannot be
// misread (an error of isl is -1, true in an `if`; its setters of constants take an int).
namespace padlock::compiler {

/// sum coefficient * x[variable] + constant, of a system of inequalities.
struct LinearRow {
  std::vector<std::pair<int, Int128>> terms;  // variables distinct
  Int128 constant = 0;
  bool is_equality = false;  // == 0 instead of >= 0
};

/// Solves systems of linear inequalities over the integers. Counts what it does. Not thread-safe; one for each proof.
class IntegerSolver {
 public:
  IntegerSolver();
  ~IntegerSolver();
  IntegerSolver(const IntegerSolver&) = delete;
  IntegerSolver& operator=(const IntegerSolver&) = delete;

  using Answer = Result<std::optional<std::vector<Int128>>>;

  /// A point that satisfies all rows, or nothing where there is none. `operations`: pivots, and isl operations, that it
  /// may take, more than 0. Errors: resource_exhausted where they do not suffice, internal for a failure of isl.
  [[nodiscard]] Answer find_point(int variables, std::vector<LinearRow> rows, std::uint64_t operations);
  /// The same by isl alone; find_point comes to it last.
  [[nodiscard]] Answer ask_isl(int variables, const std::vector<LinearRow>& rows, std::uint64_t operations);

  [[nodiscard]] std::int64_t calls() const { return calls_; }

  /// For tests: call number `call` (from 0) ends with this error instead.
  void fail_at(std::int64_t call, Code code) {
    fail_at_ = call;
    fail_code_ = code;
  }

 private:
  struct Isl;
  std::unique_ptr<Isl> isl_;  // made where it is asked first
  std::int64_t calls_ = 0;
  std::int64_t fail_at_ = -1;
  Code fail_code_ = Code::internal;
};

}  // namespace padlock::compiler
