#include "compiler/emit/gpu/boxes/box_vectors.h"

#include <algorithm>

#include "compiler/emit/scalar/emit_loop.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {

BoxVectors::BoxVectors(const VectorContext& vector, SharedMemory& memory, const BoxStages& stages)
    : vector_(vector),
      builder_(vector.builder),
      memory_(memory),
      stages_(stages),
      lanes_(vector.schedule().boxes()->lanes),
      masks_(builder_, vector.context.target, lanes_),
      accesses_(builder_, vector.fields.fault),
      rows_(vector.context, builder_, vector.exprs) {
  add_groups();
}

// --- what a trip makes ---------------------------------------------------------------------------------------------

BoxVectors::Group& BoxVectors::group_of(PredicateId predicate) {
  const auto known = std::ranges::find(groups_, predicate, &Group::predicate);
  if (known != groups_.end()) return *known;
  return groups_.emplace_back(Group{.predicate = predicate});
}

/// Adds a value of a trip. Before the first row, its elements of so many bits are all the same.
std::size_t BoxVectors::add_value(unsigned bits, std::uint64_t element) {
  auto* elements = llvm::FixedVectorType::get(builder_.getIntNTy(bits), static_cast<unsigned>(lanes_));
  initial_.push_back(builder_.CreateBitCast(llvm::ConstantInt::get(elements, element), masks_.type(bits)));
  return initial_.size() - 1;
}

void BoxVectors::add_groups() {
  for (std::size_t i = 0; i < body().loads.size(); ++i) {
    Group& group = group_of(body().loads[i].guard);
    const BodyNode* filled = fill_of(body(), i);
    const std::uint64_t fill = filled == nullptr ? 0 : body().nodes[static_cast<std::size_t>(filled->operands[1])].bits;
    group.loads.push_back(i);
    group.load_values.push_back(add_value(bits_of(i), fill));
    if (filled != nullptr) filled_.insert(filled);
  }
  for (const BodyNode& node : body().nodes) {
    if (node.kind != NodeKind::when || filled_.contains(&node)) continue;
    Group& group = group_of(node.guard);
    const auto bits = static_cast<unsigned>(8 * ir::byte_size(node.dtype));
    if (std::ranges::find(group.masks, bits) != group.masks.end()) continue;
    group.masks.push_back(bits);
    group.mask_values.push_back(add_value(bits, 0));
  }
}

// --- one row -------------------------------------------------------------------------------------------------------

/// Emits the lanes of the box for which a predicate holds, in a row whose outer coordinates the expressions have.
/// Leaves out conditions that mention an axis of `without`.
LaneRange BoxVectors::lanes_of(PredicateId predicate, Value* column, Axes without) {
  KernelContext& context = vector_.context;
  const auto bounded = [&](llvm::Intrinsic::ID bound, Value* at, std::int64_t by) {
    return builder_.CreateBinaryIntrinsic(bound, builder_.CreateSub(at, column), context.index(by));
  };
  LaneRange lanes{.first = bounded(llvm::Intrinsic::smax, box_.first_column, 0),
                  .end = bounded(llvm::Intrinsic::smin, box_.column_end, lanes_)};
  Value* holds = lanes.narrow(vector_, boxes().column_axis, predicate, column, without);
  lanes.end = builder_.CreateSelect(holds, lanes.end, context.index(0));
  return lanes;
}

/// Adds the group's values in this row to the values from the rows before it.
void BoxVectors::emit_group(const Group& group, Value* column, std::vector<Value*>& values) {
  const LaneRange lanes = lanes_of(group.predicate, column);
  std::map<unsigned, Value*> masks;
  const auto mask = [&](unsigned bits) {
    Value*& known = masks[bits];
    if (known == nullptr) known = masks_.range(lanes.first, lanes.end, bits);
    return known;
  };
  const auto load_number = [&](std::size_t number) { return load(group.loads[number], column, lanes); };
  add_where(builder_.CreateICmpSLT(lanes.first, lanes.end), group, {load_number, mask}, values);
}

void BoxVectors::add_where(Value* some, const Group& group, const Parts& parts, std::vector<Value*>& values) {
  std::vector<std::size_t> places = group.load_values;
  places.insert(places.end(), group.mask_values.begin(), group.mask_values.end());
  BasicBlock* here = vector_.block("some");
  BasicBlock* after = vector_.block("after");
  Ways ways;
  std::vector<Value*> before, made;
  for (const std::size_t place : places) before.push_back(values[place]);
  ways.emplace_back(builder_.GetInsertBlock(), before);
  builder_.CreateCondBr(some, here, after);
  builder_.SetInsertPoint(here);
  std::vector<Value*> loaded;
  for (std::size_t i = 0; i < group.loads.size(); ++i) loaded.push_back(parts.load(i));
  for (std::size_t i = 0; i < loaded.size(); ++i)
    made.push_back(masks_.choose(parts.mask(bits_of(group.loads[i])), loaded[i], before[i]));
  for (std::size_t i = 0; i < group.masks.size(); ++i)
    made.push_back(builder_.CreateOr(before[loaded.size() + i], parts.mask(group.masks[i])));
  ways.emplace_back(builder_.GetInsertBlock(), made);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  const std::vector<Value*> joined = join(builder_, ways);
  for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = joined[i];
}

