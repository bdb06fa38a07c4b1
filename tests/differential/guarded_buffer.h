#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace padlock::differential {

/// Which end of its pages a buffer touches: a read or write one byte past that end faults at once.
enum class Placement : std::uint8_t { after_guard, before_guard };

/// Bytes between two inaccessible pages. Other bytes of their pages hold canaries.
class GuardedBuffer {
 public:
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::byte* data() const { return data_; }
  /// Returns which byte was overwritten, relative to the buffer; empty if all canaries are intact.
  [[nodiscard]] std::string damage() const;

 private:
  friend class GuardedArena;
  explicit GuardedBuffer(std::size_t pages);
  void place(std::size_t bytes, Placement placement, std::size_t skew);
  [[nodiscard]] std::span<std::byte> before() const;
  [[nodiscard]] std::span<std::byte> after() const;

  std::byte* mapping_ = nullptr;  // owned: guard page, pages_, guard page
  std::size_t pages_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Hands out guarded buffers and keeps their mappings for the next round. Not thread-safe.
class GuardedArena {
 public:
  /// Returns a buffer of exactly `bytes` bytes, `skew` bytes away from the guard page of `placement`. Skew 0 is flush,
  /// any other value misaligns the base. Valid until release_all.
  GuardedBuffer& acquire(std::size_t bytes, Placement placement, std::size_t skew = 0);
  void release_all();

 private:
  std::map<std::size_t, std::vector<std::unique_ptr<GuardedBuffer>>> free_;  // keys are numbers of pages
  std::vector<std::unique_ptr<GuardedBuffer>> used_;
};

}  // namespace padlock::differential
