#include "tests/runtime/cuda/fake_state.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace padlock::runtime::cuda {
namespace {

constexpr std::array kNames = {
#define PADLOCK_NAME(symbol, version, parameters) #symbol,
    PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_NAME) PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_NAME)
        PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_NAME)
#undef PADLOCK_NAME
};

// Beyond it calls are not noted: noting must not allocate, since tests count the allocations of a launch.
constexpr std::size_t kNotedCalls = 1 << 16;

template <class List>
int remove_of(List& list, const FakeContext& context) {
  return static_cast<int>(std::erase_if(list, [&](const auto& thing) { return thing->context == &context; }));
}

}  // namespace

const char* name_of(EntryPoint point) { return kNames.at(static_cast<std::size_t>(point)); }

// Never destroyed: a test's own static objects may call the driver late.
FakeState& FakeState::get() {
  static FakeState& state = *new FakeState;
  return state;
}

void FakeState::reset() {
  const std::scoped_lock lock(mutex);
  for (const auto& [address, allocation] : allocations) allocation.memory.unmap();
  allocations.clear();
  for (const auto& [address, bytes] : reservations) munmap(std::bit_cast<void*>(address), bytes);
  reservations.clear();
  physical.clear();
  mappings.clear();
  capture_mode() = CUstreamCaptureMode::global;
  modules.clear();
  links.clear();
  streams.clear();
  events.clear();
  null_streams_.clear();
  contexts_.clear();
  stack().clear();
  twins_.clear();
  failures_.clear();
  misuses_.clear();
  calls_.clear();
  calls_.reserve(kNotedCalls);
  settings = {};
  initialized = false;
  clock_milliseconds = done_milliseconds = 0;
  module_status = CUresult::success;
  module_log.clear();
  made_counts = orphaned_ = {};
  ran = fault_countdown = 0;
}

void FakeState::register_twin(const std::string& kernel, Twin twin, void* user) {
  const std::scoped_lock lock(mutex);
  std::erase_if(twins_, [&](const TwinEntry& entry) { return entry.kernel == kernel; });
  twins_.push_back({kernel, twin, user});
}

void FakeState::fail(FakeFailure failure) {
  const std::scoped_lock lock(mutex);
  failures_.push_back(std::move(failure));
}

void FakeState::fault_in_launch(CUresult status, int nth) {
  const std::scoped_lock lock(mutex);
  fault_status = status;
  fault_countdown = nth;
}

void FakeState::refuse_modules(CUresult status, std::string log) {
  const std::scoped_lock lock(mutex);
  module_status = status;
  module_log = std::move(log);
}

FakeCounts FakeState::live() const {
  const std::scoped_lock lock(mutex);
  FakeCounts counts;
  for (const auto& context : contexts_) counts.contexts += context->retained;
  counts.allocations = static_cast<int>(allocations.size() + reservations.size() + physical.size());
  counts.modules = static_cast<int>(modules.size());
  counts.streams = static_cast<int>(streams.size());
  counts.events = static_cast<int>(events.size());
  counts.links = static_cast<int>(links.size());
  return counts;
}

FakeCounts FakeState::made() const {
  const std::scoped_lock lock(mutex);
  return made_counts;
}

FakeCounts FakeState::orphaned() const {
  const std::scoped_lock lock(mutex);
  return orphaned_;
}

std::vector<std::string> FakeState::take_misuses() {
  const std::scoped_lock lock(mutex);
  return std::exchange(misuses_, {});
}

std::vector<std::string> FakeState::calls() const {
  const std::scoped_lock lock(mutex);
  std::vector<std::string> names;
  for (const EntryPoint point : calls_) names.emplace_back(name_of(point));
  return names;
}

void FakeState::forget_calls() {
  const std::scoped_lock lock(mutex);
  calls_.clear();
}

int FakeState::launches() const {
  const std::scoped_lock lock(mutex);
  return ran;
}

CUcontext FakeState::create_context(int device) {
  const std::scoped_lock lock(mutex);
  contexts_.push_back(std::make_unique<FakeContext>(FakeContext{.device = device}));
  return handle_of<CUcontext>(contexts_.back().get());
}

