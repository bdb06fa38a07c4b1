#pragma once

#include <map>
#include <set>
#include <vector>

#include "compiler/emit/gpu/boxes/box_stages.h"
#include "compiler/emit/rows/body_values.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/emit/scalar/lane_masks.h"

namespace padlock::compiler {

/// Emits the values of vectors of a box. A vector may lie in several rows. In each row it has some lanes, and a
/// condition holds for a range of these lanes. The row's loads are vectors, too, of which only this range counts.
class BoxVectors {
 public:
  BoxVectors(const VectorContext& vector, SharedMemory& memory, const BoxStages& stages);

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// The rows, columns and slices of a box, as indices.
  struct Range {
    llvm::Value *first_row, *rows;           ///< numbers of rows in the axes' order: the first, and the count
    llvm::Value *first_column, *column_end;  ///< of each row: the first column, and the end
    llvm::Value *first_slice = nullptr, *slices = nullptr;  ///< the first, and the count, if there are some
  };
  /// Emits the coordinates of a row along the axes that number rows.
  [[nodiscard]] std::vector<llvm::Value*> unflatten(llvm::Value* row) {
    return rows_.unflatten(row, box_row_axes(boxes()));
  }
  /// Emits the results of a vector whose lane 0 is `column` of row `row` of the box. Both are indices; the column may
  /// be before the first.
  [[nodiscard]] std::vector<llvm::Value*> emit(llvm::Value* row, llvm::Value* column, const Range& range);

  /// The axes along which strips lie, as their coordinates, and a strip's digits along them, counted from the box's
  /// first.
  using Axes = llvm::ArrayRef<Expr>;
  using Digits = llvm::ArrayRef<llvm::Value*>;
  /// Sets the coordinates of a row in the strip with these digits; of parts, the digits decide the row.
  using Enter = llvm::function_ref<void(llvm::Value* row, Digits strip)>;
  /// Describes the part of a vector that lies in one row. It is the same in several strips; only the loads move.
  struct Place {
    struct OfGroup {
      llvm::SmallVector<LaneRange, 2> lanes = {};
      std::map<unsigned, llvm::Value*> masks = {};  ///< of these lanes, by the bits of an element
      std::vector<llvm::Value*> first = {};         ///< byte of lane 0 in the first strip, for each load
    };
    llvm::Value* row = nullptr;
    std::vector<OfGroup> groups;
  };
  /// Returns whether a vector has the same lanes in all strips along these axes. A strip may still have none of a row's
  /// lanes, and its loads begin elsewhere.
  [[nodiscard]] bool shares_places(Axes axes) const;
  /// Emits the place of the vector whose lane 0 is `column` of row `row`, which may be past the box.
  [[nodiscard]] Place place_of(llvm::Value* row, llvm::Value* column, const Range& range, Axes axes, Enter enter);
  /// Adds the next row's lanes to the first place where the stages keep that row's columns right behind its own: one
  /// load then has both.
  void join_rows(Place& place, Place& next, Axes axes);
  /// Emits the results of the vector with these places in a strip.
  [[nodiscard]] std::vector<llvm::Value*> emit(llvm::ArrayRef<Place> places, Digits strip, Axes axes, Enter enter);

  /// Sets the coordinates of a row of the box whose vectors are emitted.
  void set_row(llvm::Value* row) {
    rows_.set_row(builder_.CreateAdd(box_.first_row, row), vector_.context.offset_type(), box_row_axes(boxes()));
  }

 private:
  /// One predicate, the loads that it guards, and its masks, one for each width of elements.
  struct Group {
    PredicateId predicate = kAlways;
    std::vector<std::size_t> loads = {};
    std::vector<unsigned> masks = {};  // bits
    // Positions of the group's values among a trip's values.
    std::vector<std::size_t> load_values = {}, mask_values = {};
  };

  [[nodiscard]] const Boxes& boxes() const { return *vector_.schedule().boxes(); }
  [[nodiscard]] const Body& body() const { return vector_.schedule().bodies[0]; }
  [[nodiscard]] unsigned bits_of(std::size_t load) const {
    return static_cast<unsigned>(8 * ir::byte_size(body().loads[load].dtype));
  }
  void add_groups();
  Group& group_of(PredicateId predicate);
  [[nodiscard]] std::size_t add_value(unsigned bits, std::uint64_t element);
  [[nodiscard]] LaneRange lanes_of(PredicateId predicate, llvm::Value* column, Axes without = {});
  void emit_group(const Group& group, llvm::Value* column, std::vector<llvm::Value*>& values);
  /// Emit a group's load by its number in the group, and the mask of its lanes for elements of so many bits.
  struct Parts {
    llvm::function_ref<llvm::Value*(std::size_t number)> load;
    llvm::function_ref<llvm::Value*(unsigned bits)> mask;
  };
  /// Adds these parts of a group to the values, where `some` holds.
  void add_where(llvm::Value* some, const Group& group, const Parts& parts, std::vector<llvm::Value*>& values);
  [[nodiscard]] llvm::Value* load(std::size_t load, llvm::Value* column, const LaneRange& lanes);
  [[nodiscard]] std::size_t stage_of(std::size_t load) const {
    return static_cast<std::size_t>(boxes().stage_of[load]);
  }
  [[nodiscard]] llvm::Value* staged_at(std::size_t load, llvm::Value* column);
  [[nodiscard]] llvm::Value* staged_step(std::size_t load, Expr axis);
  [[nodiscard]] llvm::Value* load_staged(std::size_t load, llvm::Value* at, llvm::ArrayRef<LaneRange> lanes);
  [[nodiscard]] llvm::Value* rows_are_adjacent();
  [[nodiscard]] llvm::Value* load_one(std::size_t load, Expr element);
  [[nodiscard]] std::vector<llvm::Value*> compute(const std::vector<llvm::Value*>& values);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SharedMemory& memory_;
  const BoxStages& stages_;
  int lanes_;
  LaneMasks masks_;
  AccessEmitter accesses_;
  RowEmitter rows_;
  Range box_ = {};
  std::vector<Group> groups_;
  std::vector<llvm::Value*> initial_;  // a trip's values before the first row
  std::set<const BodyNode*> filled_;   // nodes that have the value of a load (fill_of)
};

}  // namespace padlock::compiler
