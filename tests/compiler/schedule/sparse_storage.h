#pragma once

#include <cstddef>
#include <cstdint>

namespace padlock::compiler {

/// Bytes [first, last) of a tensor's storage.
struct ByteSpan {
  std::int64_t first = 0, last = 0;
};

/// Reserves a tensor's storage of up to 2^47 bytes as address space; only touched pages take memory. Up to kWholeBytes
/// all of it is mapped. A process gets no more from a kernel with 47-bit addresses, nor under a thread sanitizer. Then
/// only a window is mapped, and the base pointer lies before or after it.
class SparseStorage {
 public:
  static constexpr std::int64_t kWholeBytes = std::int64_t{1} << 45;

  explicit SparseStorage(std::int64_t bytes) : bytes_(bytes) {}
  ~SparseStorage() { unmap(); }
  SparseStorage(const SparseStorage&) = delete;
  SparseStorage& operator=(const SparseStorage&) = delete;

  /// Zeroes everything, releases all pages, and makes `span` accessible, with as much around it as possible. Returns
  /// false if there is no address space for it.
  [[nodiscard]] bool reset(ByteSpan span);
  /// Returns the address of byte `offset`. It lies inside the storage, but is accessible only as reset() says.
  [[nodiscard]] std::byte* at(std::int64_t offset) const;
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  bool map(std::int64_t first, std::int64_t last);
  void unmap();

  std::int64_t bytes_;
  bool whole_ = true;        // false once the system has refused it
  void* mapping_ = nullptr;  // owned
  std::int64_t first_ = 0;   // its offset in the storage
  std::int64_t mapped_ = 0;  // its size in bytes
};

}  // namespace padlock::compiler
