#pragma once

#include <memory>

#include "runtime/cuda/stream.h"
#include "runtime/scratch_memory.h"

namespace padlock::runtime::cuda {

/// A GPU's: mapped into the middle of a reserved range of addresses where the driver reserves such, else an allocation
/// as any other, which nothing surrounds (is_isolated). Mapping is illegal while a stream of the context is captured.
class DeviceScratchSpace final : public ScratchSpace {
 public:
  /// Copies wait for what the stream has before.
  explicit DeviceScratchSpace(Stream stream) : stream_(std::move(stream)) {}
  [[nodiscard]] Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                           const std::string& what) override;
  [[nodiscard]] bool is_isolated() const override;
  /// 2^62 where the driver cannot say.
  [[nodiscard]] Result<std::int64_t> free_bytes() const override;

 private:
  Stream stream_;
};

}  // namespace padlock::runtime::cuda
