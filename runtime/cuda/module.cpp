#include "runtime/cuda/module.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "abi/ptx_entries.h"

namespace padlock::runtime::cuda {
namespace {

/// The text that the driver's compiler writes while loading a module, and the options that request it.
class JitLog {
 public:
  JitLog() : values_{errors_.data(), std::bit_cast<void*>(errors_.size() - 1)} {}
  JitLog(const JitLog&) = delete;
  JitLog& operator=(const JitLog&) = delete;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(names_.size()); }
  [[nodiscard]] CUjit_option* names() { return names_.data(); }
  [[nodiscard]] void** values() { return values_.data(); }
  /// Without trailing line ends; empty if the driver wrote nothing.
  [[nodiscard]] std::string text() const {
    std::string text = errors_.data();
    text.erase(text.find_last_not_of(" \n\r\t") + 1);
    return text;
  }

 private:
  std::array<char, 8192> errors_{};  // the last byte stays zero
  std::array<CUjit_option, 2> names_{CUjit_option::error_log_buffer, CUjit_option::error_log_buffer_size_bytes};
  std::array<void*, 2> values_;  // the driver expects the values of the sizes in the pointers themselves
};

std::unexpected<Error> not_loaded(Error error, const std::string& name, const JitLog& log) {
  error = std::move(error).in(fmt::format("while loading module {}", name));
  if (std::string text = log.text(); !text.empty()) error = std::move(error).in(std::move(text));
  return std::unexpected(std::move(error));
}

/// Links PTX into an image, which lives as long as this, in the current context. Borrows the context.
class Link {
 public:
  [[nodiscard]] static bool is_known(const Driver& driver) {
    return driver.cuLinkCreate_v2 && driver.cuLinkAddData_v2 && driver.cuLinkComplete && driver.cuLinkDestroy;
  }
  explicit Link(const Context& context) : context_(context) {}
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    if (state_ != nullptr) context_.driver().cuLinkDestroy.address(state_);
  }

  [[nodiscard]] Result<const void*> image_of(const std::string& ptx, const std::string& name) {
    const Driver& driver = context_.driver();
    PADLOCK_CHECK(context_.call(driver.cuLinkCreate_v2, log_.count(), log_.names(), log_.values(), &state_));
    PADLOCK_CHECK(context_.call(driver.cuLinkAddData_v2, state_, CUjitInputType::ptx, const_cast<char*>(ptx.c_str()),
                                ptx.size() + 1, name.c_str(), 0U, nullptr, nullptr));
    void* image = nullptr;
    std::size_t bytes = 0;
    PADLOCK_CHECK(context_.call(driver.cuLinkComplete, state_, &image, &bytes));
    return image;
  }
  [[nodiscard]] const JitLog& log() const { return log_; }

 private:
  const Context& context_;
  JitLog log_;  // the driver writes to it while there is a state
  CUlinkState state_ = nullptr;
};

Result<CUmodule> load_image(const Context& context, const void* image, JitLog& log) {
  CUmodule handle = nullptr;
  PADLOCK_CHECK(
      context.call(context.driver().cuModuleLoadDataEx, &handle, image, log.count(), log.names(), log.values()));
  return handle;
}

}  // namespace

Result<Module> Module::load_ptx(const Context& context, const std::string& ptx, const std::string& name) {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  JitLog log;
  auto handle = load_image(context, ptx.c_str(), log);
  if (!handle) return not_loaded(std::move(handle).error(), name, log);
  return Module(context, *handle);
}

Result<Module> Module::load_cubin(const Context& context, const std::byte* cubin, const std::string& name) {
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  JitLog log;
  auto handle = load_image(context, cubin, log);
  if (!handle) return not_loaded(std::move(handle).error(), name, log);
  return Module(context, *handle);
}

