#include "compiler/kernel/lowering.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ir/expr/affine.h"
#include "support/limits.h"

namespace padlock::compiler {
namespace {

using ir::ValueId;

/// A demand for one element of a value: its coordinates, and its path (what holds whenever it is read).
struct Demand {
  std::vector<Expr> coordinates;
  PredicateId path = kAlways;
  std::vector<Expr> facts = {};       // from reshapes passed so far; see a load's facts in compiler/kernel/kernel.h
  std::vector<Expr> read_facts = {};  // from pads passed so far
};

/// Names a demand of a value, or a node without demands (a literal, a run-time scalar).
struct Source {
  bool is_node = false;
  NodeId node = 0;
  ValueId value = 0;
  std::size_t demand = 0;
};

/// How a demanded element comes from its sources. An elementwise operation takes all sources. Else the first source
/// whose predicate holds is taken; the last has kAlways.
struct Recipe {
  std::vector<PredicateId> when;  // empty for an elementwise operation and a load
  std::vector<Source> sources;
  std::vector<std::vector<Walk>> walks = {};  // the walks that add up each source; empty: no source is a sum
  std::map<std::size_t, Source> second = {};  // by index of a source: added after that source
  std::vector<Expr> search = {};              // a search's loop, stored as a node's coordinates
};

/// Data coordinates, and the element of an index that each is read from.
struct DataSource {
  Expr variable, extent;
  Source index;
};

/// Returns the value before all reshapes, with the same elements in the same order.
ValueId without_reshapes(const ir::Program& program, ValueId id) {
  while (program.value(id).kind == ir::ValueKind::operation && program.value(id).op == ir::Op::reshape)
    id = std::get<ValueId>(program.value(id).operands[0]);
  return id;
}

/// Returns the extents in which a result is computed. It is stored row by row, so the extents before reshapes serve
/// without divisions. Axes of literally 1 are dropped, since they would make short rows.
std::vector<Expr> computed_extents(const ir::Program& program, ValueId result) {
  const ValueId id = without_reshapes(program, result);
  const auto extents = program.value(id).extents();
  std::vector<Expr> own(extents.begin(), extents.end());
  if (id != result) std::erase_if(own, [](Expr extent) { return extent.is_constant(1); });
  if (own.empty()) own.push_back(program.exprs().constant(1));
  return own;
}

/// Lowers one kernel in two sweeps over the values, without recursion. From users to operands it collects demands; from
/// operands to users it makes the nodes.
class KernelBuilder {
 public:
  KernelBuilder(Kernel& kernel, const MakeIndexMaps& make_maps, const StepBudget& steps)
      : kernel_(kernel),
        steps_(steps),
        program_(*kernel.program),
        graph_(kernel.graph),
        maps_(make_maps ? make_maps(program_.exprs(), coordinate_facts(kernel))
                        : std::make_unique<IndexMaps>(program_.exprs(), coordinate_facts(kernel))),
        products_(program_.exprs(), program_.constraints()),
        demands_(program_.values().size()),
        recipes_(program_.values().size()),
        nodes_(program_.values().size()) {}

  Status build() {
    std::vector<Source> roots;
    for (const ValueId result : kernel_.results) {
      const ValueId computed = without_reshapes(program_, result);
      roots.push_back(demand(computed, {own_coordinates(program_.value(computed), computed != result), kAlways}));
    }
    for (ValueId id = static_cast<ValueId>(demands_.size()); id-- > 0;) PADLOCK_CHECK(expand_all(id));
    for (ValueId id = 0; id < demands_.size(); ++id) nodes_[id].resize(demands_[id].size());
    for (ValueId id = 0; id < demands_.size(); ++id)
      for (std::size_t i = 0; i < demands_[id].size(); ++i) make_nodes({.value = id, .demand = i});
    for (const Source& root : roots) kernel_.roots.push_back(node_of(root));
    return {};
  }

