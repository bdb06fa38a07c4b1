#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/driver/driver_types.h"

namespace padlock::runtime::cuda {

/// Stands for a kernel. It receives `count` parameters of 64 bits as the launch packed them, and does the whole grid's
/// work.
using Twin = void (*)(void* user, const std::uint64_t* parameters, std::size_t count, unsigned grid_x,
                      unsigned block_x);

/// The properties of the machine. Set before the calls that read them.
struct FakeSettings {
  std::string name = "Fake GPU";
  int driver_version = 13000;
  int devices = 1;
  int compute_major = 9;
  int compute_minor = 0;
  int multiprocessors = 132;
  int max_grid_x = 2147483647;                        ///< blocks per launch
  int function_threads = 1024;                        ///< threads per block that a function's registers allow
  std::int64_t memory_bytes = std::int64_t{1} << 30;  ///< of each device
  CUresult cubin_status = CUresult::success;          ///< returned for loading an assembler's output
  /// Exported names that cuGetProcAddress does not find.
  std::vector<std::string> hidden_symbols = {};
  /// Device memory lies between inaccessible pages and ends flush with one, as far as `alignment` allows. Otherwise it
  /// begins at a page. Fresh memory is filled with 0xA5.
  bool flush_end = true;
  std::size_t alignment = 256;
  std::size_t granularity = std::size_t{2} << 20;  ///< of memory mapped at reserved addresses
  /// Puts inaccessible pages around device memory, and refuses copies that leave an allocation.
  bool bounds_checks = true;
  /// If a twin touches an inaccessible page, it ends and its context is lost (illegal address). Costs two system calls
  /// per launch. If off, the process dies.
  bool trap_faults = true;
  double launch_milliseconds = 0.25;  ///< device time of each launch, by the clock of events
  double queueing_milliseconds = 0;   ///< the caller's time for a launch
  double fill_milliseconds = 0;       ///< device time for filling a MiB
};

/// A call that fails. Calls that give something back (free, destroy, unload, release, pop) still do so, like the
/// driver's, and return the status; others do nothing.
struct FakeFailure {
  std::string function = {};  ///< as exported; empty for any but cuGetProcAddress and those that give an error's text
  int nth = 1;                ///< counted from 1, from when the failure is set
  CUresult status = CUresult::unknown;
  bool sticky = false;  ///< the current context is lost with that status
};

struct FakeCounts {
  int contexts = 0;     ///< retained primary contexts, counted once per retain
  int allocations = 0;  // with ranges of reserved addresses and the memory mapped there
  int modules = 0;
  int streams = 0;
  int events = 0;
  int links = 0;
  friend bool operator==(const FakeCounts&, const FakeCounts&) = default;
};

/// A driver without a GPU, for tests: a shared library with the driver's symbols. Device memory is host memory, and a
/// launch runs the kernel's twin at once, on the calling thread. This class controls it. Thread-safe, except that
/// settings are read without a lock.
class FakeDriver {
 public:
  /// Returns the control of the library `file`, and loads it if necessary. Null if it is not a fake driver.
  static FakeDriver* of(const char* file) {
    // NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint): whoever runs a test may name the library
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto* const get = reinterpret_cast<FakeDriver* (*)()>(::dlsym(library, "padlock_fake_cuda"));
    return get == nullptr ? nullptr : get();
  }

  FakeSettings settings;

  /// Restores the state after loading: no objects, default settings, no twins, failures or calls, an empty context
  /// stack on this thread.
  virtual void reset() = 0;

  virtual void register_twin(const std::string& kernel, Twin twin, void* user) = 0;
  virtual void fail(FakeFailure failure) = 0;
  /// The nth launch from now is accepted, then its context is lost.
  virtual void fault_in_launch(CUresult status, int nth) = 0;
  /// The next modules fail to load, with this log.
  virtual void refuse_modules(CUresult status, std::string log) = 0;

  [[nodiscard]] virtual FakeCounts live() const = 0;
  [[nodiscard]] virtual FakeCounts made() const = 0;
  /// Returns what was alive when its context ended without being lost: leaks that only the context cleaned up.
  [[nodiscard]] virtual FakeCounts orphaned() const = 0;
  /// Returns the uses of invalid handles (freed twice, of another context) since the last call: one line each.
  virtual std::vector<std::string> take_misuses() = 0;
  /// Returns the calls since `forget_calls` or `reset`, by exported name, without those that return an error's text.
  [[nodiscard]] virtual std::vector<std::string> calls() const = 0;
  virtual void forget_calls() = 0;
  /// Returns how many launches ran.
  [[nodiscard]] virtual int launches() const = 0;

  /// Creates a context as a caller's cuCtxCreate does, but not current. Not counted.
  virtual CUcontext create_context(int device) = 0;
  virtual void destroy_context(CUcontext context) = 0;
  /// Returns the calling thread's stack, the current one last. Setting it is not a call of the driver.
  [[nodiscard]] virtual std::vector<CUcontext> context_stack() const = 0;
  virtual void set_context_stack(const std::vector<CUcontext>& contexts) = 0;

  /// Records the stream's work instead of doing it. Calls that are illegal meanwhile (allocate, free, wait, load) fail
  /// and invalidate the capture, and so does the launch of a function that is not loaded yet.
  virtual void begin_capture(CUstream stream) = 0;
  /// Returns the number of recorded operations; -1 if the capture was invalidated.
  virtual int end_capture(CUstream stream) = 0;
  /// Does the work that was last captured from the stream.
  virtual void replay(CUstream stream) = 0;

 protected:
  ~FakeDriver() = default;
};

}  // namespace padlock::runtime::cuda
