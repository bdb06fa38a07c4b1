#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/targets/target_compiler.h"
#include "runtime/host/host_image.h"
#include "session/compile/context.h"
#include "tests/runtime/cuda/fake_fixture.h"

// A GPU that is none: the fake driver as the one that the api finds, and the kernels' twins.
namespace padlock::session {

/// The fake driver as it was loaded, found by whoever looks for a driver. At the end nothing may be left.
struct FakeGpu : runtime::cuda::Fake {
  FakeGpu();
};

/// A program compiled for cuda:0, whose kernels the fake driver runs: as `simt` runs them, with the buffers, scalars,
/// sizes and fault of the launch's parameters. Must outlive what it makes.
class TwinProgram {
 public:
  TwinProgram(const FakeGpu& fake, Context& context, std::string_view text, CompileOptions options = {});
  /// One that is loaded for cuda:0 already.
  TwinProgram(const FakeGpu& fake, CompiledProgram compiled, bool bounds_check = false);
  TwinProgram(const TwinProgram&) = delete;
  TwinProgram& operator=(const TwinProgram&) = delete;

  [[nodiscard]] const CompiledProgram& compiled() const { return compiled_; }
  /// Of those that are bound, launches must be of the last.
  [[nodiscard]] BoundProgram bind(const ir::BindRequest& request);

  struct Launched {
    std::string kernel;
    unsigned grid_x, block_x;
  };
  /// Since this was asked last. What was wrong with a launch fails the test here.
  [[nodiscard]] std::vector<Launched> take_launches();

 private:
  struct Kernel {
    TwinProgram* program;
    const abi::KernelAbi* abi;  // the GPU's, of one variant
    const runtime::HostVariant* twin;
  };
  static void run(void* kernel, const std::uint64_t* words, std::size_t count, unsigned grid_x, unsigned block_x);
  std::string run(const Kernel& kernel, const std::uint64_t* words, std::size_t count, unsigned grid_x);

  CompiledProgram compiled_;
  std::unique_ptr<compiler::TargetCompiler> compiler_;
  runtime::HostImage twins_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::optional<BoundProgram> bound_;
  std::vector<Launched> launches_;
  std::vector<std::string> complaints_;
};

/// Arrays for a bound program: inputs and scalars made up, results poisoned.
struct Arrays {
  explicit Arrays(const BoundProgram& bound);
  [[nodiscard]] LaunchArguments arguments() const { return {inputs, outputs, scalars}; }

  std::vector<std::vector<std::byte>> memory, results;
  std::vector<runtime::UserBuffer> inputs, outputs;
  std::vector<std::uint64_t> scalars;
};

/// What the reference computes from the same inputs.
[[nodiscard]] std::vector<std::vector<std::byte>> reference_results(const Program& program,
                                                                    const ir::BindRequest& request,
                                                                    const Arrays& arrays);

}  // namespace padlock::session
