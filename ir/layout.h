#pragma once

#include <span>
#include <vector>

#include "ir/expr/expr.h"

namespace padlock::ir {

/// The layout of a tensor's elements in memory: extents, strides and a base offset, all in elements and all >= 0.
/// Storage extents and linear offsets are made only here, from these three (rule R1).
///
/// Lemma: 0 <= c[i] < extents[i] for every i implies 0 <= offset_of(c) < storage_extent().
/// By induction over the axes: with partial sums P_k = offset + sum_{i<k} c[i]*stride[i] and Q_k = offset + sum_{i<k}
/// (extent[i]-1)*stride[i], c[k] <= extent[k]-1 and stride[k] >= 0 give 0 <= P_k <= Q_k; and storage_extent = Q_rank +
/// 1 when no extent is 0.
class Layout {
 public:
  Layout() = default;
  /// Precondition: as many strides as extents; every one provably >= 0 (the verifier and Binding see to it).
  Layout(ExprContext& context, std::vector<Expr> extents, std::vector<Expr> strides, Expr offset);
  /// Row-major, dense, offset 0.
  static Layout dense(ExprContext& context, std::vector<Expr> extents);

  [[nodiscard]] int rank() const { return static_cast<int>(extents_.size()); }
  [[nodiscard]] std::span<const Expr> extents() const { return extents_; }
  [[nodiscard]] std::span<const Expr> strides() const { return strides_; }
  [[nodiscard]] Expr offset() const { return offset_; }

  /// Elements of storage that the tensor spans from its base pointer: 0 if an extent is 0, else
  /// offset + 1 + sum (extent - 1) * stride. One expression: the factor prod min(extent, 1) makes the first case.
  [[nodiscard]] Expr storage_extent() const { return storage_extent_; }
  /// Returns storage_extent() of a tensor without extents of 0: offset + 1 + sum (extent - 1) * stride.
  [[nodiscard]] Expr span(ExprContext& context) const;
  /// Returns whether it is row-major and dense, and begins at the first element.
  [[nodiscard]] bool is_dense() const { return is_dense_; }
  /// Number of elements.
  [[nodiscard]] Expr element_count() const { return element_count_; }
  /// Linear offset in elements. Precondition: coordinates.size() == rank().
  [[nodiscard]] Expr offset_of(ExprContext& context, std::span<const Expr> coordinates) const;

  /// Returns the distance in elements between coordinates that differ by `slope` on `axis`.
  [[nodiscard]] Expr step_of(ExprContext& context, int axis, Int128 slope) const;
  /// Returns whether the element after the last of axis + 1 is the next of `axis`; false if that is not shown.
  [[nodiscard]] bool next_axis_continues(ExprContext& context, int axis) const;
  /// Returns whether this is `whole` with runs of adjacent axes merged: the same elements in the same storage.
  [[nodiscard]] bool merges(ExprContext& context, const Layout& whole) const;
  /// Returns the layout of the same storage with `axis` and axis + 1 merged into one. Precondition:
  /// next_axis_continues(axis).
  [[nodiscard]] Layout with_next_axis_merged(ExprContext& context, int axis) const;

 private:
  std::vector<Expr> extents_;
  std::vector<Expr> strides_;
  Expr offset_;
  Expr storage_extent_;
  Expr element_count_;
  bool is_dense_ = false;  // row-major, offset 0
};

/// Every tensor's storage is below this many bytes (rule R5), so that an emitted byte offset fits 64 bits.
inline constexpr Int128 kMaxStorageBytes = Int128{1} << 47;

}  // namespace padlock::ir
