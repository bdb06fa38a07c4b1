#pragma once

namespace padlock::runtime {

/// How fast the core that this thread runs on is clocked just now, in dependent multiplications per microsecond: each
/// takes the same few cycles whatever else the core and its siblings do. Takes about three microseconds. Encoding to be
/// compared with other readings of the same process.
[[nodiscard]] double host_clock();

}  // namespace padlock::runtime
