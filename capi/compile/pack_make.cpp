#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "capi/compile/compile_options.h"
#include "capi/error.h"
#include "capi/launch/pack.h"
#include "capi/launch/program.h"

namespace padlock::capi {
namespace {

using Programs = std::span<padlock_program* const>;
using Targets = std::span<const char* const>;

Result<std::vector<session::Program>> programs_of(Programs programs) {
  if (programs.empty()) return invalid_argument("expected the programs of a pack, found none");
  PADLOCK_CHECK(require(programs.data(), "the programs of a pack"));
  std::vector<session::Program> list;
  for (padlock_program* const program : programs) {
    PADLOCK_CHECK(require(program, "a program"));
    if (program->context.get() != programs.front()->context.get())
      return invalid_argument("expected the programs of a pack in one context, found several");
    list.push_back(program->program);
  }
  return list;
}

Result<std::vector<std::string>> targets_of(Targets targets) {
  if (targets.empty()) return invalid_argument("expected the targets of a pack, found none");
  PADLOCK_CHECK(require(targets.data(), "the targets of a pack"));
  std::vector<std::string> names;
  for (const char* const target : targets) {
    PADLOCK_CHECK(require(target, "a target"));
    names.emplace_back(target);
  }
  return names;
}

Result<padlock_pack*> make_pack(Programs programs, Targets targets) {
  PADLOCK_TRY(const std::vector<session::Program> list, programs_of(programs));
  PADLOCK_TRY(const std::vector<std::string> names, targets_of(targets));
  padlock_context& context = *programs.front()->context;
  PADLOCK_CHECK(session::check_memory_to_compile());
  PADLOCK_TRY(std::vector<std::byte> bytes, compiler_of(context).pack(list, names));
  auto pack = runtime::PackFile::parse(std::move(bytes));
  if (!pack) return internal_error(pack.error().to_string());
  return make<padlock_pack>(context.allocator(), 0, context, *std::move(pack));
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

padlock_status padlock_pack_make(padlock_program* const* programs, size_t program_count, const char* const* targets,
                                 size_t target_count, padlock_pack** pack, padlock_error** error) {
  const padlock_program* const first = programs != nullptr && program_count > 0 ? programs[0] : nullptr;
  return guarded_handle(allocator_of(first), pack, error,
                        [&] { return make_pack({programs, program_count}, {targets, target_count}); });
}

}  // extern "C"
