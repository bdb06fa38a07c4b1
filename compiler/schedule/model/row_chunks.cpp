#include "compiler/schedule/model/row_chunks.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

// Above the variables of a run, its trips and lanes.
enum VariableOrder {
  kElements = 1200,
  kChunk,
  kSize,
  kLast,
  kWindow,
  kWindowBefore,
  kSpread,
  kStorage,
  kFilled,
  kSpan
};

// A chunk of at least this many full vectors stores at most a sixteenth of its lanes twice.
constexpr int kLeastVectors = 8;
// Most bytes of the result in a chunk of whole lines, and in a unit that is a chunk. The plan of a line chunk stays in
// the first cache beside its data, the plan of a unit in the second.
constexpr int kMostLineBytes = 8 << 10, kMostUnitBytes = 32 << 10;
// Most bytes in a chunk of whole lines that is streamed, and least bytes of the results that have room for it: a plan
// in the second cache is fast enough beside stores to memory.
constexpr int kMostStreamedBytes = 32 << 10;
constexpr std::int64_t kLeastStreamedBytes = 4 << 20;
constexpr int kLeastStreamedVector = 16;  // bytes

/// Returns 1 if a >= b, else 0.
Expr is_at_least(ir::ExprContext& exprs, Expr a, Expr b) {
  const Expr one = exprs.constant(1);
  return exprs.min(exprs.max(exprs.add(exprs.sub(a, b), one), exprs.constant(0)), one);
}

}  // namespace

RowChunkVariables::RowChunkVariables(ir::ExprContext& exprs)
    : elements(exprs.variable("elements", kElements)),
      chunk(exprs.variable("chunk", kChunk)),
      size(exprs.variable("chunk_size", kSize)),
      last(exprs.variable("last_vector", kLast)),
      // A difference, since a window may have either sign.
      window(exprs.sub(exprs.variable("window", kWindow), exprs.variable("window_before", kWindowBefore))),
      spread(exprs.variable("spread", kSpread)),
      storage(exprs.variable("storage", kStorage)),
      filled(exprs.variable("filled", kFilled)),
      span(exprs.variable("span", kSpan)) {}

RowChunkLoop make_row_chunk_loop(ir::ExprContext& exprs, int lanes) {
  const RowChunkVariables at(exprs);
  const Expr width = exprs.constant(lanes);
  return {.lanes = lanes,
          .unit = {},
          .vectors = {},
          .limit = exprs.sub(exprs.sub(at.elements, at.last), width),
          .next = exprs.add(at.chunk, at.size),
          .window_least = exprs.constant(0),
          .window_limit = exprs.sub(exprs.sub(at.storage, at.spread), width),
          .filled_limit = exprs.constant(lanes - 1),
          .span_limit = exprs.constant(lanes - 1)};
}

std::vector<int> RowChunks::row_axes(const Kernel& kernel) const {
  std::vector<int> inner;
  for (int axis = unit_axis(kernel) + 1; axis + 1 < kernel.rank(); ++axis) inner.push_back(axis);
  return inner;
}

Expr RowChunks::rows(const Kernel& kernel) const {
  Expr rows = kernel.exprs().constant(1);
  for (const int axis : row_axes(kernel)) rows = kernel.exprs().mul(rows, kernel.extent(axis));
  return rows;
}

void choose_room(const Kernel& kernel, RowChunks& chunks) {
  ir::ExprContext& exprs = kernel.exprs();
  RowChunkLoop& loop = chunks.loop;
  loop.narrowest = 8;
  int all_bytes = 0;
  for (std::size_t i = 0; i < kernel.results.size(); ++i) {
    const int bytes = ir::byte_size(kernel.result(i).dtype);
    loop.narrowest = std::min(loop.narrowest, bytes);
    all_bytes += bytes;
  }
  loop.streams = loop.streams && loop.lanes * loop.narrowest >= kLeastStreamedVector;
  const auto constant = [&](std::int64_t value) { return exprs.constant(value); };
  const Expr columns = kernel.extents.back();
  loop.unit = exprs.mul(chunks.rows(kernel), columns);
  loop.longest_unit = kMostUnitBytes / loop.narrowest;
  loop.least_elements = kLeastVectors * loop.lanes * loop.joined;
  loop.most_line_elements = std::max(kMostLineBytes / loop.narrowest, loop.least_elements);
  Expr elements = loop.unit;
  for (int axis = 0; axis <= chunks.unit_axis(kernel); ++axis) elements = exprs.mul(elements, kernel.extent(axis));
  loop.most_streamed_elements = std::max(kMostStreamedBytes / loop.narrowest, loop.most_line_elements);
  const Expr bytes = exprs.mul(elements, constant(all_bytes));
  Expr lines = constant(loop.most_line_elements);
  if (loop.streams)
    lines = exprs.add(lines, exprs.mul(constant(loop.most_streamed_elements - loop.most_line_elements),
                                       is_at_least(exprs, bytes, constant(kLeastStreamedBytes))));
  const Expr chunk = exprs.max(exprs.add(loop.unit, constant(loop.least_elements)), lines);
  // Windows of rows whose sources lie far apart fill few lanes; such rows are faster one by one.
  const Expr lanes = exprs.mul(constant(5), exprs.min(chunk, elements));
  Expr room = exprs.add(exprs.floordiv(lanes, constant(std::int64_t{2} * loop.lanes)), constant(2));
  for (const Expr wanted : {is_at_least(exprs, constant(loop.longest_unit), loop.unit),
                            is_at_least(exprs, constant(loop.longest_row), columns),
                            is_at_least(exprs, bytes, constant(std::max<std::int64_t>(loop.least_bytes, 1)))})
    room = exprs.mul(room, wanted);
  loop.vectors = room;
}

}  // namespace padlock::compiler
