#include "python/core/result_memory.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <utility>

namespace padlock::python {
namespace {

/// The size of a huge page, which the system makes in one step if it can.
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kPage = std::size_t{4} << 10;

/// Limits the bytes that shared_result_memory() keeps.
constexpr std::size_t kSharedLimit = std::size_t{256} << 20;

constexpr std::size_t a_quarter_more(std::size_t bytes) { return bytes + bytes / 4; }

/// Less than two huge pages would waste half of one, so such memory has small pages.
constexpr std::size_t page_of(std::size_t bytes) { return bytes < 2 * kHugePage ? kPage : kHugePage; }

constexpr std::size_t whole_pages(std::size_t bytes) {
  const std::size_t page = page_of(bytes);
  return (bytes + page - 1) / page * page;
}

void* allocated(std::size_t bytes) {
  void* const data = std::aligned_alloc(page_of(bytes), bytes);
  if (data != nullptr && page_of(bytes) == kHugePage)
    ::madvise(data, bytes, MADV_HUGEPAGE);  // only advice: failure changes nothing
  return data;
}

/// Guards all pieces. A process that forks while another thread holds it would leave it locked in the child.
std::mutex& pieces_guard() {
  static std::mutex& guard = *[] {
    auto* const made = new std::mutex();
    ::pthread_atfork([] { pieces_guard().lock(); }, [] { pieces_guard().unlock(); }, [] { pieces_guard().unlock(); });
    return made;
  }();
  return guard;
}

/// Called without the guard, because unmapping pages takes long.
void free_all(const auto& pieces) {
  for (const auto& piece : pieces) std::free(piece.data);
}

/// Returns the description that arrays ask for: bytes, to which the caller gives a type and a shape.
nb::dict array_interface(const ResultMemory::Block& block) {
  nb::dict made;
  made["version"] = 3;
  made["typestr"] = "|u1";
  made["shape"] = nb::make_tuple(block.bytes());
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(block.data()), false);
  return made;
}

}  // namespace

ResultMemory::Block::~Block() {
  if (const std::shared_ptr<ResultMemory> owner = owner_.lock())
    owner->give({data_, capacity_});
  else
    std::free(data_);
}

std::unique_ptr<ResultMemory::Block> ResultMemory::take(std::size_t bytes, std::size_t call_bytes) {
  const std::size_t wanted = whole_pages(bytes);
  Piece piece{};
  Pieces useless;
  {
    const std::scoped_lock held(pieces_guard());
    last_call_bytes_ = call_bytes;
    piece = taken(wanted);
    useless = beyond(limit());
  }
  // Frees pieces that did not fit before it asks for more memory.
  free_all(useless);
  if (piece.data == nullptr) piece = {allocated(wanted), wanted};
  if (piece.data == nullptr) {
    release();
    piece.data = allocated(wanted);
  }
  if (piece.data == nullptr) throw std::bad_alloc();
  return std::make_unique<Block>(weak_from_this(), piece.data, piece.bytes, bytes);
}

/// Returns the most recent piece that fits: its bytes are the most likely to be in a cache.
ResultMemory::Piece ResultMemory::taken(std::size_t wanted) {
  const auto fits = [&](const Piece& piece) { return piece.bytes >= wanted && piece.bytes <= a_quarter_more(wanted); };
  const auto found = std::ranges::find_if(kept_.rbegin(), kept_.rend(), fits);
  if (found == kept_.rend()) return {};
  const Piece piece = *found;
  kept_.erase(std::next(found).base());
  return piece;
}

std::size_t ResultMemory::limit() const {
  if (!is_on_) return 0;
  return fixed_limit_ > 0 ? fixed_limit_ : a_quarter_more(last_call_bytes_) + kHugePage;
}

void ResultMemory::give(Piece piece) {
  Pieces useless;
  {
    const std::scoped_lock held(pieces_guard());
    kept_.push_back(piece);
    useless = beyond(limit());
  }
  free_all(useless);
}

/// Removes the oldest pieces until at most `bytes` remain. Precondition: the guard is held.
ResultMemory::Pieces ResultMemory::beyond(std::size_t bytes) {
  std::size_t kept = 0;
  auto first = kept_.end();
  for (; first != kept_.begin() && kept + std::prev(first)->bytes <= bytes; --first) kept += std::prev(first)->bytes;
  const Pieces found(kept_.begin(), first);
  kept_.erase(kept_.begin(), first);
  return found;
}

void ResultMemory::release() {
  Pieces all;
  {
    const std::scoped_lock held(pieces_guard());
    all.swap(kept_);
  }
  free_all(all);
}

void ResultMemory::switch_on(bool on) {
  is_on_ = on;
  if (!on) release();
}

std::size_t ResultMemory::kept_bytes() const {
  const std::scoped_lock held(pieces_guard());
  std::size_t bytes = 0;
  for (const Piece& piece : kept_) bytes += piece.bytes;
  return bytes;
}

const std::shared_ptr<ResultMemory>& shared_result_memory() {
  static const auto& one = *new std::shared_ptr<ResultMemory>(std::make_shared<ResultMemory>(kSharedLimit));
  return one;
}

void add_result_memory(nb::module_& module) {
  nb::class_<ResultMemory::Block>(module, "ResultBlock")
      .def_prop_ro("__array_interface__", &array_interface)
      .def_prop_ro("nbytes", &ResultMemory::Block::bytes);
  module.def("release_results", [] { shared_result_memory()->release(); });
  module.def("shared_kept_bytes", [] { return shared_result_memory()->kept_bytes(); });
}

}  // namespace padlock::python
