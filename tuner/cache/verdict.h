#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace padlock::tuner {

// The one table of results of trying a config: X(name, text).
#define PADLOCK_VERDICTS(X)                   \
  X(ok, "ok")                                 \
  X(compile, "compile")                       \
  X(run, "run")                               \
  X(red_zone, "red zone")                     \
  X(out_of_bounds_load, "load out of bounds") \
  X(wrong_result, "wrong result")             \
  X(nondeterministic, "not deterministic")    \
  X(input_changed, "input changed")           \
  X(timeout, "timeout")                       \
  X(out_of_memory, "out of memory")           \
  X(crash, "crash")                           \
  X(device_lost, "device lost")               \
  X(protocol, "protocol")

enum class Verdict : std::uint8_t {
#define PADLOCK_VERDICT(name, text) name,
  PADLOCK_VERDICTS(PADLOCK_VERDICT)
#undef PADLOCK_VERDICT
};

inline constexpr std::array kVerdictNames = {
#define PADLOCK_VERDICT(name, text) std::string_view(text),
    PADLOCK_VERDICTS(PADLOCK_VERDICT)
#undef PADLOCK_VERDICT
};

/// Returns whether a config is known to be wrong. Where memory does not suffice, nothing is known.
[[nodiscard]] constexpr bool is_wrong(Verdict v) { return v != Verdict::ok && v != Verdict::out_of_memory; }

[[nodiscard]] constexpr std::string_view name_of(Verdict v) { return kVerdictNames[static_cast<std::size_t>(v)]; }

}  // namespace padlock::tuner
