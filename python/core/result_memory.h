#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

// Memory of large results that is used again. New memory costs as much as the work: the system clears each of its pages
// when it is first touched.
namespace padlock::python {

namespace nb = nanobind;

/// Keeps a kernel's memory of results that died, at most a quarter more than its last call needed. All calls hold the
/// GIL.
class ResultMemory : public std::enable_shared_from_this<ResultMemory> {
 public:
  /// Bounds from below the results whose memory is kept. Smaller ones come from their library, whose allocator keeps
  /// memory itself.
  static constexpr std::int64_t kLeastBytes = 4 << 20;

  ResultMemory() = default;
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;
  ~ResultMemory() { keep_at_most(0); }

  /// Memory of one result that lives as long as an array that it was made for, or a view of that.
  class Block {
   public:
    Block(std::shared_ptr<ResultMemory> owner, void* data, std::size_t capacity, std::size_t bytes)
        : owner_(std::move(owner)), data_(data), capacity_(capacity), bytes_(bytes) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { owner_->give(data_, capacity_); }
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

   private:
    std::shared_ptr<ResultMemory> owner_;
    void* data_;
    std::size_t capacity_, bytes_;
  };

  /// Takes memory for a result of `bytes`, of a call whose large results have `call_bytes` together. Error:
  /// MemoryError.
  [[nodiscard]] std::unique_ptr<Block> take(std::size_t bytes, std::size_t call_bytes);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Switched off it keeps nothing, and gives back what it has.
  void switch_on(bool on);
  /// How many bytes are kept and belong to no array.
  [[nodiscard]] std::size_t kept_bytes() const;

 private:
  struct Piece {
    void* data;
    std::size_t bytes;
  };
  void give(void* data, std::size_t bytes);
  void keep_at_most(std::size_t bytes);

  std::vector<Piece> kept_;
  std::size_t limit_ = 0;
  bool is_on_ = false;
};

/// Makes a type of Python's of the block, which NumPy takes by __array_interface__.
void add_result_memory(nb::module_& module);

}  // namespace padlock::python
