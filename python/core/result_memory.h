#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

// Memory of large results, for reuse. New memory costs as much as the work itself: the system clears each page at its
// first use.
namespace padlock::python {

namespace nb = nanobind;

/// Keeps the memory of dead results. A kernel has its own, which keeps at most a quarter more than its last call
/// needed; or kernels share one with a fixed limit. Thread-safe. Results may die on any thread, without the GIL.
class ResultMemory : public std::enable_shared_from_this<ResultMemory> {
 public:
  /// Smaller results come from their library, whose allocator keeps memory itself.
  static constexpr std::int64_t kLeastBytes = 1 << 20;

  /// `limit`: most bytes kept; 0: the last call decides.
  explicit ResultMemory(std::size_t limit = 0) : fixed_limit_(limit), is_on_(limit > 0) {}
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;
  ~ResultMemory() { release(); }

  /// The memory of one result. It lives as long as the array made for it, and that array's views; its owner may die
  /// first.
  class Block {
   public:
    Block(std::weak_ptr<ResultMemory> owner, void* data, std::size_t capacity, std::size_t bytes)
        : owner_(std::move(owner)), data_(data), capacity_(capacity), bytes_(bytes) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block();
    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

   private:
    std::weak_ptr<ResultMemory> owner_;
    void* data_;
    std::size_t capacity_, bytes_;
  };

  /// Takes memory for a result of `bytes`. `call_bytes` is the sum over the call's large results. Error: MemoryError.
  [[nodiscard]] std::unique_ptr<Block> take(std::size_t bytes, std::size_t call_bytes);

  [[nodiscard]] bool is_on() const { return is_on_; }
  /// Switched off it keeps nothing, and frees what it has.
  void switch_on(bool on);
  /// Frees what it has. Live arrays are not touched.
  void release();
  /// Returns the kept bytes that belong to no array.
  [[nodiscard]] std::size_t kept_bytes() const;

 private:
  struct Piece {
    void* data;
    std::size_t bytes;
  };
  using Pieces = std::vector<Piece>;
  void give(Piece piece);
  [[nodiscard]] Piece taken(std::size_t wanted);
  [[nodiscard]] std::size_t limit() const;
  [[nodiscard]] Pieces beyond(std::size_t bytes);

  Pieces kept_;
  std::size_t fixed_limit_, last_call_bytes_ = 0;
  std::atomic<bool> is_on_;  // in the default order: a change may be seen a call late
};

/// Returns the memory that kernels of a process share if they ask for it. A graph has many kernels, and rarely needs
/// all their results at once. Lives to the end of the process.
[[nodiscard]] const std::shared_ptr<ResultMemory>& shared_result_memory();

/// Makes a Python type of Block, which NumPy takes by __array_interface__.
void add_result_memory(nb::module_& module);

}  // namespace padlock::python