void FakeState::destroy_context(CUcontext context) {
  const std::scoped_lock lock(mutex);
  if (FakeContext* const found = find_context(context)) destroy(*found);
}

std::vector<CUcontext> FakeState::context_stack() const {
  std::vector<CUcontext> handles;
  for (FakeContext* const context : stack()) handles.push_back(handle_of<CUcontext>(context));
  return handles;
}

void FakeState::set_context_stack(const std::vector<CUcontext>& contexts) {
  const std::scoped_lock lock(mutex);
  stack().clear();
  for (const CUcontext context : contexts) stack().push_back(find_context(context));
}

void FakeState::begin_capture(CUstream stream) {
  const std::scoped_lock lock(mutex);
  const auto found = find_handle(streams, stream);
  if (found == streams.end()) {
    misuse("begin_capture of no stream");
    return;
  }
  (*found)->capture = CUstreamCaptureStatus::active;
  (*found)->recorded.clear();
}

int FakeState::end_capture(CUstream stream) {
  const std::scoped_lock lock(mutex);
  const auto found = find_handle(streams, stream);
  if (found == streams.end()) return -1;
  const bool valid = (*found)->capture == CUstreamCaptureStatus::active;
  (*found)->capture = CUstreamCaptureStatus::none;
  return valid ? static_cast<int>((*found)->recorded.size()) : -1;
}

void FakeState::replay(CUstream stream) {
  const std::scoped_lock lock(mutex);
  const auto found = find_handle(streams, stream);
  if (found == streams.end()) return;
  for (const auto& work : (*found)->recorded) work();
}

CUresult FakeState::injected(EntryPoint point) {
  CUresult status = CUresult::success;
  for (FakeFailure& failure : failures_) {
    const bool concerned =
        failure.function.empty() ? point != EntryPoint::cuGetProcAddress_v2 : failure.function == name_of(point);
    if (!concerned || --failure.nth != 0) continue;
    status = failure.status;
    if (failure.sticky && current() != nullptr) current()->lost = status;
  }
  return status;
}

CUresult FakeState::enter(EntryPoint point) {
  if (calls_.size() < kNotedCalls) calls_.push_back(point);
  if (const CUresult status = injected(point); status != CUresult::success) return status;
  const bool before_init = point == EntryPoint::cuDriverGetVersion || point == EntryPoint::cuGetProcAddress_v2 ||
                           point == EntryPoint::cuInit;
  return initialized || before_init ? CUresult::success : CUresult::not_initialized;
}

CUresult FakeState::enter_context(EntryPoint point) {
  if (const CUresult status = enter(point); status != CUresult::success) return status;
  const FakeContext* const context = current();
  if (context == nullptr) return CUresult::invalid_context;
  return context->destroyed ? CUresult::context_is_destroyed : context->lost;
}

CUresult FakeState::enter_unsafe(EntryPoint point) {
  if (const CUresult status = enter_context(point); status != CUresult::success) return status;
  if (capture_mode() == CUstreamCaptureMode::relaxed) return CUresult::success;
  return invalidate_captures(current()) ? CUresult::stream_capture_unsupported : CUresult::success;
}

CUresult FakeState::misuse(const std::string& what, CUresult status) {
  const std::string by = calls_.empty() ? "the control" : name_of(calls_.back());
  misuses_.push_back(by + ": " + what);
  return status;
}

bool FakeState::hides(std::string_view symbol) const {
  const auto& hidden = settings.hidden_symbols;
  return std::find(hidden.begin(), hidden.end(), symbol) != hidden.end();
}

std::vector<FakeContext*>& FakeState::stack() {
  thread_local std::vector<FakeContext*> contexts;
  return contexts;
}

CUstreamCaptureMode& FakeState::capture_mode() {
  thread_local CUstreamCaptureMode mode = CUstreamCaptureMode::global;
  return mode;
}

FakeContext* FakeState::current() { return stack().empty() ? nullptr : stack().back(); }

