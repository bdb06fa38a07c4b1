#pragma once

namespace padlock::testing {

/// How often this process has called operator new, its shared libraries included. A test that links this has its own
/// operator new.
long allocation_count();
/// How many of those are not given back yet.
long live_allocations();

/// Has the calling thread's allocation number `index` from now fail, once, with std::bad_alloc (or null, for who asks
/// so); -1: none.
void fail_allocation(long index);
/// Whether it has come to that.
bool allocation_failed();

}  // namespace padlock::testing
