#pragma once

namespace padlock::runtime {

/// Returns the clock speed of this thread's core at this moment, in dependent multiplications per microsecond. A
/// multiplication takes the same few cycles whatever else the core and its siblings do. Takes about three microseconds.
/// Comparable only with other readings of the same process.
[[nodiscard]] double host_clock();

}  // namespace padlock::runtime
