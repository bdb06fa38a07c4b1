#pragma once

#include <atomic>
#include <string>

#include "capi/launch/context.h"
#include "capi/launch/program.h"
#include "session/launch/compiled_program.h"

/// A compiled program. Its context's table owns it; references keep the context alive. A holder of a reference may use
/// it.
struct padlock_kernel {
  /// Makes one with one reference. Throws std::bad_alloc.
  [[nodiscard]] static padlock_kernel* make(padlock_context& context, padlock::session::CompiledProgram compiled);
  static void destroy(padlock_kernel* kernel) noexcept;

  void retain() noexcept {
    if (references_.fetch_add(1, std::memory_order_relaxed) == 0) context.retain();
  }
  /// The last release may end the context, and the kernel with it.
  void release() noexcept {
    padlock_context& owner = context;
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) owner.release();
  }
  [[nodiscard]] bool in_use() const { return references_.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] const padlock_allocator& allocator() const { return block_.allocator; }

  padlock_context& context;  // the owner
  const padlock::session::CompiledProgram compiled;
  const std::string config, target;

 private:
  padlock_kernel(padlock_context& owner, padlock::session::CompiledProgram program, const padlock::capi::Block& block)
      : context(owner),
        compiled(std::move(program)),
        config(compiled.config()),
        target(compiled.target()),
        block_(block) {}

  // Raised relaxed: who does has the kernel by a reference or by the table. Lowered with release and, by who frees it,
  // read with acquire: all uses lie before.
  std::atomic<int> references_ = 0;
  padlock::capi::Block block_;
};
