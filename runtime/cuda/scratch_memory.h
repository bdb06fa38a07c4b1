#pragma once

#include <memory>

#include "runtime/cuda/stream.h"
#include "runtime/scratch_memory.h"

namespace padlock::runtime::cuda {

/// Scratch memory of a GPU: mapped into the middle of a reserved range of addresses if the driver can reserve, else a
/// plain allocation without inaccessible surroundings (is_isolated). Mapping is illegal while a stream of the context
/// is captured.
class DeviceScratchSpace final : public ScratchSpace {
 public:
  /// Copies wait for earlier work of the stream.
  explicit DeviceScratchSpace(Stream stream) : stream_(std::move(stream)) {}
  [[nodiscard]] Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                           const std::string& what) override;
  [[nodiscard]] bool is_isolated() const override;
  /// Returns 2^62 if the driver cannot say.
  [[nodiscard]] Result<std::int64_t> free_bytes() const override;

 private:
  Stream stream_;
};

}  // namespace padlock::runtime::cuda
