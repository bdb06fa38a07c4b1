// Tests the place at which a kernel waits for earlier grids: after the computations that do not need them, before it
// accesses memory that they may write.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include "compiler/pass_edits.h"
#include "compiler/targets/target_compiler.h"
#include "tests/common/expect.h"

namespace padlock::compiler {
namespace {

constexpr unsigned kGlobal = 1;

/// Records the instructions of a module's kernels before and after their waits.
class Waits final : public PassEdits {
 public:
  void emitted(llvm::Module& module) const override {
    for (llvm::Function& function : module)
      if (!function.isDeclaration()) look_at(function);
  }

  mutable int kernels = 0, accesses = 0, early_accesses = 0, waits = 0, launches = 0;
  mutable int early_multiplications = 1 << 30;  // before a load's wait, in the kernel that has the fewest

 private:
  static bool is_global(const llvm::Instruction& at) {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&at);
    return (pointer != nullptr && pointer->getType()->getPointerAddressSpace() == kGlobal) || at.isAtomic();
  }
  static bool is_call_of(const llvm::Instruction* at, llvm::Intrinsic::ID id) {
    const auto* call = llvm::dyn_cast_or_null<llvm::IntrinsicInst>(at);
    return call != nullptr && call->getIntrinsicID() == id;
  }
  static bool is_wait(const llvm::Instruction& at) {
    return is_call_of(&at, llvm::Intrinsic::nvvm_griddepcontrol_wait);
  }

  void look_at(llvm::Function& function) const {
    ++kernels;
    for (const llvm::Instruction& at : llvm::instructions(function)) {
      accesses += is_global(at) ? 1 : 0;
      if (!is_wait(at)) continue;
      ++waits;
      launches += is_call_of(at.getNextNode(), llvm::Intrinsic::nvvm_griddepcontrol_launch_dependents) ? 1 : 0;
    }
    look_before_waits(function);
    const llvm::DominatorTree tree(function);
    int most = 0;  // some kernels wait though they load nothing
    for (const llvm::Instruction& at : llvm::instructions(function))
      if (is_wait(at)) most = std::max(most, count_before(function, tree, at));
    early_multiplications = std::min(most, early_multiplications);
  }
  /// Counts the accesses that some way from the entry comes to without a wait.
  void look_before_waits(llvm::Function& function) const {
    std::set<const llvm::BasicBlock*> seen;
    std::vector<const llvm::BasicBlock*> next = {&function.getEntryBlock()};
    while (!next.empty()) {
      const llvm::BasicBlock* block = next.back();
      next.pop_back();
      if (!seen.insert(block).second) continue;
      const auto wait = std::ranges::find_if(*block, is_wait);
      early_accesses += static_cast<int>(std::count_if(block->begin(), wait, is_global));
      if (wait == block->end()) next.insert(next.end(), llvm::succ_begin(block), llvm::succ_end(block));
    }
  }
  static int count_before(llvm::Function& function, const llvm::DominatorTree& tree, const llvm::Instruction& wait) {
    int before = 0;
    for (const llvm::Instruction& at : llvm::instructions(function))
      before += at.getOpcode() == llvm::Instruction::Mul && tree.dominates(&at, &wait) ? 1 : 0;
    return before;
  }
};

void compile_for(std::string_view target, std::string_view text, std::string_view config, const Waits& waits) {
  const ir::Program program = testing::program_of(text);
  const std::unique_ptr<TargetCompiler> compiler = testing::value_of(TargetCompiler::create(std::string(target)));
  const Config parsed = testing::value_of(compiler->parse_config(config));
  CHECK(compiler->emit(program, Stage::assembly, {.config = parsed, .edits = &waits}).has_value());
}

constexpr std::string_view kVolumes =
    "program p(x: f32[A, B, C, D]) { y = pad(x, low = [0, 1, 1, 1], high = [0, 1, 1, 1]) return y }";
constexpr std::string_view kShortRows =
    "program p(x: i8[A, B, C]) { y = pad(x, low = [0, 1, 1], high = [1, 0, 1]) z = relu(y) return z }";
constexpr std::string_view kTwoResults =
    "program p(x: i8[A, B], y: f64[A, B]) where A >= 1, B >= 1 { a = relu(x) b = relu(y) return a, b }";
constexpr std::string_view kTurned =
    "program p(x: f32[H, W]) { t = transpose(x, perm = [1, 0]) y = pad(t, low = [0, 1], high = [0, 1]) return y }";

}  // namespace

TEST_CASE("a kernel waits before all accesses of memory, and lets the next one begin right after") {
  for (const std::string_view text : {kVolumes, kShortRows, kTwoResults, kTurned})
    for (const std::string_view config : {"", "map=vector_grid,items=1", "map=vector_grid,items=4"}) {
      CAPTURE(text);
      CAPTURE(config);
      const Waits waits;
      compile_for("sm_90", text, config, waits);
      CHECK(waits.kernels >= 2);
      CHECK(waits.accesses >= 4 * waits.kernels);
      CHECK(waits.early_accesses == 0);
      CHECK(waits.waits >= waits.kernels);
      CHECK(waits.launches == waits.waits);
    }
}

TEST_CASE("a kernel waits after it has found its first vector's row, or its tile") {
  const auto multiplications = [](std::string_view text, std::string_view config) {
    const Waits waits;
    compile_for("sm_90", text, config, waits);
    return waits.early_multiplications;
  };
  // A division takes one and its remainder another, and the row of an output of rank 4 has three: of its element, and
  // of it by two axes.
  CHECK(multiplications(kVolumes, "") >= 6);
  CHECK(multiplications(kVolumes, "map=vector_grid,items=4") >= 6);
  CHECK(multiplications(kShortRows, "") >= 2);
  CHECK(multiplications(kTurned, "") >= 1);
}

}  // namespace padlock::compiler
