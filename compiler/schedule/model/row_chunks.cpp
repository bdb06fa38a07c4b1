#include "compiler/schedule/model/row_chunks.h"

#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

// Above those of a run, its trips and lanes.
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

}  // namespace

RowChunkVariables::RowChunkVariables(ir::ExprContext& exprs)
    : elements(exprs.variable("elements", kElements)),
      chunk(exprs.variable("chunk", kChunk)),
      size(exprs.variable("chunk_size", kSize)),
      last(exprs.variable("last_vector", kLast)),
      // A difference, so that it has either sign.
      window(exprs.sub(exprs.variable("window", kWindow), exprs.variable("window_before", kWindowBefore))),
      spread(exprs.variable("spread", kSpread)),
      storage(exprs.variable("storage", kStorage)),
      filled(exprs.variable("filled", kFilled)),
      span(exprs.variable("span", kSpan)) {}

RowChunkLoop make_row_chunk_loop(ir::ExprContext& exprs, int lanes, int vectors, int longest_row) {
  const RowChunkVariables at(exprs);
  const Expr width = exprs.constant(lanes);
  return {.lanes = lanes,
          .vectors = vectors,
          .longest_row = longest_row,
          .limit = exprs.sub(exprs.sub(at.elements, at.last), width),
          .next = exprs.add(at.chunk, at.size),
          .window_least = exprs.constant(0),
          .window_limit = exprs.sub(exprs.sub(at.storage, at.spread), width),
          .filled_limit = exprs.constant(lanes - 1),
          .span_limit = exprs.constant(lanes - 1)};
}

bool has_one_window(const Kernel& kernel, const RowChunks& rows, std::size_t load) {
  return rows.sources[load].step.is_constant(1) && !mentions(rows.body.loads[load].offset, kernel.column());
}

}  // namespace padlock::compiler
