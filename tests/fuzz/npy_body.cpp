// Any bytes as a .npy file: refused with a reason, or read as an array all of whose bytes are in the file.
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <vector>

#include "tests/fuzz/fuzz_body.h"
#include "tools/arrays/array_file.h"
#include "tools/arrays/npy_header.h"

namespace padlock::fuzz {
namespace {

/// The parser alone, on the whole input as a header's text.
void parse_text(std::string_view text) {
  const auto header = tools::parse_npy_header(text);
  if (!header) return require(!header.error().message.empty(), "a refused header says why");
  require(header->item_bytes >= 1 && header->item_bytes <= 8, "an item has 1 to 8 bytes");
  require(header->shape.size() <= tools::kMaxNpyRank, "a rank that NumPy knows");
  for (const std::int64_t n : header->shape) require(n >= 0, "extents are not negative");
}

void read_file(const std::string& path, std::size_t size) {
  const auto file = tools::ArrayFile::open({path, std::nullopt});
  if (!file) return require(!file.error().errors.at(0).text.empty(), "a refused file says why");
  require(file->data_bytes() >= 0 && file->data_bytes() <= static_cast<std::int64_t>(size), "the data is in the file");
  std::vector<std::byte> data(static_cast<std::size_t>(file->data_bytes()));
  require(file->read(0, data).has_value(), "the data can be read");
}

}  // namespace

double seconds_allowed() { return 1; }

}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  fuzz::parse_text({reinterpret_cast<const char*>(data), size});
  const int fd = memfd_create("npy", 0);
  fuzz::require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size), "the input becomes a file");
  fuzz::read_file(fmt::format("/proc/self/fd/{}", fd), size);
  close(fd);
  return 0;
}
