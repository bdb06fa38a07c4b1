#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "api/compiled_program.h"
#include "api/context.h"
#include "api/memory.h"
#include "bench/pad_case.h"

namespace padlock::bench {

/// A case compiled and bound.
struct PadProgram {
  PadSpec spec;  ///< with numbers for pads
  api::BoundProgram bound;

  /// The default config, or what the context's cache has. Errors: as the API's.
  [[nodiscard]] static Result<PadProgram> make(api::Context& context, const PadSpec& spec);
  /// Aborts where it fails: it succeeded when it was checked, and one that fails now must not pass for a fast one.
  void launch(std::span<const std::byte> input, std::span<std::byte> result) const;
  [[nodiscard]] std::int64_t result_bytes() const { return bound.results().front().storage_bytes; }
};

/// Sizes by symbol.
[[nodiscard]] std::map<std::string, std::int64_t> sizes_of(const PadCase& pad);

/// Arrays of one size that all programs of a case share: an input of each type, and one result.
class PadArrays {
 public:
  /// Error: resource_exhausted.
  [[nodiscard]] static Result<PadArrays> create(std::int64_t bytes);
  /// Filled when it is first asked for. Error: resource_exhausted.
  [[nodiscard]] Result<std::span<const std::byte>> input(ir::DType dtype);
  [[nodiscard]] std::span<std::byte> result() const { return result_.span(); }
  /// Launches the program and compares the result with its definition.
  [[nodiscard]] Status check(const PadProgram& program);

 private:
  explicit PadArrays(std::int64_t bytes) : bytes_(bytes), memory_(api::MemoryBudget::of_this_process()) {}
  std::int64_t bytes_;
  api::MemoryBudget memory_;
  std::map<ir::DType, api::Allocation> inputs_;
  api::Allocation result_;
};

}  // namespace padlock::bench
