#include "bench/gpu/compiled.h"

#include <fmt/format.h>

namespace padlock::bench::gpu {

Status check_contract(const ir::KernelAbi& abi) {
  if (abi.inputs.size() == 1 && abi.results.size() == 1 && abi.scalars.empty()) return {};
  return internal_error(fmt::format("kernel {} has {} inputs, {} results and {} scalars, expected one, one and none",
                                    abi.name, abi.inputs.size(), abi.results.size(), abi.scalars.size()));
}

}  // namespace padlock::bench::gpu
