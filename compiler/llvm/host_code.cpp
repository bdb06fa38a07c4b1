#include "compiler/llvm/host_code.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace padlock::compiler {

std::unexpected<Error> llvm_error(const char* doing, llvm::Error error) {
  return internal_error(fmt::format("LLVM failed while {}: {}", doing, llvm::toString(std::move(error))));
}

namespace {

constexpr llvm::StringRef kStrengthReduction = "Loop Strength Reduction";
/// Passes that take longer than what they gain on the host. The CPU itself reorders what the schedulers would; the
/// branch folder makes one test of a loop's two, before it and at its bottom, which costs a jump each trip; what is the
/// same in all trips is computed before the loop already, and the constants of one are moved after register allocation.
constexpr auto kLeftOut =
    std::to_array<llvm::StringRef>({"post-RA-sched", "machine-scheduler", "x86-cmov-conversion", "branch-folder",
                                    "early-machinelicm", "machine-combiner", "lrshrink"});

class PassGate final : public llvm::OptPassGate {
 public:
  explicit PassGate(bool host) : host_(host) {}
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != kStrengthReduction && !(host_ && std::ranges::find(kLeftOut, pass) != kLeftOut.end());
  }
  bool isEnabled() const override { return true; }

 private:
  bool host_;
};

}  // namespace

std::unique_ptr<llvm::OptPassGate> make_pass_gate(const llvm::TargetMachine& machine) {
  return std::make_unique<PassGate>(machine.getTargetTriple().isX86());
}

void simplify(llvm::Module& module, llvm::TargetMachine& machine) {
  // Only what the two passes ask for: registering all of LLVM's analyses takes longer than running these.
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
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return internal_error("LLVM cannot emit code of this kind for this machine");
  passes.run(module);
  return bytes;
}

}  // namespace padlock::compiler
