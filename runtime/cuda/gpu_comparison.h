#pragma once

#include <memory>

#include "abi/compiled_code.h"
#include "runtime/comparison.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// The kernel in a borrowed context, with a stream and a word for its answer.
class GpuComparison final : public Comparison {
 public:
  /// Errors: internal for code without the comparison; as Module::load_ptx; else as the driver says.
  [[nodiscard]] static Result<std::unique_ptr<Comparison>> load(const Context& context, const abi::CompiledCode& code);
  [[nodiscard]] Result<std::optional<std::int64_t>> first_difference() override;

 private:
  GpuComparison(Stream stream, Module module, Function function, DeviceBuffer found)
      : stream_(std::move(stream)),
        module_(std::move(module)),
        function_(std::move(function)),
        found_(std::move(found)) {}
  [[nodiscard]] Status expect(std::uintptr_t actual, std::uintptr_t expected, std::byte value,
                              std::int64_t count) override;
  [[nodiscard]] Status forget();

  Stream stream_;
  Module module_;
  Function function_;
  DeviceBuffer found_;
  std::int64_t expected_bytes_ = 0;  // since the last question
};

}  // namespace padlock::runtime::cuda
