#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/expr/expr.h"

// The map of a GPU's grid for kernels that read a tensor across its rows, as transposes do. A block makes a square tile
// of the output between the innermost axis and the axis along which those loads are contiguous: its threads load the
// tile's elements along that axis into memory that they share, come to a barrier, and store along the innermost. One
// description serves the code and the proof.
namespace padlock::compiler {

/// Gives a tile's rows, divided by the elements in a word of shared memory. (A word holds neighbouring elements of a
/// row of the output.)
inline constexpr int kTileWords = 32;
/// The halo: words of a row before a tile's own. Of each row a tile stores what lies up to so many words before its
/// own, and leaves as much at the end to the next tile, so that it begins at a multiple of them in memory. (8 words of
/// 4 bytes are a sector, of which a GPU's memory takes a part far more slowly than all.)
inline constexpr int kHaloWords = 8;
/// Bytes that a thread stores at once. The halo has whole vectors, so that they are aligned where rows are.
inline constexpr int kTileVectorBytes = 16;

/// How large the tiles of a kernel are.
enum class TileSize : std::uint8_t {
  by_output,  ///< small or medium where the output has few tiles, else large, and none where they would be mostly
              ///< empty: what a launch has to choose from
  large,
  medium,  ///< half as many columns
  small,   ///< half as many columns, and twice as many threads
};

/// One digit of a tile's number: a coordinate of the output, or the number of a part of an axis; or one of a thread's.
struct TileDigit {
  ir::Expr value;  ///< a variable
  ir::Expr count;  ///< over symbols

  friend bool operator==(const TileDigit&, const TileDigit&) = default;
};

/// A segment that may have all of a tile: where all tests are >= 0 every position is an element of it, in its case of
/// rows.
struct TileRun {
  std::size_t row_case = 0, call = 0;
  std::vector<ir::Expr> tests;  ///< over the parts of the axes and the other coordinates
};

/// A case of rows that may have all rows of a tile: where all tests are >= 0 it has. All of its segments are loaded by
/// words, or not at all.
struct TileCase {
  std::size_t row_case = 0;
  std::vector<ir::Expr> tests;  ///< over the parts of the axes and the other coordinates
};

/// Elements of a tensor that a thread loads by words: wherever in a word an element lies, one begins at most `lanes` -
/// 1 elements before it, and two hold the `lanes` elements from it on.
struct TileLoads {
  // Variables:
  ir::Expr shift;               ///< elements that an element is past the beginning of a word: in [0, lanes)
  ir::Expr lowest, highest;     ///< of those elements from which words are loaded
  ir::Expr extent;              ///< elements of the tensor's storage
  std::vector<ir::Expr> tests;  ///< over them, asked at run time: all are >= 0 where all words lie in the storage
  /// Over them, with `lowest` as an element, `shift` as its own and `highest` as the first element of the last word
  /// around it that is loaded: >= 0 where those words lie in the storage.
  std::vector<ir::Expr> word_tests;
};

/// Everything about a tile that no size decides. Of a row that, without its halo, would begin `phase` elements past a
/// multiple of the halo in memory a tile stores `stored_columns`, from number `halo - phase` on.
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
  /// Counts the positions that are stored.
  [[nodiscard]] int positions() const { return side() * stored_columns(); }
  [[nodiscard]] int halo_squares() const { return kTileWords * kHaloWords; }  ///< the first
  [[nodiscard]] int squares() const { return halo_squares() + kTileWords * column_words; }
  [[nodiscard]] int words() const { return side() * column_words; }
  /// Counts the words of a vector that is stored, its elements, and the vectors of a row.
  [[nodiscard]] int vector_words() const { return kTileVectorBytes / word_bytes; }
  [[nodiscard]] int vector_elements() const { return vector_words() * lanes; }
  [[nodiscard]] int row_vectors() const { return column_words / vector_words(); }
  [[nodiscard]] int vectors() const { return side() * row_vectors(); }
  /// Counts the threads that store vectors, and for how many rounds.
  [[nodiscard]] int copiers() const { return std::min(threads, vectors()); }
  [[nodiscard]] int rounds() const { return vectors() / copiers(); }
  /// Shared memory has a plane for each element of a word: of rows whose numbers have one remainder, a line each.
  /// Counts words from one line to the next. Eight lines lie one word further, so that no access of a warp meets a bank
  /// twice: neither words of a column, nor words that are a vector apart, in lines that are eight apart.
  [[nodiscard]] int pitch() const { return column_words + kHaloWords + (vector_words() == 4 ? 4 : 6); }
  [[nodiscard]] int plane_words() const { return kTileWords * pitch() + kTileWords / kHaloWords; }
  [[nodiscard]] int array_words() const { return lanes * plane_words(); }
};

