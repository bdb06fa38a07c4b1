#include "capi/text.h"

#include <cstring>

namespace padlock::capi {

padlock_text* make_text(const padlock_allocator& allocator, std::string_view text) {
  auto* const made = make<padlock_text>(allocator, text.size() + 1);
  made->size = text.size();
  auto* const characters = reinterpret_cast<char*>(made + 1);
  std::memcpy(characters, text.data(), text.size());
  characters[text.size()] = 0;
  return made;
}

}  // namespace padlock::capi

extern "C" {

PADLOCK_COUNTED_HANDLE(text)

const char* padlock_text_data(const padlock_text* text) {
  return text != nullptr ? reinterpret_cast<const char*>(text + 1) : "";
}
size_t padlock_text_size(const padlock_text* text) { return text != nullptr ? text->size : 0; }

}  // extern "C"
