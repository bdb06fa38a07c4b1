#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/expr/expr.h"

// The grid map of a GPU's kernels that read a tensor across its rows, as transposes do. A block makes a square tile of
// the output between the innermost axis and the axis along which the loads are contiguous. Threads load along the
// latter into shared memory, come to a barrier, and store along the innermost axis. One description serves the code and
// the proof.
namespace padlock::compiler {

/// A tile's rows, divided by the elements in a word of shared memory. (A word holds neighbouring elements of a row of
/// the output.)
inline constexpr int kTileWords = 32;
/// The halo: words of a row before a tile's own. So that stores begin at a multiple of the halo in memory, a tile
/// stores up to that many words before its own, and leaves as many at the end to the next tile. (8 words of 4 bytes
/// are a sector. A GPU's memory takes a part of a sector far more slowly than a whole one.)
inline constexpr int kHaloWords = 8;
/// Bytes of a thread's store. The halo has whole vectors, so that vectors are aligned if rows are.
inline constexpr int kTileVectorBytes = 16;

/// How large the tiles of a kernel are.
enum class TileSize : std::uint8_t {
  by_output,  ///< small or medium for an output of few tiles, else large; no tiles if they would be mostly empty. The
              ///< launch chooses
  large,
  medium,  ///< half as many columns
  small,   ///< half as many columns, and twice as many threads
};

/// A digit of a tile's number: a coordinate of the output, or the number of a part of an axis. Or a digit of a thread's
/// number.
struct TileDigit {
  ir::Expr value;  ///< a variable
  ir::Expr count;  ///< over symbols

  friend bool operator==(const TileDigit&, const TileDigit&) = default;
};

/// A segment that may have all of a tile: if all tests are >= 0, every position is an element of the segment, in its
/// case of rows.
struct TileRun {
  std::size_t row_case = 0, call = 0;
  std::vector<ir::Expr> tests;  ///< over the parts of the axes and the other coordinates
};

/// A case of rows that may have all rows of a tile: it has them if all tests are >= 0. Its segments are all loaded by
/// words, or not at all.
struct TileCase {
  std::size_t row_case = 0;
  std::vector<ir::Expr> tests;  ///< over the parts of the axes and the other coordinates
};

/// Elements of a tensor that a thread loads by words. A word begins at most `lanes` - 1 elements before any element,
/// and two words hold the `lanes` elements from it on.
struct TileLoads {
  // Variables:
  ir::Expr shift;               ///< elements from the beginning of a word to an element: in [0, lanes)
  ir::Expr lowest, highest;     ///< first and last element that words must hold
  ir::Expr extent;              ///< elements of the tensor's storage
  std::vector<ir::Expr> tests;  ///< over the variables, tested at run time: all are >= 0 if all words lie in the
                                ///< storage
  /// Over the variables: `lowest` is an element, `shift` its own, `highest` the first element of the last word loaded
  /// around it. Each is >= 0 if those words lie in the storage.
  std::vector<ir::Expr> word_tests;
};

/// Everything about a tile that no size decides. Say a row without its halo would begin `phase` elements past a
/// multiple of the halo in memory. A tile then stores `stored_columns` of the row, from number `halo - phase` on.
struct TileShape {
  int threads = 0;  ///< of a block
  int lanes = 1;    ///< elements of a word, of the widest type
  int word_bytes = 4;
  int column_words = kTileWords;  ///< of a row that is stored

  friend bool operator==(const TileShape&, const TileShape&) = default;

