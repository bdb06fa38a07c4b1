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
  std::optional<std::vector<Dim>> strides;  // absent: none declared, so dense
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

/// A program with one binding for which it is legal, and everything that makes another binding legal.
struct GeneratedProgram {
  std::vector<std::string> parameters;  // as written, in order
  std::vector<GeneratedSymbol> symbols;
  std::vector<GeneratedTensor> tensors;
  std::vector<Condition> stated;   // the where clause
  std::vector<Condition> implied;  // extents >= 0, slice limits, equal extents, empty axes
  std::vector<GeneratedStatement> statements;
  std::vector<std::string> results;
  SymbolValues seed_values;

  /// Program text, with these results only; statements that they do not need are left out unless all are wanted.
  [[nodiscard]] std::string text() const { return text_of(results, false); }
  [[nodiscard]] std::string text_of(const std::vector<std::string>& wanted, bool drop_unused) const;
  /// Whether the result or statement of that name is needed for `wanted`.
  [[nodiscard]] std::vector<bool> live_statements(const std::vector<std::string>& wanted) const;

  [[nodiscard]] bool legal(const SymbolValues& values) const;
  /// Every value and the storage of every parameter has at most `limit` elements.
  [[nodiscard]] bool within(const SymbolValues& values, std::int64_t limit) const;
  /// Values near the seed's and at awkward sizes; legal or not.
  [[nodiscard]] SymbolValues vary(testing::Rng& rng) const;
  /// What to bind: shapes of all tensors (strides of insignificant axes arbitrary), dims by name; now and then no
  /// tensors at all and every symbol by name.
  [[nodiscard]] ir::BindRequest request(const SymbolValues& values, testing::Rng& rng) const;
};

/// An operation that feeds another.
struct OpPair {
  ir::Op producer = ir::Op::pad;
  ir::Op consumer = ir::Op::pad;
};
/// Every pair that the type rules admit.
[[nodiscard]] std::vector<OpPair> legal_pairs();

/// What a program says of its sizes: `stated` has true constraints now and then; `free` has none, and multiplies sizes
/// with each other wherever an expression may stand.
enum class Sizes : std::uint8_t { stated, free };

/// Program number `index` of the run with that seed. It depends on nothing else. Pairs of operations, types and modes
/// go round with the index, so that all of them occur.
[[nodiscard]] GeneratedProgram random_program(std::uint64_t seed, std::uint64_t index, Sizes sizes = Sizes::stated);

/// Likewise a chain of statements that move data: reshape, transpose, pad, slice and concat, each of what the one
/// before it made.
[[nodiscard]] GeneratedProgram random_chain(std::uint64_t seed, std::uint64_t index);

}  // namespace padlock::differential
