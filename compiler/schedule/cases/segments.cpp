#include "compiler/schedule/cases/segments.h"

#include <algorithm>
#include <list>
#include <optional>

#include "compiler/kernel/lowering.h"
#include "compiler/schedule/cases/specialized_domain.h"
#include "ir/expr/affine.h"
#include "support/limits.h"
#include "support/steps.h"

namespace padlock::compiler {
namespace {

/// A segment that may be cut further.
struct Piece {
  Expr begin, end;
  SpecializedDomain domain;
  std::vector<Cut> cuts = {};
};

class RowSplitter {
 public:
  RowSplitter(Kernel& kernel, const SegmentOptions& options)
      : kernel_(kernel), exprs_(kernel.program->exprs()), options_(options) {}

  std::vector<RowCase> run() {
    SpecializedDomain all(kernel_, coordinate_facts(kernel_), kernel_.roots, budget_);
    all.specialise();
    const std::size_t nodes = std::max<std::size_t>(1, users_first(kernel_.graph, all.roots()).size());
    max_segments_ = std::clamp<std::size_t>(kMaxSpecialisedNodes / nodes, 1, kMaxSegments);
    max_cases_ = std::clamp<std::size_t>(kMaxSpecialisedNodes / nodes / max_segments_, 1, kMaxRowCases);
    add_case(std::move(all));
    return std::move(cases_);
  }

 private:
  [[nodiscard]] std::size_t cases_left() const { return max_cases_ - 1 - std::min(max_cases_ - 1, tests_); }

  /// Goes depth-first, so that the nearest tests come first. Counts the leaves, so that the tree stays small.
  int add_case(SpecializedDomain domain) {
    limit_steps();
    const int index = static_cast<int>(cases_.size());
    cases_.emplace_back();
    const std::vector<ConditionId> question = domain.row_question();
    if (question.empty() || cases_left() == 0) {
      cases_[static_cast<std::size_t>(index)].segments = cut(std::move(domain));
      return index;
    }
    ++tests_;
    SpecializedDomain fails = domain;
    const PredicateId test = kernel_.graph.conjunction(question);
    domain.learn_holds(question);
    domain.specialise();
    fails.learn_fails(question);
    fails.specialise();
    const int then_case = add_case(std::move(domain));
    const int else_case = add_case(std::move(fails));
    RowCase& made = cases_[static_cast<std::size_t>(index)];
    made.test = test;
    made.holds = then_case;
    made.fails = else_case;
    return index;
  }

  /// Goes in rounds over all pieces, so that cuts of operations nearest to the output come first.
  std::vector<Segment> cut(SpecializedDomain domain) {
    std::list<Piece> pieces;
    pieces.push_back({exprs_.constant(0), kernel_.extents.back(), std::move(domain)});
    for (bool changed = options_.split; changed;) {
      changed = false;
      limit_steps();
      for (auto it = pieces.begin(); it != pieces.end() && pieces.size() < max_segments_;) {
        const std::optional<Expr> question = it->domain.column_question();
        if (question)
          it = cut_piece(pieces, it, *question);
        else
          ++it;
        changed |= question.has_value();
      }
      changed &= pieces.size() < max_segments_;
    }
    std::vector<Segment> segments;
    for (const Piece& piece : pieces) segments.push_back({piece.begin, piece.end, piece.cuts, piece.domain.roots()});
    return segments;
  }

  /// Replaces a piece by its two parts and returns the position after them.
  std::list<Piece>::iterator cut_piece(std::list<Piece>& pieces, std::list<Piece>::iterator it, Expr question) {
    const ir::Affine affine = *affine_in(exprs_, question, kernel_.column());
    const Expr one = exprs_.constant(1);
    const bool rising = affine.slope > 0;
    // slope * c + rest >= 0 holds from ceil(-rest / slope) on, or up to and including floor(rest / -slope).
    Expr at = rising ? exprs_.ceildiv(exprs_.neg(affine.rest), exprs_.constant(affine.slope))
                     : exprs_.add(exprs_.floordiv(affine.rest, exprs_.constant(-affine.slope)), one);
    const Expr cut = at;
    at = exprs_.min(exprs_.max(at, it->begin), it->end);
    Piece below{it->begin, at, it->domain, it->cuts};
    Piece above{at, it->end, std::move(it->domain), std::move(it->cuts)};
    const Expr opposite = exprs_.sub(exprs_.neg(question), one);
    learn(below, {cut, false, rising ? opposite : question});
    learn(above, {cut, true, rising ? question : opposite});
    if (at != below.begin) pieces.insert(it, std::move(below));
    if (at != above.end) pieces.insert(it, std::move(above));
    return pieces.erase(it);
  }

  /// Limits the steps: long expressions cost more than their proofs. Beyond the limit a kernel keeps its predicates.
  void limit_steps() {
    if (steps_.is_used_up()) budget_.proof = 0;
  }

  static void learn(Piece& piece, const Cut& cut) {
    piece.cuts.push_back(cut);
    piece.domain.learn(cut.claim);
    piece.domain.specialise();
  }

  Kernel& kernel_;
  ir::ExprContext& exprs_;
  SegmentOptions options_;
  std::vector<RowCase> cases_;
  SpecialisationBudget budget_{.proof = kProofBudget, .steps = StepBudget(limits::kSplitSteps)};
  StepBudget steps_{limits::kSplitSteps};
  std::size_t tests_ = 0;  // a tree of t tests has t + 1 cases
  std::size_t max_segments_ = kMaxSegments;
  std::size_t max_cases_ = kMaxRowCases;
};

}  // namespace

std::vector<RowCase> whole_rows(const Kernel& kernel) {
  const Expr zero = kernel.program->exprs().constant(0);
  RowCase all{.segments = {{zero, kernel.extents.back(), {}, kernel.roots}}};
  return {std::move(all)};
}

std::vector<NodeId> roots_where(Kernel& kernel, const std::vector<ConditionId>& holds) {
  SpecialisationBudget budget{.proof = kProofBudget, .steps = StepBudget(limits::kSplitSteps)};
  SpecializedDomain some(kernel, coordinate_facts(kernel), kernel.roots, budget);
  some.learn_holds(holds);
  some.specialise();
  return some.roots();
}

std::vector<RowCase> split_rows(Kernel& kernel, const SegmentOptions& options) {
  return RowSplitter(kernel, options).run();
}

}  // namespace padlock::compiler
