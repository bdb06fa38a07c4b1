#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::ptx {

/// What ptxas says of one kernel.
struct KernelUse {
  int registers = 0;
  int stack_bytes = 0;
  int spilled_bytes = 0;  ///< stored and loaded
};

/// The assembler of a CUDA toolkit, as a program that is run. Its files are in a folder of its own, which goes with it.
class Ptxas {
 public:
  /// On PATH, else in a toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda). Errors: unavailable, saying where was looked.
  [[nodiscard]] static Result<Ptxas> find();
  ~Ptxas();
  Ptxas(Ptxas&& other) noexcept;
  Ptxas(const Ptxas&) = delete;
  Ptxas& operator=(const Ptxas&) = delete;
  Ptxas& operator=(Ptxas&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether this version knows an architecture ("sm_100").
  [[nodiscard]] bool knows(std::string_view target) const { return help_.find(target) != std::string::npos; }
  /// By kernel name. Errors: invalid_argument with what ptxas says, the file is kept then.
  [[nodiscard]] Result<std::map<std::string, KernelUse>> assemble(std::string_view ptx, std::string_view target);

 private:
  explicit Ptxas(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::filesystem::path folder_;  // empty: moved from
  std::string help_;
};

}  // namespace padlock::ptx
