#include "tests/ptx/ptxas.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace padlock::ptx {
namespace {

namespace fs = std::filesystem;

struct Output {
  int status = 0;
  std::string text;
};

Output output_of(const std::string& command) {
  Output output;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {.status = -1, .text = "popen failed"};
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.text.append(buffer.data(), n);
  output.status = pclose(pipe);
  return output;
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> folders;
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream stream(path);
    for (std::string folder; std::getline(stream, folder, ':');) folders.emplace_back(folder);
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable); home != nullptr) folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

/// Reads "ptxas info : Compiling entry function 'k' for 'sm_90'", and then the resources that it uses.
std::map<std::string, KernelUse> uses_in(const std::string& text) {
  static const std::regex kEntry("Compiling entry function '([^']+)'");
  static const std::regex kFrame("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  static const std::regex kRegisters("Used (\\d+) registers");
  std::map<std::string, KernelUse> uses;
  KernelUse* current = nullptr;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, kEntry)) current = &uses[match[1]];
    if (current == nullptr) continue;
    if (std::regex_search(line, match, kFrame)) {
      current->stack_bytes = std::stoi(match[1]);
      current->spilled_bytes = std::stoi(match[2]) + std::stoi(match[3]);
    }
    if (std::regex_search(line, match, kRegisters)) current->registers = std::stoi(match[1]);
  }
  return uses;
}

}  // namespace

Result<Ptxas> Ptxas::find() {
  for (const fs::path& folder : candidates()) {
    const fs::path path = folder / "ptxas";
    if (access(path.c_str(), X_OK) != 0) continue;
    Ptxas found(path);
    std::string name = (fs::temp_directory_path() / "padlock_ptx_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return unavailable("no temporary folder can be made");
    found.folder_ = name;
    const Output help = output_of(fmt::format("'{}' --help", path.string()));
    if (help.status != 0) return unavailable(fmt::format("{} does not run: {}", path.string(), help.text));
    found.help_ = help.text;
    return found;
  }
  return unavailable("no ptxas on PATH, in CUDA_HOME, CUDA_PATH or /usr/local/cuda");
}

Ptxas::Ptxas(Ptxas&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::move(other.folder_)), help_(std::move(other.help_)) {
  other.folder_.clear();
}

Ptxas::~Ptxas() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Result<std::map<std::string, KernelUse>> Ptxas::assemble(std::string_view ptx, std::string_view target) {
  const fs::path input = folder_ / "kernels.ptx";
  std::ofstream(input) << ptx;
  const Output output = output_of(fmt::format("'{}' -v -arch={} '{}' -o '{}'", path_.string(), target, input.string(),
                                              (folder_ / "kernels.cubin").string()));
  if (output.status == 0) return uses_in(output.text);
  const fs::path kept = fs::temp_directory_path() / fmt::format("padlock_refused_{}_{}.ptx", target, getpid());
  std::error_code ignored;
  fs::copy_file(input, kept, fs::copy_options::overwrite_existing, ignored);
  return invalid_argument(fmt::format("{} of {}: {}", path_.string(), kept.string(), output.text.substr(0, 2000)));
}

}  // namespace padlock::ptx
