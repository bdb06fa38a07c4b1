#pragma once

#include <cstddef>
#include <cstdint>

#include "padlock/padlock.h"

// The parts of DLPack 1.3 that padlock.h leaves out: managed tensors, and the table of functions by which a library
// lends its tensors from C. Declared here, because no package installs them.
namespace padlock::python {

/// Codes of further element types, which move as bits.
inline constexpr std::uint8_t kDLOpaqueCode = 3;
inline constexpr std::uint8_t kDLComplexCode = 5;
inline constexpr std::uint8_t kDLFirstFloat8Code = 7;
inline constexpr std::uint8_t kDLLastFloat8Code = 14;

inline constexpr std::uint64_t kDLReadOnly = 1;
inline constexpr std::uint32_t kDLMajor = 1;

/// Returns whether the memory is the host's, pinned for GPUs or not.
inline bool is_on_host(const DLTensor& tensor) {
  return tensor.device.device_type == kDLCPU || tensor.device.device_type == kDLCUDAHost;
}
inline bool is_on_gpu(const DLTensor& tensor) {
  return tensor.device.device_type == kDLCUDA || tensor.device.device_type == kDLCUDAManaged;
}

struct DLVersion {
  std::uint32_t major, minor;
};

/// DLManagedTensor before 1.0.
struct DLManagedUnversioned {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedUnversioned*);
};

struct DLManaged {
  DLVersion version;
  void* context;
  void (*deleter)(DLManaged*);
  std::uint64_t flags;
  DLTensor tensor;
};
static_assert(offsetof(DLManaged, tensor) == 32);

/// DLPackExchangeAPI. Functions return 0, or set a Python error.
struct DLExchange {
  DLVersion version;
  const DLExchange* previous;
  int (*allocate)(DLTensor* prototype, DLManaged** made, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_from)(void* object, DLManaged** made);
  int (*to_object)(DLManaged* tensor, void** object);
  int (*view_of)(void* object, DLTensor* view);  // NULL where a library has none
  int (*current_stream)(DLDeviceType type, std::int32_t id, void** stream);
};
static_assert(sizeof(DLExchange) == 56);

}  // namespace padlock::python
