#pragma once

#include "tests/runtime/cuda/fake_state.h"

// The driver's functions that the fake exports. They are declared after the table of symbols, so the compiler checks
// each definition against it.

namespace padlock::runtime::cuda {

// NOLINTBEGIN(readability-identifier-naming)
#define PADLOCK_DECLARE(symbol, version, parameters) \
  extern "C" __attribute__((visibility("default"))) CUresult symbol parameters;
PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_DECLARE)
PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_DECLARE)
PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_DECLARE)
#undef PADLOCK_DECLARE
// NOLINTEND(readability-identifier-naming)

/// Locks `fake`, calls `way` of entering, and returns its status unless that is success.
#define PADLOCK_ENTER(way, symbol)         \
  FakeState& fake = FakeState::get();      \
  const std::scoped_lock lock(fake.mutex); \
  if (const CUresult status_ = fake.way(EntryPoint::symbol); status_ != CUresult::success) return status_

/// The same for functions that give back: they run in any case, and return `status` at the end.
#define PADLOCK_ENTER_GIVING_BACK(symbol)  \
  FakeState& fake = FakeState::get();      \
  const std::scoped_lock lock(fake.mutex); \
  const CUresult status = fake.enter(EntryPoint::symbol)

inline CUresult first_of(CUresult first, CUresult second) { return first == CUresult::success ? second : first; }

/// Takes the object of a handle from a list; records the use of an invalid one.
template <class List, class Handle>
CUresult remove(FakeState& fake, List& list, Handle handle, const char* what) {
  const auto found = find_handle(list, handle);
  if (found == list.end()) return fake.misuse(what);
  list.erase(found);
  return CUresult::success;
}

}  // namespace padlock::runtime::cuda
