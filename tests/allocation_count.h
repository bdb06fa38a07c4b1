#pragma once

namespace padlock::testing {

/// Returns the number of this process's calls of operator new, shared libraries included. A test that links this gets
/// its own operator new.
long allocation_count();
/// Returns how many of these allocations are not freed yet.
long live_allocations();

/// Makes the calling thread's allocation number `index` from now fail once, with std::bad_alloc (or null for the
/// nothrow form); -1: none.
void fail_allocation(long index);
/// Returns whether that allocation has failed.
bool allocation_failed();

}  // namespace padlock::testing
