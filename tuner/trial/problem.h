#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/layout.h"
#include "ir/program.h"
#include "runtime/scratch/scratch_buffer.h"
#include "support/error.h"

namespace padlock::tuner {

using Symbols = std::map<std::string, std::int64_t>;

/// A program at one binding, with the contents of its inputs and scalars.
class Problem {
 public:
  /// Errors: as ir::Binding::bind; invalid_argument also where a symbol has no value. Borrows the program.
  [[nodiscard]] static Result<Problem> create(const ir::Program& program, const Symbols& symbols, std::uint64_t seed);

  [[nodiscard]] const ir::Program& program() const { return binding_.program(); }
  [[nodiscard]] const ir::Binding& binding() const { return binding_; }
  [[nodiscard]] const Symbols& symbols() const { return symbols_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  /// Storage of each tensor parameter, of the full domain.
  [[nodiscard]] const std::vector<std::vector<std::byte>>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::uint64_t>& scalars() const { return scalars_; }

  /// Counts the elements of all results.
  [[nodiscard]] std::int64_t result_elements() const;
  /// Return bytes of storage.
  [[nodiscard]] std::int64_t input_bytes() const;
  [[nodiscard]] std::int64_t result_bytes() const;

 private:
  Problem(ir::Binding binding, Symbols symbols, std::uint64_t seed)
      : binding_(std::move(binding)), symbols_(std::move(symbols)), seed_(seed) {}
  ir::Binding binding_;
  Symbols symbols_;
  std::uint64_t seed_;
  std::vector<std::vector<std::byte>> inputs_;
  std::vector<std::uint64_t> scalars_;
};

/// Returns smaller symbols that the program admits, with at most that many elements in its results if possible: moves
/// each symbol towards 0 as long as that helps. Precondition: the given symbols are legal.
[[nodiscard]] Symbols shrink(const ir::Program& program, Symbols symbols, std::int64_t most_elements);

/// Returns three times the bytes of all inputs and results: for the buffers of a launch, their expected contents, and
/// copies on the way.
[[nodiscard]] std::int64_t data_bytes(const ir::Binding& binding);
/// Returns the least bytes of scratch memory for trying a config at this binding: data_bytes, and the red zones of one
/// launch's buffers.
[[nodiscard]] std::int64_t scratch_bytes(const ir::Binding& binding);

/// The buffers of one launch, in the program's orders.
struct ScratchSet {
  std::vector<runtime::ScratchBuffer> inputs, outputs;

  [[nodiscard]] static Result<ScratchSet> allocate(runtime::ScratchSpace& space, const ir::Binding& binding);
  /// Returns the bytes of memory as it is mapped.
  [[nodiscard]] std::int64_t mapped_bytes() const;

  [[nodiscard]] Status arm(runtime::Placement placement, std::byte red, std::int64_t skew);
  /// Scatters the buffers, between red zones, like a caller's within their pages. Each lies beyond its place by `skew`
  /// elements plus a multiple of 64 elements, up to 4032, that `draw` decides; so all have one alignment. Precondition:
  /// 0 <= skew < 64.
  [[nodiscard]] Status scatter(std::byte red, std::int64_t skew, std::uint64_t draw);
  [[nodiscard]] Status write_inputs(const std::vector<std::vector<std::byte>>& data);
  /// Fills inputs with the plain domain. `staging` is reused between calls.
  [[nodiscard]] Status write_plain_inputs(const Problem& problem, std::vector<std::byte>& staging);
  [[nodiscard]] Status poison(std::byte value);
  /// As ScratchBuffer::damage, for the first damaged buffer.
  [[nodiscard]] Result<std::string> damage() const;
};

}  // namespace padlock::tuner
