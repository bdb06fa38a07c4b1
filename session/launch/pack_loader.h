#pragma once

#include <memory>

#include "session/launch/compiled_state.h"
#include "session/launch/pack.h"

// Private to this folder.
namespace padlock::session {

/// Makes compiled programs for one device, which it borrows, of those in packs.
class PackLoader {
 public:
  using State = std::shared_ptr<CompiledProgram::State>;

  explicit PackLoader(const runtime::Device& device) : device_(device) {}

  /// As LaunchContext::load.
  [[nodiscard]] Result<State> load(const PackProgram& packed) const;

 private:
  /// Checks that a target's code runs on the device.
  [[nodiscard]] Status check_target(const PackTarget& target) const;
  [[nodiscard]] Result<const PackTarget*> choose(const PackProgram& packed) const;
  [[nodiscard]] Result<State> load_code(const Program& program, const PackTarget& target, const PackConfig& code) const;
  [[nodiscard]] Status add_choices(CompiledProgram::State& state, const PackTarget& target) const;

  const runtime::Device& device_;
};

}  // namespace padlock::session
