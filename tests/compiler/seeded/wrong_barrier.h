#pragma once

#include <array>
#include <cstdint>

#include "compiler/pass_edits.h"

namespace padlock::compiler {

/// Bugs of the barrier between the loads and the stores of a tile, in the code that runs threads one after the other.
/// They are found by running it.
enum class BarrierBug : std::uint8_t {
  dropped,  ///< a thread goes on to the stores
  early,    ///< it stands before the loads
};
inline constexpr std::array kBarrierBugs = {BarrierBug::dropped, BarrierBug::early};

[[nodiscard]] const PassEdits* edits_of(BarrierBug bug);

}  // namespace padlock::compiler
