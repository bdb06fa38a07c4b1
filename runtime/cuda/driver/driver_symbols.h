#pragma once

#include "runtime/cuda/driver/driver_types.h"

/// The driver's functions that Padlock calls: X(exported name, CUDA version of its ABI, parameters). All return
/// CUresult. cuGetProcAddress gets the name without its suffix, and the version; together they name the same function:
/// cuMemAlloc of 3020 is cuMemAlloc_v2.

/// Required: without these there is no CUDA device.
#define PADLOCK_CUDA_REQUIRED_SYMBOLS(X)                                                                         \
  X(cuGetErrorName, 6000, (CUresult status, const char** text))                                                  \
  X(cuGetErrorString, 6000, (CUresult status, const char** text))                                                \
  X(cuInit, 2000, (unsigned flags))                                                                              \
  X(cuDeviceGet, 2000, (CUdevice * device, int ordinal))                                                         \
  X(cuDeviceGetCount, 2000, (int* count))                                                                        \
  X(cuDeviceGetName, 2000, (char* name, int bytes, CUdevice device))                                             \
  X(cuDeviceGetAttribute, 2000, (int* value, CUdevice_attribute attribute, CUdevice device))                     \
  X(cuDeviceTotalMem_v2, 3020, (std::size_t* bytes, CUdevice device))                                            \
  X(cuDevicePrimaryCtxRetain, 7000, (CUcontext * context, CUdevice device))                                      \
  X(cuDevicePrimaryCtxRelease_v2, 11000, (CUdevice device))                                                      \
  X(cuCtxGetCurrent, 4000, (CUcontext * context))                                                                \
  X(cuCtxGetDevice, 2000, (CUdevice * device))                                                                   \
  X(cuCtxPushCurrent_v2, 4000, (CUcontext context))                                                              \
  X(cuCtxPopCurrent_v2, 4000, (CUcontext * context))                                                             \
  X(cuStreamCreate, 2000, (CUstream * stream, unsigned flags))                                                   \
  X(cuStreamDestroy_v2, 4000, (CUstream stream))                                                                 \
  X(cuStreamSynchronize, 2000, (CUstream stream))                                                                \
  X(cuEventCreate, 2000, (CUevent * event, unsigned flags))                                                      \
  X(cuEventDestroy_v2, 4000, (CUevent event))                                                                    \
  X(cuEventRecord, 2000, (CUevent event, CUstream stream))                                                       \
  X(cuEventSynchronize, 2000, (CUevent event))                                                                   \
  X(cuEventQuery, 2000, (CUevent event))                                                                         \
  X(cuEventElapsedTime, 2000, (float* milliseconds, CUevent start, CUevent end))                                 \
  X(cuMemAlloc_v2, 3020, (CUdeviceptr * address, std::size_t bytes))                                             \
  X(cuMemFree_v2, 3020, (CUdeviceptr address))                                                                   \
  X(cuMemcpyHtoDAsync_v2, 3020, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream))          \
  X(cuMemcpyDtoHAsync_v2, 3020, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream))                \
  X(cuMemcpyDtoDAsync_v2, 3020, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream))          \
  X(cuMemsetD8Async, 3020, (CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream))            \
  X(cuModuleLoadDataEx, 2010,                                                                                    \
    (CUmodule * module, const void* image, unsigned options, CUjit_option* names, void** values))                \
  X(cuModuleUnload, 2000, (CUmodule module))                                                                     \
  X(cuModuleGetFunction, 2000, (CUfunction * function, CUmodule module, const char* name))                       \
  X(cuLaunchKernel, 4000,                                                                                        \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters, void** extra))

/// Optional: null if the driver lacks them; their facts are then unknown, and their work is not done.
#define PADLOCK_CUDA_OPTIONAL_SYMBOLS(X)                                                                               \
  X(cuLaunchKernelEx, 11060, (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra))     \
  X(cuMemGetInfo_v2, 3020, (std::size_t* free_bytes, std::size_t* total_bytes))                                        \
  X(cuFuncGetAttribute, 2020, (int* value, CUfunction_attribute attribute, CUfunction function))                       \
  X(cuMemAddressReserve, 10020,                                                                                        \
    (CUdeviceptr * address, std::size_t bytes, std::size_t alignment, CUdeviceptr at, std::uint64_t flags))            \
  X(cuMemAddressFree, 10020, (CUdeviceptr address, std::size_t bytes))                                                 \
  X(cuMemGetAllocationGranularity, 10020, (std::size_t* bytes, const CUmemAllocationProp* kind, unsigned option))      \
  X(cuMemCreate, 10020,                                                                                                \
    (CUmemGenericAllocationHandle * handle, std::size_t bytes, const CUmemAllocationProp* kind, std::uint64_t flags))  \
  X(cuMemRelease, 10020, (CUmemGenericAllocationHandle handle))                                                        \
  X(cuMemMap, 10020,                                                                                                   \
    (CUdeviceptr address, std::size_t bytes, std::size_t offset, CUmemGenericAllocationHandle handle,                  \
     std::uint64_t flags))                                                                                             \
  X(cuMemUnmap, 10020, (CUdeviceptr address, std::size_t bytes))                                                       \
  X(cuMemSetAccess, 10020, (CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count)) \
  X(cuLinkCreate_v2, 6050, (unsigned options, CUjit_option* names, void** values, CUlinkState* state))                 \
  X(cuLinkAddData_v2, 6050,                                                                                            \
    (CUlinkState state, CUjitInputType type, void* data, std::size_t bytes, const char* name, unsigned options,        \
     CUjit_option* names, void** values))                                                                              \
  X(cuLinkComplete, 5050, (CUlinkState state, void** cubin, std::size_t* bytes))                                       \
  X(cuLinkDestroy, 5050, (CUlinkState state))                                                                          \
  X(cuFuncLoad, 12040, (CUfunction function))                                                                          \
  X(cuStreamIsCapturing, 10000, (CUstream stream, CUstreamCaptureStatus * status))                                     \
  X(cuThreadExchangeStreamCaptureMode, 10010, (CUstreamCaptureMode * mode))

/// Functions that find those in the two tables above; read from the library itself, first.
#define PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(X)     \
  X(cuDriverGetVersion, 2020, (int* version)) \
  X(cuGetProcAddress_v2, 12000,               \
    (const char* symbol, void** function, int version, std::uint64_t flags, CUdriverProcAddressQueryResult* found))
