#include "tuner/exchange/folder.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "support/file.h"
#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

/// Exports of another version have another suffix.
std::string suffix() { return fmt::format(".v{}.jsonl", kRecordSchema); }

/// A writer renames its file within seconds; another machine's clock may be off by some minutes.
constexpr std::chrono::hours kLeftBehind{1};

/// Returns whether a file is an unfinished export that a killed writer left (AtomicFile).
bool is_left_behind(const std::filesystem::directory_entry& entry, const std::string& file) {
  if (!file.ends_with(".tmp") || file.find(suffix() + ".") == std::string::npos) return false;
  std::error_code error;
  if (!entry.is_regular_file(error) || entry.is_symlink(error)) return false;
  const auto written = entry.last_write_time(error);
  return !error && written < std::filesystem::file_time_type::clock::now() - kLeftBehind;
}

class FolderExchange : public CacheExchange {
 public:
  explicit FolderExchange(std::string folder) : folder_(std::move(folder)) {}

  Result<std::vector<std::string>> names() override {
    std::vector<std::string> found;
    std::vector<std::filesystem::path> left_behind;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error))
      if (std::string file = entry->path().filename(); file.ends_with(suffix()))
        found.push_back(file.substr(0, file.size() - suffix().size()));
      else if (is_left_behind(*entry, file))
        left_behind.push_back(entry->path());
    if (error) return unavailable(fmt::format("cannot read {}: {}", folder_, error.message()));
    for (const auto& path : left_behind) std::filesystem::remove(path, error);
    return found;
  }
  Result<std::string> read(const std::string& name) override { return read_text_file(path_of(name), kMaxExportBytes); }
  Status write(const std::string& name, std::string_view text) override {
    // An AtomicFile follows links, and a stranger may have made this one.
    std::error_code error;
    if (std::filesystem::is_symlink(path_of(name), error))
      return unavailable(fmt::format("cannot write {}: it is a symbolic link", path_of(name)));
    PADLOCK_TRY(AtomicFile file, AtomicFile::create(path_of(name)));
    PADLOCK_CHECK(file.write(text));
    // The exports whose records this file holds are removed next.
    return file.commit(AtomicFile::Durability::synced);
  }
  void remove(const std::string& name) override {
    std::error_code ignored;
    std::filesystem::remove(path_of(name), ignored);
  }
  [[nodiscard]] std::string title(const std::string& name) const override { return printable(path_of(name)); }

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const { return folder_ + "/" + name + suffix(); }

  const std::string folder_;
};

}  // namespace

std::unique_ptr<CacheExchange> folder_exchange(std::string folder) {
  return std::make_unique<FolderExchange>(std::move(folder));
}

}  // namespace padlock::tuner
