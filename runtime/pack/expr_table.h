#pragma once

#include <span>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/expr_order.h"
#include "ir/program.h"
#include "support/byte_stream.h"

// Expressions over a program's symbols as bytes: their DAG, each node once, after its operands.
namespace padlock::runtime {

/// Writes all that the roots are made of; an expression is then named by its slot in the order, which is returned.
/// Error: internal, where a coordinate occurs, which nobody binds.
[[nodiscard]] Result<ir::Order> write_exprs(std::span<const ir::Expr> roots, ByteWriter& to);

/// The expressions again, by slot, as those of a program with the same symbols in the same order. They go through the
/// program's own simplifier, so that their values are what was written even where their form is not. Errors:
/// damaged_pack, among others for a divisor that is not provably positive.
[[nodiscard]] Result<std::vector<ir::Expr>> read_exprs(const ir::Program& program, ByteReader& from);

}  // namespace padlock::runtime
