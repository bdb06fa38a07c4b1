#include <set>
#include <vector>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {
namespace {

class SearchProof : private ScheduleProof {
 public:
  using ScheduleProof::ScheduleProof;

  void prove() {
    std::set<std::vector<std::uint32_t>> seen;  // by Expr::id
    for (const Body& body : schedule_.bodies)
      for (const BodyNode& node : body.nodes) {
        if (node.kind != NodeKind::search) continue;
        std::vector<std::uint32_t> key;
        for (const Expr e : node.terms) key.push_back(e.id());
        if (seen.insert(std::move(key)).second) prove(search_of(node.terms));
      }
  }

 private:
  void prove(const Search& search) {
    solver::Region turn;
    turn.nonnegative = {search.low, less(search.low, search.high), exprs_.sub(search.extent, search.high)};
    const auto describe = [=](const Evaluate& at) {
      return fmt::format("from {} and {}, {} is looked at, then from {} or up to {} of {}", at(search.low),
                         at(search.high), at(search.middle), at(search.above), at(search.below), at(search.extent));
    };
    std::vector<Goal> goals = outside(search.middle, search.low, search.high, describe);
    append(goals, {{{at_least(search.low, search.above)}, describe}, {{less(search.high, search.above)}, describe}});
    append(goals, {{{less(search.below, search.low)}, describe}, {{at_least(search.below, search.high)}, describe}});
    decide(ObligationKind::load, fmt::format("a search among {}", session_.text(search.extent)), turn, goals);
  }
};

}  // namespace

void prove_searches(ProofSession& session, const Schedule& schedule, Proof& proof) {
  SearchProof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