Value* BoxVectors::load(std::size_t load, Value* column, const LaneRange& lanes) {
  const Schedule& schedule = vector_.schedule();
  ir::ExprContext& exprs = vector_.context.exprs();
  const LoadSource& source = schedule.cases[0].calls[0].sources[load];
  const ir::Layout& layout = schedule.kernel.graph.layout(source.layout);
  if (boxes().stage_of[load] < 0) return load_one(load, layout.offset_of(exprs, source.coordinates));
  return load_staged(load, staged_at(load, column), lanes);
}

/// Emits the byte of shared memory at which lane 0 of a staged load is, maybe before the stage's first.
Value* BoxVectors::staged_at(std::size_t load, Value* column) {
  const Schedule& schedule = vector_.schedule();
  ir::ExprContext& exprs = vector_.context.exprs();
  const LoadSource& source = schedule.cases[0].calls[0].sources[load];
  const std::optional<BoxTurn>& turn = boxes().stages[stage_of(load)].turn;
  const Expr element = turn ? at_launch(exprs, boxes(), turned_element(exprs, *turn, source))
                            : schedule.kernel.graph.layout(source.layout).offset_of(exprs, source.coordinates);
  const StagedRun& run = stages_.at(stage_of(load));
  Value* first = vector_.exprs.address(builder_, at_first_column(schedule.kernel, boxes().column_axis, element));
  Value* size = vector_.context.index(ir::byte_size(run.dtype));
  return builder_.CreateAdd(run.zero, builder_.CreateMul(builder_.CreateAdd(first, column), size));
}

/// Emits the bytes of a turned stage from a load in one strip to the load in the next along an axis.
Value* BoxVectors::staged_step(std::size_t load, Expr axis) {
  const BoxAxis role = axis == vector_.schedule().kernel.coordinate(boxes().row_axis) ? kBoxRow : kBoxSlice;
  const BoxTurn& turn = *boxes().stages[stage_of(load)].turn;
  if (turn.axes[role] < 0) return vector_.context.index(0);
  ir::ExprContext& exprs = vector_.context.exprs();
  const Expr size = exprs.constant(ir::byte_size(stages_.at(stage_of(load)).dtype));
  return exact_at_launch(vector_, exprs.mul(turn.layout.strides()[role], size));
}

/// Elements smaller than a word may begin anywhere in a word.
Value* BoxVectors::load_staged(std::size_t load, Value* at, llvm::ArrayRef<LaneRange> lanes) {
  const StagedRun& run = stages_.at(stage_of(load));
  const int size = ir::byte_size(run.dtype);
  const unsigned count = masks_.words(bits_of(load));
  const bool shifts = size < 4;
  Value* from = shifts ? builder_.CreateAnd(at, builder_.getInt32(~3U)) : at;
  const std::vector<Value*> words = memory_.load_words(from, static_cast<int>(count) + (shifts ? 1 : 0), [&] {
    Value* all = builder_.getTrue();
    for (int lane = 0; lane < lanes_; ++lane) {
      Value* needed = builder_.getFalse();
      for (const auto& [first, end] : lanes)
        needed = builder_.CreateOr(needed, masks_.holds(first, end, static_cast<unsigned>(lane)));
      Value* there =
          memory_.is_written(builder_.CreateAdd(at, builder_.getInt32(static_cast<std::uint32_t>(lane * size))), size);
      all = builder_.CreateAnd(all, builder_.CreateOr(there, builder_.CreateNot(needed)));
    }
    return all;
  });
  Value* bits = shifts ? builder_.CreateShl(builder_.CreateAnd(at, builder_.getInt32(3)), 3) : nullptr;
  Value* made = llvm::PoisonValue::get(masks_.type(bits_of(load)));
  for (unsigned i = 0; i < count; ++i) {
    Value* word = words[i];
    if (shifts)
      word = builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {builder_.getInt32Ty()}, {words[i + 1], words[i], bits});
    made = builder_.CreateInsertElement(made, word, std::uint64_t{i});
  }
  return made;
}

