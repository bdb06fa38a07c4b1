#include "session/compile/assembler.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "runtime/pack/cubin.h"
#include "runtime/pack/pack_file.h"
#include "support/file.h"
#include "tuner/worker/worker_process.h"

namespace padlock::session {
namespace {

constexpr std::chrono::seconds kMost{60};

/// A new folder, removed with its contents.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> create() {
    std::error_code failed;
    std::string path = (std::filesystem::temp_directory_path(failed) / "padlock_XXXXXX").string();
    if (failed || ::mkdtemp(path.data()) == nullptr)
      return unavailable(fmt::format("cannot make a temporary folder: {}", std::strerror(errno)));
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Returns the path of a program: a name without a slash is searched on PATH.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string candidate = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return unavailable(fmt::format("expected an assembler for PTX, found no program {} on PATH", name));
}

/// Waits until the program has ended, up to a limit of time.
Status run(const std::vector<std::string>& command) {
  PADLOCK_TRY(auto process, tuner::WorkerProcess::spawn(command));
  const auto deadline = tuner::Clock::now() + kMost;
  std::string_view nothing;
  std::string written;
  using Event = tuner::WorkerProcess::Event;
  Event event = Event::progress;
  while (event == Event::progress) event = process.exchange(nothing, written, deadline);
  if (event == Event::timeout)
    return unavailable(fmt::format("{} took more than {} s", command.front(), kMost.count()));
  const std::string ended = process.end(std::chrono::milliseconds(1000)).text;
  if (ended.starts_with("exited with 0")) return {};
  return unavailable(fmt::format("{} {}", command.front(), ended));
}

}  // namespace

Result<std::vector<std::byte>> assemble(const std::string& assembler, const std::string& architecture,
                                        std::string_view ptx) {
  PADLOCK_TRY(const std::string program, find_program(assembler));
  PADLOCK_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const std::string input = folder.file("code.ptx"), output = folder.file("code.cubin");
  PADLOCK_TRY(AtomicFile file, AtomicFile::create(input));
  PADLOCK_CHECK(file.write(ptx));
  PADLOCK_CHECK(file.commit());
  PADLOCK_CHECK(run({program, "-arch=" + architecture, "-o", output, input}));
  const auto made = InputFile::open(output);
  std::vector<std::byte> bytes;
  if (made && made->size() <= runtime::kMaxPackBytes) {
    bytes.resize(static_cast<std::size_t>(made->size()));
    PADLOCK_CHECK(made->read_at(0, bytes));
  }
  if (!runtime::is_whole_cubin(bytes)) return unavailable(fmt::format("{} made no cubin", program));
  return bytes;
}

}  // namespace padlock::session
