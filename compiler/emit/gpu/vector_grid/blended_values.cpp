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

/// Emits code for vectors that have lanes of one of several loads or columns. A vector with lanes of more than one is
/// an edge. `take` is called for each number i; `needed` says whether the vector has lanes of it.
std::vector<Value*> BlendedValues::where_one_of(llvm::ArrayRef<LaneRuns> lanes, llvm::function_ref<void()> outside,
                                                llvm::function_ref<void(std::size_t i, Value* needed)> take,
                                                llvm::function_ref<std::vector<Value*>()> emit) {
  Value *some = builder_.getFalse(), *several = builder_.getFalse();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    Value* needed = lanes[i].any(builder_);
    take(i, needed);
    several = builder_.CreateOr(several, builder_.CreateAnd(some, needed));
    some = builder_.CreateOr(some, needed);
  }
  return where(some, [&] {
    BasicBlock *edge = vector_.block("several"), *one = vector_.block("one");
    builder_.CreateCondBr(several, edge, one);
    builder_.SetInsertPoint(edge);
    outside();
    builder_.SetInsertPoint(one);
    return emit();
  });
}

/// Emits the one load of a group that a vector needs, if it needs one.
std::vector<Value*> BlendedValues::load_one_of(const std::vector<std::size_t>& group,
                                               llvm::function_ref<void()> outside) {
  const Blend::Load& first = blend_.loads[group.front()];
  BodyArguments arguments = arguments_[first.segment];
  std::vector<LaneRuns> each;
  for (const std::size_t index : group) each.push_back(lanes_of(blend_.loads[index].segments));
  LaneRuns lanes = each.front();
  const auto take = [&](std::size_t i, Value* needed) {
    if (i == 0) return;
    const Blend::Load& load = blend_.loads[group[i]];
    Value*& base = arguments.loads[first.load].base;
    auto& [begin, end] = lanes.runs.front();
    begin = builder_.CreateSelect(needed, each[i].runs.front().first, begin);
    end = builder_.CreateSelect(needed, each[i].runs.front().second, end);
    base = builder_.CreateSelect(needed, arguments_[load.segment].loads[load.load].base, base);
  };
  return where_one_of(each, outside, take, [&] {
    ThreadValues code(vector_, static_cast<std::size_t>(blend_.bodies[first.segment]), arguments, column_);
    return code.load_lanes(first.load, outside, &lanes);
  });
}

/// Emits the results in the one column of a vector that is computed by itself, if it has one.
std::vector<Value*> BlendedValues::compute_column(llvm::function_ref<void()> outside) {
  BodyArguments arguments = arguments_[blend_.lone_columns.front()];
  std::vector<LaneRuns> each;
  for (const std::size_t segment : blend_.lone_columns) each.push_back(lanes_of({segment}));
  Value* lane = each.front().runs.front().first;
  const auto take = [&](std::size_t i, Value* needed) {
    if (i == 0) return;
    lane = builder_.CreateSelect(needed, each[i].runs.front().first, lane);
    const std::vector<Value*> values = arguments_[blend_.lone_columns[i]].values();
    std::size_t next = 0;
    arguments.for_each([&](Value*& value, bool) { value = builder_.CreateSelect(needed, values[next++], value); });
  };
  return where_one_of(each, outside, take, [&] {
    Value* column = builder_.CreateAdd(column_, builder_.CreateZExtOrTrunc(lane, column_->getType()));
    const auto body = static_cast<std::size_t>(blend_.bodies[blend_.lone_columns.front()]);
    const std::vector<Value*> results = ThreadValues(vector_, body, std::move(arguments), column).compute_element();
    vector_.set(vector_.schedule().kernel.column(), column_);
    return results;
  });
}

