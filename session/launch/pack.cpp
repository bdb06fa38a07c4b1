#include "session/launch/pack.h"

#include <utility>

#include <fmt/format.h>

namespace padlock::session {
namespace {

std::string names_of(const PackContents& contents) {
  std::string names;
  for (const PackProgram& program : contents.programs)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", program.name);
  return names.empty() ? "none" : names;
}

}  // namespace

Result<Pack> Pack::from_bytes(std::span<const std::byte> bytes) {
  PADLOCK_TRY(auto file, runtime::PackFile::parse({bytes.begin(), bytes.end()}));
  return Pack(std::move(file));
}

Result<Pack> Pack::load(const std::string& path) {
  PADLOCK_TRY(auto file, runtime::PackFile::load(path));
  return Pack(std::move(file));
}

Result<const PackProgram*> Pack::find(std::string_view program) const {
  const auto& programs = contents().programs;
  if (program.empty() && programs.size() == 1) return &programs.front();
  if (const PackProgram* const found = file_->find(program)) return found;
  return std::unexpected(Error{.code = Code::not_found,
                               .blame = Blame::user,
                               .message = fmt::format("expected the name of a program of the pack ({}), found '{}'",
                                                      names_of(contents()), program)});
}

}  // namespace padlock::session
