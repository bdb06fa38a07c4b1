#pragma once

namespace padlock {

/// Makes a struct of the C API with its size set and all other members zero.
template <class T>
[[nodiscard]] T sized() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

}  // namespace padlock
