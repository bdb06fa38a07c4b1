#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/gpu/rig.h"
#include "compiler/targets/gpu_config.h"
#include "ir/binding/binding.h"
#include "runtime/arguments.h"
#include "runtime/device.h"

namespace padlock::bench::gpu {

/// CodeFacts say what compiling took and made.
struct CodeFacts {
  double text_to_ptx_ms = 0;       ///< the first time, proofs included; of simt, to machine code
  double text_to_ptx_warm_ms = 0;  ///< the second time, with the proofs known
  double load_ms = 0;              ///< code to a kernel that can be launched with the sizes that were bound first
  int registers = 0;               ///< of one thread; 0 where nobody says
  std::int64_t local_bytes = 0;    ///< of one thread; spilled registers are here
};

/// A program of one input, one result and no scalars, compiled with one config and loaded. Borrows its rig.
class Kernel {
 public:
  /// Absent config: the default one. Errors as compiler::TargetCompiler::compile and runtime::Device::load.
  [[nodiscard]] static Result<std::unique_ptr<Kernel>> compile(Rig& rig, const std::string& text,
                                                               const std::optional<compiler::GpuConfig>& config);

  /// Registers and spills are of the variant that was bound last.
  [[nodiscard]] const CodeFacts& facts() const { return facts_; }
  [[nodiscard]] const runtime::BoundLaunch& bound() const { return *bound_; }

  /// For the sizes of the next launches. Errors as ir::Binding::bind.
  [[nodiscard]] Status bind(const ir::BindRequest& request);
  /// Queues it. Precondition: it is bound, and the buffers are as large as the binding says.
  [[nodiscard]] Status launch(void* input, void* output) const;
  /// Waits until the queue is done. Error: internal, where an access was outside its storage.
  [[nodiscard]] Status synchronize() const { return bound_->synchronize(rig_.queue().stream()); }

 private:
  Kernel(Rig& rig, ir::Program program) : rig_(rig), program_(std::move(program)), binder_(program_) {}

  Rig& rig_;
  ir::Program program_;
  runtime::ArgumentBinder binder_;
  std::unique_ptr<const runtime::LoadedProgram> loaded_;
  CodeFacts facts_;
  std::optional<ir::Binding> binding_;
  std::unique_ptr<const runtime::BoundLaunch> bound_;
};

/// A buffer as a launch takes it.
[[nodiscard]] inline runtime::BufferView view(void* address, std::int64_t bytes) {
  return runtime::BufferView(runtime::UserBuffer(address, bytes));
}

}  // namespace padlock::bench::gpu