/// Which positions of a tile a thread loads and stores, and where shared memory has them. The first columns are the
/// halo. No expression has a size in it.
struct TileGeometry : TileShape {
  // Variables:
  ir::Expr slot;         ///< from 0 to the positions of a tile
  ir::Expr round;        ///< of the vectors that a thread stores: from 0 to `rounds`
  ir::Expr row, column;  ///< a position
  ir::Expr phase;        ///< of a row that is stored: from 0 to `halo`
  ir::Expr square;       ///< from 0 to the number of squares
  ir::Expr line;         ///< from 0 to `lanes`
  // Over them:
  ir::Expr loaded_row, loaded_column;  ///< the position that is number `slot` of those that square number `square` has
  ir::Expr stored_row, stored_column;  ///< the position that is stored as number `slot`
  ir::Expr word, lane;                 ///< where an array holds a position
  /// Square number `square` has lanes x lanes positions, from this on; its row number `line` lies in `square_word`.
  ir::Expr square_row, square_column, square_word;
  /// The digits of the number of a thread that stores vectors, the least significant first: the vector in eight of a
  /// row, the group of rows, which eight, and the row in its group, from which it goes on in each round. A warp so has
  /// eight vectors of each of four rows that lie a halo apart, and have one phase.
  std::vector<TileDigit> copied_digits;
  /// The vector that a thread stores in a round: the first of its positions. Its elements are those of an array from
  /// number `copied_lane` of word `copied_word` on.
  ir::Expr copied_row, copied_column, copied_word, copied_lane;

  friend bool operator==(const TileGeometry&, const TileGeometry&) = default;
};

/// Position (row, column) of a tile is the element of the output at `cross_first + row` along axis number `axis` and
/// at `column_first + column` along the innermost. Where the tests hold it is one; a tile at an end has positions that
/// are none.
struct TransposeTile : TileGeometry {
  TileSize size = TileSize::large;
  std::int64_t most_tiles = 0;  ///< of a launch that takes these tiles instead of larger ones
  int axis = 0;                 ///< of the output
  /// True if all loads go along the axis: results are made before the barrier, and shared memory has an array for each.
  /// Else it has one for each load that goes along the axis, and results are made after the barrier.
  bool holds_results = false;
  /// For each body, for each of its loads: which array has its elements, -1 where none does.
  std::vector<std::vector<int>> arrays;
  int array_count = 0;
  // Variables:
  ir::Expr cross_tile, column_tile;  ///< the parts of the two axes
  ir::Expr needed;                   ///< the first column that any row stores: 0; `halo` where all phases are 0
  // Over them, and those of the geometry:
  std::vector<TileDigit> digits;  ///< of a tile's number, the least significant first
  ir::Expr tiles;                 ///< of a launch
  ir::Expr cross_first, column_first;
  ir::Expr stored_step;         ///< elements of the output from a row of a tile to the next, over symbols
  std::vector<ir::Expr> tests;  ///< of a position: all are >= 0
  std::vector<ir::Expr> whole;  ///< the same of all positions of a tile from column `needed` on
  ir::Expr some;                ///< >= 0 where a tile has elements among those positions
  std::vector<TileRun> runs;
  std::vector<TileCase> cases;         ///< for tiles that several segments share, or reach past an end of the output
  std::vector<ir::Expr> copied_tests;  ///< of all positions of a vector that is stored: all are >= 0
  TileLoads loads;

  [[nodiscard]] int shared_bytes() const { return array_count * array_words() * word_bytes; }
  [[nodiscard]] int array_of(std::size_t body, std::size_t load) const { return arrays[body][load]; }
};

/// The tiles that a launch has to choose from, the largest first: it takes the last shape of which its output has at
/// most `most_tiles`, or the first.
struct Tiles {
  std::vector<TransposeTile> shapes;  ///< at least one
};

/// Chooses how many words a row has, and who makes them. `widest`: bytes of the widest element that a kernel makes.
[[nodiscard]] TileShape tile_shape(TileSize size, int widest, int threads, bool has_one_result);

/// Lists what that returns, for all sizes, all types and the threads of all configs. Tests go through all positions of
/// these (compiler_geometry_test); the prover refutes tiles of any other shape, or with another geometry.
[[nodiscard]] std::vector<TileShape> tile_shapes();

[[nodiscard]] TileGeometry tile_geometry(ir::ExprContext& exprs, const TileShape& shape);

}  // namespace padlock::compiler
