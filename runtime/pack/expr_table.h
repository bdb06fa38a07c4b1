#pragma once

#include <span>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/expr_order.h"
#include "ir/program.h"
#include "support/byte_stream.h"

// Expressions over a program's symbols as bytes: a DAG with each node once, after its operands.
namespace padlock::runtime {

/// Writes the roots and all their operands. Returns the order, whose slots name the expressions. Error: internal for a
/// coordinate, which no binding has.
[[nodiscard]] Result<ir::Order> write_exprs(std::span<const ir::Expr> roots, ByteWriter& to);

/// Reads the expressions, by slot, for a program with the same symbols in the same order. They pass through the
/// program's own simplifier: values are those written, forms may differ. Errors: damaged_pack, also for a divisor that
/// is not provably positive.
[[nodiscard]] Result<std::vector<ir::Expr>> read_exprs(const ir::Program& program, ByteReader& from);

}  // namespace padlock::runtime
