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

// What the regressions share: a program, compiled and proved once for every variant of the device under test, run on
// sizes of a report. The runs show the report's sizes; the proofs rule its class out, for every size there is.
namespace padlock::regressions {

/// Shapes of the tensor parameters in order, and symbols by name.
struct Sizes {
  std::vector<ir::ArgumentShape> tensors;
  std::map<std::string, std::int64_t> symbols = {};
};

using testing::bytes_of;

class Regression {
 public:
  /// Parses, verifies, compiles and proves; a failure of one fails the test, and so does an obligation of a variant
  /// that is anything but proved. Only loads of laps (and of interior gaps) that the sizes exclude may be dead.
  explicit Regression(std::string_view text);

  /// Random data: every variant equals the reference, bit for bit, in both placements.
  void same(const Sizes& sizes);
  /// The same of given inputs (as bytes, in order), without scalars.
  void same(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs);
  /// Given inputs (as bytes, in order) and scalars: the first result is these values, from the reference and from
  /// every variant.
  template <class T>
  void gives(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs, const std::vector<T>& expected,
             std::vector<std::uint64_t> scalars = {}) {
    check_values(sizes, std::move(inputs), std::move(scalars), bytes_of(expected));
  }
  /// The binding is refused, on every device, with an error whose message holds `part`.
  void refuses(const Sizes& sizes, std::string_view part);
  /// That obligations of that kind and of that access (a part of its text) were among what is proved, in every variant.
  void proves(compiler::ObligationKind kind, std::string_view access) const;
  /// Storage in bytes of a value under a binding.
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

/// From now on each text that a Regression is made of is told to `observer`, before it is compiled; null: to nobody.
void observe_programs(std::function<void(std::string_view)> observer);

/// The text is refused, with an error that has a position and whose message holds `part`.
void refuses_program(std::string_view text, std::string_view part);

inline ir::ArgumentShape shape(std::vector<std::int64_t> extents) { return {std::move(extents), std::nullopt}; }
inline ir::ArgumentShape shape(std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  return {std::move(extents), std::move(strides)};
}

}  // namespace padlock::regressions
