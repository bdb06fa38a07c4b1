// A management library that knows only the fake driver's first device.

#include <cstdlib>
#include <string_view>

namespace {
int device = 0;
}

extern "C" {

int nvmlInit_v2() { return std::getenv("PADLOCK_FAKE_NVML_FAILS") == nullptr ? 0 : 9; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** handle) {
  *handle = &device;
  return bus_id == std::string_view("00000001:3b:00.0") ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void* handle, int clock, unsigned* megahertz) {
  *megahertz = handle == &device && clock == 1 ? 1980 : 0;
  return 0;
}

}  // extern "C"
