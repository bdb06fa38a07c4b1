#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr/constraint.h"

// The obligations of a scheduled kernel with their verdicts: plain data, for people and programs.
namespace padlock::compiler {

enum class ObligationKind : std::uint8_t {
  load,      ///< each element that is read lies in its tensor
  store,     ///< each element that is written lies in the result
  cover,     ///< every element of the result is written
  disjoint,  ///< no element is written by two tasks (blocks, threads)
  extent,    ///< no result has a negative extent
  width,     ///< every emitted value fits its type, intermediates included
  align,     ///< an access that promises an alignment has it
};

enum class Verdict : std::uint8_t {
  proved,   ///< there is no violation, for all sizes that the program admits
  guarded,  ///< none under a declared assumption, which selects this variant, or under bounds that binding checks
  checked,  ///< undecided within the budget: tested where it happens
  refuted,  ///< there is one; the kernel is not compiled
  dead,     ///< the access never happens: nothing is said of it
};

inline constexpr std::array kVerdicts = {Verdict::proved, Verdict::guarded, Verdict::checked, Verdict::refuted,
                                         Verdict::dead};

[[nodiscard]] std::string_view name_of(ObligationKind kind);
[[nodiscard]] std::string_view name_of(Verdict verdict);

/// A violation that can be run: sizes under which, and where.
struct Counterexample {
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< the program's symbols
  /// Coordinates of the output element ("$0", "$1", the last is the column), then of the schedule: "column_first" and
  /// "column_last" of the task, "begin" and "end" of the run, and the "trip" and "lane" of a loop that is at fault.
  std::vector<std::pair<std::string, std::int64_t>> where;
  std::string violation;  ///< "coordinate 5 on axis 1 of x, whose extent is 5"

  [[nodiscard]] std::string to_string() const;
};

struct Obligation {
  ObligationKind kind = ObligationKind::load;
  int body = -1;  ///< load, store, disjoint: of which of the schedule's bodies
  int load = -1;  ///< load: which of the body's
  bool of_row_chunks = false;
  std::string access;  ///< of which tensor, and where: "x[$0, $1 - lo] in columns [lo, lo + S)"
  Verdict verdict = Verdict::proved;
  std::string guard = {};                       ///< guarded: under which assumption
  std::string reason = {};                      ///< checked: what ended the search
  Counterexample found = {};                    ///< refuted
  std::vector<std::string> contradiction = {};  ///< dead: the conditions that cannot hold together
};

/// Merges the answer to one of several questions about an obligation: it is proved if all are; one refutation is
/// enough, and what is not decided counts more than what is guarded.
void add_answer(Obligation& all, Obligation one);

/// All obligations of one kernel under one config.
struct Proof {
  std::string kernel;
  std::string config;
  std::vector<Obligation> obligations;
  /// Positions of the bounds of sizes that the schedule declares, those that every launch must satisfy.
  std::set<std::size_t> preconditions = {};
  /// Conditions on sizes for loads that are `guarded`: expressions of the program that was proved.
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
