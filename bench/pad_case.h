#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/launch/program.h"
#include "support/error.h"

namespace padlock::bench {

/// One pad of a tensor of f32 and the sizes at which it is timed: a line of cases.txt.
struct PadCase {
  std::string name;
  std::vector<std::string> symbols = {};   ///< one an axis
  std::vector<std::int64_t> extents = {};  ///< in elements, as the pads are
  std::vector<std::int64_t> low = {};
  std::vector<std::string> high = {};  ///< dim expressions over the symbols
  std::string mode = "constant";       ///< as the language names it; "transpose" exchanges the last two axes instead
  std::string value = "0";             ///< of mode constant: a literal, or "least"

  [[nodiscard]] std::size_t rank() const { return extents.size(); }
};

/// The cases below the line "[SECTION]", up to the next such line. Error: invalid_argument, naming the line and what
/// was expected in it.
[[nodiscard]] Result<std::vector<PadCase>> parse_cases(std::string_view text, std::string_view section);

/// PadSpec is what is compiled of a case.
struct PadSpec {
  PadCase pad;
  ir::DType dtype = ir::DType::f32;
  bool relu = false;
  bool literal_extents = false;  ///< instead of symbols
};
/// In the language: one tensor parameter x and one result.
[[nodiscard]] std::string program_text(const PadSpec& spec);
/// Returns mode constant's fill as a literal of the type.
[[nodiscard]] std::string fill_literal(const PadCase& pad, ir::DType dtype);

// Cases made of a case whose pads are numbers all.

/// The same bytes as elements of another type: the innermost extent and pads are so many times as large as f32's
/// elements are. With `shift`, the input stands that many elements farther right in the result, which is as large.
[[nodiscard]] PadCase of_type(const PadCase& pad, ir::DType dtype, std::int64_t shift = 0);
/// Rank 2, with the same innermost axis, and all others as one, of as many rows before and after.
[[nodiscard]] PadCase as_rank_2(const PadCase& pad);
/// Extents of the result. Precondition: the pads are numbers.
[[nodiscard]] std::vector<std::int64_t> result_extents(const PadCase& pad);
[[nodiscard]] std::int64_t element_count(const std::vector<std::int64_t>& extents);
/// `pad` with numbers for expressions, which follow from the extents of its result.
[[nodiscard]] PadCase with_numbers(PadCase pad, const std::vector<std::int64_t>& result);

}  // namespace padlock::bench
