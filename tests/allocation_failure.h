#pragma once

namespace padlock::testing {

/// Makes the `which`-th operator new from here on, counted from 1, throw std::bad_alloc, in this thread; those after it
/// work again. A test that links this has its own operator new.
void fail_allocation(long which);
/// Ends that. Whether it has come to the failure.
bool end_allocation_failure();
/// Blocks of operator new that this process has not given back.
long live_allocations();

}  // namespace padlock::testing
