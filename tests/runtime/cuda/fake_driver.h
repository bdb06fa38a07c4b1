#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/driver/driver_types.h"

namespace padlock::runtime::cuda {

/// What stands for a kernel: `count` parameters of 64 bits, as the launch packed them; it does the whole grid's work.
using Twin = void (*)(void* user, const std::uint64_t* parameters, std::size_t count, unsigned grid_x,
                      unsigned block_x);

/// What the machine is like. Set before what reads it is called.
struct FakeSettings {
  std::string name = "Fake GPU";
  int driver_version = 13000;
  int devices = 1;
  int compute_major = 9;
  int compute_minor = 0;
  int multiprocessors = 132;
  int max_grid_x = 2147483647;                        ///< blocks of a launch
  int function_threads = 1024;                        ///< of a block that a function's registers allow
  std::int64_t memory_bytes = std::int64_t{1} << 30;  ///< of each device
  CUresult cubin_status = CUresult::success;          ///< of loading what an assembler made
  /// Names (as exported) that cuGetProcAddress does not find.
  std::vector<std::string> hidden_symbols = {};
  /// Device memory lies between inaccessible pages and ends flush with one, as far as `alignment` allows; else it
  /// begins at a page. Fresh memory is filled with 0xA5.
  bool flush_end = true;
  std::size_t alignment = 256;
  std::size_t granularity = std::size_t{2} << 20;  ///< of memory that is mapped at reserved addresses
  /// Inaccessible pages around device memory, and copies refused that leave an allocation.
  bool bounds_checks = true;
  /// A twin that runs into an inaccessible page ends, and its context is lost (illegal address). Costs two system
  /// calls a launch; off, the process dies.
  bool trap_faults = true;
  double launch_milliseconds = 0.25;  ///< that the device takes for each launch, by the clock of events
  double queueing_milliseconds = 0;   ///< that the caller takes for it
  double fill_milliseconds = 0;       ///< that the device takes to fill a MiB
};

/// A call that does not do as it should. Calls that give something back (free, destroy, unload, release, pop) do it
/// all the same, as the driver's do, and return the status; others do nothing.
struct FakeFailure {
  std::string function = {};  ///< as exported; empty for any but cuGetProcAddress and those that give an error's text
  int nth = 1;                ///< from 1, counted from when the failure is set
  CUresult status = CUresult::unknown;
  bool sticky = false;  ///< the current context is lost with that status
};

struct FakeCounts {
  int contexts = 0;     ///< retained primary contexts, each as often as it is retained
  int allocations = 0;  // ranges of reserved addresses and the memory that is mapped there count, too
  int modules = 0;
  int streams = 0;
  int events = 0;
  int links = 0;
  friend bool operator==(const FakeCounts&, const FakeCounts&) = default;
};

/// A driver without a GPU, for tests: a shared library with the driver's symbols. Device memory is the host's, a
/// launch runs the kernel's twin at once, on the calling thread. This is its control; thread-safe, except that
/// settings are only read.
class FakeDriver {
 public:
  /// The control of the library `file`, loaded if it is not. Null, if it is no fake driver.
  static FakeDriver* of(const char* file) {
    // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): whoever runs a test may name the library
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto* const get = reinterpret_cast<FakeDriver* (*)()>(::dlsym(library, "padlock_fake_cuda"));
    return get == nullptr ? nullptr : get();
  }

  FakeSettings settings;

  /// Everything as when it was loaded: nothing made, default settings, no twins, no failures, no calls, an empty
  /// context stack on this thread.
  virtual void reset() = 0;

  virtual void register_twin(const std::string& kernel, Twin twin, void* user) = 0;
  virtual void fail(FakeFailure failure) = 0;
  /// The nth launch from now is accepted; then its context is lost.
  virtual void fault_in_launch(CUresult status, int nth) = 0;
  /// The next modules do not load, with this in the log.
  virtual void refuse_modules(CUresult status, std::string log) = 0;

  [[nodiscard]] virtual FakeCounts live() const = 0;
  [[nodiscard]] virtual FakeCounts made() const = 0;
  /// Things that were alive when their context, which was not lost, went: leaks that only the context cleaned up.
  [[nodiscard]] virtual FakeCounts orphaned() const = 0;
  /// Uses of what is no handle (freed twice, of another context) since this was asked last: one line each.
  virtual std::vector<std::string> take_misuses() = 0;
  /// Calls since `forget_calls` or `reset`, by exported name, without those that give an error's text.
  [[nodiscard]] virtual std::vector<std::string> calls() const = 0;
  virtual void forget_calls() = 0;
  /// Launches that ran.
  [[nodiscard]] virtual int launches() const = 0;

  /// A context as a caller's cuCtxCreate makes it, but not current. Not counted.
  virtual CUcontext create_context(int device) = 0;
  virtual void destroy_context(CUcontext context) = 0;
  /// Of the calling thread, the current one last. Setting it is no call of the driver.
  [[nodiscard]] virtual std::vector<CUcontext> context_stack() const = 0;
  virtual void set_context_stack(const std::vector<CUcontext>& contexts) = 0;

  /// Work of the stream is recorded instead of done; calls that are illegal meanwhile (allocate, free, wait, load)
  /// fail and invalidate the capture, as does the launch of a function that is not loaded yet.
  virtual void begin_capture(CUstream stream) = 0;
  /// The recorded operations, or -1 where the capture was invalidated.
  virtual int end_capture(CUstream stream) = 0;
  /// Does what was captured last from the stream.
  virtual void replay(CUstream stream) = 0;

 protected:
  ~FakeDriver() = default;
};

}  // namespace padlock::runtime::cuda
