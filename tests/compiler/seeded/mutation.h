#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace padlock::compiler {

/// The judge that must find a seeded bug. `values` compares with the interpreter. `proof` is the prover, for every size
/// at once; `grid` and `tile` are the prover for a GPU's grid of vectors or its tiles. `geometry` checks all positions
/// of a tile, which do not depend on sizes. `race` is an execution that records accesses to memory that threads share.
enum class Judge : std::uint8_t { values, proof, grid, tile, geometry, race };

// Seeded bugs: places in lowering, schedule and code at which a compiler engineer might err. A test seeds one by
// editing a pass's output (seeded_bugs.h), and requires its judge to find it.
#define PADLOCK_MUTATIONS(X)           \
  X(none, values)                      \
  X(pad_low_added, values)             \
  X(pad_lower_bound_late, values)      \
  X(pad_upper_bound_early, values)     \
  X(pad_fill_moved_through_op, values) \
  X(reflect_period_long, values)       \
  X(symmetric_edge_skipped, values)    \
  X(wrap_negative_lap, values)         \
  X(interior_phase_ignored, values)    \
  X(slice_step_ignored, values)        \
  X(slice_start_ignored, values)       \
  X(concat_cut_early, values)          \
  X(transpose_inverted, values)        \
  X(broadcast_axis_kept, values)       \
  X(adjoint_lap_dropped, values)       \
  X(adjoint_end_doubled, values)       \
  X(adjoint_mirror_dropped, values)    \
  X(adjoint_order_swapped, values)     \
  X(adjoint_sides_overlap, values)     \
  X(reshape_merge_swapped, values)     \
  X(reshape_split_swapped, values)     \
  X(segment_cut_unclamped, values)     \
  X(segment_cut_late, values)          \
  X(merged_reflected_axes, values)     \
  X(row_carry_lost, values)            \
  X(row_group_long, values)            \
  X(division_multiplier_short, values) \
  X(division_shift_late, values)       \
  X(division_sign_dropped, values)     \
  X(even_rows_long, values)            \
  X(tail_vector_late, values)          \
  X(pad_guard_lower_dropped, proof)    \
  X(pad_guard_upper_dropped, proof)    \
  X(pad_guard_lower_weak, proof)       \
  X(pad_guard_upper_weak, proof)       \
  X(pad_load_added, proof)             \
  X(edge_clamped_late, proof)          \
  X(reflect_fold_late, proof)          \
  X(symmetric_fold_late, proof)        \
  X(wrap_period_long, proof)           \
  X(slice_step_long, proof)            \
  X(adjoint_walk_long, proof)          \
  X(adjoint_mirror_shifted, proof)     \
  X(reshape_remainder_long, proof)     \
  X(concat_start_ignored, proof)       \
  X(concat_cut_overlong, proof)        \
  X(load_guard_dropped, proof)         \
  X(view_extent_doubled, proof)        \
  X(stride_of_other_tensor, proof)     \
  X(merged_pitched_axes, proof)        \
  X(segment_cut_shifted, proof)        \
  X(segment_gap, proof)                \
  X(row_test_swapped, proof)           \
  X(rows_rounded_down, proof)          \
  X(columns_short, proof)              \
  X(task_columns_ignored, proof)       \
  X(stream_off_by_one, proof)          \
  X(end_vector_late, proof)            \
  X(first_vector_wide, proof)          \
  X(main_loop_late, proof)             \
  X(main_loop_long, proof)             \
  X(tail_vector_early, proof)          \
  X(tail_vector_unclamped, proof)      \
  X(tail_loop_short, proof)            \
  X(peel_short, proof)                 \
  X(stream_rest_lost, proof)           \
  X(element_loop_long, proof)          \
  X(vector_late, grid)                 \
  X(vectors_overlap, grid)             \
  X(vector_tiles_rounded_down, grid)   \
  X(vector_tiles_doubled, grid)        \
  X(vectors_of_launch_many, grid)      \
  X(reach_begins_late, grid)           \
  X(reach_ends_early, grid)            \
  X(reach_step_lost, grid)             \
  X(edge_taken_whole, grid)            \
  X(granule_before_untested, grid)     \
  X(granule_after_untested, grid)      \
  X(granule_next, grid)                \
  X(segment_end_half, grid)            \
  X(table_row_late, grid)              \
  X(table_row_short, grid)             \
  X(table_begins_late, grid)           \
  X(table_ends_early, grid)            \
  X(table_ends_late, grid)             \
  X(tile_row_pitch_long, tile)         \
  X(tile_column_pitch_short, tile)     \
  X(tile_roles_swapped, tile)          \
  X(tile_count_halved, tile)           \
  X(tile_counts_swapped, tile)         \
  X(tile_not_launched, tile)           \
  X(tile_row_untested, tile)           \
  X(tile_column_untested, tile)        \
  X(tile_column_before_untested, tile) \
  X(tile_test_strict, tile)            \
  X(tile_run_untested, tile)           \
  X(tile_whole_untested, tile)         \
  X(tile_left_out_early, tile)         \
  X(tile_rows_apart, tile)             \
  X(tile_copies_untested, tile)        \
  X(tile_phase_not_launched, tile)     \
  X(tile_part_untested, tile)          \
  X(tile_one_word_early, tile)         \
  X(tile_one_word_late, tile)          \
  X(tile_word_before_untested, tile)   \
  X(tile_word_after_untested, tile)    \
  X(tile_loads_half, geometry)         \
  X(tile_loads_block, geometry)        \
  X(tile_stores_late, geometry)        \
  X(tile_stores_twice, geometry)       \
  X(tile_words_shared, geometry)       \
  X(tile_words_late, geometry)         \
  X(tile_lane_ignored, geometry)       \
  X(tile_block_late, geometry)         \
  X(tile_block_word_late, geometry)    \
  X(tile_block_rows_shared, geometry)  \
  X(tile_copies_wide, geometry)        \
  X(tile_copies_swapped, geometry)     \
  X(tile_copies_overlap, geometry)     \
  X(tile_copies_late, geometry)        \
  X(tile_phase_ignored, geometry)      \
  X(tile_next_word_lost, geometry)     \
  X(barrier_dropped, race)             \
  X(barrier_early, race)               \
  X(bulk_wait_dropped, race)           \
  X(bulk_bytes_short, race)            \
  X(bulk_bytes_untold, race)

