// Our declarations of the driver's types and functions against the cuda.h of a toolkit.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/cuda/driver/driver_symbols.h"
#include "runtime/cuda/driver/driver_types.h"

namespace padlock::runtime::cuda::ours {
// Before cuda.h, which redefines some names as macros for others.
#define PADLOCK_DECLARE(symbol, version, parameters) \
  using Type_##symbol = CUresult parameters;         \
  [[maybe_unused]] constexpr const char* k_##symbol = #symbol;
PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_DECLARE)
PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_DECLARE)
PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_DECLARE)
#undef PADLOCK_DECLARE
}  // namespace padlock::runtime::cuda::ours

#include <cuda.h>

namespace padlock::runtime::cuda {
namespace {

/// Are passed the same way: pointers to types of one layout, or integers and enumerations of one size.
template <class Ours, class Theirs>
constexpr bool same_representation() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using OurTarget = std::remove_pointer_t<Ours>;
    using TheirTarget = std::remove_pointer_t<Theirs>;
    if (std::is_const_v<OurTarget> != std::is_const_v<TheirTarget>) return false;
    if constexpr (std::is_scalar_v<OurTarget> && std::is_scalar_v<TheirTarget>) {
      return same_representation<std::remove_const_t<OurTarget>, std::remove_const_t<TheirTarget>>();
    } else {  // void and incomplete structures: handles
      return std::is_void_v<OurTarget> == std::is_void_v<TheirTarget> &&
             std::is_class_v<OurTarget> == std::is_class_v<TheirTarget>;
    }
  } else {
    return std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
  }
}

template <class Ours, class Theirs>
struct SameFunction : std::false_type {};
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameFunction<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<same_representation<OurResult, TheirResult>() &&
                         (same_representation<Ours, Theirs>() && ...)> {};

// That the comparison can fail.
static_assert(!SameFunction<int(int), int(int, int)>::value);
static_assert(!SameFunction<int(int*), int(int)>::value);
static_assert(!SameFunction<int(int*), int(const int*)>::value);
static_assert(!SameFunction<int(unsigned), int(std::size_t)>::value);
static_assert(!SameFunction<int(float), int(int)>::value);
static_assert(!SameFunction<int(unsigned*), int(std::size_t*)>::value);

#define PADLOCK_SAME(symbol, version, parameters)                                       \
  static_assert(SameFunction<ours::Type_##symbol, decltype(::symbol)>::value, #symbol); \
  static_assert((version) <= CUDA_VERSION);
PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_SAME)
PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_SAME)
PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_SAME)
#undef PADLOCK_SAME

#define PADLOCK_SAME(enumerator, name, value, ...) static_assert(static_cast<std::uint32_t>(::name) == (value), #name);
PADLOCK_CUDA_STATUSES(PADLOCK_SAME)
PADLOCK_CUDA_DEVICE_ATTRIBUTES(PADLOCK_SAME)
PADLOCK_CUDA_FUNCTION_ATTRIBUTES(PADLOCK_SAME)
PADLOCK_CUDA_JIT_OPTIONS(PADLOCK_SAME)
PADLOCK_CUDA_JIT_INPUT_TYPES(PADLOCK_SAME)
PADLOCK_CUDA_CAPTURE_STATUSES(PADLOCK_SAME)
PADLOCK_CUDA_CAPTURE_MODES(PADLOCK_SAME)
PADLOCK_CUDA_PROC_ADDRESS_RESULTS(PADLOCK_SAME)
#undef PADLOCK_SAME

#define PADLOCK_SAME(type) static_assert(same_representation<type, ::type>(), #type)
PADLOCK_SAME(CUresult);
PADLOCK_SAME(CUdevice_attribute);
PADLOCK_SAME(CUfunction_attribute);
PADLOCK_SAME(CUjit_option);
PADLOCK_SAME(CUjitInputType);
PADLOCK_SAME(CUstreamCaptureStatus);
PADLOCK_SAME(CUstreamCaptureMode);
PADLOCK_SAME(CUdriverProcAddressQueryResult);
PADLOCK_SAME(CUdevice);
PADLOCK_SAME(CUdeviceptr);
PADLOCK_SAME(CUcontext);
PADLOCK_SAME(CUmodule);
PADLOCK_SAME(CUlinkState);
PADLOCK_SAME(CUfunction);
PADLOCK_SAME(CUstream);
PADLOCK_SAME(CUevent);
PADLOCK_SAME(CUmemGenericAllocationHandle);
#undef PADLOCK_SAME

