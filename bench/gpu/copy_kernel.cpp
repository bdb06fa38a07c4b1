#include "bench/gpu/copy_kernel.h"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "runtime/cuda/launch.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

constexpr std::array kVectors = {1, 2, 4, 8};  // of a thread
constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kVectorBytes = 16;

std::string function_name(int vectors) { return fmt::format("padlock_bench_copy_{}", vectors); }

/// Parameters: to, from, vectors. Vector i of a thread lies i * kThreads after its first, so that a warp's are
/// adjacent.
std::string ptx_of(int vectors) {
  std::string loads;
  std::string stores;
  for (int i = 0; i < vectors; ++i) {
    const std::int64_t apart = i * kThreads;
    loads += fmt::format(
        "  add.s64 %at, %first, {};\n  setp.lt.s64 %in{}, %at, %count;\n"
        "  @%in{} ld.global.nc.v4.b32 {{%a{}, %b{}, %c{}, %d{}}}, [%from+{}];\n",
        apart, i, i, i, i, i, i, apart * kVectorBytes);
    stores += fmt::format("  @%in{} st.global.v4.b32 [%to+{}], {{%a{}, %b{}, %c{}, %d{}}};\n", i, apart * kVectorBytes,
                          i, i, i, i);
  }
  return fmt::format(
      ".visible .entry {}(.param .u64 to, .param .u64 from, .param .u64 count)\n{{\n"
      "  .reg .pred %in<{}>;\n  .reg .b32 %a<{}>, %b<{}>, %c<{}>, %d<{}>;\n"
      "  .reg .b32 %block, %thread;\n  .reg .b64 %to, %from, %count, %first, %at, %more;\n"
      "  ld.param.u64 %to, [to];\n  ld.param.u64 %from, [from];\n  ld.param.u64 %count, [count];\n"
      "  mov.u32 %block, %ctaid.x;\n  mov.u32 %thread, %tid.x;\n  cvt.u64.u32 %more, %thread;\n"
      "  mul.wide.u32 %first, %block, {};\n  add.s64 %first, %first, %more;\n  shl.b64 %at, %first, 4;\n"
      "  add.s64 %to, %to, %at;\n  add.s64 %from, %from, %at;\n{}{}  ret;\n}}\n",
      function_name(vectors), vectors, vectors, vectors, vectors, vectors, vectors * kThreads, loads, stores);
}

}  // namespace

Result<std::unique_ptr<const CopyKernels>> CopyKernels::load(Rig& rig) {
  if (rig.current() == nullptr) return std::unique_ptr<const CopyKernels>();
  std::string ptx = ".version 7.0\n.target sm_70\n.address_size 64\n";
  for (const int vectors : kVectors) ptx += ptx_of(vectors);
  PADLOCK_TRY(cuda::Module module, cuda::Module::load_ptx(rig.current()->context(), ptx, "the plain copies"));
  std::unique_ptr<CopyKernels> kernels(new CopyKernels(rig, std::move(module)));
  for (const int vectors : kVectors) {
    PADLOCK_TRY(const cuda::Function function, kernels->module_.function(function_name(vectors)));
    kernels->functions_.push_back(function);
  }
  return std::unique_ptr<const CopyKernels>(std::move(kernels));
}

std::string CopyKernels::name_of(std::size_t index) {
  return kVectors.at(index) == 1 ? "copy by 1 vector" : fmt::format("copy by {} vectors", kVectors.at(index));
}

Status CopyKernels::launch(std::size_t index, std::byte* to, const std::byte* from, std::int64_t bytes) const {
  const std::int64_t vectors = (bytes + kVectorBytes - 1) / kVectorBytes;
  const std::int64_t of_block = kVectors.at(index) * kThreads;
  const std::uint64_t words[] = {std::bit_cast<std::uint64_t>(to), std::bit_cast<std::uint64_t>(from),
                                 static_cast<std::uint64_t>(vectors)};
  const cuda::LaunchShape shape{.grid_x = static_cast<unsigned>((vectors + of_block - 1) / of_block),
                                .block_x = static_cast<unsigned>(kThreads)};
  const cuda::ContextScope& current = *rig_.current();
  return cuda::launch(current, functions_[index], shape, words,
                      cuda::Stream::borrow(current.context(), rig_.queue().stream()));
}

}  // namespace padlock::bench::gpu
