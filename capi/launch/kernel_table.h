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

/// KernelKey decides which code a program becomes. Borrowed texts.
struct KernelKey {
  std::string_view text, device, target, config;
  bool bounds_check = false;
  std::int64_t learnt = 0;  ///< tunings before it, where no config is asked for: each may bring another

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
  /// The kernel of that key with one more reference: found, without allocating, or made by `compile`, whose errors are
  /// not kept.
  [[nodiscard]] Result<padlock_kernel*> find_or_compile(const KernelKey& key, const Compile& compile);
  /// Gives up kernels that nobody holds; how many.
  std::int64_t trim();

  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int64_t compiled() const { return compiled_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t look_ups() const { return look_ups_.load(std::memory_order_relaxed); }

 private:
  /// Entry owns the texts that a key borrows, and the kernel once there is one.
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
  std::map<KernelKey, std::shared_ptr<Entry>> entries_;    // shared: who compiles keeps it; guarded by mutex_
  std::atomic<std::int64_t> compiled_ = 0, look_ups_ = 0;  // relaxed: statistics, by which nothing is decided
};

}  // namespace padlock::capi
