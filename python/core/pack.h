#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "padlock/padlock.hpp"

// Packs: compiled programs for some targets, as bytes.
namespace padlock::python {

/// Compiles programs for the targets. Returns the bytes of a pack's file. Releases the GIL while it compiles. Errors:
/// those of padlock_pack_make.
[[nodiscard]] nanobind::bytes make_pack(const std::vector<std::string>& texts, const std::vector<std::string>& targets);

/// A pack within one context. If the process gets another context, it is read again.
class PackObject {
 public:
  /// Errors: those of padlock_pack_read.
  explicit PackObject(const nanobind::bytes& bytes);

  [[nodiscard]] const Pack& pack();
  [[nodiscard]] std::vector<std::string> names();
  /// Describes the contents as JSON.
  [[nodiscard]] nanobind::str describe();

 private:
  std::string bytes_;
  std::uint64_t generation_ = 0;
  Pack pack_;
};

}  // namespace padlock::python
