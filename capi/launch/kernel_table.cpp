#include "capi/launch/kernel_table.h"

#include <algorithm>

#include "capi/launch/kernel.h"

namespace padlock::capi {

KernelTable::Entry::Entry(const KernelKey& key)
    : text(key.text),
      device(key.device),
      target(key.target),
      config(key.config),
      bounds_check(key.bounds_check),
      learnt(key.learnt) {}

KernelTable::Entry::~Entry() {
  if (padlock_kernel* const made = kernel.load()) padlock_kernel::destroy(made);
}

KernelTable::~KernelTable() = default;

/// Retains under the table's lock, so that `trim` cannot release the kernel in between.
padlock_kernel* KernelTable::find(const KernelKey& key) {
  const std::shared_lock lock(mutex_);
  const auto found = entries_.find(key);
  padlock_kernel* const kernel =
      found != entries_.end() ? found->second->kernel.load(std::memory_order_acquire) : nullptr;
  if (kernel != nullptr) kernel->retain();
  return kernel;
}

std::shared_ptr<KernelTable::Entry> KernelTable::entry_of(const KernelKey& key) {
  const std::unique_lock lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second;
  auto entry = std::make_shared<Entry>(key);
  entries_.emplace(entry->key(), entry);
  return entry;
}

/// Erases the entry of a failed compile once no caller waits for it.
void KernelTable::forget_empty(const std::shared_ptr<Entry>& entry) noexcept {
  const std::unique_lock lock(mutex_);
  constexpr long kHere = 2;  // references of the table and of this caller
  if (entry->kernel.load() == nullptr && entry.use_count() == kHere) entries_.erase(entry->key());
}

Result<padlock_kernel*> KernelTable::find_or_compile(const KernelKey& key, const Compile& compile) {
  if (padlock_kernel* const kernel = find(key)) {
    look_ups_.fetch_add(1, std::memory_order_relaxed);
    return kernel;
  }
  struct Waiting {
    KernelTable& table;
    std::shared_ptr<Entry> entry;
    ~Waiting() { table.forget_empty(entry); }
  } waiting{*this, entry_of(key)};
  Entry& entry = *waiting.entry;
  const std::lock_guard lock(entry.compiling);
  if (padlock_kernel* const kernel = entry.kernel.load(std::memory_order_acquire)) {
    kernel->retain();
    look_ups_.fetch_add(1, std::memory_order_relaxed);
    return kernel;
  }
  PADLOCK_TRY(padlock_kernel* const kernel, compile());
  compiled_.fetch_add(1, std::memory_order_relaxed);
  entry.kernel.store(kernel, std::memory_order_release);
  return kernel;
}

std::int64_t KernelTable::trim() {
  const std::unique_lock lock(mutex_);
  // Keeps an entry that another thread holds: that thread compiles it, or is about to retain its kernel.
  return static_cast<std::int64_t>(std::erase_if(entries_, [](const auto& item) {
    const padlock_kernel* const kernel = item.second->kernel.load();
    return item.second.use_count() == 1 && (kernel == nullptr || !kernel->in_use());
  }));
}

std::int64_t KernelTable::size() const {
  const std::shared_lock lock(mutex_);
  return std::ranges::count_if(entries_, [](const auto& item) { return item.second->kernel.load() != nullptr; });
}

}  // namespace padlock::capi
