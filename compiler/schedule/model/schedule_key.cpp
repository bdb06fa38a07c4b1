#include "compiler/schedule/model/schedule_key.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

std::uint64_t id(ir::Expr e) { return e.valid() ? std::uint64_t{e.id()} + 1 : 0; }

template <class... Numbers>
void add(CodeKey& key, Numbers... numbers) {
  (key.push_back(static_cast<std::uint64_t>(numbers)), ...);
}

/// Returns whether a body stores whole vectors of the grid; elements are stored in one way only.
bool has_whole_vectors(const Schedule& schedule) {
  return std::ranges::any_of(schedule.bodies, [](const Body& body) { return body.lanes > 1; });
}

void add(CodeKey& key, const VectorLoop& loop) {
  add(key, id(loop.from), id(loop.limit), loop.lanes, loop.unroll, loop.single_trip, loop.nontemporal, loop.delegated,
      loop.masked, id(loop.last), id(loop.end_value));
}

void add(CodeKey& key, const LoopStrategy& strategy) {
  add(key, strategy.kind, strategy.line, strategy.entry_conditions.size(), strategy.loops.size());
  for (const ir::Expr test : strategy.entry_conditions) add(key, id(test));
  for (const VectorLoop& loop : strategy.loops) add(key, loop);
}

void add(CodeKey& key, const ScheduledCase& scheduled) {
  add(key, scheduled.test, scheduled.holds, scheduled.fails, scheduled.calls.size());
  for (const SegmentCall& call : scheduled.calls) {
    add(key, id(call.begin), id(call.end), id(call.run_begin), id(call.run_end), call.body, call.sources.size());
    for (const LoadSource& source : call.sources) add(key, source.tensor, source.layout, id(source.base));
  }
}

}  // namespace

CodeKey key_of(const Body& body) {
  CodeKey key = {static_cast<std::uint64_t>(body.lanes)};  // the strategies follow from the numbers below
  for (const BodyNode& node : body.nodes) {
    add(key, node.kind, node.dtype, node.op, node.bits, node.scalar, node.load, id(node.index), node.guard,
        node.operands.size());
    key.insert(key.end(), node.operands.begin(), node.operands.end());
    for (const ir::Expr e : node.terms) add(key, id(e));
    for (const Walk& walk : node.walks)
      add(key, id(walk.variable), id(walk.first), id(walk.step), id(walk.other), id(walk.limit));
  }
  for (const BodyLoad& load : body.loads) add(key, load.kind, load.dtype, id(load.step), id(load.offset), load.guard);
  key.insert(key.end(), body.roots.begin(), body.roots.end());
  return key;
}

CodeKey key_of(const Schedule& schedule) {
  CodeKey key;
  if (const Tiles* const tiles = schedule.tiles()) {
    const TransposeTile& tile = tiles->shapes.front();
    add(key, tile.threads, tile.column_words, tiles->shapes.size(), tile.axis, tile.lanes, tile.array_count,
        schedule.store);
  } else if (const Boxes* const boxes = schedule.boxes()) {
    add(key, boxes->threads, boxes->lanes, boxes->stages.size(), schedule.store);
    add(key, id(boxes->rows.launched), boxes->row_axis, boxes->slice);
    for (const std::optional<BoxPart>& part : {boxes->slices, boxes->columns}) add(key, part ? id(part->launched) : 0);
  } else if (const VectorGrid* const grid = schedule.grid()) {
    add(key, grid->threads, grid->vectors, grid->lanes, grid->by_element,
        has_whole_vectors(schedule) ? schedule.store : StoreKind::plain);
    add(key, grid->uneven.has_value());
    for (const Expr past : grid->uneven.value_or(std::vector<Expr>{})) add(key, id(past));
  } else {
    const bool streams = schedule.row_chunks() != nullptr && schedule.row_chunks()->loop.streams;
    add(key,
        streams || std::ranges::any_of(schedule.bodies, has_nontemporal_stores) ? schedule.store : StoreKind::plain);
  }
  add(key, id(schedule.rows), id(schedule.columns), schedule.bodies.size(), schedule.cases.size());
  for (const abi::Guard& guard : schedule.serves) add(key, guard.assumption, id(guard.holds.lhs));
  for (const Body& body : schedule.bodies) {
    const CodeKey own = key_of(body);
    add(key, own.size(), body.strategies.size());
    key.insert(key.end(), own.begin(), own.end());
    for (const LoopStrategy& strategy : body.strategies)
      add(key, strategy);  // strategies of different schedules do not follow from the rest
  }
  for (const ScheduledCase& row : schedule.cases) add(key, row);
  const RowChunks* const chunks = schedule.row_chunks();
  add(key, chunks != nullptr ? chunks->loop.lanes : 0);  // the rest of the row chunks follows from the kernel
  return key;
}

}  // namespace padlock::compiler
