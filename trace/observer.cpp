#include "trace/observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi/gpu_targets.h"
#include "compiler/pass_log.h"
#include "compiler/targets/revision.h"

namespace padlock::trace {
namespace {

using compiler::Stage;
using compiler::TargetCompiler;

std::string text_of(const std::vector<compiler::Proof>& proofs) {
  std::string text;
  for (const compiler::Proof& proof : proofs) {
    text += fmt::format("kernel {}, config {}\n", proof.kernel, proof.config);
    for (const compiler::Obligation& obligation : proof.obligations)
      text += fmt::format("  {}\n", to_string(obligation));
  }
  return text;
}

/// Sums up the passes of one compile, and dumps LLVM's modules.
class Recorder final : public compiler::PassLog {
 public:
  /// `dumps`: borrowed, or null.
  Recorder(DumpFolder* dumps, std::string folder) : dumps_(dumps), folder_(std::move(folder)) {}

  void took(std::string_view pass, double milliseconds) override {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(passes_, pass, &std::pair<std::string_view, double>::first);
    if (known != passes_.end())
      known->second += milliseconds;
    else
      passes_.emplace_back(pass, milliseconds);
  }
  [[nodiscard]] bool wants_code() const override { return !folder_.empty(); }
  void code(bool simplified, std::size_t number, std::string_view llvm) override {
    const std::string suffix = number == 0 ? "" : fmt::format("-{}", number);
    write(fmt::format("{}{}.ll", simplified ? "simplified" : "emitted", suffix), llvm);
  }
  void write(std::string_view file, std::string_view text) const {
    if (dumps_ != nullptr) dumps_->write(folder_, file, text);
  }
  void write_any(std::string_view file, const Result<std::string>& text) const {
    if (text) write(file, std::string_view(*text));
  }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// Prints the passes in the order in which they first ended. One call, so that lines of several threads do not mix.
  void print(std::string_view program, std::string_view target, double all) const {
    std::string line = fmt::format("padlock: {} for {}, ms:", program, target);
    for (const auto& [pass, milliseconds] : passes_) line += fmt::format(" {} {:.3f},", pass, milliseconds);
    std::fputs(fmt::format("{} total {:.3f}\n", line, all).c_str(), stderr);
  }

 private:
  DumpFolder* dumps_;
  const std::string folder_;
  std::mutex mutex_;
  std::vector<std::pair<std::string_view, double>> passes_;  // their names are literals; guarded by mutex_
};

/// A target's compiler that reports its passes and dumps its stages.
class ObservedCompiler final : public TargetCompiler {
 public:
  ObservedCompiler(std::unique_ptr<TargetCompiler> real, std::string target, std::shared_ptr<DumpFolder> dumps,
                   bool times)
      : real_(std::move(real)), target_(std::move(target)), dumps_(std::move(dumps)), times_(times) {}

  [[nodiscard]] compiler::Config default_config() const override { return real_->default_config(); }
  [[nodiscard]] Result<compiler::Config> parse_config(std::string_view text) const override {
    return real_->parse_config(text);
  }
  [[nodiscard]] std::vector<compiler::Config> all_configs() const override { return real_->all_configs(); }
  Result<compiler::SearchSpace> search_space(const ir::Program& program,
                                             std::span<const ir::Binding> bindings) override {
    return real_->search_space(program, bindings);
  }
  [[nodiscard]] std::string description() const override { return real_->description(); }
  Result<abi::CompiledCode> compile_comparison(bool for_simt) override { return real_->compile_comparison(for_simt); }
  [[nodiscard]] std::optional<Architecture> architecture() const override { return real_->architecture(); }
  [[nodiscard]] std::vector<std::string> required_features() const override { return real_->required_features(); }
  [[nodiscard]] Status check_runs_here() const override { return real_->check_runs_here(); }

  Result<abi::CompiledCode> compile(const ir::Program& program, const Options& options) override {
    return observe(program, options, true, [&](const Options& heard) { return real_->compile(program, heard); });
  }
  Result<std::vector<compiler::Proof>> prove(const ir::Program& program, const Options& options) override {
    return observe(program, options, false, [&](const Options& heard) { return real_->prove(program, heard); });
  }
  Result<std::string> emit(const ir::Program& program, Stage stage, const Options& options) override {
    if (stage == Stage::kernel || stage == Stage::schedule) return real_->emit(program, stage, options);
    return observe(program, options, true, [&](const Options& heard) { return real_->emit(program, stage, heard); });
  }

