#include <map>
#include <set>

#include "tests/compiler/prover/gpu_programs.h"
#include "tests/compiler/prover/seeded_gpu_schedule.h"
#include "tests/compiler/seeded/seeded_bugs.h"

// Seeded bugs of GPU schedules: the prover must refute each bug of the grid of vectors and of tiles, in these words.
namespace padlock::compiler {
namespace {

constexpr std::string_view kTurnedHalves =
    "program p(x: f16[A, B]) where A >= 1, B >= 1 { y = transpose(x, perm = [1, 0]) return y }";

constexpr std::string_view kStream = "map=vector_grid,threads=128,items=4";
constexpr std::string_view kTiled = "map=tiles";

struct Mutant {
  Mutation mutation;
  std::string_view program, config;
  ObligationKind kind;
  std::string_view violation;
};
using enum Mutation;
using Kind = ObligationKind;

constexpr auto kMutants = std::to_array<Mutant>({
    // Vectors of the flattened output.
    {vector_late, kPad, kStream, Kind::cover, "is not in vector"},
    {vector_late, kBytes, kStream, Kind::align, "past a multiple of its size"},
    {vectors_overlap, kPad, kStream, Kind::disjoint, "is in the vectors"},
    {vector_tiles_rounded_down, kPad, kStream, Kind::cover, "is not in vector"},
    {vector_tiles_doubled, kPad, kStream, Kind::width, "a vector ends at"},
    {vectors_of_launch_many, kPad, kStream, Kind::cover, "5 vectors are taken"},
    {reach_begins_late, kPad, kStream, Kind::width, "what its row reaches"},
    {reach_begins_late, kBytes, kStream, Kind::width, "what its row reaches"},
    {reach_ends_early, kPad, kStream, Kind::width, "what its row reaches"},
    {reach_ends_early, kBytes, kStream, Kind::width, "what its row reaches"},
    {reach_step_lost, kPad, kStream, Kind::width, "what its row reaches"},
    {reach_step_lost, kBytes, kStream, Kind::width, "what its row reaches"},
    {edge_taken_whole, kPad, kStream, Kind::load, "coordinate"},
    {edge_taken_whole, kPad, kStream, Kind::store, "column"},
    {edge_taken_whole, kBytes, kStream, Kind::load, "coordinate"},
    {granule_before_untested, kPad, kStream, Kind::load, "are loaded of a tensor that has"},
    {granule_after_untested, kPad, kStream, Kind::load, "are loaded of a tensor that has"},
    {granule_next, kPad, kStream, Kind::cover, "is in no granule"},
    {segment_end_half, kImages, kStream, Kind::cover, "is past its segment, which ends at"},
    // The table of a block's rows.
    {table_row_late, kSearched, kStream, Kind::store, "a row is at byte"},
    {table_row_short, kSearched, kStream, Kind::store, "a row is at byte"},
    {table_begins_late, kSearched, kStream, Kind::load, "is read, the block has those"},
    {table_ends_early, kSearched, kStream, Kind::load, "is read, the block has those"},
    {table_ends_late, kSearched, kStream, Kind::load, "the block has elements"},
    // Tiles.
    {tile_row_pitch_long, kTurned, kTiled, Kind::cover, "is not in tile"},
    {tile_column_pitch_short, kTurnedBytes, kTiled, Kind::disjoint, "is made twice"},
    {tile_roles_swapped, kTurned, kTiled, Kind::cover, "is not in tile"},
    {tile_count_halved, kTurned, kTiled, Kind::cover, "is not in tile"},
    {tile_counts_swapped, kTurned, kTiled, Kind::cover, "is not in tile"},
    {tile_counts_swapped, kTurnedBytes, kTiled, Kind::cover, "values of a coordinate are made of"},
    {tile_not_launched, kRotated, kTiled, Kind::cover, "tiles are launched of"},
    {tile_row_untested, kTurned, kTiled, Kind::store, "is made, the extent is"},
    {tile_column_untested, kTurned, kTiled, Kind::store, "is made, the extent is"},
    {tile_column_before_untested, kTurned, kTiled, Kind::store, "is made, the extent is"},
    {tile_test_strict, kTurned, kTiled, Kind::cover, "is not in tile"},
    // Tiles by words.
    {tile_run_untested, kTurned, kTiled, Kind::load, "is of another segment"},
    {tile_whole_untested, kTurned, kTiled, Kind::store, "is made of a whole tile"},
    {tile_left_out_early, kTurned, kTiled, Kind::cover, "by a tile that is left out"},
    {tile_left_out_early, kTurnedBytes, kTiled, Kind::cover, "by a tile that is left out"},
    {tile_rows_apart, kTurnedHalves, kTiled, Kind::load, "rows after"},
    {tile_copies_untested, kTurned, kTiled, Kind::store, "which is no element"},
    {tile_copies_untested, kTurnedBytes, kTiled, Kind::store, "which is no element"},
    {tile_phase_not_launched, kTurned, kTiled, Kind::cover, "is not in tile"},
    {tile_phase_not_launched, kTurnedBytes, kTiled, Kind::cover, "is not in tile"},
    {tile_part_untested, kTurned, kTiled, Kind::load, "is in another case"},
    {tile_one_word_early, kTurnedBytes, kTiled, Kind::load, "words of elements from"},
    {tile_one_word_late, kTurnedBytes, kTiled, Kind::load, "words of elements from"},
    {tile_word_before_untested, kTurnedBytes, kTiled, Kind::load, "are loaded of a tensor that has"},
    {tile_word_after_untested, kTurnedBytes, kTiled, Kind::load, "are loaded of a tensor that has"},
});

}  // namespace

TEST_CASE("every seeded bug of a GPU's schedule is refuted") {
  std::set<std::pair<std::string_view, std::string_view>> right;
  for (const Mutant& mutant : kMutants) {
    CAPTURE(std::string(name_of(mutant.mutation)));
    if (right.emplace(mutant.program, mutant.config).second)
      CHECK(gpu_proof_of(mutant.program, mutant.config).refuted() == nullptr);
    check_gpu_refuted(mutant.program, mutant.config, mutant.kind, mutant.violation, edits_of(mutant.mutation));
  }
}

TEST_CASE("a tile whose geometry has a seeded bug is of no shape that is tested") {
  for (const Mutation mutation : kMutations)
    if (judge_of(mutation) == Judge::geometry)
      check_gpu_refuted(kTurnedBytes, kTiled, Kind::cover, "are of no shape that is tested", edits_of(mutation));
}

TEST_CASE("every seeded bug of a GPU's schedule has a program") {
  std::set<Mutation> seeded;
  for (const Mutant& mutant : kMutants) seeded.insert(mutant.mutation);
  for (const Mutation mutation : kMutations) {
    if (judge_of(mutation) != Judge::grid && judge_of(mutation) != Judge::tile) continue;
    CAPTURE(std::string(name_of(mutation)));
    CHECK(seeded.contains(mutation));
  }
  CHECK(std::ranges::count(seeded, Judge::grid, judge_of) == kByGrid);
  CHECK(std::ranges::count(seeded, Judge::tile, judge_of) == kByTile);
}

}  // namespace padlock::compiler
