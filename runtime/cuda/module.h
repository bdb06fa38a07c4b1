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

/// An entry point of a module, which it borrows with its context. Copyable, thread-safe.
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

/// FunctionFacts say what the driver's compiler made of a function.
struct FunctionFacts {
  int max_block_threads = 0;
  int registers = 0;             ///< of one thread
  std::int64_t local_bytes = 0;  ///< of one thread; spilled registers are here
  std::int64_t shared_bytes = 0;
};

/// Code that is loaded into a context. Unloaded when it is dropped; movable. Borrows its context.
class Module {
 public:
  /// `name` is for messages. Compiling PTX takes milliseconds, unless the driver has it in its own cache.
  /// Errors: as the driver says (internal, for PTX that is not well formed; unavailable, for a PTX version that the
  /// driver does not know; resource_exhausted), with the compiler's log as context.
  [[nodiscard]] static Result<Module> load_ptx(const Context& context, const std::string& ptx, const std::string& name);
  /// Loads what an assembler made; the bytes outlive the module. Errors as the driver says.
  [[nodiscard]] static Result<Module> load_cubin(const Context& context, const std::byte* cubin,
                                                 const std::string& name);
  /// As load_ptx, from many threads at a time: what is loaded as PTX the driver compiles one after the other, what is
  /// linked first beside each other. The driver keeps none of it in its own cache. Where it cannot link: as load_ptx.
  [[nodiscard]] static Result<Module> link_ptx(const Context& context, const std::string& ptx, const std::string& name);
  /// Loads the function, so that its launches need not. Error: not_found; else as the driver says.
  [[nodiscard]] Result<Function> function(const std::string& name) const;

 private:
  Module(const Context& context, CUmodule handle) : module_(context, handle) {}

  Owned<CUmodule, &Driver::cuModuleUnload> module_;
};

/// The code of one program in a context, which it borrows: a module for each entry of its PTX, loaded when the entry is
/// first asked for, or one of its cubin for all of them. Thread-safe.
class ProgramModules {
 public:
  /// Module::load_ptx or Module::link_ptx.
  using Make = Result<Module> (*)(const Context& context, const std::string& ptx, const std::string& name);

  /// `cubin`: of all the PTX, for this GPU; empty: none.
  ProgramModules(const Context& context, std::string ptx, Make make, std::vector<std::byte> cubin = {})
      : context_(context), ptx_(std::move(ptx)), make_(make), cubin_(std::move(cubin)) {}

  /// Returns whether the PTX has an entry of that name.
  [[nodiscard]] bool has(const std::string& entry) const;
  /// Returns the function of an entry, which lives as long as this. The first that is asked for loads it, which takes
  /// as long as assembling it and allocates device memory; that is legal while a stream is captured (BesideCapture).
  /// Where it fails, the next one tries again. PTX serves where the driver refuses the cubin, as an older one may.
  /// Errors: internal for an entry that there is not; as `make`, which names the entry, and Module::function.
  [[nodiscard]] Result<const Function*> function(const std::string& entry) const;

 private:
  [[nodiscard]] Result<Function> load(const std::string& entry) const;
  /// Nullopt where there is no cubin, or the driver refuses it.
  [[nodiscard]] Result<std::optional<Function>> find_in_cubin(const std::string& entry) const;

  const Context& context_;  // borrowed (outlives this)
  std::string ptx_;
  Make make_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::vector<std::byte> cubin_;
  mutable std::optional<Module> assembled_;            // the cubin's, which it borrows
  mutable std::vector<Module> modules_;                // of entries' PTX
  mutable std::map<std::string, Function> functions_;  // by entry; what it has is never changed
};

/// Error: unimplemented, where the driver cannot say.
[[nodiscard]] Result<FunctionFacts> function_facts(const Function& function);

}  // namespace padlock::runtime::cuda
