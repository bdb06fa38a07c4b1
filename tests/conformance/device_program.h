#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/compile/context.h"
#include "tests/conformance/devices.h"
#include "tests/differential/guarded_run.h"

namespace padlock::conformance {

/// A program on the reference and, in each variant, on the device under test. The context must outlive it.
class DeviceProgram {
 public:
  /// Errors as session::Program::from_text and session::Context::compile.
  [[nodiscard]] static Result<DeviceProgram> compile(session::Context& context, const DeviceUnderTest& device,
                                                     std::string_view text);

  [[nodiscard]] const session::Program& program() const { return reference_.program(); }
  /// Binds it on the reference. Errors as session::CompiledProgram::bind.
  [[nodiscard]] Result<session::BoundProgram> bind(const ir::BindRequest& request) const;
  /// Checks that the device refuses exactly what the reference refuses. Returns which of them differs; empty if none.
  [[nodiscard]] std::string check_binding(const ir::BindRequest& request) const;

  /// Computes the missing results of `problem` on the reference. `bound` is the program with problem.binding.
  [[nodiscard]] static Status solve(const session::BoundProgram& bound, differential::Problem& problem);
  /// Runs every variant twice on guarded buffers, and compares bit for bit with the problem's results. Returns the
  /// first variant that fails, and how; empty if all pass.
  [[nodiscard]] std::string check(const ir::BindRequest& request, const differential::Problem& problem,
                                  differential::GuardedArena& arena, testing::Rng& rng) const;

 private:
  struct Compiled {
    std::string variant;
    session::CompiledProgram program;
  };
  explicit DeviceProgram(session::CompiledProgram reference) : reference_(std::move(reference)) {}

  session::CompiledProgram reference_;
  std::vector<Compiled> compiled_;
};

}  // namespace padlock::conformance
