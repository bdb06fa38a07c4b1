#include "tests/compiler/seeded/seeded_bugs.h"

#include <deque>

#include "tests/compiler/seeded/wrong_index_maps.h"
#include "tests/compiler/seeded/wrong_kernel.h"
#include "tests/compiler/seeded/wrong_schedule.h"

namespace padlock::compiler {
namespace {

class SeededBug final : public PassEdits {
 public:
  explicit SeededBug(Mutation mutation) : mutation_(mutation) {}

  [[nodiscard]] std::unique_ptr<IndexMaps> index_maps(ir::ExprContext& exprs, ir::Facts facts) const override {
    return std::make_unique<WrongIndexMaps>(exprs, std::move(facts), mutation_);
  }
  void gathered(Kernel& kernel) const override { edit_kernel(kernel, mutation_); }
  void split(const Kernel& kernel, std::vector<RowCase>& cases) const override {
    edit_segments(kernel, cases, mutation_);
  }
  void covered(Schedule& schedule) const override { edit_schedule(schedule, mutation_); }
  void scheduled(Schedule& schedule) const override { edit_reaches(schedule, mutation_); }
  void emitted(llvm::Module& module) const override {
    edit_code(module, mutation_);
    edit_barrier(module, mutation_);
  }

 private:
  Mutation mutation_;
};

}  // namespace

const PassEdits* edits_of(Mutation mutation) {
  static const std::deque<SeededBug> bugs(kMutations.begin(), kMutations.end());
  return mutation == Mutation::none ? nullptr : &bugs[static_cast<std::size_t>(mutation)];
}

bool is_printed(Mutation mutation) { return !is_of_code(mutation) && mutation != Mutation::task_columns_ignored; }

}  // namespace padlock::compiler
