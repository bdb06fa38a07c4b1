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

// A GPU without hardware: the fake driver, which the session finds as a driver, and the kernels' twins.
namespace padlock::session {

/// A freshly loaded fake driver, found by all code that looks for a driver. Checks at the end that nothing is left.
struct FakeGpu : runtime::cuda::Fake {
  FakeGpu();
};

/// A program compiled for cuda:0, whose kernels the fake driver runs as `simt` does, with the launch's buffers,
/// scalars, sizes and fault. Must outlive the objects it makes.
class TwinProgram {
 public:
  TwinProgram(const FakeGpu& fake, Context& context, std::string_view text, CompileOptions options = {});
  /// Wraps a program that is already loaded for cuda:0.
  TwinProgram(const FakeGpu& fake, CompiledProgram compiled, bool bounds_check = false);
  TwinProgram(const TwinProgram&) = delete;
  TwinProgram& operator=(const TwinProgram&) = delete;

  [[nodiscard]] const CompiledProgram& compiled() const { return compiled_; }
  /// Binds it. Only the last binding may be launched.
  [[nodiscard]] BoundProgram bind(const ir::BindRequest& request);

  struct Launched {
    std::string kernel;
    unsigned grid_x, block_x;
  };
  /// Returns the launches since the last call. Fails the test if a launch was wrong.
  [[nodiscard]] std::vector<Launched> take_launches();

 private:
  struct Kernel {
    TwinProgram* program;
    const abi::KernelAbi* abi;  // the GPU's contract, of one variant
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

/// Arrays for a bound program: made-up inputs and scalars, poisoned results.
struct Arrays {
  explicit Arrays(const BoundProgram& bound);
  [[nodiscard]] LaunchArguments arguments() const { return {inputs, outputs, scalars}; }

  std::vector<std::vector<std::byte>> memory, results;
  std::vector<runtime::UserBuffer> inputs, outputs;
  std::vector<std::uint64_t> scalars;
};

/// Computes the results on the reference from the same inputs.
[[nodiscard]] std::vector<std::vector<std::byte>> reference_results(const Program& program,
                                                                    const ir::BindRequest& request,
                                                                    const Arrays& arrays);

}  // namespace padlock::session