template <class Ours, class Theirs>
constexpr bool kSameSize = sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs);
static_assert(kSameSize<CUmemLocation, ::CUmemLocation>);
static_assert(offsetof(CUmemLocation, type) == offsetof(::CUmemLocation, type));
static_assert(offsetof(CUmemLocation, id) == offsetof(::CUmemLocation, id));
static_assert(kSameSize<CUmemAllocationProp, ::CUmemAllocationProp>);
static_assert(offsetof(CUmemAllocationProp, type) == offsetof(::CUmemAllocationProp, type));
static_assert(offsetof(CUmemAllocationProp, handle_types) == offsetof(::CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(CUmemAllocationProp, location) == offsetof(::CUmemAllocationProp, location));
static_assert(offsetof(CUmemAllocationProp, flags) == offsetof(::CUmemAllocationProp, allocFlags));
static_assert(kSameSize<CUmemAccessDesc, ::CUmemAccessDesc>);
static_assert(offsetof(CUmemAccessDesc, location) == offsetof(::CUmemAccessDesc, location));
static_assert(offsetof(CUmemAccessDesc, flags) == offsetof(::CUmemAccessDesc, flags));
static_assert(kSameSize<CUlaunchAttribute, ::CUlaunchAttribute>);
static_assert(offsetof(CUlaunchAttribute, id) == offsetof(::CUlaunchAttribute, id));
static_assert(offsetof(CUlaunchAttribute, value) == offsetof(::CUlaunchAttribute, value));
static_assert(offsetof(CUlaunchAttributeValue, programmaticStreamSerializationAllowed) == 0);
static_assert(kSameSize<CUlaunchConfig, ::CUlaunchConfig>);
static_assert(offsetof(CUlaunchConfig, grid_x) == offsetof(::CUlaunchConfig, gridDimX));
static_assert(offsetof(CUlaunchConfig, block_x) == offsetof(::CUlaunchConfig, blockDimX));
static_assert(offsetof(CUlaunchConfig, shared_bytes) == offsetof(::CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(CUlaunchConfig, stream) == offsetof(::CUlaunchConfig, hStream));
static_assert(offsetof(CUlaunchConfig, attributes) == offsetof(::CUlaunchConfig, attrs));
static_assert(offsetof(CUlaunchConfig, attribute_count) == offsetof(::CUlaunchConfig, numAttrs));
static_assert(kLaunchProgrammaticStreamSerialization == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(kMemAllocationPinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(kMemLocationDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(kMemGranularityMinimum == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(kMemAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

static_assert(CUresult::success == static_cast<CUresult>(CUDA_SUCCESS));
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventDefault == CU_EVENT_DEFAULT);
static_assert(kProcAddressLegacyStream == CU_GET_PROC_ADDRESS_LEGACY_STREAM);

TEST_CASE("the launch's tags are the toolkit's") {  // pointers in cuda.h, so no constant expressions
  CHECK(kLaunchParamEnd == reinterpret_cast<std::uintptr_t>(CU_LAUNCH_PARAM_END));
  CHECK(kLaunchParamBufferPointer == reinterpret_cast<std::uintptr_t>(CU_LAUNCH_PARAM_BUFFER_POINTER));
  CHECK(kLaunchParamBufferSize == reinterpret_cast<std::uintptr_t>(CU_LAUNCH_PARAM_BUFFER_SIZE));
}

TEST_CASE("each function has the version that the toolkit's typedefs name") {
  std::ifstream file(PADLOCK_CUDA_TYPEDEFS);
  REQUIRE(file.good());
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto is_named = [&](std::string_view symbol, int version) {
    const std::string base(symbol.substr(0, symbol.rfind("_v")));
    return text.find("*PFN_" + base + "_v" + std::to_string(version) + ")(") != std::string::npos;
  };
  CHECK_FALSE(is_named("cuMemAlloc_v2", 3010));
#define PADLOCK_IS_NAMED(symbol, version, parameters) \
  CHECK_MESSAGE(is_named(ours::k_##symbol, version), ours::k_##symbol);
  PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_IS_NAMED)
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_IS_NAMED)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_IS_NAMED)
#undef PADLOCK_IS_NAMED
}

/// Returns whether cuda.h says of a status that all later calls fail.
bool is_sticky(CUresult status) {
  switch (status) {
#define PADLOCK_CASE(enumerator, name, value, code) \
  case CUresult::enumerator:                        \
    return std::string_view(#code) == "aborted";
    PADLOCK_CUDA_STATUSES(PADLOCK_CASE)
#undef PADLOCK_CASE
    case CUresult::success:
      break;
  }
  return false;
}

TEST_CASE("the statuses of a kernel's faults are sticky, those of a refused call are not") {
  for (int value = 714; value <= 719; ++value) CHECK(is_sticky(static_cast<CUresult>(value)));
  for (const auto status :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT, CUDA_ERROR_ECC_UNCORRECTABLE,
        CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_MPS_CLIENT_TERMINATED, CUDA_ERROR_EXTERNAL_DEVICE})
    CHECK(is_sticky(static_cast<CUresult>(status)));
  for (const auto status : {CUDA_SUCCESS, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_PTX,
                            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED})
    CHECK_FALSE(is_sticky(static_cast<CUresult>(status)));
}

}  // namespace
}  // namespace padlock::runtime::cuda
