#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr/constraint.h"

// The obligations of a scheduled kernel with their verdicts: plain data, for printing and for programs.
namespace padlock::compiler {

enum class ObligationKind : std::uint8_t {
  load,      ///< each element read lies in its tensor
  store,     ///< each element written lies in the result
  cover,     ///< every element of the result is written
  disjoint,  ///< no element is written by two tasks (blocks, threads)
  extent,    ///< no result has a negative extent
  width,     ///< every emitted value fits its type, intermediates included
  align,     ///< an access with a promised alignment has it
};

enum class Verdict : std::uint8_t {
  proved,   ///< no violation, for all sizes that the program admits
  guarded,  ///< no violation under an assumption that selects the variant, or under bounds that binding checks
  checked,  ///< undecided within the budget: tested where it happens
  refuted,  ///< there is a violation; the kernel is not compiled
  dead,     ///< the access never happens: nothing is claimed about it
};

inline constexpr std::array kVerdicts = {Verdict::proved, Verdict::guarded, Verdict::checked, Verdict::refuted,
                                         Verdict::dead};

[[nodiscard]] std::string_view name_of(ObligationKind kind);
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// A violation that can be reproduced: sizes and a place.
struct Counterexample {
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< the program's symbols
  /// Coordinates of the output element ("$0", "$1", the last is the column), then of the schedule: "column_first" and
  /// "column_last" of the task, "begin" and "end" of the run, and "trip" and "lane" of the loop at fault.
  std::vector<std::pair<std::string, std::int64_t>> where;
  std::string violation;  ///< "coordinate 5 on axis 1 of x, whose extent is 5"

  [[nodiscard]] std::string to_string() const;
};

struct Obligation {
  ObligationKind kind = ObligationKind::load;
  int body = -1;  ///< load, store, disjoint: index of the schedule's body
  int load = -1;  ///< load: index in the body
  bool of_row_chunks = false;
  std::string access;  ///< tensor and place: "x[$0, $1 - lo] in columns [lo, lo + S)"
  Verdict verdict = Verdict::proved;
  std::string guard = {};                       ///< guarded: the assumption
  std::string reason = {};                      ///< checked: why the search ended
  Counterexample found = {};                    ///< refuted
  std::vector<std::string> contradiction = {};  ///< dead: the conditions that contradict each other
};

/// Merges the answers to several questions about an obligation. All proved is proved; one refutation refutes; undecided
/// outranks guarded.
void add_answer(Obligation& all, Obligation one);

/// All obligations of one kernel under one config.
struct Proof {
  std::string kernel;
  std::string config;
  std::vector<Obligation> obligations;
  /// Positions of the declared bounds of sizes that every launch must satisfy.
  std::set<std::size_t> preconditions = {};
  /// Conditions on sizes for `guarded` loads, as expressions of the proved program.
  std::vector<ir::Constraint> in_range = {};
  std::int64_t solver_calls = 0;
  double milliseconds = 0;

  [[nodiscard]] std::int64_t count(Verdict verdict) const;
  /// The first refuted obligation, or null.
  [[nodiscard]] const Obligation* refuted() const;
};

/// One line: "proved   load      x[$0, $1 - lo] in columns [lo, lo + S)".
[[nodiscard]] std::string to_string(const Obligation& obligation);

}  // namespace padlock::compiler
