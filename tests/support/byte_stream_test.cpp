#include "support/byte_stream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

namespace padlock {
namespace {

constexpr std::string_view kSource = "the file";

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

TEST_CASE("a number of any size is read as it was written") {
  constexpr Int128 kLeast = std::numeric_limits<Int128>::min(), kMost = std::numeric_limits<Int128>::max();
  const std::vector<Int128> numbers = {0,     1,      -1,        63, 64, -64, -65, kInt64Max, kInt64Min, kInt64Max + 1,
                                       kMost, kLeast, kLeast + 1};
  ByteWriter writer;
  for (const Int128 number : numbers) writer.number(number);
  writer.text("and a text");
  const std::vector<std::byte> bytes = std::move(writer).take();
  ByteReader reader(bytes, kSource);
  for (const Int128 number : numbers) CHECK(*reader.number() == number);
  CHECK(reader.finish().error().message == "the file is damaged: 11 bytes are left over");
  CHECK(*reader.text() == "and a text");
  CHECK(reader.finish());
  CHECK(reader.number().error().message == "the file is damaged: it ends within a number");
}

TEST_CASE("a number is no longer than 128 bits, and a count no more than the bytes that are left") {
  const std::vector<std::byte> endless(40, std::byte{0xFF});
  CHECK(ByteReader(endless, kSource).number().error().message ==
        "the file is damaged: a number has more than 128 bits");
  ByteWriter writer;
  writer.number(3);
  writer.number(0);
  writer.number(0);
  const std::vector<std::byte> bytes = std::move(writer).take();
  CHECK(ByteReader(bytes, kSource).count().error().message == "the file is damaged: 3 things in 2 bytes");
  CHECK(ByteReader(bytes, kSource).number(0, 2).error().message ==
        "the file is damaged: expected a number from 0 to 2, found 3");
  CHECK(ByteReader(bytes, kSource).text().error().code == Code::data_loss);
}

TEST_CASE("numbers and texts have the bytes that they had when files were first written") {
  ByteWriter writer;
  for (const Int128 number : {Int128{0}, Int128{1}, Int128{-1}, Int128{63}, Int128{64}, Int128{-64}, Int128{-65}})
    writer.number(number);
  for (const Int128 number : {kInt64Max, kInt64Min}) writer.number(number);
  for (const Int128 number : {std::numeric_limits<Int128>::max(), std::numeric_limits<Int128>::min()})
    writer.number(number);
  writer.text("text");
  CHECK(hex_of(std::move(writer).take()) ==
        "0002017e80017f8101feffffffffffffffff01ffffffffffffffffff01feffffffffffffffffffffffffffffffffff03ffff"
        "ffffffffffffffffffffffffffffffff030874657874");
}

TEST_CASE("fixed values are their own bytes, and none is read past the end") {
  ByteWriter writer;
  writer.fixed(std::uint32_t{0x01020304});
  writer.fixed(true);
  writer.fixed(-1.5);
  const std::vector<std::byte> bytes = std::move(writer).take();
  REQUIRE(bytes.size() == 4 + 1 + 8);
  ByteReader reader(bytes, kSource);
  CHECK(reader.fixed<std::uint32_t>() == 0x01020304);
  CHECK(reader.fixed<std::uint8_t>() == 1);
  CHECK(reader.fixed<double>() == -1.5);
  CHECK(reader.left() == 0);
  CHECK(reader.fixed<std::uint8_t>() == std::nullopt);
  ByteReader again(bytes, kSource);
  CHECK_FALSE(again.take(14));
  CHECK_FALSE(again.take(~std::uint64_t{0}));
  CHECK(again.left() == 13);  // a refused read takes nothing
  CHECK(again.take(13)->data() == bytes.data());
}

}  // namespace
}  // namespace padlock
