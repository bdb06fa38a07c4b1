#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "padlock/padlock.hpp"

// Packs: programs that were compiled for some targets, as bytes.
namespace padlock::python {

/// The programs compiled for the targets, as the bytes of a pack's file. Releases the GIL while it compiles. Errors: as
/// padlock_pack_make.
[[nodiscard]] nanobind::bytes make_pack(const std::vector<std::string>& texts, const std::vector<std::string>& targets);

/// A pack as a process holds it: read anew where there is another context.
class PackObject {
 public:
  /// Errors: as padlock_pack_read.
  explicit PackObject(const nanobind::bytes& bytes);

  [[nodiscard]] const Pack& pack();
  [[nodiscard]] std::vector<std::string> names();
  /// As JSON.
  [[nodiscard]] nanobind::str describe();

 private:
  std::string bytes_;
  std::uint64_t generation_ = 0;
  Pack pack_;
};

}  // namespace padlock::python
