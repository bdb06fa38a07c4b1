#pragma once

#include <memory>

#include "runtime/pack/pack_file.h"
#include "session/launch/compiled_state.h"

// Private to this folder.
namespace padlock::session {

/// Makes compiled programs from those in packs, for one borrowed device.
class PackLoader {
 public:
  using State = std::shared_ptr<CompiledProgram::State>;

  explicit PackLoader(const runtime::Device& device) : device_(device) {}

  /// As LaunchContext::load.
  [[nodiscard]] Result<State> load(const runtime::PackProgram& packed) const;

 private:
  /// Checks that a target's code runs on the device.
  [[nodiscard]] Status check_target(const runtime::PackTarget& target) const;
  [[nodiscard]] Result<const runtime::PackTarget*> choose(const runtime::PackProgram& packed) const;
  [[nodiscard]] Result<State> load_code(const Program& program, const runtime::PackTarget& target,
                                        const runtime::PackConfig& code) const;
  [[nodiscard]] Status add_choices(CompiledProgram::State& state, const runtime::PackTarget& target) const;

  const runtime::Device& device_;
};

}  // namespace padlock::session
