#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/lane_masks.h"
#include "compiler/schedule/model/blend.h"

namespace padlock::compiler {

/// Emits the values of a grid's vector that spans several segments of one row (compiler/schedule/model/blend.h).
class BlendedValues {
 public:
  /// `segments`: the arguments of each; `end` is the segment's end. `column`: of the first lane, an index.
  BlendedValues(const VectorContext& vector, const Blend& blend, std::vector<BodyArguments> segments,
                llvm::Value* column);

  /// As load and compute of ThreadValues.
  [[nodiscard]] std::vector<llvm::Value*> load(llvm::function_ref<void()> outside);
  [[nodiscard]] std::vector<llvm::Value*> compute(llvm::ArrayRef<llvm::Value*> loaded);

 private:
  [[nodiscard]] std::size_t segments() const { return blend_.bodies.size(); }
  [[nodiscard]] ThreadValues code_of(std::size_t segment);
  [[nodiscard]] llvm::Value* lanes_before(llvm::Value* end);
  [[nodiscard]] LaneRuns lanes_of(const std::vector<std::size_t>& segments);
  [[nodiscard]] std::vector<llvm::Value*> where(llvm::Value* condition,
                                                llvm::function_ref<std::vector<llvm::Value*>()> emit);
  [[nodiscard]] std::vector<llvm::Value*> where_one_of(
      llvm::ArrayRef<LaneRuns> lanes, llvm::function_ref<void()> outside,
      llvm::function_ref<void(std::size_t i, llvm::Value* needed)> take,
      llvm::function_ref<std::vector<llvm::Value*>()> emit);
  [[nodiscard]] std::vector<llvm::Value*> load_one_of(const std::vector<std::size_t>& group,
                                                      llvm::function_ref<void()> outside);
  [[nodiscard]] std::vector<llvm::Value*> compute_column(llvm::function_ref<void()> outside);
  [[nodiscard]] std::vector<llvm::Value*> results_of(std::size_t segment);
  [[nodiscard]] std::vector<llvm::Value*> choose_lanes(std::size_t main, const std::vector<llvm::Value*>& of_main);
  void choose_lanes_of(std::size_t segment, llvm::Value* first, const std::vector<llvm::Value*>& own,
                       std::vector<llvm::Value*>& chosen);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  const Blend& blend_;
  std::vector<BodyArguments> arguments_;
  llvm::Value* column_;
  LaneMasks masks_;
  std::vector<llvm::Value*> vectors_ = {};   // of each load
  std::vector<llvm::Value*> elements_ = {};  // results of the column that is computed by itself
  std::vector<llvm::Value*> ends_ =
      {};  // of each segment the lane after its last, i32: from 0 to the lanes of a vector
};

}  // namespace padlock::compiler
