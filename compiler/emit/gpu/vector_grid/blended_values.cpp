#include "compiler/emit/gpu/vector_grid/blended_values.h"

#include <map>
#include <utility>

namespace padlock::compiler {

BlendedValues::BlendedValues(const VectorContext& vector, const Blend& blend, std::vector<BodyArguments> segments,
                             Value* column)
    : vector_(vector),
      builder_(vector.builder),
      blend_(blend),
      arguments_(std::move(segments)),
      column_(column),
      masks_(builder_, vector.context.target, vector.lanes()) {}

ThreadValues BlendedValues::code_of(std::size_t segment) {
  return {vector_, static_cast<std::size_t>(blend_.bodies[segment]), arguments_[segment], column_};
}

/// Returns the lanes of the vector whose columns lie before `end`.
Value* BlendedValues::lanes_before(Value* end) {
  const auto bounded = [&](llvm::Intrinsic::ID bound, Value* value, std::int64_t by) {
    return builder_.CreateBinaryIntrinsic(bound, value, vector_.index(by));
  };
  Value* lanes = bounded(llvm::Intrinsic::smax, builder_.CreateSub(end, column_), 0);
  return builder_.CreateTrunc(bounded(llvm::Intrinsic::smin, lanes, vector_.lanes()), builder_.getInt32Ty());
}

/// Returns the lanes of some segments; neighbouring segments form one run.
LaneRuns BlendedValues::lanes_of(const std::vector<std::size_t>& of) {
  LaneRuns lanes;
  for (std::size_t i = 0; i < of.size(); ++i) {
    Value* begin = of[i] == 0 ? builder_.getInt32(0) : ends_[of[i] - 1];
    if (i > 0 && of[i - 1] + 1 == of[i])
      lanes.runs.back().second = ends_[of[i]];
    else
      lanes.runs.emplace_back(begin, ends_[of[i]]);
  }
  return lanes;
}

/// Emits code for where a condition holds. Elsewhere its values are undefined.
std::vector<Value*> BlendedValues::where(Value* condition, llvm::function_ref<std::vector<Value*>()> emit) {
  BasicBlock* without = builder_.GetInsertBlock();
  BasicBlock *needed = vector_.block("needed"), *after = vector_.block("blended");
  builder_.CreateCondBr(condition, needed, after);
  builder_.SetInsertPoint(needed);
  Ways ways = {{nullptr, emit()}, {without, {}}};
  ways[0].first = builder_.GetInsertBlock();
  for (Value* value : ways[0].second) ways[1].second.push_back(llvm::PoisonValue::get(value->getType()));
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  return join(builder_, ways);
}

std::vector<Value*> BlendedValues::load(llvm::function_ref<void()> outside) {
  for (const BodyArguments& segment : arguments_) ends_.push_back(lanes_before(segment.end));
  std::vector<Value*> loaded = ends_;
  for (const Blend::Load& load : blend_.loads) {
    ThreadValues code = code_of(load.segment);
    const LaneRuns lanes = lanes_of(load.segments);
    const auto of_lanes = [&] { return code.load_lanes(load.load, outside, &lanes); };
    const bool is_all = load.segments.size() == segments();
    const std::vector<Value*> values =
        is_all ? code.load_lanes(load.load, outside, nullptr) : where(lanes.any(builder_), of_lanes);
    loaded.insert(loaded.end(), values.begin(), values.end());
  }
  return loaded;
}

/// The main segment's results, if all lanes are its own. Else those of the last segment, in which those of the segments
/// before it take the place of their lanes.
std::vector<Value*> BlendedValues::compute(llvm::ArrayRef<Value*> loaded) {
  ends_ = loaded.take_front(segments()).vec();
  loaded = loaded.drop_front(segments());
  for (const Blend::Load& load : blend_.loads) {
    ThreadValues code = code_of(load.segment);
    const std::size_t count = code.loaded_values(load.load);
    vectors_.push_back(code.vector_from(load.load, loaded.take_front(count)));
    loaded = loaded.drop_front(count);
  }
  const std::size_t main = blend_.main_segment();
  const std::vector<Value*> own = results_of(main);
  BasicBlock* whole = builder_.GetInsertBlock();
  BasicBlock *several = vector_.block("several"), *after = vector_.block("blended");
  builder_.CreateCondBr(lanes_of({main}).all(builder_, vector_.lanes()), after, several);
  builder_.SetInsertPoint(several);
  const std::vector<Value*> chosen = choose_lanes(main, own);
  const Ways ways = {{whole, own}, {builder_.GetInsertBlock(), chosen}};
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  return join(builder_, ways);
}

std::vector<Value*> BlendedValues::choose_lanes(std::size_t main, const std::vector<Value*>& of_main) {
  // By body, and what it takes.
  std::map<std::pair<int, std::vector<std::size_t>>, std::vector<Value*>> made;
  const auto results = [&](std::size_t segment) {
    const auto [place, is_new] = made.try_emplace({blend_.bodies[segment], blend_.takes[segment]});
    if (is_new) place->second = results_of(segment);
    return place->second;
  };
  made[{blend_.bodies[main], blend_.takes[main]}] = of_main;
  std::vector<Value*> chosen = results(segments() - 1);
  for (std::size_t segment = segments() - 1; segment-- > 0;) {
    const std::vector<Value*> own = results(segment);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (own[i] == chosen[i]) continue;
      const auto bits = 8 * static_cast<unsigned>(ir::byte_size(vector_.result_type(i)));
      chosen[i] = choose(masks_.range(builder_.getInt32(0), ends_[segment], bits), own[i], chosen[i], bits);
    }
  }
  return chosen;
}

std::vector<Value*> BlendedValues::results_of(std::size_t segment) {
  std::vector<Value*> values;
  for (const std::size_t load : blend_.takes[segment]) values.push_back(vectors_[load]);
  return code_of(segment).compute(vector_.lanes(), values);
}

Value* BlendedValues::choose(Value* mask, Value* a, Value* b, unsigned bits) {
  const auto words = [&](Value* value) { return builder_.CreateBitCast(value, masks_.type(bits)); };
  return builder_.CreateBitCast(masks_.choose(mask, words(a), words(b)), a->getType());
}

}  // namespace padlock::compiler
