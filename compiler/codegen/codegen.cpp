#include "compiler/codegen/codegen.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Pass.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "compiler/emit/rows/kernel_function.h"
#include "compiler/targets/revision.h"

namespace padlock::compiler {

// Asks the library, not its headers: a shared LLVM can be updated without building Padlock anew.
std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

namespace {

/// Selects a function's simple instructions (addresses, counters, branches, copies) one by one. Makes a graph only of
/// the rest of a block: the rewriting of graphs is two fifths of a compile. A function with kSelectsByGraph has graphs
/// of whole blocks.
class ChooseSelector final : public llvm::FunctionPass {
 public:
  explicit ChooseSelector(llvm::TargetMachine& machine) : FunctionPass(id), machine_(machine) {}

  bool runOnFunction(llvm::Function& function) override {
    machine_.setFastISel(!function.hasFnAttribute(kSelectsByGraph));
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override { usage.setPreservesAll(); }

 private:
  static inline char id = 0;  // LLVM knows a pass by its address
  llvm::TargetMachine& machine_;
};

/// Runs the code generator's passes without those that cost more than they give here. Analyses that only the omitted
/// passes need do not run either.
class CodePasses final : public llvm::legacy::PassManager {
 public:
  explicit CodePasses(llvm::TargetMachine& machine) : machine_(machine), x86_(machine.getTargetTriple().isX86()) {}

  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* const info = llvm::PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    const Name name = info != nullptr ? info->getPassArgument() : Name();
    if (is_left_out(name)) {
      delete pass;  // the manager owns what is added
      return;
    }
    // LLVM has chosen already for a module that is not optimised.
    if (name == "x86-isel" && machine_.getOptLevel() != llvm::CodeGenOptLevel::None)
      PassManager::add(new ChooseSelector(machine_));
    if (name == "prologepilog" && x86_) PassManager::add(make_load_bases_pass());
    PassManager::add(pass);
  }

 private:
  using Name = llvm::StringRef;

  [[nodiscard]] bool is_left_out(Name pass) const {
    return std::ranges::find(kNeverNeeded, pass) != kNeverNeeded.end() ||
           (x86_ && std::ranges::find(kLeftOut, pass) != kLeftOut.end());
  }

  static constexpr std::array kNeverNeeded = {
      // The schedule's loops have addresses that x86 adds up for free, and AArch64 in the additions that it needs
      // anyway:
      // this pass has nothing to win. (A copy on AArch64: 9 instructions a trip without it, 11 with it.)
      Name("loop-reduce"),
      // These look for things that kernels lack: sanitizers, collected garbage, probes, debug values, exceptions,
      // objects on the stack, blocks that nothing reaches.
      Name("machine-sanmd"), Name("gc-analysis"), Name("gc-lowering"), Name("shadow-stack-gc-lowering"),
      Name("fixup-statepoint-caller-saved"), Name("post-inline-ee-instrument"), Name("fentry-insert"),
      Name("xray-instrumentation"), Name("livedebugvalues"), Name("removeredundantdebugvalues"), Name("lowerinvoke"),
      Name("callbrprepare"), Name("safe-stack"), Name("stack-protector"), Name("stack-frame-layout"),
      Name("localstackalloc"), Name("alloca-hoisting"), Name("unreachableblockelim"), Name("nvptx-lower-ctor-dtor")};
  // For x86, and judged by its times.
  static constexpr std::array kLeftOut = {
      // The CPU itself does this reordering.
      Name("post-RA-sched"), Name("machine-scheduler"), Name("lrshrink"),
      // This pass merges a loop's two tests, before the loop and at its bottom. That costs a jump each trip.
      Name("branch-folder"),
      // Loop invariants are computed before the loop already. A loop's constants are moved after register allocation.
      Name("early-machinelicm"), Name("consthoist"),
      // These choose between integer and float moves, or conditional moves and jumps: some cycles a call at most.
      Name("x86-execution-domain-fix"), Name("break-false-deps"), Name("x86-cmov-conversion"), Name("early-ifcvt"),
      Name("machine-combiner"), Name("x86-domain-reassignment"), Name("x86-fixup-inst-tuning"),
      // These look for things that kernels lack: calls, exceptions, tiles, objects on the stack.
      Name("canon-freeze"), Name("mergeicmps"), Name("expand-memcmp"), Name("interleaved-access"),
      Name("partially-inline-libcalls"), Name("objc-arc-contract"), Name("dwarf-eh-prepare"), Name("stack-coloring"),
      Name("stack-slot-coloring"), Name("x86-cf-opt"), Name("x86-avoid-sfb"), Name("x86-partial-reduction"),
      Name("x86-slh"), Name("x86-tile-config"), Name("tilepreconfig")};
  llvm::TargetMachine& machine_;
  bool x86_;
};

}  // namespace

void simplify(llvm::Module& module, llvm::TargetMachine& machine) {
  // Registers only what the two passes need: registering all of LLVM's analyses takes longer than running the passes.
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([&] { return machine.getTargetIRAnalysis(); });
  analyses.registerPass([] { return llvm::TargetLibraryAnalysis(); });
  analyses.registerPass([] { return llvm::AssumptionAnalysis(); });
  analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) passes.run(function, analyses);
}

Result<llvm::SmallVector<char>> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                              llvm::CodeGenFileType type) {
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  // Resets the machine. CodeGenPrepare reads this setting of a function before ChooseSelector makes its choice. Without
  // the reset, code would depend on what the machine compiled before.
  machine.setFastISel(false);
  CodePasses passes(machine);
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return internal_error("LLVM cannot emit code of this kind for this machine");
  passes.run(module);
  return bytes;
}

}  // namespace padlock::compiler