Value* BoxVectors::load_one(std::size_t load, Expr element) {
  const LoadSource& source = vector_.schedule().cases[0].calls[0].sources[load];
  const std::size_t buffer = vector_.context.buffer_of_input(source.tensor);
  const ir::DType dtype = body().loads[load].dtype;
  Access access{.pointer = vector_.fields.buffer(builder_, buffer),
                .dtype = dtype,
                .first = vector_.exprs.address(builder_, element)};
  if (vector_.context.target.aligned_elements) access.align = static_cast<unsigned>(ir::byte_size(dtype));
  if (vector_.context.checks_load(0, load)) {
    access.name = builder_.getInt64(buffer);
    access.extent = vector_.exprs.word(vector_.schedule().kernel.program->value(source.tensor).layout.storage_extent());
  }
  Value* value = accesses_.load(access, builder_.getIntNTy(bits_of(load)));
  return builder_.CreateBitCast(builder_.CreateVectorSplat(static_cast<unsigned>(lanes_), value),
                                masks_.type(bits_of(load)));
}

// --- all rows of a vector ------------------------------------------------------------------------------------------

std::vector<Value*> BoxVectors::emit(Value* row, Value* column, const Range& range) {
  box_ = range;
  KernelContext& context = vector_.context;
  std::vector<Value*> values = initial_;
  const auto emit_groups = [&](Value* this_row, Value* this_column) {
    set_row(this_row);
    for (const Group& group : groups_) emit_group(group, this_column, values);
  };
  if (boxes().kind == BoxKind::parts) {  // a vector lies in one row
    emit_groups(row, column);
    return compute(values);
  }
  Value* columns = vector_.exprs.exact(builder_, box_columns(vector_.schedule().kernel, boxes()));
  values.push_back(row);
  values.push_back(column);
  carrying_loop(builder_, values, [&] {
    Value *this_column = values.back(), *this_row = values[values.size() - 2];
    emit_groups(this_row, this_column);
    Value* next_row = builder_.CreateAdd(this_row, context.index(1));
    Value* next_column = builder_.CreateSub(this_column, columns);
    values[values.size() - 2] = next_row;
    values.back() = next_column;
    return builder_.CreateAnd(builder_.CreateICmpSGT(next_column, context.index(-lanes_)),
                              builder_.CreateICmpSLT(next_row, range.rows));
  });
  return compute(values);
}

// --- one place in several strips -----------------------------------------------------------------------------------

namespace {

bool mentions_any(Expr e, BoxVectors::Axes axes) {
  return llvm::any_of(axes, [&](Expr axis) { return mentions(e, axis); });
}

}  // namespace

bool BoxVectors::shares_places(Axes axes) const {
  const Graph& graph = vector_.schedule().kernel.graph;
  const auto is_even = [&](ConditionId id) {
    const ColumnCondition form = *column_condition(vector_.schedule().kernel, boxes().column_axis, graph.condition(id));
    return form.slope == 0 || !mentions_any(form.rest, axes);
  };
  return std::ranges::all_of(boxes().stage_of, [](int stage) { return stage >= 0; }) &&
         std::ranges::all_of(groups_, [&](const Group& group) {
           return std::ranges::all_of(graph.conditions_of(group.predicate), is_even);
         });
}

BoxVectors::Place BoxVectors::place_of(Value* row, Value* column, const Range& range, Axes axes, Enter enter) {
  box_ = range;
  KernelContext& context = vector_.context;
  Place place{.row = row, .groups = {}};
  Value* exists = builder_.CreateICmpSLT(row, range.rows);
  const std::vector<Value*> strip(axes.size(), context.index(0));
  enter(row, strip);
  for (const Group& group : groups_) {
    Place::OfGroup& made = place.groups.emplace_back();
    LaneRange& lanes = made.lanes.emplace_back(lanes_of(group.predicate, column, axes));
    lanes.end = builder_.CreateSelect(exists, lanes.end, context.index(0));
    // Keeps both ends among the vector's lanes, as masks need them: join_rows takes the mask of a row without lanes,
    // too.
    lanes.first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes.first, context.index(lanes_));
    lanes.end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lanes.end, context.index(0));
    std::vector<unsigned> widths = group.masks;
    for (const std::size_t load : group.loads) widths.push_back(bits_of(load));
    for (const unsigned bits : widths)
      if (!made.masks.contains(bits)) made.masks[bits] = masks_.range(lanes.first, lanes.end, bits);
    for (const std::size_t load : group.loads) made.first.push_back(staged_at(load, column));
  }
  return place;
}

/// Emits whether the rows of all stages are as far apart as in the output.
Value* BoxVectors::rows_are_adjacent() {
  Value* all = builder_.getTrue();
  Value* columns = exact_at_launch(vector_, box_columns(vector_.schedule().kernel, boxes()));
  for (const BoxStage& stage : boxes().stages) {
    Value* apart = exact_at_launch(vector_, stage.turn->layout.strides()[kBoxRow]);
    all = builder_.CreateAnd(all, builder_.CreateICmpEQ(apart, columns));
  }
  return all;
}

