#include "tests/compiler/schedule/interpreted_loads.h"

#include <optional>

#include <fmt/format.h>

namespace padlock::compiler {

using ir::Expr;

namespace {

/// The loops that a load is done in, the outermost first.
std::vector<Walk> walks_of(ir::ExprContext& exprs, const Body& body, const BodyLoad& load) {
  std::vector<Walk> walks;
  for (int sum = load.scope; sum >= 0; sum = body.nodes[static_cast<std::size_t>(sum)].scope) {
    const std::vector<Walk>& own = body.nodes[static_cast<std::size_t>(sum)].walks;
    walks.insert(walks.begin(), own.begin(), own.end());
    if (body.nodes[static_cast<std::size_t>(sum)].kind != NodeKind::search) continue;
    const Search search = search_of(body.nodes[static_cast<std::size_t>(sum)].terms);  // may look at any element
    const Expr none = exprs.constant(0), one = exprs.constant(1);
    walks.insert(walks.begin(), {search.variable, none, one, one, search.extent});
  }
  return walks;
}

}  // namespace

InterpretedLoads::InterpretedLoads(InterpreterState& state)
    : state_(state), column_(state.kernel.coordinate(state.kernel.rank() - 1)) {}

void InterpretedLoads::enter(const SegmentCall& call) {
  call_ = &call;
  std::vector<Prepared>& sources = prepared_[&call];
  if (!sources.empty() || call.sources.empty()) return;
  for (const LoadSource& source : call.sources) {
    const ir::Layout& view = state_.kernel.graph.layout(source.layout);
    Prepared made{.coordinates = ir::ExprTape(state_.exprs, source.coordinates), .extents = {}};
    for (const Expr extent : view.extents()) made.extents.push_back(state_.value_of(extent));
    made.used = state_.value_of(view.span(state_.exprs));
    made.stored = state_.value_of(state_.kernel.program->value(source.tensor).layout.storage_extent());
    sources.push_back(std::move(made));
  }
}

void InterpretedLoads::load_chunk(const Body& body, const VectorLoop& loop, std::int64_t first) {
  for (std::size_t i = 0; i < body.loads.size(); ++i) {
    const std::vector<Walk> walks = walks_of(state_.exprs, body, body.loads[i]);
    for (std::int64_t column = first; column < first + loop.lanes; ++column) load_in(walks, body.loads[i], i, column);
  }
}

void InterpretedLoads::load_in(std::span<const Walk> walks, const BodyLoad& how, std::size_t index,
                               std::int64_t column) {
  if (walks.empty()) return load(how, index, column);
  IndexArithmetic& code = state_.code;
  const Walk& walk = walks.front();
  state_.values[column_.symbol()] = column;
  const std::int64_t limit = code.exact(walk.limit);
  std::int64_t step = code.exact(walk.step), other = code.exact(walk.other);
  for (std::int64_t at = code.exact(walk.first); at < limit; at = code.wrapped(Int128{at} + step)) {
    state_.values[walk.variable.symbol()] = at;
    load_in(walks.subspan(1), how, index, column);
    if (at < 0 || step < 1) break;  // seen by the load
    std::swap(step, other);
  }
}

void InterpretedLoads::load(const BodyLoad& how, std::size_t index, std::int64_t column) {
  const LoadSource& source = call_->sources[index];
  const Prepared& prepared = prepared_.at(call_)[index];
  state_.values[column_.symbol()] = column;
  if (state_.holds(how.guard)) {
    ++state_.trace.loads;
    check_coordinates(source, prepared, column);
    check_storage(how, source, prepared, column);
  } else {
    (void)element_of(how, source, column);  // the address is computed anyway, with its divisions
  }
}

void InterpretedLoads::check_coordinates(const LoadSource& source, const Prepared& prepared, std::int64_t column) {
  std::vector<std::int64_t> at(source.coordinates.size());
  if (const Status status = prepared.coordinates.evaluate(state_.values, at); !status)
    state_.record(ObligationKind::width, column, status.error().message);
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    if (at[axis] < 0 || at[axis] >= prepared.extents[axis])
      state_.record(ObligationKind::load, column,
                    fmt::format("coordinate {} on axis {} of {}, whose extent is {}", at[axis], axis,
                                state_.kernel.program->value(source.tensor).name, prepared.extents[axis]));
}

void InterpretedLoads::check_storage(const BodyLoad& how, const LoadSource& source, const Prepared& prepared,
                                     std::int64_t column) {
  const ir::Value& tensor = state_.kernel.program->value(source.tensor);
  const std::int64_t bytes = ir::byte_size(tensor.dtype);
  if (prepared.used > prepared.stored)
    state_.record(ObligationKind::load, column,
                  fmt::format("{} bytes are accessed of {}, whose storage is {} bytes", prepared.used * bytes,
                              tensor.name, prepared.stored * bytes));
  const std::int64_t element = element_of(how, source, column);
  if (element < 0 || element >= prepared.stored)
    state_.record(
        ObligationKind::load, column,
        fmt::format("element {} of {} is read where its storage has {}", element, tensor.name, prepared.stored));
}

/// As emitted (compiler/emit/host/runs/emit_runs.cpp).
std::int64_t InterpretedLoads::element_of(const BodyLoad& how, const LoadSource& source, std::int64_t column) {
  IndexArithmetic& code = state_.code;
  if (how.kind == LoadKind::general) return code.address(how.offset);
  const Int128 base =
      code.wrapped(Int128{code.address(source.base)} + (has_offset(how) ? code.address(how.offset) : 0));
  switch (how.kind) {
    case LoadKind::contiguous:
      return code.wrapped(base + column);
    case LoadKind::reversed:
      return code.wrapped(base - column);
    case LoadKind::strided:
      return code.wrapped(base + code.wrapped(Int128{code.address(how.step)} * column));
    default:
      return static_cast<std::int64_t>(base);
  }
}

}  // namespace padlock::compiler
