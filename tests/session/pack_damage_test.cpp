// A damaged pack is refused, whichever byte is wrong. A lack of memory during a load only fails that load.

#include <doctest/doctest.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "runtime/pack/pack_header.h"
#include "session/compile/context.h"
#include "session/launch/launch_context.h"
#include "support/file.h"
#include "support/hash.h"
#include "tests/allocation_count.h"
#include "tests/common/base_target.h"
#include "tests/session/tuning_testing.h"

namespace padlock::session {
namespace {

using runtime::PackFile;
using Bytes = std::vector<std::byte>;

const Bytes& whole() {
  static const Bytes kBytes = [] {
    Context context;
    const Program program = testing::program_of(
        "program p(x: f32[A], n: dim) where 0 <= n <= A { y = pad(x, low = [n], high = [A floordiv 2]) return y }");
    return *context.pack({program}, {padlock::testing::kBaseTarget});
  }();
  return kBytes;
}

void seal(Bytes& bytes) {
  const auto rest = std::span(bytes).first(bytes.size() - runtime::PackHeader::kChecksumBytes);
  std::ranges::copy(checksum128(rest), bytes.end() - runtime::PackHeader::kChecksumBytes);
}

void refuses(const Bytes& bytes) {
  const auto pack = PackFile::parse(bytes);
  REQUIRE_FALSE(pack);
  CHECK_FALSE(pack.error().message.empty());
  CHECK(pack.error().blame == Blame::environment);
}

TEST_CASE("no byte can change unnoticed") {
  REQUIRE(PackFile::parse(whole()));
  for (std::size_t i = 0; i < whole().size(); ++i) {
    CAPTURE(i);
    Bytes spoilt = whole();
    spoilt[i] ^= std::byte{1} << (i % 8);
    refuses(spoilt);
  }
}

TEST_CASE("nothing can be missing from the end, or follow it") {
  for (std::size_t size = 0; size < whole().size(); ++size) {
    CAPTURE(size);
    refuses({whole().begin(), whole().begin() + static_cast<std::ptrdiff_t>(size)});
  }
  Bytes longer = whole();
  longer.push_back(std::byte{0});
  refuses(longer);
  seal(longer);
  refuses(longer);
}

TEST_CASE("a pack of another version or contract says which it is") {
  const auto message_with = [](std::size_t at, std::byte value) {
    Bytes other = whole();
    other[at] = value;
    seal(other);
    const auto pack = PackFile::parse(other);
    REQUIRE_FALSE(pack);
    CHECK(pack.error().code == Code::failed_precondition);
    return pack.error().message;
  };
  CHECK(message_with(8, std::byte{8}) == "expected a pack of version 7, found 8");
  CHECK(message_with(12, std::byte{9}) == "expected a pack of ABI revision 5, found 9");
}

TEST_CASE("sizes that are not the file's own are refused before anything is made of them") {
  for (const std::size_t field : {24, 32, 40}) {
    CAPTURE(field);
    for (const int byte : {0, 1, 7}) {
      Bytes other = whole();
      other[field + static_cast<std::size_t>(byte)] ^= std::byte{0x80};
      seal(other);
      const auto pack = PackFile::parse(other);
      REQUIRE_FALSE(pack);
      CHECK(pack.error().code == Code::data_loss);
      CHECK(pack.error().message.starts_with("the pack is damaged: it says that it has "));
    }
  }
}

TEST_CASE("what is no pack names its file") {
  const testing::Folder folder;
  const std::string path = folder / "x.pack";
  auto file = AtomicFile::create(path);
  REQUIRE((file && file->write("program p(x: f32[A])") && file->commit()));
  CHECK(PackFile::load(path).error().message == path + ": the pack is damaged: it does not begin as a pack does");
  CHECK(PackFile::load(path + "?").error().code == Code::not_found);
}

TEST_CASE("each allocation of loading may fail: nothing is lost, and the next load works") {
  const testing::Folder folder;
  const std::string path = folder / "p.pack";
  auto file = AtomicFile::create(path);
  REQUIRE((file && file->write(whole()) && file->commit()));
  LaunchContext context;
  const auto load = [&] {
    const auto pack = PackFile::load(path);
    return pack && context.load(**pack, "p").has_value();
  };
  REQUIRE(load());
  const long before = padlock::testing::live_allocations();
  long failures = 0;
  for (bool came = true; came; ++failures) {
    padlock::testing::fail_allocation(failures);
    bool threw = false, loaded = false;
    try {
      loaded = load();
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    came = padlock::testing::allocation_failed();
    padlock::testing::fail_allocation(-1);
    CAPTURE(failures);
    REQUIRE(threw == came);
    REQUIRE(loaded != came);
    REQUIRE(padlock::testing::live_allocations() == before);
  }
  CHECK(failures > 50);
  CHECK(load());
}

}  // namespace
}  // namespace padlock::session
