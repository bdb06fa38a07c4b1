#include "runtime/cuda/driver/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace padlock::runtime::cuda {
namespace {

/// Returns "cuMemAlloc" for "cuMemAlloc_v2": the name in cuGetProcAddress and in the documentation.
std::string_view base_name(std::string_view symbol) { return symbol.substr(0, symbol.rfind("_v")); }

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// Finds symbols of one loaded library.
class SymbolFinder {
 public:
  SymbolFinder(void* library, const Driver& driver) : library_(library), driver_(driver) {}

  /// If the driver has cuGetProcAddress, asks nothing else: it knows which ABI a name stands for, and a function that
  /// it does not return must not be called.
  template <class Signature>
  void find(DriverFunction<Signature>& function, int cuda_version) const {
    function.address = reinterpret_cast<Signature*>(
        driver_.cuGetProcAddress_v2 ? ask_driver(function.name, cuda_version) : ::dlsym(library_, function.name));
  }

 private:
  [[nodiscard]] void* ask_driver(const char* symbol, int cuda_version) const {
    void* address = nullptr;
    auto found = CUdriverProcAddressQueryResult::symbol_not_found;
    // Asks for the legacy default stream, like the plain exported names: a null stream is the caller's null stream.
    const CUresult status = driver_.cuGetProcAddress_v2.address(std::string(base_name(symbol)).c_str(), &address,
                                                                cuda_version, kProcAddressLegacyStream, &found);
    const bool is_there = status == CUresult::success && found == CUdriverProcAddressQueryResult::success;
    return is_there ? address : nullptr;
  }

  void* library_;         // borrowed (outlives this)
  const Driver& driver_;  // borrowed (outlives this)
};

std::unexpected<Error> missing_symbol(const Driver& driver, const char* symbol) {
  return unavailable(fmt::format("the CUDA driver {}{} has no function {}", driver.file,
                                 driver.version == 0 ? "" : fmt::format(" (CUDA {})", version_text(driver.version)),
                                 symbol));
}

/// The version is checked before the table, so that an old driver is reported as old, not as lacking a symbol.
Status check_version(void* library, Driver& driver) {
  driver.cuDriverGetVersion.address =
      reinterpret_cast<decltype(driver.cuDriverGetVersion.address)>(::dlsym(library, driver.cuDriverGetVersion.name));
  if (!driver.cuDriverGetVersion) return missing_symbol(driver, driver.cuDriverGetVersion.name);
  PADLOCK_CHECK(driver.call(driver.cuDriverGetVersion, {}, &driver.version));
  if (driver.version < Driver::kMinimumVersion)
    return unavailable(fmt::format("the CUDA driver {} supports CUDA {}, {} or later is needed", driver.file,
                                   version_text(driver.version), version_text(Driver::kMinimumVersion)));
  return {};
}

Status fill_table(void* library, Driver& driver) {
  driver.cuGetProcAddress_v2.address =
      reinterpret_cast<decltype(driver.cuGetProcAddress_v2.address)>(::dlsym(library, driver.cuGetProcAddress_v2.name));
  const SymbolFinder finder(library, driver);
#define PADLOCK_FIND_REQUIRED(symbol, cuda_version, parameters) \
  finder.find(driver.symbol, cuda_version);                     \
  if (!driver.symbol) return missing_symbol(driver, driver.symbol.name);
#define PADLOCK_FIND_OPTIONAL(symbol, cuda_version, parameters) finder.find(driver.symbol, cuda_version);
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_FIND_REQUIRED)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_FIND_OPTIONAL)
#undef PADLOCK_FIND_REQUIRED
#undef PADLOCK_FIND_OPTIONAL
  return {};
}

/// Prefers the library that the process has already loaded, which may be another file of that name (a compatibility
/// package that the caller loaded by its path). Two drivers in one process do not share contexts.
Result<void*> open_library(const std::string& file) {
  for (const int already : {RTLD_NOLOAD, 0})
    if (void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | already)) return library;
  const char* const reason = ::dlerror();
  return unavailable(
      fmt::format("no CUDA driver: looked for {} among the loaded libraries and with the dynamic linker "
                  "({}); it comes with NVIDIA's driver, and {} may name another file. Without a GPU take host or simt",
                  file, reason == nullptr ? "no reason given" : reason, Driver::kFileVariable));
}

}  // namespace

Result<std::shared_ptr<const Driver>> Driver::find() {
  const char* const file = std::getenv(kFileVariable);
  return load(file != nullptr && *file != '\0' ? file : kDefaultFile);
}

Result<std::shared_ptr<const Driver>> Driver::load(const std::string& file) {
  PADLOCK_TRY(void* const library, open_library(file));
  auto driver = std::make_shared<Driver>();
  driver->file = file;
  PADLOCK_CHECK(check_version(library, *driver));
  PADLOCK_CHECK(fill_table(library, *driver));
  PADLOCK_CHECK(driver->call(driver->cuInit, {}, 0U));
  return driver;
}

}  // namespace padlock::runtime::cuda
