#pragma once

namespace padlock {

/// Makes a struct of the C API with its size, and zeros for the rest.
template <class T>
[[nodiscard]] T sized() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

}  // namespace padlock