void BoxVectors::join_rows(Place& place, Place& next, Axes axes) {
  const Kernel& kernel = vector_.schedule().kernel;
  // Finds conditions by which, in some strips, one of two rows has loads and the other has none.
  const auto splits_rows = [&](ConditionId id) {
    const Expr rest = column_condition(kernel, boxes().column_axis, kernel.graph.condition(id))->rest;
    return mentions_any(rest, axes) &&
           llvm::any_of(box_row_axes(boxes()), [&](int axis) { return mentions(rest, kernel.coordinate(axis)); });
  };
  for (const Group& group : groups_)
    if (std::ranges::any_of(kernel.graph.conditions_of(group.predicate), splits_rows)) return;
  // A stage without the rows' axis has one row, which all rows of the output read.
  const auto has_rows = [](const BoxStage& stage) { return stage.turn->axes[kBoxRow] >= 0; };
  if (!std::ranges::all_of(boxes().stages, has_rows)) return;
  Value* joins = rows_are_adjacent();
  Value* none = vector_.context.index(0);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Place::OfGroup &made = place.groups[i], &other = next.groups[i];
    LaneRange& lanes = other.lanes.front();
    made.lanes.push_back({lanes.first, builder_.CreateSelect(joins, lanes.end, none)});
    lanes.end = builder_.CreateSelect(joins, none, lanes.end);
    for (auto& [bits, mask] : made.masks) {
      Value* all = builder_.CreateVectorSplat(masks_.words(bits), builder_.CreateSExt(joins, builder_.getInt32Ty()));
      mask = builder_.CreateOr(mask, builder_.CreateAnd(other.masks.at(bits), all));
    }
  }
}

std::vector<Value*> BoxVectors::emit(llvm::ArrayRef<Place> places, Digits strip, Axes axes, Enter enter) {
  std::vector<Value*> values = initial_;
  const Graph& graph = vector_.schedule().kernel.graph;
  for (const Place& place : places)
    for (std::size_t number = 0; number < groups_.size(); ++number) {
      const Group& group = groups_[number];
      const Place::OfGroup& made = place.groups[number];
      Value* some = builder_.getFalse();
      for (const auto& [first, end] : made.lanes) some = builder_.CreateOr(some, builder_.CreateICmpSLT(first, end));
      for (const ConditionId id : graph.conditions_of(group.predicate)) {
        const Expr rest = column_condition(vector_.schedule().kernel, boxes().column_axis, graph.condition(id))->rest;
        if (!mentions_any(rest, axes)) continue;
        enter(place.row, strip);
        some = builder_.CreateAnd(some, holds_in_row(vector_, graph.condition(id), rest));
      }
      const auto load_number = [&](std::size_t i) {
        const std::size_t load = group.loads[i];
        Value* at = made.first[i];
        for (std::size_t axis = 0; axis < strip.size(); ++axis)
          at = builder_.CreateAdd(at, builder_.CreateMul(strip[axis], staged_step(load, axes[axis])));
        return load_staged(load, at, made.lanes);
      };
      const auto mask = [&](unsigned bits) { return made.masks.at(bits); };
      add_where(some, group, {load_number, mask}, values);
    }
  return compute(values);
}

std::vector<Value*> BoxVectors::compute(const std::vector<Value*>& values) {
  std::vector<Value*> loads(body().loads.size());
  std::map<std::pair<PredicateId, unsigned>, Value*> masks;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.loads.size(); ++i) loads[group.loads[i]] = values[group.load_values[i]];
    for (std::size_t i = 0; i < group.masks.size(); ++i)
      masks[{group.predicate, group.masks[i]}] = values[group.mask_values[i]];
  }
  BodyValues nodes(vector_.context, body(), builder_, vector_.fields, vector_.exprs);
  const auto load = [&](const BodyNode& node) {
    const auto i = static_cast<std::size_t>(node.load);
    llvm::Type* element = builder_.getIntNTy(bits_of(i));
    return builder_.CreateBitCast(loads[i], llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_)));
  };
  const auto choose = [&](const BodyNode& node, Value* value, Value* other) {
    if (filled_.contains(&node)) return value;
    const auto bits = static_cast<unsigned>(8 * ir::byte_size(node.dtype));
    const auto words = [&](Value* of) { return builder_.CreateBitCast(nodes.spread(of, lanes_), masks_.type(bits)); };
    return builder_.CreateBitCast(masks_.choose(masks.at({node.guard, bits}), words(value), words(other)),
                                  value->getType());
  };
  BodyValues::Values made(body().nodes.size());
  nodes.emit(lanes_, {.load = load, .choose = choose}, made);
  std::vector<Value*> results;
  for (const int root : body().roots) results.push_back(nodes.spread(made[static_cast<std::size_t>(root)], lanes_));
  return results;
}

}  // namespace padlock::compiler
