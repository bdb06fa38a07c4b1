#pragma once

#include <cstddef>
#include <cstdint>

namespace padlock::compiler {

/// Bytes [first, last) of a tensor's storage.
struct ByteSpan {
  std::int64_t first = 0, last = 0;
};

/// A tensor's storage of up to 2^47 bytes as address space, of which only the pages that are touched cost memory. Up
/// to kWholeBytes it is there from end to end. More than that no process gets from a kernel with 47-bit addresses, nor
/// does one under a thread sanitizer: then a window of it is there, and the base pointer lies before or behind it.
class SparseStorage {
 public:
  static constexpr std::int64_t kWholeBytes = std::int64_t{1} << 45;

  explicit SparseStorage(std::int64_t bytes) : bytes_(bytes) {}
  ~SparseStorage() { unmap(); }
  SparseStorage(const SparseStorage&) = delete;
  SparseStorage& operator=(const SparseStorage&) = delete;

  /// Zeroes everything, gives all pages back, and makes `span` usable and as much around it as there is. False where
  /// there is no address space for that.
  [[nodiscard]] bool reset(ByteSpan span);
  /// Where byte `offset` lies; inside the storage, but accessible only as reset() says.
  [[nodiscard]] std::byte* at(std::int64_t offset) const;
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  bool map(std::int64_t first, std::int64_t last);
  void unmap();

  std::int64_t bytes_;
  bool whole_ = true;        // until the kernel refuses it
  void* mapping_ = nullptr;  // owned
  std::int64_t first_ = 0;   // its place in the storage
  std::int64_t mapped_ = 0;  // its bytes
};

}  // namespace padlock::compiler
