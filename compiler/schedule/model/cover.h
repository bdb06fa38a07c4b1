#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "compiler/schedule/model/row_chunks.h"
#include "compiler/schedule/model/tiles.h"
#include "compiler/schedule/model/vector_grid.h"

// How an output is covered. docs/architecture.md names the file of each cover in every room.
namespace padlock::compiler {

/// The host's: tasks of rows and columns, which a caller distributes. A task takes its rows by runs, and those of a
/// case that has row chunks by them where they are short.
struct HostCover {
  std::vector<std::optional<RowChunks>> row_chunks = {};  ///< one for each case of the schedule, or empty
};

using Cover = std::variant<HostCover, VectorGrid, Tiles>;

}  // namespace padlock::compiler
