#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/host/thread_pool.h"
#include "runtime/pack/pack_file.h"
#include "runtime/parallel_for.h"
#include "runtime/registry/devices.h"
#include "session/launch/compiled_program.h"
#include "session/launch/program.h"
#include "support/error.h"

namespace padlock::session {

struct LaunchOptions {
  /// Threads of the pool, the caller's included; 0 means as many as the process may run on.
  int threads = 0;
  /// A caller's own way of running loops, used instead of the pool where it is given.
  std::optional<runtime::ParallelFor> parallel_for = {};
  /// A CUcontext of the caller's, borrowed, which serves its device instead of the primary one; it outlives the
  /// context.
  void* cuda_context = nullptr;
};

/// LaunchContext holds what compiled programs share when they run, without a compiler: the thread pool, and the
/// devices, opened on first need: of GPUs their primary contexts are retained. Thread-safe; must outlive what is loaded
/// with it. Leaves the calling thread's current CUDA context as it was.
class LaunchContext {
 public:
  explicit LaunchContext(const LaunchOptions& options = {});
  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;
  virtual ~LaunchContext() = default;

  /// The program on the reference, where nothing is compiled.
  [[nodiscard]] Result<CompiledProgram> interpret(const Program& program);

  /// A program of a pack, ready to be bound: the pack may go then. On the host and on GPUs it runs the code of the
  /// first target that the device can run; on the reference it is interpreted. Errors: those of
  /// runtime::PackFile::find; unavailable for a missing device, or if no target's code runs there, with each reason;
  /// invalid_argument for simt; data_loss for a damaged program; for a GPU also the driver's for loading the code.
  [[nodiscard]] Result<CompiledProgram> load(const runtime::PackFile& pack, std::string_view program,
                                             runtime::DeviceId device = {});

  /// As runtime::Devices::open.
  [[nodiscard]] Result<const runtime::Device*> device(runtime::DeviceId id) { return devices_.open(id); }

 protected:
  runtime::ThreadPool pool_;
  runtime::Devices devices_;
};

}  // namespace padlock::session
