#include "python/core/result_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace padlock::python {
namespace {

/// The size of a page that the system makes at once where it can.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t a_quarter_more(std::size_t bytes) { return bytes + bytes / 4; }

void* allocated(std::size_t bytes) {
  void* const data = std::aligned_alloc(kHugePage, bytes);
  if (data == nullptr) throw std::bad_alloc();
  ::madvise(data, bytes, MADV_HUGEPAGE);  // advice: failing changes nothing
  return data;
}

/// As arrays ask for it: bytes, which the caller gives a type and a shape.
nb::dict array_interface(const ResultMemory::Block& block) {
  nb::dict made;
  made["version"] = 3;
  made["typestr"] = "|u1";
  made["shape"] = nb::make_tuple(block.bytes());
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(block.data()), false);
  return made;
}

}  // namespace

std::unique_ptr<ResultMemory::Block> ResultMemory::take(std::size_t bytes, std::size_t call_bytes) {
  const std::size_t wanted = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  limit_ = a_quarter_more(call_bytes) + kHugePage;
  const auto fits = [&](const Piece& piece) { return piece.bytes >= wanted && piece.bytes <= a_quarter_more(wanted); };
  const auto found = std::ranges::find_if(kept_, fits);
  Piece piece{};
  if (found != kept_.end()) {
    piece = *found;
    kept_.erase(found);
  }
  // Pieces that did not serve are freed before more memory is asked for.
  keep_at_most(is_on_ ? limit_ : 0);
  if (piece.data == nullptr) piece = {allocated(wanted), wanted};
  return std::make_unique<Block>(shared_from_this(), piece.data, piece.bytes, bytes);
}

void ResultMemory::give(void* data, std::size_t bytes) {
  kept_.push_back({data, bytes});
  keep_at_most(is_on_ ? limit_ : 0);
}

/// The pieces that came last stay.
void ResultMemory::keep_at_most(std::size_t bytes) {
  std::size_t kept = kept_bytes();
  auto first = kept_.begin();
  for (; kept > bytes; ++first) {
    kept -= first->bytes;
    std::free(first->data);
  }
  kept_.erase(kept_.begin(), first);
}

void ResultMemory::switch_on(bool on) {
  is_on_ = on;
  if (!on) keep_at_most(0);
}

std::size_t ResultMemory::kept_bytes() const {
  std::size_t bytes = 0;
  for (const Piece& piece : kept_) bytes += piece.bytes;
  return bytes;
}

void add_result_memory(nb::module_& module) {
  nb::class_<ResultMemory::Block>(module, "ResultBlock")
      .def_prop_ro("__array_interface__", &array_interface)
      .def_prop_ro("nbytes", &ResultMemory::Block::bytes);
}

}  // namespace padlock::python