 private:
  /// Coordinates of a value that has the kernel's axes: all of its own, or (`reshaped`) those that are not literally 1.
  /// A value of rank 0 has an axis of extent 1 in the kernel, and no coordinates of its own.
  [[nodiscard]] std::vector<Expr> own_coordinates(const ir::Value& value, bool reshaped) const {
    std::vector<Expr> coordinates;
    int next = 0;
    for (const Expr extent : value.extents())
      coordinates.push_back(reshaped && extent.is_constant(1) ? program_.exprs().constant(0)
                                                              : kernel_.coordinate(next++));
    return coordinates;
  }

  Source demand(ValueId value, Demand wanted) {
    if (program_.value(value).kind == ir::ValueKind::scalar_parameter) {
      Node node{.kind = NodeKind::scalar, .dtype = program_.value(value).dtype, .value = value};
      return {.is_node = true, .node = graph_.add(std::move(node))};
    }
    if (program_.value(value).kind == ir::ValueKind::size)
      return {.is_node = true, .node = make_index(program_.value(value), program_.value(value).size)};
    take_steps(1 + wanted.coordinates.size());
    std::vector<std::uint32_t> key = {value, wanted.path};
    for (const Expr e : wanted.coordinates) key.push_back(e.id());
    for (const Expr e : wanted.facts) key.push_back(e.id());  // includes the walks around it
    for (const Expr e : wanted.read_facts) key.push_back(e.id());
    auto& list = demands_[value];
    const auto [it, inserted] = demand_ids_.try_emplace(std::move(key), list.size());
    if (inserted) {
      list.push_back(std::move(wanted));
      ++demand_count_;
    }
    return {.value = value, .demand = it->second};
  }

  Source source(const ir::Operand& operand, Demand wanted) {
    if (const auto* scalar = std::get_if<ir::Scalar>(&operand)) {
      Node node{.kind = NodeKind::constant, .dtype = scalar->dtype, .bits = scalar->bits};
      return {.is_node = true, .node = graph_.add(std::move(node))};
    }
    return demand(std::get<ValueId>(operand), std::move(wanted));
  }

  [[nodiscard]] std::unexpected<Error> refuse(const ir::Value& value, const std::string& expected) const {
    return std::unexpected(
        Error{Code::resource_exhausted,
              Blame::user,
              fmt::format("statement '{}' of program '{}' is too deep to be computed without intermediate buffers: "
                          "expected {}, found more",
                          value.name, program_.name(), expected),
              {value.where.line, value.where.column, {}},
              {}});
  }

  Status expand_all(ValueId id) {
    const ir::Value& value = program_.value(id);
    if (value.kind != ir::ValueKind::operation) return {};
    for (std::size_t i = 0; i < demands_[id].size(); ++i) {
      const Demand wanted = demands_[id][i];
      recipes_[id].push_back(expand(value, wanted));
      const bool deep =
          std::ranges::any_of(wanted.coordinates, [](Expr e) { return e.depth() > limits::kCoordinateDepth; });
      if (demand_count_ > limits::kKernelNodes)
        return refuse(value,
                      fmt::format("at most {} elements read for each element of a result", limits::kKernelNodes));
      if (deep) return refuse(value, fmt::format("coordinates that nest at most {} deep", limits::kCoordinateDepth));
      if (steps_.is_used_up())
        return refuse(value, fmt::format("a kernel that is found within {} steps", steps_.limit()));
      if (crowded_) return refuse(value, fmt::format("at most {} conditions on one element", limits::kPathConditions));
    }
    return {};
  }

  Recipe expand(const ir::Value& value, const Demand& wanted) {
    switch (value.op) {
      case ir::Op::pad:
        return expand_pad(value, wanted);
      case ir::Op::concat:
        return expand_concat(value, wanted);
      case ir::Op::slice:
      case ir::Op::transpose:
      case ir::Op::broadcast:
        return {{kAlways}, {source(value.operands[0], moved(wanted, moved_coordinates(value, wanted.coordinates)))}};
      case ir::Op::reshape:
        if (viewed(value)) return {};
        return expand_reshape(value, wanted);
      case ir::Op::pad_adjoint:
        return expand_adjoint(value, wanted);
      case ir::Op::take:
        return expand_take(value, wanted);
      case ir::Op::search:
        return expand_search(value, wanted);
      case ir::Op::iota:
        return {};
      default:
        return expand_elementwise(value, wanted);
    }
  }

