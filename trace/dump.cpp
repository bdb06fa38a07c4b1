#include "trace/dump.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "support/file.h"

namespace padlock::trace {
namespace {

constexpr std::size_t kMostOfName = 48;

/// Keeps letters, digits and underscores of a name, and cuts a long one.
std::string part_of_path(std::string_view name) {
  std::string part(name.substr(0, kMostOfName));
  for (char& c : part)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') c = '_';
  return part;
}

}  // namespace

// Makes the path absolute, since the process may change its folder.
DumpFolder::DumpFolder(std::string path)
    : path_([&path] {
        std::error_code failed;
        const std::filesystem::path absolute = std::filesystem::absolute(path, failed);
        return failed ? std::move(path) : absolute.string();
      }()) {}

std::string DumpFolder::begin(std::string_view program, std::string_view target) {
  std::error_code failed;
  if (usable_) std::filesystem::create_directories(path_, failed);
  while (usable_ && !failed) {
    std::string folder = fmt::format("{}/{}-{}-{}-{}", path_, part_of_path(program), part_of_path(target), ::getpid(),
                                     next_.fetch_add(1));
    if (std::filesystem::create_directory(folder, failed)) return folder;  // otherwise another process has this name
  }
  if (failed) give_up(failed.message());
  return "";
}

void DumpFolder::write(const std::string& folder, std::string_view file, std::string_view text) {
  if (folder.empty() || !usable_) return;
  const auto written = [&]() -> Status {
    PADLOCK_TRY(AtomicFile made, AtomicFile::create(fmt::format("{}/{}", folder, file)));
    PADLOCK_CHECK(made.write(text));
    return made.commit();
  }();
  if (!written) give_up(written.error().message);
}

void DumpFolder::give_up(const std::string& why) {
  if (usable_.exchange(false))
    std::fputs(fmt::format("padlock: warning: PADLOCK_DUMP={}: nothing is dumped: {}\n", path_, why).c_str(), stderr);
}

}  // namespace padlock::trace
