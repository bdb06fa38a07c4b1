#pragma once

#include "support/error.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {

/// Measures the C API's steps at 16 x 16, on the host and one thread: a launch beside memcpy of the same bytes (the
/// baseline), a binding, a look-up of a kernel that is there, and a binding for sizes alone. Errors: as the C API's.
[[nodiscard]] Result<Comparison> capi_times(const TimingOptions& options);

}  // namespace padlock::bench