  /// Demands the operand's element at these coordinates, on the same path.
  static Demand moved(const Demand& wanted, std::vector<Expr> coordinates) {
    return {std::move(coordinates), wanted.path, wanted.facts, wanted.read_facts};
  }

  std::vector<Expr> moved_coordinates(const ir::Value& value, const std::vector<Expr>& coordinates) {
    const ir::Value& operand = program_.value(std::get<ValueId>(value.operands[0]));
    if (value.op == ir::Op::slice) return maps_->slice(std::get<ir::SliceAttributes>(value.attributes), coordinates);
    if (value.op == ir::Op::transpose)
      return maps_->transpose(std::get<ir::TransposeAttributes>(value.attributes), coordinates);
    return maps_->broadcast(std::get<ir::BroadcastAttributes>(value.attributes), operand, value, coordinates);
  }

  /// Returns the dense tensor of which a value is only a view, if it is one.
  [[nodiscard]] std::optional<ValueId> viewed(const ir::Value& value) const {
    if (value.kind != ir::ValueKind::operation || value.op != ir::Op::reshape) return std::nullopt;
    const ValueId id = without_reshapes(program_, std::get<ValueId>(value.operands[0]));
    const ir::Value& tensor = program_.value(id);
    const bool is_view = tensor.kind == ir::ValueKind::tensor_parameter && tensor.layout.is_dense();
    return is_view ? std::optional(id) : std::nullopt;
  }

  /// Follows a chain of reshapes to the operand of the first.
  Recipe expand_reshape(const ir::Value& value, const Demand& wanted) {
    const ValueId id = without_reshapes(program_, std::get<ValueId>(value.operands[0]));
    const ir::Value& operand = program_.value(id);
    const auto groups = reshape_groups(products_, operand.extents(), value.extents());
    Demand made = moved(wanted, {});
    made.coordinates = maps_->reshape(groups, operand, value, wanted.coordinates, made.facts);
    return {{kAlways}, {demand(id, std::move(made))}};
  }

  Recipe expand_pad(const ir::Value& value, const Demand& wanted) {
    const auto& pad = std::get<ir::PadAttributes>(value.attributes);
    const ir::Value& operand = program_.value(std::get<ValueId>(value.operands[0]));
    PadMap map = maps_->pad(pad, operand, wanted.coordinates);
    const ir::Operand& fill = value.operands.back();
    const auto filled = [&] {
      return source(fill, moved(wanted, operand_coordinates(fill, value, wanted.coordinates)));
    };
    if (map.never) return {{kAlways}, {filled()}};
    const PredicateId inside = predicate(map.conditions);
    Demand taken = moved(wanted, std::move(map.coordinates));
    taken.path = both(wanted.path, inside);
    for (const Expr fact : map.facts)
      if (std::ranges::find(taken.read_facts, fact) == taken.read_facts.end()) taken.read_facts.push_back(fact);
    const Source body = source(value.operands[0], std::move(taken));
    if (inside == kAlways) return {{kAlways}, {body}};
    return {{inside, kAlways}, {body, filled()}};
  }

  /// Returns coordinates in an operand that broadcasts to the result; none for a literal or a scalar.
  std::vector<Expr> operand_coordinates(const ir::Operand& operand, const ir::Value& result,
                                        const std::vector<Expr>& coordinates) {
    const auto* id = std::get_if<ValueId>(&operand);
    return id != nullptr ? maps_->elementwise(program_.value(*id), result.extents(), coordinates) : std::vector<Expr>{};
  }

