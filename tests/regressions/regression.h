#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host_compiler.h"
#include "ir/binding.h"
#include "tests/differential/host_check.h"

// What the regressions share: a program, compiled once for every config that differs in kind, run on sizes of a report.
namespace padlock::regressions {

/// Shapes of the tensor parameters in order, and symbols by name.
struct Sizes {
  std::vector<ir::ArgumentShape> tensors;
  std::map<std::string, std::int64_t> symbols = {};
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class Regression {
 public:
  /// Parses, verifies and compiles; a failure of either fails the test.
  explicit Regression(std::string_view text);

  /// Random data: every host kernel equals the interpreter, bit for bit, in both placements.
  void same(const Sizes& sizes);
  /// Given inputs (as bytes, in order) and scalars: the first result is these values, from the interpreter and from
  /// every host kernel.
  template <class T>
  void gives(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs, const std::vector<T>& expected,
             std::vector<std::uint64_t> scalars = {}) {
    check_values(sizes, std::move(inputs), std::move(scalars), bytes_of(expected));
  }
  /// The binding is refused with an error whose message holds `part`.
  void refuses(const Sizes& sizes, std::string_view part);
  /// Storage in bytes of a value under a binding.
  [[nodiscard]] std::int64_t storage_bytes(const Sizes& sizes, std::string_view value);
  [[nodiscard]] std::vector<std::int64_t> extents(const Sizes& sizes, std::string_view value);
  [[nodiscard]] std::string emit(compiler::Stage stage);
  [[nodiscard]] const ir::Program& program() const { return *program_; }

 private:
  [[nodiscard]] Result<ir::Binding> bind(const Sizes& sizes) const;
  void check(const differential::Problem& problem);
  void check_values(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs, std::vector<std::uint64_t> scalars,
                    const std::vector<std::byte>& expected);

  std::optional<ir::Program> program_;
  std::unique_ptr<compiler::HostCompiler> compiler_;
  struct Variant {
    std::string name;
    differential::Kernels kernels;
  };
  std::vector<Variant> variants_;
  differential::GuardedArena arena_;
  differential::Rng rng_;
};

/// The text is refused, with an error that has a position and whose message holds `part`.
void refuses_program(std::string_view text, std::string_view part);

inline ir::ArgumentShape shape(std::vector<std::int64_t> extents) { return {std::move(extents), std::nullopt}; }
inline ir::ArgumentShape shape(std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  return {std::move(extents), std::move(strides)};
}

}  // namespace padlock::regressions
