#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "padlock/padlock.h"
#include "support/error.h"

namespace padlock::capi {

/// Decides which code a program becomes. The texts are borrowed.
struct KernelKey {
  std::string_view text, device, target, config;
  bool bounds_check = false;
  std::int64_t learnt = 0;  ///< number of tunings so far if no config is given: each may change the choice

  [[nodiscard]] auto operator<=>(const KernelKey&) const = default;
};

/// The kernels of one context, each compiled once: the first caller compiles, others wait. Thread-safe.
class KernelTable {
 public:
  KernelTable() = default;
  KernelTable(const KernelTable&) = delete;
  KernelTable& operator=(const KernelTable&) = delete;
  ~KernelTable();

  using Compile = std::function<Result<padlock_kernel*>()>;
  /// Finds the kernel without allocating, or makes it by `compile`, and adds a reference. Errors of `compile` are not
  /// kept.
  [[nodiscard]] Result<padlock_kernel*> find_or_compile(const KernelKey& key, const Compile& compile);
  /// Releases the kernels that nobody else holds. Returns how many.
  std::int64_t trim();

  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t compiled() const { return compiled_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t look_ups() const { return look_ups_.load(std::memory_order_relaxed); }

 private:
  /// Owns the texts that a key borrows, and the kernel once it is compiled.
  struct Entry {
    explicit Entry(const KernelKey& key);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry();

    std::string text, device, target, config;
    bool bounds_check;
    std::int64_t learnt;
    std::mutex compiling;
    // Owned; set once, with release, and read with acquire: `find` holds the lock of the map alone, not `compiling`.
    std::atomic<padlock_kernel*> kernel = nullptr;
    [[nodiscard]] KernelKey key() const { return {text, device, target, config, bounds_check, learnt}; }
  };

  padlock_kernel* find(const KernelKey& key);
  std::shared_ptr<Entry> entry_of(const KernelKey& key);
  void forget_empty(const std::shared_ptr<Entry>& entry) noexcept;

  mutable std::shared_mutex mutex_;
  std::map<KernelKey, std::shared_ptr<Entry>> entries_;    // shared with the caller that compiles; guarded by mutex_
  std::atomic<std::int64_t> compiled_ = 0, look_ups_ = 0;  // relaxed: statistics, by which nothing is decided
};

}  // namespace padlock::capi
