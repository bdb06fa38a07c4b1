#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/conformance/device_program.h"
#include "tests/differential/programs/random_program.h"

namespace padlock::conformance {

/// The programs of the differential test on a device, through the public interface.
class RandomPrograms {
 public:
  RandomPrograms(const DeviceUnderTest& device, std::uint64_t seed) : device_(device), seed_(seed) {}

  /// Runs program number `index` at some sizes, in the default variant and another one. Returns the program and its
  /// fault; empty if there is none.
  [[nodiscard]] std::string check(std::uint64_t index);

 private:
  static constexpr int kSizes = 4;
  /// Code lives as long as its context.
  static constexpr std::uint64_t kProgramsPerContext = 64;

  std::string check_sizes(const DeviceProgram& program, const differential::GeneratedProgram& generated,
                          testing::Rng& rng);

  const DeviceUnderTest& device_;
  std::uint64_t seed_;
  std::uint64_t checked_ = 0;
  std::unique_ptr<session::Context> context_;
  differential::GuardedArena arena_;
};

}  // namespace padlock::conformance
