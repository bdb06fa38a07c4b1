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

// A pack: one file with the compiled variants of programs, for a process without a compiler. The header's numbers are
// little-endian:
//
// bytes  content
// 8      magic
// 4      version of this format
// 4      abi::kAbiRevision (abi/abi_revision.h)
// 8      zero
// 8      bytes of the whole file
// 8      bytes of the metadata, which follow (support/byte_stream.h)
// 8      bytes of the code, which follow: images for CPUs, PTX and cubins for GPUs
// 16     checksum (XXH3, 128 bits) of everything before it
//
// The checksum finds damage, not forgery: a pack is code, and needs as much trust as the library that loads it.
namespace padlock::runtime {

/// The code of a program for a target with one config, as bytes: contract.h converts CompiledCode to and from them.
struct PackConfig {
  std::string_view config;
  std::int64_t task_bytes = 0;           ///< output bytes of a thread pool's task
  std::span<const std::byte> contracts;  ///< contract.h
  std::span<const std::byte> code;
  std::span<const std::byte> cubin = {};  ///< for PTX, assembled for the architecture named by the target; empty: none
};

/// The config tuned for a region of sizes: guards over the program's symbols, empty for all sizes.
struct PackChoice {
  std::string_view region;
  std::string_view config;  ///< names one of the target's codes
};

struct PackTarget {
  std::string_view name;                        ///< as requested: "host", "host:x86-64-v3", "sm_90"
  std::string_view description;                 ///< CPU and features, or the architecture
  int elf_number = 0;                           ///< ELF's number of a CPU's architecture (62: x86-64); 0 for a GPU
  std::vector<std::string_view> features = {};  ///< required of the CPU (support/cpu/features.h)
  std::string_view reason = {};                 ///< why these configs were chosen
  std::vector<PackChoice> choices = {};
  std::vector<PackConfig> codes = {};  ///< at least one; the first serves the sizes without a choice

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

/// PackContents describes everything in a pack. Borrows all texts and bytes.
struct PackContents {
  std::string_view build;  ///< the build of Padlock that made it
  std::vector<PackProgram> programs;
};

/// Longer files are refused.
inline constexpr std::int64_t kMaxPackBytes = std::int64_t{1} << 30;

/// Error: resource_exhausted for a pack that is too long.
[[nodiscard]] Result<std::vector<std::byte>> write_pack(const PackContents& contents);

/// A pack in memory. Contracts and programs are checked when they are read, on demand; everything else is checked
/// already. Immutable, thread-safe.
class PackFile {
 public:
  /// Errors: failed_precondition for a pack of another version or ABI revision; else damaged_pack, also
  /// for bytes that are no pack.
  [[nodiscard]] static Result<std::shared_ptr<const PackFile>> parse(std::vector<std::byte> bytes);
  /// Errors also as support/file.h, and resource_exhausted for too long a file. All name the path.
  [[nodiscard]] static Result<std::shared_ptr<const PackFile>> load(const std::string& path);

  [[nodiscard]] const PackContents& contents() const { return contents_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// The checksum, 32 hexadecimal digits: packs with equal checksums are equal.
  [[nodiscard]] std::string fingerprint() const;
  /// Returns the program of that name; an empty name means the only program. Error: not_found, naming the programs in
  /// the pack.
  [[nodiscard]] Result<const PackProgram*> find(std::string_view program) const;

 private:
  explicit PackFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::vector<std::byte> bytes_;
  PackContents contents_;  // borrows from bytes_
};

}  // namespace padlock::runtime