 private:
  /// Runs `make` with a log among its options. `is_compile`: also dumps the stages.
  template <class Make>
  std::invoke_result_t<Make, const Options&> observe(const ir::Program& program, const Options& options,
                                                     bool is_compile, const Make& make) {
    const bool dumps = is_compile && dumps_ != nullptr;
    Recorder recorder(dumps_.get(), dumps ? dumps_->begin(program.name(), target_) : "");
    Options heard = options;
    heard.log = &recorder;
    if (recorder.wants_code()) write_question(recorder, program, options);
    const Stopwatch watch;
    auto made = make(std::as_const(heard));
    const double all = watch.milliseconds();
    if (times_) recorder.print(program.name(), target_, all);
    if (recorder.wants_code()) {
      write_answer(recorder, program, options, made.has_value());
      if (!made) recorder.write("error.txt", made.error().to_string() + "\n");
    }
    return made;
  }

  /// Writes the question and all stages before LLVM, so that they are there if LLVM ends the process.
  void write_question(const Recorder& recorder, const ir::Program& program, const Options& options) {
    recorder.write("program.pad", ir::to_string(program));
    recorder.write("compile.txt", description_of(options));
    recorder.write("repro.sh", script_of(options));
    std::error_code ignored;
    std::filesystem::permissions(recorder.folder() + "/repro.sh", std::filesystem::perms::owner_exec,
                                 std::filesystem::perm_options::add, ignored);
    recorder.write_any("kernel.txt", real_->emit(program, Stage::kernel, options));
    recorder.write_any("schedule.txt", real_->emit(program, Stage::schedule, options));
  }

  void write_answer(const Recorder& recorder, const ir::Program& program, const Options& options, bool succeeded) {
    if (const auto proofs = real_->prove(program, options)) recorder.write("proof.txt", text_of(*proofs));
    if (succeeded)
      recorder.write_any(abi::is_gpu(target_) ? "code.ptx" : "code.s", real_->emit(program, Stage::assembly, options));
  }

  [[nodiscard]] bool is_on_simt(const Options& options) const { return options.for_simt && abi::is_gpu(target_); }

  [[nodiscard]] std::string config_of(const Options& options) const {
    return compiler::to_string(options.config.value_or(real_->default_config()));
  }

  [[nodiscard]] std::string description_of(const Options& options) const {
    return fmt::format(
        "target {}{}\ncpu and features {}\nconfig {}\nbounds check {}\n"
        "padlock {}, code revision {}, launch contract {}, LLVM {}\n",
        target_, is_on_simt(options) ? " on simt" : "", real_->description(), config_of(options), options.bounds_check,
        PADLOCK_VERSION, compiler::kCodeRevision, compiler::kAbiRevision, compiler::llvm_version());
  }

  /// Returns a shell script that repeats the compile. It prints the code; for simt, which has no text of code, it runs
  /// a command that compiles.
  [[nodiscard]] std::string script_of(const Options& options) const {
    const std::string stage = abi::is_gpu(target_) ? "ptx" : "asm";
    const std::string how =
        is_on_simt(options) ? "explain program.pad --device=simt" : fmt::format("emit program.pad --stage={}", stage);
    return fmt::format(
        "#!/bin/sh\n# Compiles it again. PADLOCK may name the command.\ncd \"$(dirname \"$0\")\" || exit 1\n"
        "exec \"${{PADLOCK:-padlock}}\" {} --target='{}' --config='{}'{}\n",
        how, target_, config_of(options), options.bounds_check && !is_on_simt(options) ? " --bounds-check" : "");
  }

  const std::unique_ptr<TargetCompiler> real_;
  const std::string target_;
  const std::shared_ptr<DumpFolder> dumps_;
  const bool times_;
};

/// Returns a variable's value; empty if it is not set.
std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_asked_for() { return !value_of(kDumpVariable).empty() || !value_of(kTimeVariable).empty(); }

Observer Observer::from_environment() {
  Observer observer;
  if (std::string folder = value_of(kDumpVariable); !folder.empty())
    observer.dumps_ = std::make_shared<DumpFolder>(std::move(folder));
  const std::string times = value_of(kTimeVariable);
  observer.times_ = times == "1";
  if (!observer.times_ && !times.empty() && times != "0")
    std::fputs(fmt::format("padlock: warning: {}: expected 1, found '{}': no times are printed\n", kTimeVariable, times)
                   .c_str(),
               stderr);
  return observer;
}

Result<std::unique_ptr<TargetCompiler>> Observer::create(const std::string& target) const {
  PADLOCK_TRY(std::unique_ptr<TargetCompiler> real, TargetCompiler::create(target));
  if (dumps_ == nullptr && !times_) return real;
  return std::make_unique<ObservedCompiler>(std::move(real), target, dumps_, times_);
}

}  // namespace padlock::trace
