#pragma once

#include "runtime/allocation.h"
#include "runtime/buffer.h"

namespace padlock::api {

/// Memory for arguments: a caller's own (UserBuffer), or made here (Allocation, from a MemoryBudget).
using runtime::Allocation;
using runtime::kHugePage;
using runtime::MemoryBudget;
using runtime::UserBuffer;

}  // namespace padlock::api
