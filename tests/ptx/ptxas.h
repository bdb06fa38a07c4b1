#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::ptx {

/// ptxas's report on one kernel.
struct KernelUse {
  int registers = 0;
  int stack_bytes = 0;
  int spilled_bytes = 0;  ///< bytes stored and loaded
};

/// Runs the assembler of a CUDA toolkit. Its files are in a folder of its own, which the destructor removes.
class Ptxas {
 public:
  /// Looks on PATH, then in a toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda). Error: unavailable, with the places
  /// tried.
  [[nodiscard]] static Result<Ptxas> find();
  ~Ptxas();
  Ptxas(Ptxas&& other) noexcept;
  Ptxas(const Ptxas&) = delete;
  Ptxas& operator=(const Ptxas&) = delete;
  Ptxas& operator=(Ptxas&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Returns whether this version supports an architecture ("sm_100").
  [[nodiscard]] bool knows(std::string_view target) const { return help_.find(target) != std::string::npos; }
  /// Returns the reports by kernel name. Error: invalid_argument with ptxas's output; then the file is kept.
  [[nodiscard]] Result<std::map<std::string, KernelUse>> assemble(std::string_view ptx, std::string_view target);

 private:
  explicit Ptxas(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::filesystem::path folder_;  // empty after a move
  std::string help_;
};

}  // namespace padlock::ptx
