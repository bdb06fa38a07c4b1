#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/registry/devices.h"
#include "session/compile/context.h"
#include "support/error.h"

// The devices of the suite. A new one is a row of the table in devices.cpp, and of CMakeLists.txt.
namespace padlock::conformance {

/// A way of compiling for a device.
struct Variant {
  std::string name;
  session::CompileOptions options;
};

struct DeviceUnderTest {
  runtime::DeviceId device;
  std::vector<Variant> variants;  // the default first
};

/// Errors: invalid_argument for an unknown name, unavailable for a device that cannot run here.
[[nodiscard]] Result<DeviceUnderTest> find_device(std::string_view name);

/// Returns the device that PADLOCK_DEVICE names, else the host. Test cases take no arguments, hence the environment.
[[nodiscard]] std::string device_name_from_environment();
[[nodiscard]] Result<DeviceUnderTest> device_from_environment();

}  // namespace padlock::conformance
