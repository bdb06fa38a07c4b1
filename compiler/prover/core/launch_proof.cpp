#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"
#include "ir/expr/product_form.h"
#include "ir/expr/simplify.h"

namespace padlock::compiler {
namespace {

class LaunchProof : private ScheduleProof {
 public:
  using ScheduleProof::ScheduleProof;

  void prove_extents() {
    for (std::size_t i = 0; i < kernel_.results.size(); ++i)
      for (int axis = 0; axis < kernel_.result(i).rank(); ++axis) {
        const Expr extent = kernel_.result(i).extents()[static_cast<std::size_t>(axis)];
        const std::string access =
            fmt::format("axis {} of {}: {}", axis, kernel_.result(i).name, session_.text(extent));
        const Goal negative{.violated = {less(extent, exprs_.constant(0))}, .describe = [=](const Evaluate& at) {
                              return fmt::format("the extent is {}", at(extent));
                            }};
        decide(ObligationKind::extent, access, {}, {negative});
      }
  }

  /// Compares the launch's rows and columns with the extents. Flattening rows is a bijection (see docs/proofs.md).
  void prove_launch() {
    Expr rows = exprs_.constant(1);
    for (int axis = 0; axis + 1 < kernel_.rank(); ++axis) rows = exprs_.mul(rows, kernel_.extent(axis));
    solver::Region nonempty;
    for (const Expr extent : kernel_.extents) nonempty.nonnegative.push_back(less(exprs_.constant(0), extent));
    const auto compare = [&](Expr launched, Expr needed, const char* what) {
      const auto describe = [=](const Evaluate& at) {
        return fmt::format("{} {} are launched of {}", at(launched), what, at(needed));
      };
      const std::string access = fmt::format("{} of {}", what, kernel_.name);
      decide(ObligationKind::cover, access, nonempty, {{{less(launched, needed)}, describe}});
      decide(ObligationKind::store, access, nonempty, {{{less(needed, launched)}, describe}});
    };
    compare(schedule_.rows, rows, "rows");
    compare(schedule_.columns, kernel_.extents.back(), "columns");
    prove_reshapes();
  }

 private:
  /// A reshape is computed in the extents of its operand, which must have as many elements.
  void prove_reshapes() {
    ir::Products products(exprs_, kernel_.program->constraints());
    for (std::size_t i = 0; i < kernel_.results.size(); ++i) {
      const ir::Value* value = &kernel_.result(i);
      bool equal = true;
      for (; is_reshape(*value); value = &operand_of(*value)) equal &= keeps_elements(products, *value);
      if (value == &kernel_.result(i)) continue;
      equal &= products.equal(kernel_.extents, value->extents()) || is_merged(*value);
      Obligation all{.kind = ObligationKind::cover, .access = "elements of " + kernel_.result(i).name};
      if (!equal) all.verdict = Verdict::checked;
      record(std::move(all));
    }
  }

  /// Returns whether the kernel's extents are a value's, with every literal 1 dropped and adjacent axes merged.
  bool is_merged(const ir::Value& value) {
    std::vector<Expr> rest(value.extents().begin(), value.extents().end());
    std::erase_if(rest, [](Expr extent) { return extent.is_constant(1); });
    for (int axis = kernel_.rank(); axis-- > 0;) {
      Expr merged = exprs_.constant(1);
      for (bool first = true; first || merged != kernel_.extent(axis); first = false) {
        if (rest.empty()) return false;
        merged = first ? rest.back() : exprs_.mul(rest.back(), merged);
        rest.pop_back();
      }
    }
    return rest.empty();
  }

  static bool is_reshape(const ir::Value& value) {
    return value.kind == ir::ValueKind::operation && value.op == ir::Op::reshape;
  }
  const ir::Value& operand_of(const ir::Value& reshape) {
    return kernel_.program->value(std::get<ir::ValueId>(reshape.operands[0]));
  }

  /// Returns whether a reshape has as many elements as its operand: by the text of the extents, by a requirement, or as
  /// a consequence of requirements.
  bool keeps_elements(ir::Products& products, const ir::Value& reshape) {
    const auto before = operand_of(reshape).extents();
    if (products.equal(before, reshape.extents())) return true;
    const Expr from = ir::Simplifier::product(exprs_, before);
    const Expr to = ir::Simplifier::product(exprs_, reshape.extents());
    const bool required = std::ranges::any_of(kernel_.program->requirements(), [&](const ir::Requirement& one) {
      const ir::Constraint& c = one.constraint;
      return c.comparison == ir::Comparison::eq && c.lhs == from && c.rhs == to;
    });
    return required || (session_.excludes({}, {less(from, to)}) && session_.excludes({}, {less(to, from)}));
  }
};

}  // namespace

void prove_extents(ProofSession& session, const Schedule& schedule, Proof& proof) {
  LaunchProof(session, schedule, proof).prove_extents();
}

void prove_launch(ProofSession& session, const Schedule& schedule, Proof& proof) {
  LaunchProof(session, schedule, proof).prove_launch();
}

}  // namespace padlock::compiler