  [[nodiscard]] int side() const { return kTileWords * lanes; }
  [[nodiscard]] int halo() const { return kHaloWords * lanes; }
  [[nodiscard]] int stored_columns() const { return column_words * lanes; }
  [[nodiscard]] int columns() const { return stored_columns() + halo(); }
  /// Counts the stored positions.
  [[nodiscard]] int positions() const { return side() * stored_columns(); }
  [[nodiscard]] int halo_squares() const { return kTileWords * kHaloWords; }  ///< the first squares
  [[nodiscard]] int squares() const { return halo_squares() + kTileWords * column_words; }
  [[nodiscard]] int words() const { return side() * column_words; }
  /// Counts the words and elements of a stored vector, and the vectors of a row.
  [[nodiscard]] int vector_words() const { return kTileVectorBytes / word_bytes; }
  [[nodiscard]] int vector_elements() const { return vector_words() * lanes; }
  [[nodiscard]] int row_vectors() const { return column_words / vector_words(); }
  [[nodiscard]] int vectors() const { return side() * row_vectors(); }
  /// Counts the threads that store vectors, and their rounds.
  [[nodiscard]] int copiers() const { return std::min(threads, vectors()); }
  [[nodiscard]] int rounds() const { return vectors() / copiers(); }
  /// Shared memory has a plane for each element of a word; rows of a plane have equal row numbers modulo `lanes`, a
  /// line each. Counts words from one line to the next. Eight lines lie one word further, so that no access of a warp
  /// meets a bank twice: neither words of a column, nor words a vector apart in lines that are eight apart.
  [[nodiscard]] int pitch() const { return column_words + kHaloWords + (vector_words() == 4 ? 4 : 6); }
  [[nodiscard]] int plane_words() const { return kTileWords * pitch() + kTileWords / kHaloWords; }
  [[nodiscard]] int array_words() const { return lanes * plane_words(); }
};

/// The positions of a tile that a thread loads and stores, and their places in shared memory. The first columns are the
/// halo. No expression has a size in it.
struct TileGeometry : TileShape {
  // Variables:
  ir::Expr slot;         ///< from 0 to the positions of a tile
  ir::Expr round;        ///< of the vectors that a thread stores: from 0 to `rounds`
  ir::Expr row, column;  ///< a position
  ir::Expr phase;        ///< phase of a stored row: from 0 to `halo`
  ir::Expr square;       ///< from 0 to the number of squares
  ir::Expr line;         ///< from 0 to `lanes`
  // Over them:
  ir::Expr loaded_row, loaded_column;  ///< position number `slot` of square number `square`
  ir::Expr stored_row, stored_column;  ///< the position stored as number `slot`
  ir::Expr word, lane;                 ///< a position's place in an array
  /// Square number `square` has lanes x lanes positions, from this one on; its row number `line` lies in `square_word`.
  ir::Expr square_row, square_column, square_word;
  /// Digits of the number of a thread that stores vectors, the least significant first: the vector in eight of a row,
  /// the group of rows, which eight, and the row in its group, from which the thread goes on in each round. So a warp
  /// has eight vectors of each of four rows that lie a halo apart and have one phase.
  std::vector<TileDigit> copied_digits;
  /// The vector that a thread stores in a round, by its first position. Its elements lie in an array, from number
  /// `copied_lane` of word `copied_word` on.
  ir::Expr copied_row, copied_column, copied_word, copied_lane;

  friend bool operator==(const TileGeometry&, const TileGeometry&) = default;
};

/// Position (row, column) of a tile is the output's element at `cross_first + row` along axis number `axis` and at
/// `column_first + column` along the innermost axis, if the tests hold. A tile at an end has positions that are no
/// elements.
struct TransposeTile : TileGeometry {
  TileSize size = TileSize::large;
  std::int64_t most_tiles = 0;  ///< a launch takes this shape if it has at most so many tiles
  int axis = 0;                 ///< an axis of the output
  /// True if all loads go along the axis: results are made before the barrier, and shared memory has an array for each
  /// result. Else it has an array for each load along the axis, and results are made after the barrier.
  bool holds_results = false;
  /// For each body, the array of each load's elements; -1: none.
  std::vector<std::vector<int>> arrays;
  int array_count = 0;
  // Variables:
  ir::Expr cross_tile, column_tile;  ///< the parts of the two axes
  ir::Expr needed;                   ///< first column that any row stores: 0; `halo` if all phases are 0
  // Over these variables and the geometry's:
  std::vector<TileDigit> digits;  ///< digits of a tile's number, the least significant first
  ir::Expr tiles;                 ///< number of a launch's tiles
  ir::Expr cross_first, column_first;
  ir::Expr stored_step;         ///< elements of the output from a row of a tile to the next, over symbols
  std::vector<ir::Expr> tests;  ///< tests of a position: it is an element if all are >= 0
  std::vector<ir::Expr> whole;  ///< the same tests for all positions of a tile from column `needed` on
  ir::Expr some;                ///< >= 0 if one of those positions is an element
  std::vector<TileRun> runs;
  std::vector<TileCase> cases;         ///< for tiles that several segments share, or that reach past an end of the
                                       ///< output
  std::vector<ir::Expr> copied_tests;  ///< a stored vector lies in the output if all are >= 0
  TileLoads loads;

  [[nodiscard]] int shared_bytes() const { return array_count * array_words() * word_bytes; }
  [[nodiscard]] int array_of(std::size_t body, std::size_t load) const { return arrays[body][load]; }
};

/// The tile shapes that a launch chooses from, the largest first. It takes the last shape with at most `most_tiles`
/// tiles of its output, or else the first shape.
struct Tiles {
  std::vector<TransposeTile> shapes;  ///< at least one
};

/// Chooses the words of a row, and the threads. `widest`: bytes of the widest element that a kernel makes.
[[nodiscard]] TileShape tile_shape(TileSize size, int widest, int threads, bool has_one_result);

/// Lists all results of tile_shape: all sizes, all types, and the threads of all configs. Tests check all their
/// positions (compiler_geometry_test). The prover refutes tiles of any other shape or geometry.
[[nodiscard]] std::vector<TileShape> tile_shapes();

[[nodiscard]] TileGeometry tile_geometry(ir::ExprContext& exprs, const TileShape& shape);

}  // namespace padlock::compiler