enum class Mutation : std::uint8_t {
#define X(id, judge) id,
  PADLOCK_MUTATIONS(X)
#undef X
};

inline constexpr std::array kMutations = {
#define X(id, judge) Mutation::id,
    PADLOCK_MUTATIONS(X)
#undef X
};

/// How many bugs each judge must find, so that none is lost.
inline constexpr int kByValues = 30, kByProof = 36, kByGrid = 18, kByTile = 21, kByGeometry = 16, kByRace = 5;
static_assert(kMutations.size() == 1 + kByValues + kByProof + kByGrid + kByTile + kByGeometry + kByRace);

[[nodiscard]] constexpr std::string_view name_of(Mutation m) {
  constexpr std::array<std::string_view, kMutations.size()> kNames = {
#define X(id, judge) #id,
      PADLOCK_MUTATIONS(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(m)];
}

[[nodiscard]] constexpr Judge judge_of(Mutation m) {
  constexpr std::array<Judge, kMutations.size()> kJudges = {
#define X(id, judge) Judge::judge,
      PADLOCK_MUTATIONS(X)
#undef X
  };
  return kJudges[static_cast<std::size_t>(m)];
}

/// Returns whether the bug is in a table of what a search finds for rows, which few random programs have:
/// gpu_mutants_test.cpp seeds it in programs that do.
[[nodiscard]] constexpr bool needs_search(Mutation m) {
  return m >= Mutation::table_row_late && m <= Mutation::table_ends_late;
}
inline constexpr int kOfSearches = 5;

/// Returns whether the bug is in a copy in bulk, which only boxes of runs have.
[[nodiscard]] constexpr bool is_of_bulk(Mutation m) {
  return m >= Mutation::bulk_wait_dropped && m <= Mutation::bulk_bytes_untold;
}

/// Returns whether the bug is one of any target; the others are in a GPU's schedules and code.
[[nodiscard]] constexpr bool is_of_any_target(Mutation m) {
  return judge_of(m) == Judge::values || judge_of(m) == Judge::proof;
}

[[nodiscard]] constexpr int count_of(Judge judge) {
  int count = 0;
  for (const Mutation m : kMutations) count += m != Mutation::none && judge_of(m) == judge ? 1 : 0;
  return count;
}
static_assert(count_of(Judge::values) == kByValues && count_of(Judge::proof) == kByProof &&
              count_of(Judge::grid) == kByGrid && count_of(Judge::tile) == kByTile &&
              count_of(Judge::geometry) == kByGeometry && count_of(Judge::race) == kByRace);

}  // namespace padlock::compiler
