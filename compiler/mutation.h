#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace padlock::compiler {

// Seeded bugs: switches at places of lowering and schedule where a compiler engineer might err. Tests turn one on and
// demand that it is found; nothing else may.
#define PADLOCK_MUTATIONS(X)   \
  X(none)                      \
  X(pad_low_added)             \
  X(pad_lower_bound_late)      \
  X(pad_upper_bound_early)     \
  X(pad_fill_moved_through_op) \
  X(reflect_period_long)       \
  X(symmetric_edge_skipped)    \
  X(wrap_negative_lap)         \
  X(interior_phase_ignored)    \
  X(slice_step_ignored)        \
  X(slice_start_ignored)       \
  X(concat_cut_early)          \
  X(transpose_inverted)        \
  X(broadcast_axis_kept)       \
  X(segment_cut_unclamped)     \
  X(segment_cut_late)          \
  X(merged_reflected_axes)     \
  X(row_carry_lost)            \
  X(tail_vector_late)

enum class Mutation : std::uint8_t {
#define X(id) id,
  PADLOCK_MUTATIONS(X)
#undef X
};

inline constexpr std::array kMutations = {
#define X(id) Mutation::id,
    PADLOCK_MUTATIONS(X)
#undef X
};

[[nodiscard]] constexpr std::string_view name_of(Mutation m) {
  constexpr std::array<std::string_view, kMutations.size()> kNames = {
#define X(id) #id,
      PADLOCK_MUTATIONS(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(m)];
}

}  // namespace padlock::compiler
