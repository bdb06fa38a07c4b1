#pragma once

#include <optional>
#include <vector>

#include "compiler/schedule/model/row_chunks.h"

// How columns that are loaded apart, each in vectors of its own, become rows that follow each other: by a tree of
// shuffles of two vectors, log2 of the columns for each vector of the result. (To permute each column's vector for each
// of them takes as many as there are columns, and a mask for all but one.)
namespace padlock::compiler {

/// The shuffles for so many columns, of which the last ones make the rows' vectors, in order; lane i of a column's
/// vector is of row i. Nothing where the columns are no power of two, or where a row is longer than what the target
/// shuffles. `any_two`: the target takes any lanes of two vectors by one instruction.
[[nodiscard]] std::optional<std::vector<Shuffle>> interleave(int columns, int lanes, int element_bytes, bool any_two);

}  // namespace padlock::compiler
