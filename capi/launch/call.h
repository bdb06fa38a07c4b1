#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capi/launch/kernel.h"
#include "capi/launch/program.h"
#include "capi/object.h"
#include "capi/tensor.h"
#include "session/launch/compiled_program.h"

/// A bound call of a kernel; or of a program, then it has sizes and cannot be launched.
struct padlock_call : padlock::capi::Counted<padlock_call> {
  padlock_call(padlock_kernel* owner, padlock_program* source, padlock::session::BoundProgram sizes,
               std::vector<std::uint64_t> bits, padlock::capi::Place where)
      : kernel(padlock::capi::Ref<padlock_kernel>::to(owner)),
        program(padlock::capi::Ref<padlock_program>::to(source)),
        bound(std::move(sizes)),
        scalars(std::move(bits)),
        place(where),
        config(bound.compiled().config().c_str()),
        reason(bound.reason()) {}

  // One of these two is set; it outlives the binding.
  const padlock::capi::Ref<padlock_kernel> kernel;
  const padlock::capi::Ref<padlock_program> program;
  const padlock::session::BoundProgram bound;
  const std::vector<std::uint64_t> scalars;
  const padlock::capi::Place place;  // the launched tensors'
  const char* const config;          // borrowed from the binding
  const std::string reason;
};

namespace padlock::capi {

/// Reads the sizes of bind options that come from read_options. The tensors lie at `place`. Errors: invalid_argument.
[[nodiscard]] Result<ir::BindRequest> bind_request(const ir::Program& program, const padlock_bind_options& options,
                                                   const Place& place);

}  // namespace padlock::capi