FakeContext* FakeState::find_context(CUcontext handle) {
  const auto found = find_handle(contexts_, handle);
  return found == contexts_.end() ? nullptr : found->get();
}

FakeContext* FakeState::primary_context(int device) {
  for (const auto& context : contexts_)
    if (context->primary && !context->destroyed && context->device == device) return context.get();
  contexts_.push_back(std::make_unique<FakeContext>(FakeContext{.device = device, .primary = true}));
  return contexts_.back().get();
}

void FakeState::destroy(FakeContext& context) {
  FakeCounts gone;
  gone.modules = remove_of(modules, context);
  gone.streams = remove_of(streams, context);
  gone.events = remove_of(events, context);
  gone.links = remove_of(links, context);
  gone.allocations = static_cast<int>(std::erase_if(allocations, [&](const auto& entry) {
    if (entry.second.context != &context) return false;
    entry.second.memory.unmap();
    return true;
  }));
  context.destroyed = true;
  if (context.lost != CUresult::success) return;
  orphaned_.modules += gone.modules;
  orphaned_.streams += gone.streams;
  orphaned_.events += gone.events;
  orphaned_.links += gone.links;
  orphaned_.allocations += gone.allocations;
}

FakeStream* FakeState::find_stream(CUstream handle) {
  if (handle == nullptr) {
    auto& stream = null_streams_[current()];
    if (!stream) stream = std::make_unique<FakeStream>(FakeStream{.context = current(), .is_null_stream = true});
    return stream.get();
  }
  const auto found = find_handle(streams, handle);
  return found == streams.end() || (*found)->context != current() ? nullptr : found->get();
}

std::size_t FakeState::used_bytes() const {
  std::size_t used = 0;
  for (const auto& [begin, allocation] : allocations)
    if (!mappings.contains(begin)) used += allocation.memory.bytes;
  for (const auto& memory : physical) used += memory->bytes;
  return used;
}

FakeAllocation* FakeState::allocation_of(std::uint64_t address, std::uint64_t bytes) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin()) return nullptr;
  FakeAllocation& allocation = std::prev(next)->second;
  return allocation.memory.holds(address, bytes) ? &allocation : nullptr;
}

bool FakeState::invalidate_captures(const FakeContext* context) {
  bool found = false;
  for (const auto& stream : streams) {
    if (stream->context != context || stream->capture == CUstreamCaptureStatus::none) continue;
    stream->capture = CUstreamCaptureStatus::invalidated;
    found = true;
  }
  return found;
}

void FakeState::run(FakeFunction* function, const std::uint64_t* parameters, std::size_t count, unsigned grid_x,
                    unsigned block_x) {
  struct Job {
    TwinEntry twin;
    const std::uint64_t* parameters;
    std::size_t count;
    unsigned grid_x, block_x;
  };
  const auto found = std::find_if(twins_.begin(), twins_.end(),
                                  [&](const TwinEntry& entry) { return entry.kernel == function->entry.name; });
  if (found == twins_.end()) {
    misuse("kernel " + function->entry.name + " has no twin");
    function->context->lost = CUresult::launch_failed;
    return;
  }
  const auto body = [](void* state) {
    const auto& [twin, words, length, grid, block] = *static_cast<const Job*>(state);
    twin.twin(twin.user, words, length, grid, block);
  };
  ++ran;
  clock_milliseconds += settings.queueing_milliseconds;
  take_time(settings.launch_milliseconds);
  Job job{{{}, found->twin, found->user}, parameters, count, grid_x, block_x};
  if (!settings.trap_faults) {
    body(&job);
  } else if (!run_trapping_faults(body, &job)) {
    function->context->lost = CUresult::illegal_address;
  }
  if (fault_countdown == 1) function->context->lost = fault_status;
  if (fault_countdown > 0) --fault_countdown;
}

}  // namespace padlock::runtime::cuda

extern "C" __attribute__((visibility("default"))) padlock::runtime::cuda::FakeDriver* padlock_fake_cuda() {
  return &padlock::runtime::cuda::FakeState::get();
}
