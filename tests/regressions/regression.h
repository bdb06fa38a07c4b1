#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/binding/binding.h"
#include "tests/common/bytes.h"
#include "tests/conformance/device_program.h"

// Shared by the regressions: a program, compiled and proved once for every variant of the device under test, and run at
// the sizes of a report. The runs cover the report's sizes; the proofs exclude its class of bugs for all sizes.
namespace padlock::regressions {

/// Shapes of the tensor parameters in order, and symbols by name.
struct Sizes {
  std::vector<ir::ArgumentShape> tensors;
  std::map<std::string, std::int64_t> symbols = {};
};

using testing::bytes_of;

class Regression {
 public:
  /// Parses, verifies, compiles and proves. The test fails if one of these fails, or if an obligation of a variant is
  /// not proved. Only loads of laps and of interior gaps that the sizes exclude may be dead.
  explicit Regression(std::string_view text);

  /// Checks with random data that every variant equals the reference, bit for bit, in both placements.
  void same(const Sizes& sizes);
  /// As above, for given inputs (as bytes, in order), without scalars.
  void same(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs);
  /// Checks the first result for given inputs (as bytes, in order) and scalars, on the reference and in every variant.
  template <class T>
  void gives(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs, const std::vector<T>& expected,
             std::vector<std::uint64_t> scalars = {}) {
    check_values(sizes, std::move(inputs), std::move(scalars), bytes_of(expected));
  }
  /// Checks that every device refuses the binding, with a message that contains `part`.
  void refuses(const Sizes& sizes, std::string_view part);
  /// Checks that in every variant the proof has obligations of this kind for this access (a part of its text).
  void proves(compiler::ObligationKind kind, std::string_view access) const;
  /// Returns the storage in bytes of a value under a binding.
  [[nodiscard]] std::int64_t storage_bytes(const Sizes& sizes, std::string_view value);
  [[nodiscard]] std::vector<std::int64_t> extents(const Sizes& sizes, std::string_view value);
  [[nodiscard]] std::string emit(session::Stage stage);
  [[nodiscard]] const ir::Program& program() const { return program_->program().ir(); }

 private:
  void prove(const conformance::DeviceUnderTest& device, bool has_laps);
  [[nodiscard]] session::BoundProgram bind(const Sizes& sizes) const;
  void check_values(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs, std::vector<std::uint64_t> scalars,
                    const std::vector<std::byte>& expected);

  session::Context context_;
  std::optional<conformance::DeviceProgram> program_;
  std::vector<std::vector<compiler::Proof>> proofs_;  // by variant; none for the reference, which runs no kernels
  differential::GuardedArena arena_;
  testing::Rng rng_;
};

/// From now on `observer` gets the text of each Regression before it is compiled; null: nobody does.
void observe_programs(std::function<void(std::string_view)> observer);

/// Checks that the text is refused, with a position and a message that contains `part`.
void refuses_program(std::string_view text, std::string_view part);

inline ir::ArgumentShape shape(std::vector<std::int64_t> extents) { return {std::move(extents), std::nullopt}; }
inline ir::ArgumentShape shape(std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  return {std::move(extents), std::move(strides)};
}

}  // namespace padlock::regressions
