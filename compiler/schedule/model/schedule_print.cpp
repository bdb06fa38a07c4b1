#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/schedule/model/blend.h"
#include "compiler/schedule/model/schedule.h"
#include "ir/text/literal.h"

namespace padlock::compiler {
namespace {

std::string count_of(std::size_t count, const char* noun) {
  const std::string_view word = noun;
  const bool es = word.ends_with("y");
  if (count == 1) return fmt::format("1 {}", word);
  return es ? fmt::format("{} {}ies", count, word.substr(0, word.size() - 1)) : fmt::format("{} {}s", count, word);
}

const char* name_of(StoreKind kind) {
  constexpr const char* kNames[] = {"plain", "nontemporal", "automatic"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(LoadKind kind) {
  constexpr const char* kNames[] = {"invariant", "contiguous", "reversed", "strided", "general"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(LoopStrategyKind kind) {
  constexpr const char* kNames[] = {"scalar",       "overlapped",    "peeled_vector", "nontemporal",
                                    "whole_vector", "masked_vector", "whole_vectors"};
  return kNames[static_cast<std::size_t>(kind)];
}

class SchedulePrinter {
 public:
  explicit SchedulePrinter(const Schedule& schedule) : schedule_(schedule), kernel_(schedule.kernel) {}

  std::string print() && {
    add_head();
    for (std::size_t i = 0; i < schedule_.cases.size(); ++i) add_case(i, schedule_.cases[i]);
    if (const RowChunks* const chunks = schedule_.row_chunks()) add_row_chunks(*chunks);
    for (std::size_t i = 0; i < schedule_.bodies.size(); ++i) add_body(i, schedule_.bodies[i]);
    add_index32_variant();
    return std::move(text_);
  }

 private:
  /// Prints what code size and launches depend on, in two lines.
  void add_head() {
    std::size_t loads = 0, loops = 0;
    for (const Body& body : schedule_.bodies) {
      loads += body.loads.size();
      for (const LoopStrategy& strategy : body.strategies) loops += strategy.loops.size();
    }
    line(0, "schedule {}: {}, {}, {}, {}, {}", kernel_.name, count_of(schedule_.cases.size(), "case"),
         count_of(schedule_.segments(), "segment"), count_of(schedule_.bodies.size(), "body"), count_of(loads, "load"),
         count_of(loops, "loop"));
    line(1, "config {}", schedule_.config);
    line(1, "rows {}, columns {}, stores {}", text(schedule_.rows), text(schedule_.columns), name_of(schedule_.store));
    if (schedule_.row_axis != kernel_.rank() - 2) line(1, "rows in the order of axis ${}", schedule_.row_axis);
    for (const abi::Guard& guard : schedule_.serves)
      line(1, "serves {}: {}", abi::name_of(guard.assumption), ir::to_string(schedule_.exprs(), guard.holds));
    if (const Tiles* const tiles = schedule_.tiles())
      for (const TransposeTile& tile : tiles->shapes) add_tile(tile);
    if (const VectorGrid* const grid = schedule_.grid()) add_grid(*grid);
    if (const Boxes* const boxes = schedule_.boxes()) add_boxes(*boxes);
  }

  void add_part(const char* what, const BoxPart& part) {
    line(1, "{} of {} {}, from {}: {} of {}", text(part.parts), text(part.step), what, text(part.first),
         text(part.count), text(part.total));
    line(2, "{} = {}", text(part.step), text(part.launched));
  }

  void add_boxes(const Boxes& boxes) {
    line(1, "threads {}, {} a vector", boxes.threads, count_of(static_cast<std::size_t>(boxes.lanes), "lane"));
    add_part("rows", boxes.rows);
    if (boxes.slices) add_part("slices", *boxes.slices);
    if (boxes.columns) add_part("columns", *boxes.columns);
    for (const BoxStage& stage : boxes.stages) {
      std::string run;
      for (std::size_t axis = 0; axis < stage.from.size(); ++axis)
        run += fmt::format("{}{} to {}", axis == 0 ? "" : ", ", text(stage.from[axis]), text(stage.last[axis]));
      line(1, "stage {}[{}]", kernel_.program->value(stage.tensor).name, run);
      if (stage.turn) {
        const auto pitch = stage.turn->layout.strides();
        line(2, "turned: ${} across, slices {} apart, rows {}, {} at most, at byte {}",
             stage.turn->across == kBoxSlice ? boxes.slice : boxes.row_axis, text(pitch[kBoxSlice]),
             text(pitch[kBoxRow]), text(stage.capacity), text(stage.place));
      } else {
        line(2, "from {}, {} elements, {} at most, at byte {}", text(stage.first), text(stage.elements),
             text(stage.capacity), text(stage.place));
      }
    }
    line(1, "shared memory {} bytes", text(boxes.shared_bytes));
  }

  void add_grid(const VectorGrid& grid) {
    line(1, "threads {}, up to {} of {} each", grid.threads, count_of(static_cast<std::size_t>(grid.vectors), "vector"),
         count_of(static_cast<std::size_t>(grid.lanes), "lane"));
    line(1, "vector {} of block {} from element {}", text(grid.slot), text(grid.block), text(grid.first));
    line(1, "used {}", text(schedule_.used_vectors()));
    line(1, "blocks {}", text(grid.blocks));
    if (grid.by_element) line(1, "element by element");
    if (grid.uneven) add_uneven(*grid.uneven);
    if (grid.table) add_row_table(*grid.table);
  }

  void add_uneven(const std::vector<Expr>& uneven) {
    if (uneven.empty()) line(1, "no edges");
    for (const Expr past : uneven) line(1, "no edges if {} = 0", text(past));
  }

  void add_row_table(const RowTable& table) {
    std::vector<std::string> values;
    for (const Expr value : table.values) values.push_back(text(value));
    line(1, "row table of {}: rows of elements {} to {}", fmt::join(values, ", "), text(table.first), text(table.last));
    line(2, "row {} at byte {}, {} rows at most, {} bytes", text(table.row), text(table.place), text(table.capacity),
         text(table.bytes));
  }

  void add_tile(const TransposeTile& tile) {
    line(1, "threads {}, tiles of {} x {} elements along axes ${} and ${}", tile.threads, tile.side(),
         tile.stored_columns(), tile.axis, kernel_.rank() - 1);
    line(1, "{} of shared memory, {} bytes: position ({}, {}) in word {}, lane {}",
         count_of(static_cast<std::size_t>(tile.array_count), "array"), tile.shared_bytes(), text(tile.row),
         text(tile.column), text(tile.word), text(tile.lane));
    line(1, "number {} loads ({}, {}) of square {}, stores ({}, {})", text(tile.slot), text(tile.loaded_row),
         text(tile.loaded_column), text(tile.square), text(tile.stored_row), text(tile.stored_column));
    for (const Expr test : tile.tests) line(1, "if {} >= 0", text(test));
    line(1, "tiles {}", text(tile.tiles));
  }

  void add_case(std::size_t index, const ScheduledCase& scheduled) {
    if (scheduled.is_test())
      return line(1, "case {}: if {} then case {} else case {}", index, to_string(kernel_, scheduled.test),
                  scheduled.holds, scheduled.fails);
    const std::optional<Blend> blend = schedule_.grid() != nullptr ? blend_of(schedule_, scheduled) : std::nullopt;
    line(1, "case {}: {}{}", index, count_of(scheduled.calls.size(), "segment"),
         blend ? fmt::format(", vectors of all from {}{}", count_of(blend->loads.size(), "load"),
                             blend->groups.size() < blend->loads.size()
                                 ? fmt::format(", of which one makes at most {}", blend->groups.size())
                                 : "") +
                     (blend->lone_columns.empty()
                          ? ""
                          : fmt::format(", {} by themselves", count_of(blend->lone_columns.size(), "column")))
               : "");
    for (const SegmentCall& call : scheduled.calls) {
      line(2, "[{}, {}): body {}", text(call.begin), text(call.end), call.body);
      for (std::size_t i = 0; i < call.sources.size(); ++i)
        add_source(i, call.sources[i], schedule_.body_of(call).loads[i]);
    }
  }

  void add_row_chunks(const RowChunks& rows) {
    const RowChunkLoop& loop = rows.loop;
    line(1, "row chunks of {} inner {}, by {} lanes{}", rows.axes, rows.axes == 1 ? "axis" : "axes", loop.lanes,
         loop.joined > 1 ? fmt::format(", {} joined", loop.joined) : "");
    line(2, "rows of up to {} elements, units of up to {}, results from {} bytes", loop.longest_row, loop.longest_unit,
         loop.least_bytes);
    if (rows.holds != kAlways)
      line(2, "units where {}: {} from here on", to_string(kernel_, rows.holds), text(rows.alike));
    line(2, "from 0 to {}, next {}{}", text(loop.limit), text(loop.next),
         loop.streams ? "; full vectors from a line on past the caches" : "");
    line(2, "windows from {} to {}", text(loop.window_least), text(loop.window_limit));
    for (std::size_t i = 0; i < rows.sources.size(); ++i) {
      const BodyLoad& load = rows.body.loads[i];
      line(2, "load {} = {}[{} + ({})], next unit + {}", i, kernel_.program->value(rows.sources[i].tensor).name,
           text(rows.sources[i].base), text(load.offset), text(rows.sources[i].step));
    }
    add_nodes(rows.body, 2);
  }

  void add_source(std::size_t index, const LoadSource& source, const BodyLoad& load) {
    std::vector<std::string> at;
    for (const Expr coordinate : source.coordinates) at.push_back(text(coordinate));
    std::string line_text =
        fmt::format("load {} = {}[{}]", index, kernel_.program->value(source.tensor).name, fmt::join(at, ", "));
    if (load.kind != LoadKind::general) line_text += " from " + text(source.base);
    if (source.step.valid()) line_text += fmt::format(", next row + {}", text(source.step));
    if (source.rows.valid()) line_text += fmt::format(" for {}", text(source.rows));
    line(3, "{}", line_text);
  }

  void add_body(std::size_t index, const Body& body) {
    line(1, "body {}: {}, {}{}", index, count_of(static_cast<std::size_t>(body.lanes), "lane"),
         count_of(body.loads.size(), "load"), body.uses_rows ? ", row coordinates" : "");
    add_nodes(body, 2);
    for (const LoopStrategy& strategy : body.strategies) add_strategy(strategy);
    for (const Turn& turn : body.turns) {
      std::vector<std::string> tests;
      for (const Expr test : turn.tests) tests.push_back(text(test) + " >= 0");
      line(2, "boxes of {} by {}{}{}", count_of(static_cast<std::size_t>(turn.rows), "row"),
           count_of(static_cast<std::size_t>(turn.lanes), "lane"), tests.empty() ? "" : " if ",
           fmt::join(tests, " and "));
      for (const TurnedLoad& load : turn.loads)
        line(3, "load {} by blocks of {} and {}, {}", load.load, count_of(static_cast<std::size_t>(load.rows), "row"),
             count_of(static_cast<std::size_t>(load.columns), "column"), count_of(load.shuffles.size(), "shuffle"));
    }
    for (const Interleave& all : body.interleaves)
      line(2, "interleaved {} by {}, {}", count_of(static_cast<std::size_t>(all.columns), "column"),
           count_of(static_cast<std::size_t>(all.lanes), "row"), count_of(all.shuffles.size(), "shuffle"));
  }

  void add_nodes(const Body& body, int depth) {
    for (std::size_t i = 0; i < body.nodes.size(); ++i)
      line(depth, "%{} : {} = {}", i, ir::name_of(body.nodes[i].dtype), text(body, body.nodes[i]));
    const bool stores = !schedule_.is_row_data(static_cast<std::size_t>(&body - schedule_.bodies.data()));
    for (std::size_t i = 0; stores && i < body.roots.size(); ++i)
      line(depth, "store {} = %{}", kernel_.result(i).name, body.roots[i]);
  }

  [[nodiscard]] std::string text(const Body& body, const BodyNode& node) const {
    switch (node.kind) {
      case NodeKind::constant:
        return ir::to_string(ir::Scalar{node.dtype, node.bits});
      case NodeKind::scalar:
        return "scalar " + kernel_.program->value(node.scalar).name;
      case NodeKind::load:
        return text(body.loads[static_cast<std::size_t>(node.load)], node.load);
      case NodeKind::when:
        return fmt::format("%{} if {} else %{}", node.operands[0], to_string(kernel_, node.guard), node.operands[1]);
      case NodeKind::operation:
        return fmt::format("{} %{}", ir::name_of(node.op), fmt::join(node.operands, ", %"));
      case NodeKind::sum: {
        std::string made = fmt::format("sum %{}", fmt::join(node.operands, ", %"));
        for (const Walk& walk : node.walks) made += to_string(schedule_.exprs(), walk);
        return made;
      }
      case NodeKind::data:
        return fmt::format("data {} of %{} below {}", text(data_of(node.terms).variable), node.operands[0],
                           text(data_of(node.terms).extent));
      case NodeKind::search:
        return fmt::format("search of %{} among {} by %{} at {}", node.operands[1], text(search_of(node.terms).extent),
                           node.operands[0], text(search_of(node.terms).variable));
      case NodeKind::index:
        return "index " + text(node.index);
    }
    return {};
  }

  [[nodiscard]] std::string text(const BodyLoad& load, int index) const {
    std::string made = fmt::format("load {} {}", index, name_of(load.kind));
    if (load.kind == LoadKind::strided) made += " by " + text(load.step);
    if (has_offset(load)) made += " at " + text(load.offset);
    if (load.guard != kAlways) made += " if " + to_string(kernel_, load.guard);
    return made;
  }

  void add_strategy(const LoopStrategy& strategy) {
    std::vector<std::string> tests;
    for (const Expr test : strategy.entry_conditions) tests.push_back(text(test) + " >= 0");
    line(2, "{}{}{}", name_of(strategy.kind), tests.empty() ? "" : " if ", fmt::join(tests, " and "));
    for (const VectorLoop& loop : strategy.loops) add_loop(loop);
  }

  void add_loop(const VectorLoop& loop) {
    std::string made = loop.single_trip ? fmt::format("once at {}", text(loop.from))
                                        : fmt::format("from {} to {}", text(loop.from), text(loop.limit));
    made += fmt::format(" by {}", count_of(static_cast<std::size_t>(loop.lanes), "lane"));
    if (loop.unroll > 1) made += fmt::format(" x {}", loop.unroll);
    if (loop.last.valid()) made += fmt::format(", the last at {}", text(loop.last));
    if (loop.end_value.valid()) made += fmt::format(", ends at {}", text(loop.end_value));
    if (loop.masked) made += ", the last masked";
    if (loop.nontemporal) made += ", stores nontemporal";
    if (loop.delegated) made += ", a run of its own";
    line(3, "{}", made);
  }

  void add_index32_variant() {
    const Index32Variant& index32 = schedule_.index32;
    if (index32.bound == 0) return;
    line(1, "32 bits: all indices");
    for (const abi::Guard& guard : index32.guards)
      line(2, "{}if {}", guard.assumption == abi::Assumption::offset32 ? "and all offsets " : "",
           ir::to_string(kernel_.program->exprs(), guard.holds));
  }

  template <class... Values>
  void line(int depth, fmt::format_string<Values...> format, Values&&... values) {
    text_.append(2 * static_cast<std::size_t>(depth), ' ');
    text_ += fmt::format(format, std::forward<Values>(values)...);
    text_ += '\n';
  }
  [[nodiscard]] std::string text(Expr e) const { return ir::to_string(schedule_.exprs(), e); }

  const Schedule& schedule_;
  const Kernel& kernel_;
  std::string text_;
};

}  // namespace

std::string to_string(const Schedule& schedule) { return SchedulePrinter(schedule).print(); }

}  // namespace padlock::compiler
