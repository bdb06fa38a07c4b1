// The control: does correctly what the files beside it do wrongly. It compiles, so they do not fail for a missing
// header or flag.
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/emit/host/emit_host.h"
#include "compiler/prover/kernel_prover.h"

namespace padlock::compiler {

std::vector<abi::KernelAbi> emit_proven(llvm::Module& module, Schedule schedule, const TargetFeatures& target);
const Schedule& read(const ProvenKernel& kernel);

std::vector<abi::KernelAbi> emit_proven(llvm::Module& module, Schedule schedule, const TargetFeatures& target) {
  const Result<ProvenKernel> kernel = prove(std::move(schedule));
  return emit_host_kernel(module, *kernel, target, false);
}

const Schedule& read(const ProvenKernel& kernel) { return kernel.schedule(); }

// A copy of a proven kernel is a proven kernel.
static_assert(std::is_copy_constructible_v<ProvenKernel> && std::is_move_constructible_v<ProvenKernel>);
static_assert(!std::is_aggregate_v<ProvenKernel> && !std::is_default_constructible_v<ProvenKernel>);
static_assert(!std::is_constructible_v<ProvenKernel, Schedule>);
static_assert(!std::is_constructible_v<ProvenKernel, Schedule, Proof>);

}  // namespace padlock::compiler
