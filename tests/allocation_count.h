#pragma once

namespace padlock::testing {

/// How often this process has called operator new, its shared libraries included. A test that links this has its own
/// operator new.
long allocation_count();

}  // namespace padlock::testing
