#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/scratch_memory.h"
#include "support/error.h"

namespace padlock::runtime {

/// Scratch memory of the host, with inaccessible pages (PROT_NONE) on either side.
class HostScratchSpace final : public ScratchSpace {
 public:
  [[nodiscard]] Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                           const std::string& what) override;
  [[nodiscard]] bool is_isolated() const override { return true; }
  [[nodiscard]] Result<std::int64_t> free_bytes() const override;
};

}  // namespace padlock::runtime
