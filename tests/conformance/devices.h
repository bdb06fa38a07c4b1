#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/registry/devices.h"
#include "session/compile/context.h"
#include "support/error.h"

// The devices that the suite is crossed with. A new one is a row of the table in devices.cpp, and in CMakeLists.txt.
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

/// Errors: invalid_argument for a name that the table does not have, unavailable where it cannot run here.
[[nodiscard]] Result<DeviceUnderTest> find_device(std::string_view name);

/// The one that PADLOCK_DEVICE names, else the host. Test cases take no arguments, hence the environment.
[[nodiscard]] std::string device_name_from_environment();
[[nodiscard]] Result<DeviceUnderTest> device_from_environment();

}  // namespace padlock::conformance