Result<Module> Module::link_ptx(const Context& context, const std::string& ptx, const std::string& name) {
  if (!Link::is_known(context.driver())) return load_ptx(context, ptx, name);
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  Link link(context);
  auto image = link.image_of(ptx, name);
  if (!image) return not_loaded(std::move(image).error(), name, link.log());
  JitLog log;
  auto handle = load_image(context, *image, log);
  if (!handle) return not_loaded(std::move(handle).error(), name, log);
  return Module(context, *handle);
}

Result<Function> Module::function(const std::string& name) const {
  const Context& context = module_.context();
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
  const Driver& driver = context.driver();
  CUfunction handle = nullptr;
  const CallSite site{.device = context.ordinal(), .kernel = name};
  PADLOCK_CHECK(driver.call(driver.cuModuleGetFunction, site, &handle, module_.get(), name.c_str()));
  // CUDA loads lazily, by default since 12.2. The first launch would then load and allocate, which is illegal while a
  // graph is captured. Drivers older than cuFuncLoad load in cuModuleGetFunction.
  if (driver.cuFuncLoad) PADLOCK_CHECK(driver.call(driver.cuFuncLoad, site, handle));
  return Function(context, handle, name);
}

bool ProgramModules::has(const std::string& entry) const { return abi::has_ptx_entry(ptx_, entry); }

Result<std::optional<Function>> ProgramModules::find_in_cubin(const std::string& entry) const {
  if (cubin_.empty()) return std::nullopt;
  if (!assembled_) {
    auto module = Module::load_cubin(context_, cubin_.data(), entry);
    const bool is_refused =
        !module && module.error().code != Code::resource_exhausted && !is_device_lost(module.error());
    if (is_refused) cubin_.clear();  // never asked for again
    if (is_refused) return std::nullopt;
    PADLOCK_TRY(assembled_, std::move(module));
  }
  return assembled_->function(entry);
}

Result<Function> ProgramModules::load(const std::string& entry) const {
  PADLOCK_TRY(const BesideCapture beside, BesideCapture::enter(context_));
  PADLOCK_TRY(std::optional<Function> assembled, find_in_cubin(entry));
  if (assembled) return *std::move(assembled);
  const std::optional<std::string> ptx = abi::ptx_of_entry(ptx_, entry);
  if (!ptx) return internal_error(fmt::format("the PTX has no entry {}", entry));
  PADLOCK_TRY(Module module, make_(context_, *ptx, entry));
  PADLOCK_TRY(Function function, module.function(entry));
  modules_.push_back(std::move(module));
  return function;
}

Result<const Function*> ProgramModules::function(const std::string& entry) const {
  const std::lock_guard lock(mutex_);
  auto found = functions_.find(entry);
  if (found == functions_.end()) {
    PADLOCK_TRY(Function loaded, load(entry));
    found = functions_.emplace(entry, std::move(loaded)).first;
  }
  return &found->second;
}

Result<FunctionFacts> function_facts(const Function& function) {
  const Driver& driver = function.context().driver();
  if (!driver.cuFuncGetAttribute)
    return std::unexpected(
        Error{.code = Code::unimplemented,
              .blame = Blame::environment,
              .message = fmt::format("the CUDA driver {} has no function cuFuncGetAttribute", driver.file)});
  PADLOCK_TRY(const ContextScope scope, ContextScope::enter(function.context()));
  const CallSite site{.device = function.context().ordinal(), .kernel = function.name()};
  const auto attribute = [&](CUfunction_attribute which, auto& value) -> Status {
    int found = 0;
    PADLOCK_CHECK(driver.call(driver.cuFuncGetAttribute, site, &found, which, function.handle()));
    value = found;
    return {};
  };
  FunctionFacts facts;
  PADLOCK_CHECK(attribute(CUfunction_attribute::max_threads_per_block, facts.max_block_threads));
  PADLOCK_CHECK(attribute(CUfunction_attribute::num_regs, facts.registers));
  PADLOCK_CHECK(attribute(CUfunction_attribute::local_size_bytes, facts.local_bytes));
  PADLOCK_CHECK(attribute(CUfunction_attribute::shared_size_bytes, facts.shared_bytes));
  return facts;
}

}  // namespace padlock::runtime::cuda