std::vector<Value*> BlendedValues::load(llvm::function_ref<void()> outside) {
  for (const BodyArguments& segment : arguments_) ends_.push_back(lanes_before(segment.end));
  std::vector<Value*> loaded = ends_;
  const auto load_group = [&](const std::vector<std::size_t>& group) {
    if (group.size() > 1) return load_one_of(group, outside);
    const Blend::Load& load = blend_.loads[group.front()];
    ThreadValues code = code_of(load.segment);
    if (load.segments.size() == segments()) return code.load_lanes(load.load, outside, nullptr);
    const LaneRuns lanes = lanes_of(load.segments);
    return where(lanes.any(builder_), [&] { return code.load_lanes(load.load, outside, &lanes); });
  };
  for (const std::vector<std::size_t>& group : blend_.groups) {
    const std::vector<Value*> values = load_group(group);
    loaded.insert(loaded.end(), values.begin(), values.end());
  }
  if (blend_.lone_columns.empty()) return loaded;
  const std::vector<Value*> elements = compute_column(outside);
  loaded.insert(loaded.end(), elements.begin(), elements.end());
  return loaded;
}

/// The main segment's results, if all lanes are its own. Else each lane has those of its segment.
std::vector<Value*> BlendedValues::compute(llvm::ArrayRef<Value*> loaded) {
  ends_ = loaded.take_front(segments()).vec();
  loaded = loaded.drop_front(segments());
  vectors_.resize(blend_.loads.size());
  for (const std::vector<std::size_t>& group : blend_.groups) {
    const Blend::Load& load = blend_.loads[group.front()];
    ThreadValues code = code_of(load.segment);
    const std::size_t count = code.loaded_values(load.load);
    Value* vector = code.vector_from(load.load, loaded.take_front(count));
    for (const std::size_t index : group) vectors_[index] = vector;
    loaded = loaded.drop_front(count);
  }
  elements_ = loaded.vec();
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

/// Chooses the results of each lane's own segment. If most segments have the main segment's results, begins with these
/// and replaces the lanes of each other segment. Else begins with the last segment's, and replaces the lanes before the
/// end of each earlier one, the first segment's at last.
std::vector<Value*> BlendedValues::choose_lanes(std::size_t main, const std::vector<Value*>& of_main) {
  // By body, and what it takes.
  std::map<std::pair<int, std::vector<std::size_t>>, std::vector<Value*>> made;
  const auto key = [&](std::size_t segment) { return std::pair(blend_.bodies[segment], blend_.takes[segment]); };
  const auto results = [&](std::size_t segment) {
    const auto [place, is_new] = made.try_emplace(key(segment));
    if (is_new) place->second = results_of(segment);
    return place->second;
  };
  made[key(main)] = of_main;
  std::vector<std::size_t> others;
  for (std::size_t segment = 0; segment < segments(); ++segment)
    if (key(segment) != key(main)) others.push_back(segment);
  const bool by_ranges = 2 * others.size() < segments();
  std::vector<Value*> chosen = by_ranges ? of_main : results(segments() - 1);
  if (by_ranges)
    for (const std::size_t segment : others)
      choose_lanes_of(segment, segment == 0 ? builder_.getInt32(0) : ends_[segment - 1], results(segment), chosen);
  else
    for (std::size_t segment = segments() - 1; segment-- > 0;)
      choose_lanes_of(segment, builder_.getInt32(0), results(segment), chosen);
  return chosen;
}

/// Puts a segment's results in the lanes from `first` to its end.
void BlendedValues::choose_lanes_of(std::size_t segment, Value* first, const std::vector<Value*>& own,
                                    std::vector<Value*>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (own[i] == chosen[i]) continue;
    const auto bits = 8 * static_cast<unsigned>(ir::byte_size(vector_.result_type(i)));
    const auto words = [&](Value* value) { return builder_.CreateBitCast(value, masks_.type(bits)); };
    Value* made = masks_.choose_range(first, ends_[segment], words(own[i]), words(chosen[i]), bits);
    chosen[i] = builder_.CreateBitCast(made, own[i]->getType());
  }
}

std::vector<Value*> BlendedValues::results_of(std::size_t segment) {
  std::vector<Value*> values;
  if (std::ranges::find(blend_.lone_columns, segment) != blend_.lone_columns.end()) {
    for (Value* element : elements_)
      values.push_back(builder_.CreateVectorSplat(static_cast<unsigned>(vector_.lanes()), element));
    return values;
  }
  for (const std::size_t load : blend_.takes[segment]) values.push_back(vectors_[load]);
  return code_of(segment).compute(vector_.lanes(), values);
}

}  // namespace padlock::compiler
