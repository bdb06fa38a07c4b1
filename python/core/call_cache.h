#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <nanobind/nanobind.h>

#include "padlock/padlock.hpp"
#include "python/core/result_memory.h"
#include "python/core/small_vector.h"
#include "python/core/tensors/tensor.h"

// Bound calls by their shapes, so that the next call with the same shapes binds nothing.
namespace padlock::python {

/// A result of a bound call, and the Python objects with which its library makes it.
struct ResultShape {
  std::vector<std::int64_t> extents;
  DLDataType type{};
  std::int64_t bytes = 0;
  nb::object shape, numpy_type;  // made at first use
};

struct BoundCall {
  Call call;
  std::vector<ResultShape> results;
  std::int64_t bytes = 0;                // roughly, of one launch
  std::int64_t large_bytes = 0;          // of all results that `memory` makes
  std::shared_ptr<ResultMemory> memory;  // the kernel's; NULL: results get new memory
};

/// Adds the shapes of its results to a call.
[[nodiscard]] std::shared_ptr<BoundCall> describe(Call call);

/// All that a call depends on, as words.
class CallKey {
 public:
  void add(std::int64_t word) { words_.push_back(word); }
  void add(const DLTensor& tensor);
  [[nodiscard]] std::span<const std::int64_t> words() const { return words_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  SmallVector<std::int64_t, 48> words_;
};

/// The most recently used calls. A hit allocates nothing.
class CallCache {
 public:
  explicit CallCache(std::size_t most) : most_(most) {}
  /// Returns NULL if there is none.
  [[nodiscard]] std::shared_ptr<BoundCall> find(const CallKey& key);
  void put(const CallKey& key, std::shared_ptr<BoundCall> call);

 private:
  struct Entry {
    std::uint64_t hash;
    std::vector<std::int64_t> words;
    std::shared_ptr<BoundCall> call;
  };
  std::size_t most_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::uint64_t, std::list<Entry>::iterator> by_hash_;
};

}  // namespace padlock::python
