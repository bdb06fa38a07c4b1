#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/differential/programs/random_program.h"

namespace padlock::differential {

/// Most elements that a value of a generated program has under the seed binding.
inline constexpr std::int64_t kMaxElements = 4096;

[[nodiscard]] std::vector<ir::DType> operand_types(ir::Op op);
/// Returns the types that the operation can return.
[[nodiscard]] std::vector<ir::DType> result_types(ir::Op op);
/// Draws an extent from 0, 1, 2, primes and numbers around vector widths, at most `limit`.
[[nodiscard]] std::int64_t awkward_extent(std::int64_t limit, testing::Rng& rng);

/// Returns the extents to which these broadcast, aligned at the last axis; only an axis that is literally 1 repeats.
[[nodiscard]] std::vector<Dim> broadcast_extents(const std::vector<Dim>& a, const std::vector<Dim>& b);
[[nodiscard]] inline bool is_index(ir::DType type) { return type == ir::DType::i64 || type == ir::DType::i32; }

[[nodiscard]] inline bool is_literal(const Dim& d, std::int64_t value) {
  return d.kind == Dim::Kind::integer && d.value == value;
}

/// Builds a program whose seed binding is legal by construction: it chooses values first, and then expressions for
/// them.
class ProgramBuilder {
 public:
  ProgramBuilder(testing::Rng rng, ir::DType main_type, ir::PadMode main_mode, Sizes sizes)
      : rng_(rng), main_type_(main_type), main_mode_(main_mode), sizes_(sizes) {}

  /// Applies `op` to the value with index `x`; returns the result's index. `result` is the type to which a cast goes,
  /// the type of a select's branches if x is its condition, or the type of the taken data if x is an index.
  std::size_t emit(ir::Op op, std::size_t x, std::optional<ir::DType> result = std::nullopt);
  /// Returns a value of that type, of rank >= min_rank: preferably one without a use, else a new parameter.
  std::size_t operand(ir::DType type, int min_rank);
  [[nodiscard]] ir::DType type_of(std::size_t value) const { return values_[value].dtype; }
  testing::Rng& rng() { return rng_; }

  /// Returns every unused value from the program, states some true constraints, and hands the program over.
  GeneratedProgram finish() &&;

 private:
  struct Value {
    std::string name;
    ir::DType dtype = ir::DType::f32;
    std::vector<Dim> extents;
    std::vector<std::int64_t> sizes;  // extents under the seed binding
    bool is_parameter = false;
    bool used = false;
    [[nodiscard]] std::int64_t elements() const;
    [[nodiscard]] int rank() const { return static_cast<int>(extents.size()); }
  };
  /// A further operand of an elementwise operation.
  struct Companion {
    std::string text;
    std::optional<std::size_t> value;
    std::vector<Dim> extents;
  };

  // Dims (program_dims.cpp).
  Dim new_symbol(ir::SymbolKind kind, std::int64_t value);
  Dim dim_with_value(std::int64_t value);
  Dim express(std::int64_t value, int depth = 2);
  Dim express_around_symbol(std::int64_t value);
  Dim express_by_product(std::int64_t value, int depth);
  Dim express_by_division(std::int64_t value, int depth);
  Dim parameter_extent(std::int64_t value);
  [[nodiscard]] std::int64_t value_of(const Dim& dim) const;
  void require(Dim lhs, ir::Comparison comparison, Dim rhs, std::string why);

  // Parameters (program_dims.cpp).
  std::size_t new_tensor(ir::DType type, std::vector<Dim> extents);
  std::size_t random_tensor(ir::DType type, int min_rank);
  std::string new_scalar(ir::DType type);
  void choose_strides(GeneratedTensor& tensor);
  std::vector<Dim> nested_strides(const std::vector<Dim>& extents, const std::vector<std::size_t>& order, bool pitched);

  // Operations (program_operations.cpp).
  std::size_t pad(std::size_t x);
  std::size_t slice(std::size_t x);
  std::size_t concat(std::size_t x);
  std::size_t transpose(std::size_t x);
  std::size_t broadcast(std::size_t x);
  std::size_t reshape(std::size_t x);
  std::vector<Dim> new_shape(const Value& x);
  std::vector<Dim> factored_shape(std::int64_t elements);
  std::size_t pad_adjoint(std::size_t x);
  std::size_t iota(std::size_t x, std::optional<ir::DType> result);
  std::size_t take(std::size_t x, std::optional<ir::DType> result);
  std::size_t take_by(std::size_t index, ir::DType type);
  std::size_t search(std::size_t x);
  std::vector<Dim> index_extents(std::int64_t elements);
  std::size_t add_take(const Value& source, const std::vector<std::size_t>& indices, std::size_t axis);
  std::string fill(const GeneratedStatement& pad, ir::DType type, std::vector<std::string>& operands);
  std::size_t add_statement(GeneratedStatement statement, const std::string& arguments);
  PadSite pad_axis(const Dim& extent, std::int64_t n, std::int64_t budget, ir::PadMode mode);
  std::pair<Dim, Dim> slice_axis(const Dim& extent, std::int64_t n);
  std::string fresh_value_name();
  void state_constraints();

  // Elementwise operations (program_elementwise.cpp).
  std::size_t binary(ir::Op op, std::size_t x);
  std::size_t select(std::size_t x, std::optional<ir::DType> result);
  Companion companion(std::size_t x, ir::DType type, bool literal_allowed);
  std::vector<Dim> similar_extents(const Value& x);
  std::string literal(ir::DType type);
  std::string size_as_value(ir::DType type);
  std::string literal_or_scalar(ir::DType type);

  testing::Rng rng_;
  ir::DType main_type_;
  ir::PadMode main_mode_;
  Sizes sizes_;
  GeneratedProgram program_;
  std::vector<Value> values_;
  int counter_ = 0;
};

}  // namespace padlock::differential
