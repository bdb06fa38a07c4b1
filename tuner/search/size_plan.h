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

// At which sizes a program is measured, and for which sizes what is measured there speaks.
namespace padlock::tuner {

struct SizeRequest {
  Sizes min, opt, max;                ///< by symbol; of a symbol that is not in `opt` the sizes are drawn
  std::optional<Regime> regime = {};  ///< in place of the one that tensors of these sizes have
};

/// SizePolicy decides where one region of sizes ends and how large a binding may be.
struct SizePolicy {
  /// Bytes of caches, the last one as far as a launch can have it. The tensors of a region's sizes are all of at most,
  /// or all of more than, each but the last; of that, all are in one regime.
  std::vector<std::int64_t> cache_bytes;
  std::int64_t memory_bytes = 0;  ///< what scratch memory of one binding may take
  std::uint64_t seed = 1;
};

/// One region of sizes and the binding that stands for it.
struct PlannedRegion {
  std::string region;  ///< as Choice::region
  Sizes sizes;
  Regime regime = Regime::cold;    ///< that of `sizes`, but where another was asked for
  std::vector<std::string> notes;  ///< that other sizes were asked for, and why not these
};

/// The regions to tune for, small sizes first: those between `min` and `max`, cut where the tensors' bytes exceed a
/// cache or come into another regime; with every symbol in `opt`, the one region in which it lies. A binding that needs
/// more memory than there is is replaced by the largest found that does not. Errors: invalid_argument for a name or
/// limits that make no sense; not_found where the program admits no sizes, or none that fit the memory.
[[nodiscard]] Result<std::vector<PlannedRegion>> plan_regions(const ir::Program& program, const SizeRequest& request,
                                                              const SizePolicy& policy);

/// Small bindings in which a config that is wrong is likely to show it: each symbol at 0, 1 and around the widths of
/// vectors and tiles, the others as they fall; as many as the program admits of them, without repetition.
[[nodiscard]] std::vector<Sizes> awkward_sizes(const ir::Program& program, std::uint64_t seed);

/// A value for each symbol. Errors: as ir::Binding::bind.
[[nodiscard]] Result<ir::Binding> bind_sizes(const ir::Program& program, const Sizes& sizes);

}  // namespace padlock::tuner