  /// Takes one element if each axis has one. Else sums along the axes that have more: the columns' axis alone; the
  /// others, in which neighbouring columns add up neighbouring elements; or all.
  Recipe expand_adjoint(const ir::Value& value, const Demand& wanted) {
    const auto& pad = std::get<ir::PadAdjointAttributes>(value.attributes).pad;
    const ir::Operand& operand = value.operands[0];
    const auto maps = maps_->pad_adjoint(pad, program_.value(std::get<ValueId>(operand)), value, wanted.coordinates);
    const Expr column = kernel_.column();
    std::vector<bool> none(maps.size()), all(maps.size()), rows(maps.size()), columns(maps.size());
    for (std::size_t axis = 0; axis < maps.size(); ++axis) {
      all[axis] = maps[axis].walk.has_value();
      columns[axis] = all[axis] && mentions(wanted.coordinates[axis], column);
      rows[axis] = all[axis] && !columns[axis];
    }
    Recipe recipe;
    add_sum(recipe, operand, wanted, maps, none);
    if (recipe.when.back() == kAlways) return recipe;
    add_ends(recipe, operand, wanted, maps, columns, none);
    if (rows != none && columns != none) {
      for (const auto& walked : {columns, rows}) add_sum(recipe, operand, wanted, maps, walked);
      add_ends(recipe, operand, wanted, maps, columns, rows);
    }
    if (all == none)
      recipe.sources.push_back(source(ir::Scalar{value.dtype, 0}, {}));
    else
      add_sum(recipe, operand, wanted, maps, all);
    recipe.when.resize(recipe.sources.size(), kAlways);
    recipe.walks.resize(recipe.sources.size());
    return recipe;
  }

  /// Adds to an adjoint's recipe the case in which only the `walked` axes have other than one element. `end`: axis
  /// `across`, which is not walked, has the elements of this piece instead.
  void add_sum(Recipe& recipe, const ir::Operand& operand, const Demand& wanted, const std::vector<AdjointMap>& maps,
               const std::vector<bool>& walked, std::size_t across = 0, const AdjointPiece* end = nullptr) {
    Demand term = moved(wanted, {});
    std::vector<Walk> walks;
    std::vector<Condition> when;
    for (std::size_t axis = 0; axis < maps.size(); ++axis) {
      term.coordinates.push_back(maps[axis].coordinate);
      if (walked[axis]) {
        walks.push_back(*maps[axis].walk);
        walks.back().variable = term.coordinates.back() = new_walk_variable(maps[axis].extent);
        // A load that the variable does not move is in the walk, too: the walk may be empty.
        term.facts.push_back(walks.back().variable);
      } else {
        const std::vector<Condition>& here = end != nullptr && axis == across ? end->when : maps[axis].single;
        when.insert(when.end(), here.begin(), here.end());
      }
    }
    recipe.when.push_back(predicate(when));
    term.path = both(wanted.path, recipe.when.back());
    if (end != nullptr) {
      for (std::size_t i = 1; i < end->coordinates.size(); ++i) {
        term.coordinates[across] = end->coordinates[i];
        recipe.second.emplace(recipe.sources.size(), source(operand, term));
      }
      term.coordinates[across] = end->coordinates.front();
    }
    recipe.sources.push_back(source(operand, std::move(term)));
    recipe.walks.push_back(std::move(walks));
  }

  /// Adds the ends of the columns' axis: sums of one or two elements along it. They are vectors; walks along it are
  /// not.
  void add_ends(Recipe& recipe, const ir::Operand& operand, const Demand& wanted, const std::vector<AdjointMap>& maps,
                const std::vector<bool>& columns, const std::vector<bool>& walked) {
    if (std::ranges::count(columns, true) != 1) return;
    const auto across = static_cast<std::size_t>(std::ranges::find(columns, true) - columns.begin());
    if (wanted.coordinates[across] != kernel_.column() || !wanted.facts.empty()) return;
    // Each step of the walks adds up the elements of an end. This order is right only if no later axis is walked.
    if (std::find(walked.begin() + static_cast<std::ptrdiff_t>(across), walked.end(), true) != walked.end()) return;
    for (const AdjointPiece& end : maps[across].ends) add_sum(recipe, operand, wanted, maps, walked, across, &end);
  }

