#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/rig.h"
#include "runtime/cuda/module.h"

namespace padlock::bench::gpu {

/// Plain copies by kernels of the bench's own: a thread moves some vectors of 16 bytes, all loads before the first
/// store. The driver's copy is slow at some sizes; the better of both is what a kernel is measured beside. Borrows its
/// rig, which is a GPU's.
class CopyKernels {
 public:
  /// Null on simt. Errors: the driver's.
  [[nodiscard]] static Result<std::unique_ptr<const CopyKernels>> load(Rig& rig);

  [[nodiscard]] std::size_t count() const { return functions_.size(); }
  /// "copy by 4 vectors"
  [[nodiscard]] static std::string name_of(std::size_t index);
  /// Queues one. Addresses are multiples of 16, `bytes` is rounded up to one: both sides have that much.
  [[nodiscard]] Status launch(std::size_t index, std::byte* to, const std::byte* from, std::int64_t bytes) const;

 private:
  CopyKernels(Rig& rig, runtime::cuda::Module module) : rig_(rig), module_(std::move(module)) {}

  Rig& rig_;
  runtime::cuda::Module module_;
  std::vector<runtime::cuda::Function> functions_;
};

}  // namespace padlock::bench::gpu
