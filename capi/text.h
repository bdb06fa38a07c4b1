#pragma once

#include <string_view>

#include "capi/object.h"

/// The characters lie behind the struct.
struct padlock_text : padlock::capi::Counted<padlock_text> {
  std::size_t size = 0;
};

namespace padlock::capi {

/// Throws std::bad_alloc.
[[nodiscard]] padlock_text* make_text(const padlock_allocator& allocator, std::string_view text);

}  // namespace padlock::capi
