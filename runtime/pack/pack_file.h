#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/compiled_code.h"
#include "abi/gpu_targets.h"
#include "support/error.h"

// A pack: one file with the compiled variants of programs, for a process without a compiler. All numbers of its header
// are little-endian:
//
//   bytes  what
//   8      magic
//   4      version of this format
//   4      abi::kAbiRevision (abi/abi_revision.h)
//   4      ELF's number of the architecture of its host code (62: x86-64), 0 where it has none
//   4      zero
//   8      bytes of the whole file
//   8      bytes of the metadata, which follow (support/byte_stream.h)
//   8      bytes of the code, which follow: images for CPUs, PTX and cubins for GPUs
//   16     checksum (XXH3, 128 bits) of all that stands before
//
// The checksum finds damage and no forger: a pack is code, and is to be trusted as the library that loads it is.
namespace padlock::runtime {

/// The code of a program made for a target with one config, as bytes: contract.h makes them of CompiledCode and back.
struct PackConfig {
  std::string_view config;
  std::int64_t task_bytes = 0;           ///< output bytes of one task of a thread pool
  std::span<const std::byte> contracts;  ///< contract.h
  std::span<const std::byte> code;
  std::span<const std::byte> cubin = {};  ///< of PTX, for the architecture that is the target's name; empty: none
};

/// The config that was tuned for a region of sizes: guards over the program's symbols, none for all sizes.
struct PackChoice {
  std::string_view region;
  std::string_view config;  ///< of one of the target's codes
};

struct PackTarget {
  std::string_view name;                        ///< as it was asked for: "host", "host:x86-64-v3", "sm_90"
  std::string_view description;                 ///< CPU and features, or the architecture
  std::vector<std::string_view> features = {};  ///< that the CPU must have (runtime/host/cpu_features.h)
  std::string_view reason = {};                 ///< why these configs
  std::vector<PackChoice> choices = {};
  std::vector<PackConfig> codes = {};  ///< the first serves the sizes of which no choice speaks; at least one

  /// Returns the kind of its codes.
  [[nodiscard]] abi::CodeKind kind() const {
    return abi::is_gpu(name) ? abi::CodeKind::ptx : abi::CodeKind::host_image;
  }
};

struct PackProgram {
  std::string_view name;
  std::string_view text;         ///< canonical
  std::string_view fingerprint;  ///< of the text
  std::vector<PackTarget> targets;
};

/// PackContents are what a pack says. They borrow all texts and bytes.
struct PackContents {
  std::string_view build;  ///< what made it
  std::vector<PackProgram> programs;
};

/// Longer files are refused.
inline constexpr std::int64_t kMaxPackBytes = std::int64_t{1} << 30;

/// Error: resource_exhausted, for a pack that is too long.
[[nodiscard]] Result<std::vector<std::byte>> write_pack(const PackContents& contents);

/// A pack in memory, checked but for contracts and programs, which are read when they are needed. Immutable,
/// thread-safe.
class PackFile {
 public:
  /// Errors: failed_precondition for a pack of another version, ABI revision or architecture; else damaged_pack, for
  /// what is no pack, too.
  [[nodiscard]] static Result<std::shared_ptr<const PackFile>> parse(std::vector<std::byte> bytes);
  /// Errors also as support/file.h, and resource_exhausted for a file that is too long. All name the path.
  [[nodiscard]] static Result<std::shared_ptr<const PackFile>> load(const std::string& path);

  [[nodiscard]] const PackContents& contents() const { return contents_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The checksum, 32 hexadecimal digits: packs with the same one are the same.
  [[nodiscard]] std::string fingerprint() const;
  /// The program of that name; of a pack with one program, that one for an empty name. Error: not_found, naming those
  /// there are.
  [[nodiscard]] Result<const PackProgram*> find(std::string_view program) const;

 private:
  explicit PackFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::vector<std::byte> bytes_;
  PackContents contents_;  // of bytes_
};

}  // namespace padlock::runtime
