// Inputs for the body that reads .npy files.
#include <array>
#include <vector>

#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/mutate.h"
#include "tools/arrays/element_type.h"
#include "tools/arrays/npy_header.h"

namespace padlock::fuzz {
namespace {

using testing::Rng;

constexpr std::array<std::string_view, 30> kWords = {"{'descr': ",
                                                     "'fortran_order': ",
                                                     "'shape': ",
                                                     "True",
                                                     "False",
                                                     "(",
                                                     ")",
                                                     ",",
                                                     "}",
                                                     "'<f4'",
                                                     "'>i8'",
                                                     "'|b1'",
                                                     "'|V2'",
                                                     "'|O'",
                                                     "'<f2'",
                                                     "'<c16'",
                                                     "[('a', '<f4')]",
                                                     "'<f04'",
                                                     "\"<f4\"",
                                                     "'<u2'",
                                                     "(4,)",
                                                     "()",
                                                     "(2, 3)",
                                                     "-1",
                                                     "L",
                                                     " ",
                                                     "\n",
                                                     "\x93NUMPY",
                                                     std::string_view("\0", 1),
                                                     "(9223372036854775807, 9223372036854775807)"};

// NumPy has no bf16.
constexpr std::array<std::string_view, 12> kTypes = {"f64", "f32", "f16", "i64", "i32", "i16",
                                                     "i8",  "u64", "u32", "u16", "u8",  "bool"};

std::string with_version(std::string file, Rng& rng) {
  if (rng.chance(70) || file.size() < 10) return file;
  // Version 2 and 3 have four bytes of length.
  const std::string length = file.substr(8, 2) + std::string(2, '\0');
  return file.substr(0, 6) + static_cast<char>(rng.between(0, 4)) + '\0' + length + file.substr(10);
}

std::string valid_file(Rng& rng) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rng.between(0, rng.chance(90) ? 4 : 70)));
  std::int64_t elements = 1;
  for (std::int64_t& n : shape) {
    n = rng.chance(5) ? std::int64_t{1} << rng.between(30, 62) : rng.between(0, 5);
    elements = elements > 100000 ? elements : elements * std::min<std::int64_t>(n, 100);
  }
  const DLDataType type = *tools::lib::find_type(std::string(rng.pick(kTypes)));
  std::string file = with_version(tools::format_npy_header(type, shape), rng);
  const std::int64_t bytes = std::min<std::int64_t>(elements * tools::byte_size(type), 1 << 14);
  return file + std::string(static_cast<std::size_t>(bytes), '\x41');
}

}  // namespace

std::string make_input(Rng& rng) {
  std::string file = valid_file(rng);
  if (rng.chance(10)) return file;
  // Most faults are possible in the header.
  const std::size_t header = std::min<std::size_t>(file.size(), 128);
  const std::string rest = file.substr(header);
  return mutate(file.substr(0, header), valid_file(rng), kWords, rng) + (rng.chance(80) ? rest : "");
}

}  // namespace padlock::fuzz