  /// Makes a variable of [0, extent).
  Expr new_walk_variable(Expr extent) {
    constexpr int kFirstWalk = 2000;  // index of the first among a schedule's variables
    const auto number = static_cast<int>(kernel_.walk_variables.size());
    const Expr variable = program_.exprs().variable(fmt::format("walk{}", number), kFirstWalk + number);
    kernel_.walk_variables.push_back({variable, extent});
    return variable;
  }

  Recipe expand_concat(const ir::Value& value, const Demand& wanted) {
    const auto axis = static_cast<std::size_t>(std::get<ir::ConcatAttributes>(value.attributes).axis);
    std::vector<std::pair<ValueId, Expr>> operands;
    for (const ir::Operand& operand : value.operands) {
      const ValueId id = std::get<ValueId>(operand);
      operands.emplace_back(id, program_.value(id).extents()[axis]);
    }
    Recipe recipe;
    for (ConcatPiece& piece : maps_->concat(operands, wanted.coordinates[axis])) {
      std::vector<Expr> coordinates = wanted.coordinates;
      coordinates[axis] = piece.coordinate;
      const PredicateId path = both(wanted.path, predicate(piece.conditions));
      recipe.when.push_back(piece.below ? predicate({*piece.below}) : kAlways);
      Demand taken = moved(wanted, std::move(coordinates));
      taken.path = path;
      recipe.sources.push_back(demand(piece.operand, std::move(taken)));
    }
    recipe.when.back() = kAlways;
    return recipe;
  }

