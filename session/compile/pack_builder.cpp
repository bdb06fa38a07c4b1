#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "abi/gpu_targets.h"
#include "compiler/targets/revision.h"
#include "runtime/host/host_info.h"
#include "runtime/pack/contract.h"
#include "session/compile/assembler.h"
#include "session/compile/context.h"
#include "support/cpu/architecture.h"
#include "tuner/cache/choice.h"
#include "tuner/cache/describe.h"

namespace padlock::session {

using compiler::TargetCompiler;

/// Compiles the contents of a pack, and keeps them until they are written.
class PackBuilder {
 public:
  explicit PackBuilder(Context& context) : context_(context) {}

  Status add(const Program& program, const std::vector<std::string>& targets) {
    // The pack holds the canonical text, so compile that text: contracts name values by number.
    PADLOCK_TRY(const Program canonical, Program::from_text(ir::to_string(program.ir())));
    if (!names_.insert(canonical.ir().name()).second)
      return invalid_argument(fmt::format("two programs are called {}", canonical.ir().name()));
    runtime::PackProgram& packed = contents_.programs.emplace_back();
    packed.name = keep(canonical.ir().name());
    packed.text = keep(ir::to_string(canonical.ir()));
    packed.fingerprint = keep(key_fields(canonical).program);
    for (const std::string& target : targets) {
      auto made = make_target(canonical, target);
      if (!made)
        return std::unexpected(program.with_source_line(std::move(made).error())
                                   .in(fmt::format("while packing {} for {}", packed.name, target)));
      packed.targets.push_back(*std::move(made));
    }
    return {};
  }

  Result<std::vector<std::byte>> write() {
    contents_.build = keep(fmt::format("LLVM {}, code revision {}", compiler::llvm_version(), compiler::kCodeRevision));
    return runtime::write_pack(contents_);
  }

 private:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::span<const std::byte> keep(std::vector<std::byte> bytes) { return bytes_.emplace_back(std::move(bytes)); }

  static tuner::KeyFields key_fields(const Program& program) {
    tuner::KeyFields fields;
    tuner::describe_build(fields);
    tuner::describe_program(fields, program.ir());
    return fields;
  }

  Result<runtime::PackTarget> make_target(const Program& program, const std::string& name) {
    PADLOCK_TRY(TargetCompiler* const compiler, context_.compiler_for(name));
    runtime::PackTarget target{.name = keep(name), .description = keep(compiler->description())};
    if (const auto architecture = compiler->architecture()) target.elf_number = info_of(*architecture).elf_number;
    for (std::string& feature : compiler->required_features()) target.features.push_back(keep(std::move(feature)));
    PADLOCK_CHECK(add_code(program, *compiler, compiler->default_config(), target));
    PADLOCK_TRY(std::string reason, add_choices(program, name, *compiler, target));
    target.reason = keep(std::move(reason));
    return target;
  }

  /// Adds the code of a config unless it is there already. Returns the config's text.
  Result<std::string_view> add_code(const Program& program, TargetCompiler& compiler, const compiler::Config& config,
                                    runtime::PackTarget& target) {
    std::string text = compiler::to_string(config);
    if (const auto known = std::ranges::find(target.codes, text, &runtime::PackConfig::config);
        known != target.codes.end())
      return known->config;
    PADLOCK_TRY(abi::CompiledCode made, compiler.compile(program.ir(), {.config = config}));
    context_.compiles_ += std::ssize(made.kernels);
    PADLOCK_TRY(std::vector<std::byte> contracts, runtime::write_contracts(made));
    if (made.kind == abi::CodeKind::ptx && !context_.assembler_.empty()) {
      PADLOCK_TRY(made.cubin, assemble(context_.assembler_, compiler.description(), made.text()));
    }
    const runtime::PackConfig code{.config = keep(std::move(text)),
                                   .task_bytes = made.task_bytes,
                                   .contracts = keep(std::move(contracts)),
                                   .code = keep(std::move(made.bytes)),
                                   .cubin = keep(std::move(made.cubin))};
    // Read the code like a loader, to find now what a loader would refuse.
    PADLOCK_CHECK(runtime::read_code(program.ir(), made.kind, code));
    target.codes.push_back(code);
    return code.config;
  }

  /// Adds the configs that the cache chooses for a target. The target's machine may be another one: its cores and
  /// caches are unknown, and a store that matches loosely (tuner::Match) does without. Returns the reason.
  Result<std::string> add_choices(const Program& program, const std::string& name, TargetCompiler& compiler,
                                  runtime::PackTarget& target) {
    if (context_.store_ == nullptr) return "the default of this target";
    tuner::KeyFields fields = key_fields(program);
    if (abi::is_gpu(name)) {
      fields.target = fields.architecture = name;
    } else {
      tuner::describe_host(fields, runtime::host_info(), compiler.description());
      if (const auto architecture = compiler.architecture()) fields.architecture = info_of(*architecture).machine;
    }
    PADLOCK_TRY(const auto lookup, context_.look_up(program, tuner::CacheKey(std::move(fields)), compiler));
    if (!lookup->hit()) return fmt::format("the default of this target: the cache missed, {}", lookup->reason);
    // The cache's CPU is this machine's; a GPU's caches are unknown here.
    PADLOCK_TRY(const runtime::Device* const host, context_.devices_.open({}));
    const std::int64_t cache = abi::is_gpu(name) ? 0 : host->facts().cache_share(std::numeric_limits<int>::max());
    for (const auto& [choice, sizes] : tuner::serving(program.ir(), lookup->choices, cache)) {
      PADLOCK_TRY(const compiler::Config config, compiler.parse_config(choice.config));
      PADLOCK_TRY(const std::string_view text, add_code(program, compiler, config, target));
      target.choices.push_back({.region = keep(sizes), .config = text});
    }
    return lookup->reason.empty() ? std::string("from the cache")
                                  : fmt::format("from the cache, but for {}", lookup->reason);
  }

  Context& context_;
  std::set<std::string> names_;
  std::deque<std::string> texts_;             // borrowed by the contents
  std::deque<std::vector<std::byte>> bytes_;  // borrowed by the contents
  runtime::PackContents contents_;
};

Result<std::vector<std::byte>> Context::pack(const std::vector<Program>& programs,
                                             const std::vector<std::string>& targets) {
  if (programs.empty() || targets.empty()) return invalid_argument("expected a program and a target at least");
  if (std::set(targets.begin(), targets.end()).size() != targets.size())
    return invalid_argument("expected targets that differ");
  PackBuilder builder(*this);
  for (const Program& program : programs) PADLOCK_CHECK(builder.add(program, targets));
  return builder.write();
}

}  // namespace padlock::session
