#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "bench/pad_case.h"
#include "runtime/host/allocation.h"
#include "session/compile/context.h"
#include "session/launch/compiled_program.h"

namespace padlock::bench {

/// A case compiled and bound.
struct PadProgram {
  PadSpec spec;  ///< with numbers for pads
  session::BoundProgram bound;

  /// The default config, or what the context's cache has, of code for this machine or, by way of a pack, for another
  /// ("host:x86-64-v3") whose code this one runs. Errors: as the session's.
  [[nodiscard]] static Result<PadProgram> make(session::Context& context, const PadSpec& spec,
                                               const std::string& target = "host");
  /// Aborts where it fails: it succeeded when it was checked, and one that fails now must not pass for a fast one.
  void launch(std::span<const std::byte> input, std::span<std::byte> result) const;
  [[nodiscard]] std::int64_t result_bytes() const { return bound.results().front().storage_bytes; }
};

/// Sizes by symbol.
[[nodiscard]] std::map<std::string, std::int64_t> sizes_of(const PadCase& pad);

/// Arrays of one size that all programs of a case share, of whatever type: what they owe to where it lies is the same.
class PadArrays {
 public:
  /// Error: resource_exhausted.
  [[nodiscard]] static Result<PadArrays> create(std::int64_t bytes);
  /// Numbers in every type.
  [[nodiscard]] std::span<const std::byte> input() const { return input_.span().first(bytes_); }
  [[nodiscard]] std::span<std::byte> result() const { return result_.span().first(bytes_); }
  /// Launches the program and compares the result with its definition.
  [[nodiscard]] Status check(const PadProgram& program);

 private:
  PadArrays() : memory_(runtime::MemoryBudget::of_this_process()) {}
  runtime::MemoryBudget memory_;
  runtime::Allocation input_, result_;
  std::size_t bytes_ = 0;  // of each that are used
};

}  // namespace padlock::bench
