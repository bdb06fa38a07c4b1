#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/owned.h"

namespace padlock::runtime::cuda {

/// An entry point of a borrowed module and its borrowed context. Copyable, thread-safe.
class Function {
 public:
  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] CUfunction handle() const { return handle_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  friend class Module;
  Function(const Context& context, CUfunction handle, std::string name)
      : context_(&context), handle_(handle), name_(std::move(name)) {}
  const Context* context_;  // borrowed (outlives this)
  CUfunction handle_;       // borrowed from the module (outlives this)
  std::string name_;
};

/// FunctionFacts are the resources that the driver's compiler assigned to a function.
struct FunctionFacts {
  int max_block_threads = 0;
  int registers = 0;             ///< per thread
  std::int64_t local_bytes = 0;  ///< per thread, including spilled registers
  std::int64_t shared_bytes = 0;
};

/// Code loaded into a context. Unloaded on drop; movable. Borrows its context.
class Module {
 public:
  /// `name` is for messages. Compiling PTX takes milliseconds, unless the driver has it in its cache. Errors: as the
  /// driver says, with the compiler's log as context: internal for malformed PTX, unavailable for a PTX version that
  /// the driver does not know, resource_exhausted.
  [[nodiscard]] static Result<Module> load_ptx(const Context& context, const std::string& ptx, const std::string& name);
  /// Loads an assembler's output; the bytes must outlive the module. Errors as the driver says.
  [[nodiscard]] static Result<Module> load_cubin(const Context& context, const std::byte* cubin,
                                                 const std::string& name);
  /// As load_ptx, for many threads at once: the driver compiles loaded PTX one by one, but links in parallel. The
  /// driver does not cache the result. If it cannot link: as load_ptx.
  [[nodiscard]] static Result<Module> link_ptx(const Context& context, const std::string& ptx, const std::string& name);
  /// Loads the function, so that launches need not. Error: not_found; else as the driver says.
  [[nodiscard]] Result<Function> function(const std::string& name) const;

 private:
  Module(const Context& context, CUmodule handle) : module_(context, handle) {}

  Owned<CUmodule, &Driver::cuModuleUnload> module_;
};

/// The code of one program in a borrowed context: one module per entry of its PTX, loaded on first use, or one module
/// of its cubin for all entries. Thread-safe.
class ProgramModules {
 public:
  /// Module::load_ptx or Module::link_ptx.
  using Make = Result<Module> (*)(const Context& context, const std::string& ptx, const std::string& name);

  /// `cubin`: of all the PTX, for this GPU; empty: none.
  ProgramModules(const Context& context, std::string ptx, Make make, std::vector<std::byte> cubin = {})
      : context_(context), ptx_(std::move(ptx)), make_(make), cubin_(std::move(cubin)) {}

  /// Returns whether the PTX has an entry of that name.
  [[nodiscard]] bool has(const std::string& entry) const;
  /// Returns the function of an entry, which lives as long as this. The first request loads it: takes as long as
  /// assembling it and allocates device memory, which is legal while a stream is captured (BesideCapture). After a
  /// failure the next request tries again. If the driver refuses the cubin, as an older one may, the PTX serves.
  /// Errors: internal for a missing entry; as `make`, which names the entry, and Module::function.
  [[nodiscard]] Result<const Function*> function(const std::string& entry) const;

 private:
  [[nodiscard]] Result<Function> load(const std::string& entry) const;
  /// Returns nullopt if there is no cubin, or the driver refuses it.
  [[nodiscard]] Result<std::optional<Function>> find_in_cubin(const std::string& entry) const;

  const Context& context_;  // borrowed (outlives this)
  std::string ptx_;
  Make make_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<std::byte> cubin_;
  mutable std::optional<Module> assembled_;            // the module of the cubin, which it borrows
  mutable std::vector<Module> modules_;                // modules of entries' PTX
  mutable std::map<std::string, Function> functions_;  // by entry; never changed once inserted
};

/// Error: unimplemented if the driver cannot say.
[[nodiscard]] Result<FunctionFacts> function_facts(const Function& function);

}  // namespace padlock::runtime::cuda