  /// Takes the element that the indices name if each is in range, else the fill.
  Recipe expand_take(const ir::Value& value, const Demand& wanted) {
    const auto first = static_cast<std::size_t>(std::get<ir::TakeAttributes>(value.attributes).axis);
    const ir::Value& operand = program_.value(std::get<ValueId>(value.operands[0]));
    const std::size_t count = value.operands.size() - 2;
    const std::size_t index_axes = value.extents().size() + count - operand.extents().size();
    const std::span<const Expr> all = wanted.coordinates;
    std::vector<Expr> coordinates(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    std::vector<Condition> inside;
    for (std::size_t i = 0; i < count; ++i) {
      const ValueId index = std::get<ValueId>(value.operands[i + 1]);
      const auto at = maps_->elementwise(program_.value(index), value.extents().subspan(first, index_axes),
                                         all.subspan(first, index_axes));
      const Expr extent = operand.extents()[first + i];
      DataSource& data = data_[data_number(index, at, extent, wanted)];
      const TakenAxis axis = maps_->take(data.variable, extent);
      data.extent = axis.extent;
      coordinates.push_back(axis.coordinate);
      inside.insert(inside.end(), axis.conditions.begin(), axis.conditions.end());
    }
    coordinates.insert(coordinates.end(), all.begin() + static_cast<std::ptrdiff_t>(first + index_axes), all.end());
    const PredicateId taken_where = predicate(inside);
    Demand taken = moved(wanted, std::move(coordinates));
    taken.path = both(wanted.path, taken_where);
    const Source body = source(value.operands[0], std::move(taken));
    const ir::Operand& fill = value.operands.back();
    return {{taken_where, kAlways},
            {body, source(fill, moved(wanted, operand_coordinates(fill, value, wanted.coordinates)))}};
  }

  /// Returns the position in data_ of an index's element, used as a coordinate below an extent.
  std::size_t data_number(ValueId index, const std::vector<Expr>& coordinates, Expr extent, const Demand& wanted) {
    const Source element = demand(index, index_demand(program_.value(index), coordinates, wanted));
    const auto [known, is_new] = data_ids_.try_emplace({index, element.demand, extent.id()}, data_.size());
    if (!is_new) return known->second;
    constexpr int kFirstData = 3000;  // index of the first among a schedule's variables, after walks
    const auto number = static_cast<int>(data_.size());
    const Expr variable = program_.exprs().variable(fmt::format("data{}", number), kFirstData + number, true);
    kernel_.walk_variables.push_back({variable, program_.exprs().add(extent, program_.exprs().constant(1))});
    data_.push_back({.variable = variable, .extent = extent, .index = element});
    return known->second;
  }

  /// Demands an index's element. Conditions on columns alone are left out if the element exists without them: then the
  /// data is the same for the whole row.
  Demand index_demand(const ir::Value& index, const std::vector<Expr>& coordinates, const Demand& wanted) {
    Demand whole = moved(wanted, coordinates);
    const Expr column = kernel_.column();
    std::vector<ConditionId> rows;
    ir::Facts facts = coordinate_facts(kernel_);
    for (const ConditionId id : graph_.conditions_of(wanted.path)) {
      const Condition& condition = graph_.condition(id);
      if (mentions(condition.expr, column)) continue;
      rows.push_back(id);
      if (condition.kind == Condition::Kind::nonnegative)
        facts.add({condition.expr, ir::Comparison::ge, program_.exprs().constant(0)});
    }
    if (rows.size() == graph_.conditions_of(wanted.path).size()) return whole;
    for (std::size_t axis = 0; axis < coordinates.size(); ++axis)
      if (!facts.proves_nonnegative(coordinates[axis]) ||
          !facts.proves_positive(program_.exprs().sub(index.extents()[axis], coordinates[axis])))
        return whole;
    whole.path = graph_.conjunction(std::move(rows));
    std::erase_if(whole.facts, [&](Expr fact) { return mentions(fact, column); });
    return whole;
  }

  Recipe expand_search(const ir::Value& value, const Demand& wanted) {
    ir::ExprContext& exprs = program_.exprs();
    const ValueId among = std::get<ValueId>(value.operands[0]);
    const Expr extent = program_.value(among).extents()[0];
    const Expr last = exprs.add(extent, exprs.constant(1));
    Search loop{};
    loop.variable = new_walk_variable(extent);
    loop.low = new_walk_variable(last);
    loop.high = new_walk_variable(last);
    loop.extent = extent;
    loop = maps_->search(loop);
    Demand looked_at = moved(wanted, {loop.variable});
    looked_at.facts.push_back(loop.variable);  // a load that the variable does not move is in the loop, too
    Recipe recipe;
    recipe.sources = {demand(among, std::move(looked_at)),
                      source(value.operands[1], moved(wanted, wanted.coordinates))};
    recipe.search = coordinates_of(loop);
    return recipe;
  }

  Recipe expand_elementwise(const ir::Value& value, const Demand& wanted) {
    Recipe recipe;
    for (const ir::Operand& operand : value.operands)
      recipe.sources.push_back(source(operand, moved(wanted, operand_coordinates(operand, value, wanted.coordinates))));
    return recipe;
  }

  PredicateId predicate(const std::vector<Condition>& conditions) {
    std::vector<ConditionId> ids;
    for (const Condition& condition : conditions) ids.push_back(graph_.add(condition));
    return graph_.conjunction(std::move(ids));
  }

  PredicateId both(PredicateId a, PredicateId b) {
    std::vector<ConditionId> ids(graph_.conditions_of(a).begin(), graph_.conditions_of(a).end());
    ids.insert(ids.end(), graph_.conditions_of(b).begin(), graph_.conditions_of(b).end());
    crowded_ |= ids.size() > limits::kPathConditions;
    return graph_.conjunction(std::move(ids));
  }

  /// Makes the node of a demand after the nodes that it needs: of its sources, and of the data in its coordinates.
  void make_nodes(const Source& wanted) {
    std::vector<Source> left = {wanted};
    while (!left.empty()) {
      const Source next = left.back();
      std::optional<NodeId>& node = nodes_[next.value][next.demand];
      const std::size_t before = left.size();
      if (!node) add_unmade(left, next);
      if (left.size() > before) continue;
      left.pop_back();
      if (!node) node = make_node(next);
    }
  }

  void add_unmade(std::vector<Source>& left, const Source& of) const {
    const auto add = [&](const Source& source) {
      if (!source.is_node && !nodes_[source.value][source.demand]) left.push_back(source);
    };
    const Demand& wanted = demands_[of.value][of.demand];
    std::vector<Expr> variables;
    for (const Expr e : wanted.coordinates) add_data(variables, e);
    add_data(variables, wanted.path);
    if (program_.value(of.value).kind == ir::ValueKind::operation) {
      const Recipe& recipe = recipes_[of.value][of.demand];
      for (const Source& source : recipe.sources) add(source);
      for (const auto& [number, source] : recipe.second) add(source);
      for (const PredicateId predicate : recipe.when) add_data(variables, predicate);
    }
    for (const DataSource& data : data_)
      if (std::ranges::find(variables, data.variable) != variables.end()) add(data.index);
  }

  void add_data(std::vector<Expr>& variables, Expr e) const { compiler::add_data(variables, e); }
  void add_data(std::vector<Expr>& variables, PredicateId predicate) const {
    for (const ConditionId id : graph_.conditions_of(predicate)) add_data(variables, graph_.condition(id).expr);
  }

  NodeId make_node(const Source& of) {
    const ir::Value& value = program_.value(of.value);
    const Demand& wanted = demands_[of.value][of.demand];
    if (const auto* iota = std::get_if<ir::IotaAttributes>(&value.attributes))
      return make_index(value, wanted.coordinates[static_cast<std::size_t>(iota->axis)]);
    if (value.kind == ir::ValueKind::tensor_parameter) return make_load(of.value, value.layout, wanted);
    if (const auto tensor = viewed(value)) return make_load(*tensor, value.layout, wanted);
    return make_node(value, recipes_[of.value][of.demand]);
  }

  /// Adds a node, and notes its data, whose indices exist already.
  NodeId add(Node node) {
    std::vector<Expr> variables;
    for (const Expr e : node.coordinates) add_data(variables, e);
    add_data(variables, node.guard);
    for (const DataSource& data : data_)
      if (std::ranges::find(variables, data.variable) != variables.end()) node.data.push_back(node_of(data));
    return graph_.add(std::move(node));
  }
  NodeId node_of(const DataSource& data) {
    return graph_.add(Node{.kind = NodeKind::data,
                           .dtype = ir::DType::i64,
                           .coordinates = {data.variable, data.extent},
                           .operands = {node_of(data.index)}});
  }

  NodeId make_index(const ir::Value& value, Expr coordinate) {
    const NodeId index = add(Node{.kind = NodeKind::index, .dtype = ir::DType::i64, .coordinates = {coordinate}});
    if (value.dtype == ir::DType::i64) return index;
    return graph_.add(Node{.kind = NodeKind::operation, .dtype = value.dtype, .op = ir::Op::cast, .operands = {index}});
  }

  NodeId make_load(ValueId id, const ir::Layout& layout, const Demand& wanted) {
    Node node{.kind = NodeKind::load, .dtype = program_.value(id).dtype, .value = id, .guard = wanted.path};
    node.coordinates = wanted.coordinates;
    node.layout = graph_.add(layout);
    node.facts = wanted.facts;
    node.read_facts = wanted.read_facts;
    return add(std::move(node));
  }

  NodeId make_node(const ir::Value& value, const Recipe& recipe) {
    if (recipe.when.empty()) {
      std::vector<NodeId> operands;
      for (const Source& s : recipe.sources) operands.push_back(node_of(s));
      if (recipe.search.empty()) return operation(value, std::move(operands));
      return add(Node{.kind = NodeKind::search,
                      .dtype = ir::DType::i64,
                      .coordinates = recipe.search,
                      .operands = std::move(operands)});
    }
    NodeId node = node_of(recipe, recipe.sources.size() - 1);
    for (std::size_t i = recipe.sources.size() - 1; i-- > 0;) node = when(recipe.when[i], node_of(recipe, i), node);
    return node;
  }

  /// Makes the node of a source: its sum over walks, or its sum with the second source. The latter is an addition: two
  /// floats, even halves, are added in f32 and rounded once.
  NodeId node_of(const Recipe& recipe, std::size_t index) {
    const NodeId node = node_of(recipe.sources[index]);
    const std::vector<Walk> walks = recipe.walks.empty() ? std::vector<Walk>{} : recipe.walks[index];
    const auto second = recipe.second.find(index);
    if (second == recipe.second.end() && walks.empty()) return node;
    Node sum{.kind = NodeKind::sum, .dtype = graph_.node(node).dtype, .operands = {node}};
    if (second != recipe.second.end()) sum.operands.push_back(node_of(second->second));
    for (const Walk& walk : walks) append_walk(sum.coordinates, walk);
    if (walks.empty()) {
      sum.kind = NodeKind::operation;
      sum.op = ir::Op::add;
    }
    return add(std::move(sum));
  }

  NodeId operation(const ir::Value& value, std::vector<NodeId> operands) {
    return graph_.add(
        Node{.kind = NodeKind::operation, .dtype = value.dtype, .op = value.op, .operands = std::move(operands)});
  }

  NodeId when(PredicateId predicate, NodeId inside, NodeId outside) {
    if (inside == outside) return inside;
    return add(Node{
        .kind = NodeKind::when, .dtype = graph_.node(inside).dtype, .guard = predicate, .operands = {inside, outside}});
  }

  [[nodiscard]] NodeId node_of(const Source& source) const {
    return source.is_node ? source.node : *nodes_[source.value][source.demand];
  }

  Kernel& kernel_;
  const StepBudget& steps_;  // of all kernels; borrowed (outlives the builder)
  const ir::Program& program_;
  Graph& graph_;
  std::unique_ptr<IndexMaps> maps_;
  ir::Products products_;
  std::vector<std::vector<Demand>> demands_;               // by value
  std::vector<std::vector<Recipe>> recipes_;               // by value and demand
  std::vector<std::vector<std::optional<NodeId>>> nodes_;  // by value and demand
  std::vector<DataSource> data_;
  std::map<std::tuple<ValueId, std::size_t, std::uint32_t>, std::size_t> data_ids_;  // by Expr::id of the extent
  std::map<std::vector<std::uint32_t>, std::size_t> demand_ids_;
  std::size_t demand_count_ = 0;
  bool crowded_ = false;  // an element depends on too many conditions
};

std::unexpected<Error> too_many_kernels(const ir::Program& program, ValueId result) {
  auto error = beyond_limits(fmt::format("expected results of at most {} different shapes, found another in '{}'",
                                         limits::kKernels, program.value(result).name));
  const ir::Location where = program.value(result).where;
  error.error().where = {where.line, where.column, {}};
  return error;
}

}  // namespace

ir::Facts coordinate_facts(const Kernel& kernel) {
  ir::Facts facts = kernel.program->facts();
  for (int axis = 0; axis < kernel.rank(); ++axis)
    facts.add({kernel.coordinate(axis), ir::Comparison::lt, kernel.extent(axis)});
  return facts;
}

Result<std::vector<Kernel>> gather_kernels(const ir::Program& program, const MakeIndexMaps& make_maps) {
  std::vector<Kernel> kernels;
  for (const ValueId result : program.results()) {
    std::vector<Expr> own = computed_extents(program, result);
    auto it = std::ranges::find(kernels, own, &Kernel::extents);
    if (it == kernels.end()) {
      if (kernels.size() == limits::kKernels) return too_many_kernels(program, result);
      kernels.emplace_back();
      it = kernels.end() - 1;
      it->name = fmt::format("{}_{}", program.name(), kernels.size() - 1);
      it->program = &program;
      it->extents = std::move(own);
    }
    it->results.push_back(result);
  }
  const StepBudget steps(limits::kGatherSteps);
  for (Kernel& kernel : kernels) PADLOCK_CHECK(KernelBuilder(kernel, make_maps, steps).build());
  return kernels;
}

}  // namespace padlock::compiler
