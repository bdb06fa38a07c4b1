#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/operation.h"
#include "tests/common/rng.h"
#include "tests/differential/programs/dim_tree.h"

namespace padlock::differential {

enum class StrideKind : std::uint8_t { dense, pitched, transposed, zero, symbolic, overlapping };
inline constexpr std::array kStrideKindNames = {"dense", "pitched", "transposed", "zero", "symbolic", "overlapping"};

struct GeneratedSymbol {
  std::string name;
  ir::SymbolKind kind = ir::SymbolKind::extent;
};

struct GeneratedTensor {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::vector<Dim> extents;
  std::optional<std::vector<Dim>> strides;  // absent: dense
  StrideKind stride_kind = StrideKind::dense;
};

/// One axis of a pad.
struct PadSite {
  Dim low, high, extent;
  ir::PadMode mode = ir::PadMode::constant;
  std::int64_t interior = 0;
};

struct GeneratedStatement {
  std::string name;
  ir::Op op = ir::Op::pad;
  ir::DType dtype = ir::DType::f32;   // of the result
  std::vector<std::string> operands;  // names of values; literals and scalars left out
  std::vector<Dim> extents;
  std::vector<PadSite> pads;
  std::string text;
};

/// A program with one legal binding, and the conditions under which another binding is legal.
struct GeneratedProgram {
  std::vector<std::string> parameters;  // as written, in order
  std::vector<GeneratedSymbol> symbols;
  std::vector<GeneratedTensor> tensors;
  std::vector<Condition> stated;   // the where clause
  std::vector<Condition> implied;  // extents >= 0, slice limits, equal extents, empty axes
  std::vector<GeneratedStatement> statements;
  std::vector<std::string> results;
  SymbolValues seed_values;

  /// Prints the program with these results only. Statements that they do not need are left out, unless all are wanted.
  [[nodiscard]] std::string text() const { return text_of(results, false); }
  [[nodiscard]] std::string text_of(const std::vector<std::string>& wanted, bool drop_unused) const;
  /// Returns for each statement whether `wanted` needs it.
  [[nodiscard]] std::vector<bool> live_statements(const std::vector<std::string>& wanted) const;

  [[nodiscard]] bool legal(const SymbolValues& values) const;
  /// Returns whether every value and the storage of every parameter has at most `limit` elements.
  [[nodiscard]] bool within(const SymbolValues& values, std::int64_t limit) const;
  /// Draws values near the seed's and at awkward sizes; they may be illegal.
  [[nodiscard]] SymbolValues vary(testing::Rng& rng) const;
  /// Makes the request: shapes of all tensors (with arbitrary strides of insignificant axes) and dims by name.
  /// Sometimes it has no tensors, and every symbol by name.
  [[nodiscard]] ir::BindRequest request(const SymbolValues& values, testing::Rng& rng) const;
};

/// Two operations, of which the first feeds the second.
struct OpPair {
  ir::Op producer = ir::Op::pad;
  ir::Op consumer = ir::Op::pad;
};
/// Returns every pair that the type rules admit.
[[nodiscard]] std::vector<OpPair> legal_pairs();

/// The constraints of a program on its sizes. `stated`: sometimes has true constraints. `free`: has none, and
/// multiplies sizes with each other in any expression.
enum class Sizes : std::uint8_t { stated, free };

/// Returns program number `index` of the run with that seed; it depends on nothing else. Pairs of operations, types and
/// modes rotate with the index, so that all of them occur.
[[nodiscard]] GeneratedProgram random_program(std::uint64_t seed, std::uint64_t index, Sizes sizes = Sizes::stated);

/// As random_program, a chain of statements that move data: reshape, transpose, pad, slice and concat, each applied to
/// the result of the one before.
[[nodiscard]] GeneratedProgram random_chain(std::uint64_t seed, std::uint64_t index);

}  // namespace padlock::differential
