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
  /// A caller's way of running loops; if set, used instead of the pool.
  std::optional<runtime::ParallelFor> parallel_for = {};
  /// A caller's CUcontext, borrowed, used for its device instead of the primary one. Must outlive the context.
  void* cuda_context = nullptr;
};

/// LaunchContext holds what compiled programs share at run time, without a compiler: the thread pool, and the devices,
/// opened on first need; for GPUs it retains the primary contexts. Thread-safe; must outlive what it loads. Restores
/// the calling thread's current CUDA context.
class LaunchContext {
 public:
  explicit LaunchContext(const LaunchOptions& options = {});
  LaunchContext(const LaunchContext&) = delete;
  LaunchContext& operator=(const LaunchContext&) = delete;
  virtual ~LaunchContext() = default;

  /// Returns the program on the reference, which compiles nothing.
  [[nodiscard]] Result<CompiledProgram> interpret(const Program& program);

  /// Loads a program of a pack, ready for binding; the pack may then be dropped. The host and GPUs run the code of the
  /// first target that the device can run; the reference interprets. Errors: those of runtime::PackFile::find;
  /// unavailable for a missing device, or if no target's code runs there, with each reason; invalid_argument for simt;
  /// data_loss for a damaged program; for a GPU also the driver's for loading the code.
  [[nodiscard]] Result<CompiledProgram> load(const runtime::PackFile& pack, std::string_view program,
                                             runtime::DeviceId device = {});

  /// As runtime::Devices::open.
  [[nodiscard]] Result<const runtime::Device*> device(runtime::DeviceId id) { return devices_.open(id); }

 protected:
  runtime::ThreadPool pool_;
  runtime::Devices devices_;
};

}  // namespace padlock::session
