#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda/driver/driver_symbols.h"
#include "tests/runtime/cuda/fake_driver.h"
#include "tests/runtime/cuda/fake_memory.h"
#include "tests/runtime/cuda/fake_ptx.h"

namespace padlock::runtime::cuda {

/// The driver's functions, numbered.
enum class EntryPoint : int {
#define PADLOCK_ENUMERATOR(symbol, version, parameters) symbol,
  PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_ENUMERATOR) PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_ENUMERATOR)
      PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_ENUMERATOR)
#undef PADLOCK_ENUMERATOR
};
const char* name_of(EntryPoint point);

struct FakeContext {
  int device = 0;
  bool primary = false;
  int retained = 0;                   // for a primary context
  bool destroyed = false;             // kept so that its handle stays known
  CUresult lost = CUresult::success;  // the sticky status
};

struct FakeFunction {
  FakeContext* context = nullptr;
  FakeEntry entry;
  bool loaded = false;
};

struct FakeModule {
  FakeContext* context = nullptr;
  std::vector<std::unique_ptr<FakeFunction>> functions = {};
};

/// The state that cuLinkCreate began, with its options. The driver writes to them as long as it lives.
struct FakeLink {
  FakeContext* context = nullptr;
  std::vector<CUjit_option> names = {};
  std::vector<void*> values = {};
  std::string text = {};
  std::string image = {};  // the result of cuLinkComplete
};

/// The first byte of an image from cuLinkComplete; the PTX follows.
inline constexpr char kFakeCubin = '\x7f';

struct FakeStream {
  FakeContext* context = nullptr;
  bool is_null_stream = false;
  CUstreamCaptureStatus capture = CUstreamCaptureStatus::none;
  std::vector<std::function<void()>> recorded = {};
};

struct FakeEvent {
  FakeContext* context = nullptr;
  bool recorded = false;
  double milliseconds = 0;
};

struct FakeAllocation {
  FakeContext* context = nullptr;
  FakeMemory memory;
};

/// Memory from cuMemCreate.
struct FakePhysical {
  std::size_t bytes = 0;
};

/// The fake driver. Entry points lock `mutex`, then call the functions below, whose precondition is that lock.
class FakeState final : public FakeDriver {
 public:
  static FakeState& get();
  FakeState() { reset(); }

  void reset() override;
  void register_twin(const std::string& kernel, Twin twin, void* user) override;
  void fail(FakeFailure failure) override;
  void fault_in_launch(CUresult status, int nth) override;
  void refuse_modules(CUresult status, std::string log) override;
  FakeCounts live() const override;
  FakeCounts made() const override;
  FakeCounts orphaned() const override;
  std::vector<std::string> take_misuses() override;
  std::vector<std::string> calls() const override;
  void forget_calls() override;
  int launches() const override;
  CUcontext create_context(int device) override;
  void destroy_context(CUcontext context) override;
  std::vector<CUcontext> context_stack() const override;
  void set_context_stack(const std::vector<CUcontext>& contexts) override;
  void begin_capture(CUstream stream) override;
  int end_capture(CUstream stream) override;
  void replay(CUstream stream) override;

  /// Begins each call: records it, and returns the status with which it is to fail.
  CUresult enter(EntryPoint point);
  /// As above, for a call that needs a current context that is not lost.
  CUresult enter_context(EntryPoint point);
  /// As above, for a call that is illegal while a stream of the context is captured, unless the thread has declared
  /// that it is not the stream's work.
  CUresult enter_unsafe(EntryPoint point);
  /// Records the use of an invalid handle.
  CUresult misuse(const std::string& what, CUresult status = CUresult::invalid_handle);
  [[nodiscard]] bool hides(std::string_view symbol) const;

  /// Returns the calling thread's current context; null if there is none.
  [[nodiscard]] static FakeContext* current();
  static std::vector<FakeContext*>& stack();
  /// Returns the calling thread's mode.
  static CUstreamCaptureMode& capture_mode();
  FakeContext* find_context(CUcontext handle);
  FakeContext* primary_context(int device);
  /// Destroys a context and its contents.
  void destroy(FakeContext& context);

  /// Returns the stream of a handle in the current context, the null stream included; null for an invalid handle.
  FakeStream* find_stream(CUstream handle);
  /// Returns the used bytes of the devices' memory.
  [[nodiscard]] std::size_t used_bytes() const;
  FakeAllocation* allocation_of(std::uint64_t address, std::uint64_t bytes);
  /// Does a stream's work, or records it.
  template <class Work>
  CUresult submit(CUstream handle, const Work& work) {
    FakeStream* const stream = find_stream(handle);
    if (stream == nullptr) return misuse("a stream");
    if (stream->capture == CUstreamCaptureStatus::invalidated) return CUresult::stream_capture_invalidated;
    if (stream->is_null_stream && invalidate_captures(stream->context)) return CUresult::stream_capture_implicit;
    if (stream->capture == CUstreamCaptureStatus::active) {
      stream->recorded.emplace_back(work);
    } else {
      work();
    }
    return CUresult::success;
  }
  /// Returns whether there was one.
  bool invalidate_captures(const FakeContext* context);
  void run(FakeFunction* function, const std::uint64_t* parameters, std::size_t count, unsigned grid_x,
           unsigned block_x);

  mutable std::recursive_mutex mutex;  // recursive: a twin may call the control
  bool initialized = false;
  /// Adds work to the device. It begins once it is queued and all earlier work is done.
  void take_time(double milliseconds) {
    done_milliseconds = std::max(done_milliseconds, clock_milliseconds) + milliseconds;
  }

  double clock_milliseconds = 0;  // the caller's clock, which may be ahead of the device
  double done_milliseconds = 0;   // end of all the device's work
  CUresult module_status = CUresult::success;
  std::string module_log;
  std::map<std::uint64_t, FakeAllocation> allocations;
  std::map<std::uint64_t, std::size_t> reservations;  // addresses from cuMemAddressReserve, with bytes
  std::vector<std::unique_ptr<FakePhysical>> physical;
  std::map<std::uint64_t, const FakePhysical*> mappings;  // borrowed; keys are addresses
  std::vector<std::unique_ptr<FakeModule>> modules;
  std::vector<std::unique_ptr<FakeLink>> links;
  std::vector<std::unique_ptr<FakeStream>> streams;
  std::vector<std::unique_ptr<FakeEvent>> events;
  FakeCounts made_counts;
  int ran = 0;
  int fault_countdown = 0;  // launches until one faults; 0: none does
  CUresult fault_status = CUresult::success;

 private:
  struct TwinEntry {
    std::string kernel;
    Twin twin;
    void* user;
  };
  CUresult injected(EntryPoint point);

  std::vector<std::unique_ptr<FakeContext>> contexts_;
  std::map<FakeContext*, std::unique_ptr<FakeStream>> null_streams_;
  std::vector<TwinEntry> twins_;
  std::vector<FakeFailure> failures_;
  std::vector<EntryPoint> calls_;
  std::vector<std::string> misuses_;
  FakeCounts orphaned_;
};

/// Convert an object to its handle and back. The caller checks whether a handle is valid.
template <class Handle, class Thing>
Handle handle_of(Thing* thing) {
  return reinterpret_cast<Handle>(thing);
}

/// Returns the element of a list of unique_ptr for a handle; end() for an invalid one.
template <class List, class Handle>
auto find_handle(List& list, Handle handle) {
  auto at = list.begin();
  while (at != list.end() && reinterpret_cast<const void*>(at->get()) != reinterpret_cast<const void*>(handle)) ++at;
  return at;
}

}  // namespace padlock::runtime::cuda
