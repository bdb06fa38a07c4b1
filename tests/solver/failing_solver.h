#pragma once

#include "solver/integer_solver.h"

namespace padlock::solver {

/// Fails in call number `call`, counted from 0, and is the product's solver in all others.
class FailingSolver final : public IntegerSolver {
 public:
  explicit FailingSolver(std::int64_t call, Code code = Code::internal) : call_(call), code_(code) {}

 private:
  Answer solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) override {
    if (calls() == call_ + 1) return std::unexpected(Error{code_, Blame::internal, "forced by a test", {}, {}});
    return IntegerSolver::solve(variables, std::move(rows), pivots);
  }

  std::int64_t call_;
  Code code_;
};

}  // namespace padlock::solver
