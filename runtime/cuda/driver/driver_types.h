#pragma once

#include <cstddef>
#include <cstdint>

/// The types of the CUDA Driver API that Padlock uses, declared here so that building needs no toolkit. Names and
/// values are the driver's. If a CUDA 13 toolkit is installed, a test compares each with its cuda.h.
namespace padlock::runtime::cuda {

/// X(enumerator, the driver's name, value, Code of the resulting Error). `aborted` marks sticky statuses: cuda.h says
/// that they leave the process or the context in a state where any further work returns the same error.
#define PADLOCK_CUDA_STATUSES(X)                                                                   \
  X(invalid_value, CUDA_ERROR_INVALID_VALUE, 1, internal)                                          \
  X(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY, 2, resource_exhausted)                                \
  X(not_initialized, CUDA_ERROR_NOT_INITIALIZED, 3, internal)                                      \
  X(deinitialized, CUDA_ERROR_DEINITIALIZED, 4, aborted)                                           \
  X(stub_library, CUDA_ERROR_STUB_LIBRARY, 34, unavailable)                                        \
  X(device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE, 46, unavailable)                            \
  X(no_device, CUDA_ERROR_NO_DEVICE, 100, unavailable)                                             \
  X(invalid_device, CUDA_ERROR_INVALID_DEVICE, 101, unavailable)                                   \
  X(device_not_licensed, CUDA_ERROR_DEVICE_NOT_LICENSED, 102, unavailable)                         \
  X(invalid_image, CUDA_ERROR_INVALID_IMAGE, 200, internal)                                        \
  X(invalid_context, CUDA_ERROR_INVALID_CONTEXT, 201, failed_precondition)                         \
  X(no_binary_for_gpu, CUDA_ERROR_NO_BINARY_FOR_GPU, 209, failed_precondition)                     \
  X(ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE, 214, aborted)                                 \
  X(invalid_ptx, CUDA_ERROR_INVALID_PTX, 218, internal)                                            \
  X(nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE, 220, aborted)                           \
  X(jit_compiler_not_found, CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221, unavailable)                   \
  X(unsupported_ptx_version, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, unavailable)                 \
  X(jit_compilation_disabled, CUDA_ERROR_JIT_COMPILATION_DISABLED, 223, unavailable)               \
  X(contained, CUDA_ERROR_CONTAINED, 226, aborted)                                                 \
  X(operating_system, CUDA_ERROR_OPERATING_SYSTEM, 304, unavailable)                               \
  X(invalid_handle, CUDA_ERROR_INVALID_HANDLE, 400, invalid_argument)                              \
  X(not_found, CUDA_ERROR_NOT_FOUND, 500, not_found)                                               \
  X(not_ready, CUDA_ERROR_NOT_READY, 600, failed_precondition)                                     \
  X(illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS, 700, aborted)                                     \
  X(launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, resource_exhausted)          \
  X(launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT, 702, aborted)                                       \
  X(context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, aborted)                           \
  X(device_assert, CUDA_ERROR_ASSERT, 710, aborted)                                                \
  X(hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR, 714, aborted)                           \
  X(illegal_instruction, CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, aborted)                             \
  X(misaligned_address, CUDA_ERROR_MISALIGNED_ADDRESS, 716, aborted)                               \
  X(invalid_address_space, CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, aborted)                         \
  X(invalid_pc, CUDA_ERROR_INVALID_PC, 718, aborted)                                               \
  X(launch_failed, CUDA_ERROR_LAUNCH_FAILED, 719, aborted)                                         \
  X(tensor_memory_leak, CUDA_ERROR_TENSOR_MEMORY_LEAK, 721, aborted)                               \
  X(not_permitted, CUDA_ERROR_NOT_PERMITTED, 800, permission_denied)                               \
  X(not_supported, CUDA_ERROR_NOT_SUPPORTED, 801, unimplemented)                                   \
  X(system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY, 802, unavailable)                               \
  X(system_driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, unavailable)                   \
  X(compat_not_supported_on_device, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, unavailable)   \
  X(mps_connection_failed, CUDA_ERROR_MPS_CONNECTION_FAILED, 805, unavailable)                     \
  X(mps_rpc_failure, CUDA_ERROR_MPS_RPC_FAILURE, 806, unavailable)                                 \
  X(mps_server_not_ready, CUDA_ERROR_MPS_SERVER_NOT_READY, 807, unavailable)                       \
  X(mps_max_clients_reached, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, 808, resource_exhausted)          \
  X(mps_max_connections_reached, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, 809, resource_exhausted)  \
  X(mps_client_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED, 810, aborted)                         \
  X(stream_capture_unsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, failed_precondition)   \
  X(stream_capture_invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, failed_precondition)   \
  X(stream_capture_isolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, failed_precondition)       \
  X(stream_capture_implicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906, failed_precondition)         \
  X(stream_capture_wrong_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, failed_precondition) \
  X(external_device, CUDA_ERROR_EXTERNAL_DEVICE, 911, aborted)                                     \
  X(unknown, CUDA_ERROR_UNKNOWN, 999, unknown)

/// CUresult is the status that a driver's function returns. A driver may return values that are not listed.
enum class CUresult : std::uint32_t {
  success = 0,
#define PADLOCK_ENUMERATOR(enumerator, name, value, code) enumerator = (value),
  PADLOCK_CUDA_STATUSES(PADLOCK_ENUMERATOR)
#undef PADLOCK_ENUMERATOR
};

/// X(enumerator, the driver's name, value)
#define PADLOCK_CUDA_DEVICE_ATTRIBUTES(X)                                            \
  X(max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)             \
  X(max_grid_dim_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                           \
  X(max_shared_memory_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8) \
  X(multiprocessor_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)              \
  X(pci_bus_id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                                  \
  X(pci_device_id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34)                            \
  X(memory_clock_rate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                    \
  X(global_memory_bus_width, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)        \
  X(l2_cache_size, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                            \
  X(pci_domain_id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50)                            \
  X(compute_capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)      \
  X(compute_capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)

#define PADLOCK_CUDA_FUNCTION_ATTRIBUTES(X)                            \
  X(max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) \
  X(shared_size_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)         \
  X(local_size_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)           \
  X(num_regs, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)

#define PADLOCK_CUDA_JIT_OPTIONS(X)                                   \
  X(info_log_buffer, CU_JIT_INFO_LOG_BUFFER, 3)                       \
  X(info_log_buffer_size_bytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4) \
  X(error_log_buffer, CU_JIT_ERROR_LOG_BUFFER, 5)                     \
  X(error_log_buffer_size_bytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)

#define PADLOCK_CUDA_JIT_INPUT_TYPES(X) X(ptx, CU_JIT_INPUT_PTX, 1)

#define PADLOCK_CUDA_CAPTURE_STATUSES(X)        \
  X(none, CU_STREAM_CAPTURE_STATUS_NONE, 0)     \
  X(active, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1) \
  X(invalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)

#define PADLOCK_CUDA_CAPTURE_MODES(X)                      \
  X(global, CU_STREAM_CAPTURE_MODE_GLOBAL, 0)              \
  X(thread_local_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1) \
  X(relaxed, CU_STREAM_CAPTURE_MODE_RELAXED, 2)

#define PADLOCK_CUDA_PROC_ADDRESS_RESULTS(X)                   \
  X(success, CU_GET_PROC_ADDRESS_SUCCESS, 0)                   \
  X(symbol_not_found, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1) \
  X(version_not_sufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)

// The driver's own names, not this project's style: a reader sees at a glance whose type it is.
// NOLINTBEGIN(readability-identifier-naming)
#define PADLOCK_ENUMERATOR(enumerator, name, value) enumerator = (value),
enum class CUdevice_attribute : std::uint32_t { PADLOCK_CUDA_DEVICE_ATTRIBUTES(PADLOCK_ENUMERATOR) };
enum class CUfunction_attribute : std::uint32_t { PADLOCK_CUDA_FUNCTION_ATTRIBUTES(PADLOCK_ENUMERATOR) };
enum class CUjit_option : std::uint32_t { PADLOCK_CUDA_JIT_OPTIONS(PADLOCK_ENUMERATOR) };
enum class CUjitInputType : std::uint32_t { PADLOCK_CUDA_JIT_INPUT_TYPES(PADLOCK_ENUMERATOR) };
enum class CUstreamCaptureStatus : std::uint32_t { PADLOCK_CUDA_CAPTURE_STATUSES(PADLOCK_ENUMERATOR) };
enum class CUstreamCaptureMode : std::uint32_t { PADLOCK_CUDA_CAPTURE_MODES(PADLOCK_ENUMERATOR) };
enum class CUdriverProcAddressQueryResult : std::uint32_t { PADLOCK_CUDA_PROC_ADDRESS_RESULTS(PADLOCK_ENUMERATOR) };
#undef PADLOCK_ENUMERATOR

using CUdevice = int;
using CUdeviceptr = std::uint64_t;  ///< an address in a device's memory
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUlinkState = struct CUlinkState_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemGenericAllocationHandle = std::uint64_t;

struct CUmemLocation {
  std::uint32_t type = 0;
  int id = 0;
};
/// CUmemAllocationProp describes the memory that cuMemCreate makes. Members without a name here are 0.
struct CUmemAllocationProp {
  std::uint32_t type = 0;
  std::uint32_t handle_types = 0;
  CUmemLocation location = {};
  void* win32_handle_data = nullptr;
  std::uint64_t flags = 0;
};
/// CUlaunchAttribute as the driver takes it: `value` is a union of 64 bytes.
struct CUlaunchAttribute {
  std::uint32_t id = 0;
  alignas(8) std::int32_t value[16] = {};
};
struct CUlaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
struct CUmemAccessDesc {
  CUmemLocation location = {};
  std::uint32_t flags = 0;
};
// NOLINTEND(readability-identifier-naming)

// Constants that cuda.h defines as macros or as enumerators of flag words.
inline constexpr std::uint32_t kMemAllocationPinned = 1;      // CU_MEM_ALLOCATION_TYPE_PINNED
inline constexpr std::uint32_t kMemLocationDevice = 1;        // CU_MEM_LOCATION_TYPE_DEVICE
inline constexpr unsigned kMemGranularityMinimum = 0;         // CU_MEM_ALLOC_GRANULARITY_MINIMUM
inline constexpr std::uint32_t kMemAccessReadWrite = 3;       // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
inline constexpr unsigned kStreamNonBlocking = 1;             // CU_STREAM_NON_BLOCKING
inline constexpr unsigned kEventDefault = 0;                  // CU_EVENT_DEFAULT
inline constexpr std::uint64_t kProcAddressLegacyStream = 1;  // CU_GET_PROC_ADDRESS_LEGACY_STREAM
// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
inline constexpr std::uint32_t kLaunchProgrammaticStreamSerialization = 6;
inline constexpr std::uintptr_t kLaunchParamEnd = 0;            // CU_LAUNCH_PARAM_END
inline constexpr std::uintptr_t kLaunchParamBufferPointer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER
inline constexpr std::uintptr_t kLaunchParamBufferSize = 2;     // CU_LAUNCH_PARAM_BUFFER_SIZE

}  // namespace padlock::runtime::cuda
