#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

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
  /// The same from many threads at a time: what is loaded as PTX the driver compiles one after the other, what is
  /// linked first beside each other. The driver keeps none of it in its own cache. Where it cannot link: as load_ptx.
  [[nodiscard]] static Result<Module> link_ptx(const Context& context, const std::string& ptx, const std::string& name);
  /// Loads the function, so that its launches need not. Error: not_found; else as the driver says.
  [[nodiscard]] Result<Function> function(const std::string& name) const;

 private:
  Module(const Context& context, CUmodule handle) : module_(context, handle) {}

  Owned<CUmodule, &Driver::cuModuleUnload> module_;
};

/// The code of one program in a context, which it borrows: a module for each part of its PTX, that for large sizes
/// loaded when a function of it is first asked for. Thread-safe.
class ProgramModules {
 public:
  /// Module::load_ptx or Module::link_ptx.
  using Make = Result<Module> (*)(const Context& context, const std::string& ptx, const std::string& name);

  /// Loads the part of usual sizes. `name` is for messages. Errors as `make`.
  [[nodiscard]] static Result<std::unique_ptr<const ProgramModules>> load(const Context& context, std::string_view ptx,
                                                                          std::string name, Make make);

  /// Returns whether the function can be had without loading code.
  [[nodiscard]] bool is_loaded(const std::string& function) const;
  /// Returns a function of either part, which lives as long as this. The first that is asked of the part for large
  /// sizes loads that, which takes as long as compiling it, allocates device memory and is illegal while a stream of
  /// the context is captured; where it fails, the next one tries again. Errors as `make` and Module::function.
  [[nodiscard]] Result<const Function*> function(const std::string& name) const;

 private:
  ProgramModules(const Context& context, std::string name, Make make, std::string large, Module usual)
      : context_(context),
        name_(std::move(name)),
        make_(make),
        large_ptx_(std::move(large)),
        usual_(std::move(usual)) {}
  [[nodiscard]] bool is_large(const std::string& function) const;  ///< of the part for large sizes
  [[nodiscard]] Result<const Module*> module_of(const std::string& function) const;

  const Context& context_;  // borrowed (outlives this)
  std::string name_;
  Make make_;
  std::string large_ptx_;
  Module usual_;
  mutable std::mutex mutex_;
  mutable std::optional<Module> large_;                // guarded by mutex_
  mutable std::map<std::string, Function> functions_;  // guarded by mutex_; what it has is never changed
};

/// Error: unimplemented, where the driver cannot say.
[[nodiscard]] Result<FunctionFacts> function_facts(const Function& function);

}  // namespace padlock::runtime::cuda
