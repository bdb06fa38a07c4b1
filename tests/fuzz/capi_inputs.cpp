// Inputs for the body that calls the C API: bytes, mostly small ones, because it reads them as numbers.
#include <string>

#include "tests/fuzz/fuzz_body.h"

namespace padlock::fuzz {

std::string make_input(testing::Rng& rng) {
  std::string bytes(static_cast<std::size_t>(rng.between(20, 160)), '\0');
  const bool tame = rng.chance(70);
  for (char& byte : bytes) byte = static_cast<char>(rng.between(0, tame ? 40 : 255));
  return bytes;
}

}  // namespace padlock::fuzz
