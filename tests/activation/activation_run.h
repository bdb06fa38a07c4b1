#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pass_edits.h"
#include "runtime/host/host_image.h"
#include "session/compile/context.h"

namespace padlock::activation {

/// The place where activations are computed: a device, and the target of its code. For a GPU's architecture the CPU
/// runs the kernel's twin. On the reference the functions are called without a program.
struct Place {
  runtime::DeviceId device;
  std::string target = "host";
  const compiler::PassEdits* edits = nullptr;  ///< for code of another CPU than "host"; borrowed while it is compiled

  [[nodiscard]] bool is_twin() const { return target.starts_with("sm_"); }
  [[nodiscard]] bool is_reference() const { return device.kind == runtime::DeviceKind::reference; }
  [[nodiscard]] std::string name() const;
};

/// Returns the operations of the class OpClass::activation.
[[nodiscard]] std::vector<ir::Op> all_activations();

/// Computes one activation of one type for any number of elements.
class ActivationRun {
 public:
  /// Errors as session::Context::compile; unavailable for a CPU whose code this one cannot run. The context must
  /// outlive it.
  [[nodiscard]] static Result<ActivationRun> compile(session::Context& context, const Place& place, ir::Op op,
                                                     ir::DType dtype);

  /// Computes the bits of results from the bits of arguments. Every NaN becomes the language's own. Errors: those of a
  /// launch.
  template <class Bits>
  [[nodiscard]] Status run(const std::vector<Bits>& arguments, std::vector<Bits>& results) const;

 private:
  ActivationRun(ir::Op op, ir::DType dtype) : op_(op), dtype_(dtype) {}

  /// Code for another CPU of the same kind, which a context does not run.
  struct CpuCode;
  Status compile_for_cpu(const std::string& text, const Place& place);
  Status launch(std::int64_t elements, const void* arguments, void* results, std::int64_t bytes) const;

  ir::Op op_;
  ir::DType dtype_;
  std::optional<session::CompiledProgram> program_;
  std::shared_ptr<const CpuCode> cpu_code_;  // shared, so that copies are cheap; null on the reference
};

}  // namespace padlock::activation
