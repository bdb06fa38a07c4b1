#pragma once

#include "runtime/buffer.h"
#include "runtime/host/allocation.h"

namespace padlock::session {

/// Memory for arguments: a caller's own (UserBuffer), or made here (Allocation, from a MemoryBudget).
using runtime::Allocation;
using runtime::kHugePage;
using runtime::MemoryBudget;
using runtime::UserBuffer;

}  // namespace padlock::session
