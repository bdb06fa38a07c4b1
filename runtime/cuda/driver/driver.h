#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/cuda/driver/driver_symbols.h"
#include "runtime/cuda/driver/driver_types.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// One function of the driver. Null if it is optional and the driver lacks it.
template <class Signature>
struct DriverFunction {
  const char* name = nullptr;    // static
  Signature* address = nullptr;  // in the driver's library, which is never unloaded

  [[nodiscard]] explicit operator bool() const { return address != nullptr; }
};

/// CallSite describes a driver call for its error message.
struct CallSite {
  int device = -1;               ///< ordinal; -1: no device is involved
  std::string_view kernel = {};  ///< empty: no kernel is involved
};

/// The driver: its file, version and functions. Immutable, thread-safe; shared, since contexts may outlive whoever
/// looked for the driver. The library stays loaded until the process ends.
struct Driver {
  /// Drivers of CUDA 12.0 and later: the first with a cuGetProcAddress that says whether a symbol is unknown or too new
  /// (cuGetProcAddress_v2), and with PTX 8.0. All required functions are of 11.0 or older.
  static constexpr int kMinimumVersion = 12000;
  static constexpr const char* kDefaultFile = "libcuda.so.1";
  /// Names the file to load instead of the default one (a path or a name for the dynamic linker).
  static constexpr const char* kFileVariable = "PADLOCK_CUDA_DRIVER";

  /// Loads and initializes the driver: the file that PADLOCK_CUDA_DRIVER names, else libcuda.so.1.
  /// Errors: as for `load`.
  [[nodiscard]] static Result<std::shared_ptr<const Driver>> find();
  /// The same for a given file. Uses a library that the process has loaded already. Errors: unavailable for a missing
  /// library (with the names tried), a missing required symbol (naming it and the file), a driver that is too old
  /// (naming both versions), or no device; else as cuInit says.
  [[nodiscard]] static Result<std::shared_ptr<const Driver>> load(const std::string& file);

  std::string file;  ///< the file as it was requested
  int version = 0;   ///< the CUDA version that it supports, 1000 * major + 10 * minor

#define PADLOCK_DECLARE(symbol, cuda_version, parameters) DriverFunction<CUresult parameters> symbol{#symbol};
  PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_DECLARE)
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_DECLARE)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_DECLARE)
#undef PADLOCK_DECLARE

  /// Calls a function, which must not be null. Turns a status other than success into the Error that `error_of` makes.
  /// Allocates nothing on success.
  template <class... Parameters, class... Arguments>
  [[nodiscard]] Status call(const DriverFunction<CUresult(Parameters...)>& function, const CallSite& site,
                            Arguments... arguments) const {
    const CUresult status = function.address(arguments...);
    if (status == CUresult::success) [[likely]]
      return {};
    return std::unexpected(error_of(status, function.name, site));
  }

  /// Makes "cuLaunchKernel of pad_relu on cuda:0 failed: CUDA_ERROR_...: what the driver says of it". The code comes
  /// from the table of statuses: a sticky status is a lost device (is_device_lost), an unlisted one `unknown`.
  [[nodiscard]] Error error_of(CUresult status, std::string_view function, const CallSite& site) const;
};

}  // namespace padlock::runtime::cuda
