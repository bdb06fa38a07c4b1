#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "solver/binding_search.h"
#include "support/error.h"
#include "tuner/cache/record.h"
#include "tuner/cache/regime.h"

// The sizes at which a program is measured, and the regions of sizes that each measurement stands for.
namespace padlock::tuner {

struct SizeRequest {
  Sizes min, opt, max;                ///< by symbol; sizes of symbols missing in `opt` are drawn
  std::optional<Regime> regime = {};  ///< overrides the regime of tensors of these sizes
};

/// SizePolicy decides where a region of sizes ends, and how large a binding may be.
struct SizePolicy {
  /// Bytes of caches; of the last one, the part that a launch can have. Each cache but the last divides sizes: within a
  /// region all tensors fit it or all exceed it. The last cache decides the regime, which is one per region.
  std::vector<std::int64_t> cache_bytes;
  std::int64_t memory_bytes = 0;  ///< limit for the scratch memory of one binding
  std::uint64_t seed = 1;
};

/// One region of sizes and the binding that stands for it.
struct PlannedRegion {
  std::string region;  ///< as Choice::region
  Sizes sizes;
  Regime regime = Regime::cold;    ///< that of `sizes`, unless another was requested
  std::vector<std::string> notes;  ///< that other sizes were requested, and why they were not taken
};

/// Plans the regions to tune, small sizes first: those between `min` and `max`, cut where the tensors' bytes exceed a
/// cache or change regime. If `opt` has every symbol, the one region around it. A binding that exceeds the memory is
/// replaced by the largest found that fits. Errors: invalid_argument for wrong names or limits; not_found if the
/// program admits no sizes, or none that fit the memory.
[[nodiscard]] Result<std::vector<PlannedRegion>> plan_regions(const ir::Program& program, const SizeRequest& request,
                                                              const SizePolicy& policy);

/// Returns small bindings that are likely to expose a wrong config: each symbol at 0, 1 and around the widths of
/// vectors and tiles, the others at any value. As many as the program admits, without repetition.
[[nodiscard]] std::vector<Sizes> awkward_sizes(const ir::Program& program, std::uint64_t seed);

/// Binds a value for each symbol. Errors: as ir::Binding::bind.
[[nodiscard]] Result<ir::Binding> bind_sizes(const ir::Program& program, const Sizes& sizes);

}  // namespace padlock::tuner
