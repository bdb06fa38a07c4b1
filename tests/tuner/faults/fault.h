#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tuner/cache/verdict.h"

// The faults of a config and the right verdict on each: the one table of the fault suite, for the worker that has the
// fault and for the test that expects the verdict.
namespace padlock::tuner::faults {

/// A verdict for a device that cannot have the fault.
inline constexpr std::optional<Verdict> kNever = std::nullopt;

// X(name, verdict on the host, verdict on the fake driver, part of the message)
#define PADLOCK_FAULTS(X)                                                                                             \
  X(store_before, Verdict::red_zone, Verdict::red_zone, "byte 4 before the beginning of result z was overwritten")    \
  X(store_after, Verdict::red_zone, Verdict::red_zone, "byte 0 past the end of result z was overwritten")             \
  X(store_far_after, Verdict::crash, Verdict::device_lost, "")                                                        \
  X(load_past_end, Verdict::out_of_bounds_load, Verdict::out_of_bounds_load, "")                                      \
  X(wrong_fill, Verdict::wrong_result, Verdict::wrong_result, "z: at [0, 0] expected 0xbfc00000, found 0xbfc00001")   \
  X(wrong_middle, Verdict::wrong_result, Verdict::wrong_result, "z: at [20, 28] expected 0x")                         \
  X(wrong_last, Verdict::wrong_result, Verdict::wrong_result, "z: at [40, 55] expected 0xbfc00000, found 0xbfc00001") \
  X(wrong_nan, Verdict::wrong_result, Verdict::wrong_result, "z: at [")                                               \
  X(blind_to_first, kNever, Verdict::wrong_result, "z: at [0, 0] expected 0xbfc00000, found 0xbfc00001")              \
  X(blind_to_middle, kNever, Verdict::wrong_result, "z: at [20, 28] expected 0x")                                     \
  X(blind_to_last, kNever, Verdict::wrong_result, "z: at [40, 55] expected 0xbfc00000, found 0xbfc00001")             \
  X(blind_to_nan, kNever, Verdict::wrong_result, "z: at [")                                                           \
  X(blind_to_bit, kNever, Verdict::wrong_result, "z: at [0, 0] expected 0xbfc00000, found 0xbfc00001")                \
  X(sees_too_much, kNever, Verdict::wrong_result, "z: at [0, 0] expected 0xbfc00000, found 0xbfc00001")               \
  X(first_half_alone, Verdict::wrong_result, Verdict::wrong_result, "found 0xa5a5a5a5")                               \
  X(last_half_alone, Verdict::wrong_result, Verdict::wrong_result, "z: at [0, 0] expected 0xbfc00000, found 0xa5")    \
  X(race, Verdict::nondeterministic, Verdict::nondeterministic, "z: at [0, 0] expected 0xbfc00000, found")            \
  X(input_overwritten, Verdict::input_changed, Verdict::input_changed, "byte 5 of input x was overwritten")           \
  X(infinite_loop, Verdict::timeout, Verdict::timeout, "while running between red zones")                             \
  X(misaligned_vector, Verdict::crash, Verdict::device_lost, "")                                                      \
  X(null_store, Verdict::crash, Verdict::crash, "died of SIGSEGV (Segmentation fault) while running between")         \
  X(killed, Verdict::crash, Verdict::crash, "died of SIGKILL (Killed) while running between")                         \
  X(aborted, Verdict::crash, Verdict::crash, "died of SIGABRT (Aborted) while running between")                       \
  X(exited, Verdict::crash, Verdict::crash, "exited with 3 while running between")                                    \
  X(exited_well, Verdict::crash, Verdict::crash, "exited with 0 while running between")                               \
  X(loud_crash, Verdict::crash, Verdict::crash, "the last words while compiling")                                     \
  X(garbage, Verdict::protocol, Verdict::protocol, "a frame begins with")                                             \
  X(truncated_frame, Verdict::protocol, Verdict::protocol, "a frame of the worker ends after 30 bytes; it exited")    \
  X(huge_length, Verdict::protocol, Verdict::protocol, "a frame claims 4294967295 bytes")                             \
  X(wrong_checksum, Verdict::protocol, Verdict::protocol, "does not match its checksum")                              \
  X(foreign_verdict, Verdict::protocol, Verdict::protocol, "verdict is 200")                                          \
  X(two_results, Verdict::protocol, Verdict::protocol, "more than a result")                                          \
  X(flood, Verdict::timeout, Verdict::timeout, "no verdict after")                                                    \
  X(full_pipe, Verdict::timeout, Verdict::timeout, "while waiting")                                                   \
  X(silence, Verdict::timeout, Verdict::timeout, "no verdict after")                                                  \
  X(launch_failure, Verdict::run, Verdict::run, "")                                                                   \
  X(sticky_error, Verdict::device_lost, Verdict::device_lost, "")                                                     \
  X(too_many_resources, kNever, Verdict::run, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")                                   \
  X(too_many_registers, kNever, Verdict::compile, "threads, cuda:0 runs at most 16 of its code")                      \
  X(bad_ptx, kNever, Verdict::compile, "ptxas fatal")                                                                 \
  X(no_scratch_memory, Verdict::out_of_memory, Verdict::out_of_memory, "bytes of scratch memory")                     \
  X(no_memory_to_compile, Verdict::crash, Verdict::crash, "died of SIGABRT (Aborted)")

// Also a fault that is not a config's and has a test of its own: wrong_reference.
enum class Fault : std::uint8_t {
  none,
  wrong_reference,
#define PADLOCK_FAULT(name, host, gpu, message) name,
  PADLOCK_FAULTS(PADLOCK_FAULT)
#undef PADLOCK_FAULT
};

struct Expectation {
  Fault fault;
  std::string_view name;
  std::optional<Verdict> on_host, on_gpu;
  std::string_view message;
};

inline constexpr std::array kExpectations = {
#define PADLOCK_FAULT(name, host, gpu, message) Expectation{Fault::name, #name, host, gpu, message},
    PADLOCK_FAULTS(PADLOCK_FAULT)
#undef PADLOCK_FAULT
};

/// Returns whether the fault is in the kernel that compares memory on a GPU, whatever the config.
[[nodiscard]] constexpr bool is_of_comparison(Fault fault) {
  return fault >= Fault::blind_to_first && fault <= Fault::sees_too_much;
}

/// The environment variable with the fault of the worker's process.
inline constexpr const char* kFaultVariable = "PADLOCK_TEST_FAULT";
/// Configs that contain this text have the fault; others do not.
inline constexpr std::string_view kFaultyHost = "unroll=4";
inline constexpr std::string_view kFaultyGpu = "items=4";
/// The environment variable that replaces that text.
inline constexpr const char* kFaultyConfigsVariable = "PADLOCK_TEST_FAULTY_CONFIGS";
/// The environment variable with the only place in a request, from 0, at which they misbehave.
inline constexpr const char* kFaultyPlaceVariable = "PADLOCK_TEST_FAULTY_PLACE";
/// The environment variable with a text: compiling a config that contains it kills the process, whichever config is
/// tried.
inline constexpr const char* kCrashCompilingVariable = "PADLOCK_TEST_CRASH_COMPILING";
/// The environment variable with a step's name: at its beginning the process kills itself, for those configs.
inline constexpr const char* kDeathVariable = "PADLOCK_TEST_DEATH";

}  // namespace padlock::tuner::faults
