#include "tools/arrays/npy_header.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "tests/common/bytes.h"
#include "tests/common/environment.h"

namespace padlock::tools {
namespace {

using Shape = std::vector<std::int64_t>;

DLDataType type(const char* name) { return *lib::find_type(name); }

using padlock::testing::bytes_of;

std::string message(std::string_view text) {
  const auto header = parse_npy_header(text);
  return header ? "ok" : header.error().message;
}

TEST_CASE("headers as NumPy writes them") {
  const auto header = parse_npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n");
  REQUIRE(header);
  CHECK(header->kind == 'f');
  CHECK(header->item_bytes == 4);
  CHECK_FALSE(header->big_endian);
  CHECK_FALSE(header->fortran_order);
  CHECK(header->shape == Shape{3, 4});
  CHECK(parse_npy_header("{'descr': '>i8', 'fortran_order': True, 'shape': (7,), }\n")->shape == Shape{7});
  CHECK(parse_npy_header("{'descr': '>i8', 'fortran_order': True, 'shape': (7,), }\n")->big_endian);
  CHECK(parse_npy_header("{'descr': '|b1', 'fortran_order': False, 'shape': (), }")->shape.empty());
}

TEST_CASE("headers as others write them") {
  CHECK(message("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<u2\"}") == "ok");
  CHECK(message("{'descr':'f8','fortran_order':False,'shape':(2L,3L)}") == "ok");  // Python 2
  CHECK(message("{'descr':'=f8','fortran_order':False,'shape':(2,3,)}") == "ok");
}

TEST_CASE("headers that are wrong say how") {
  CHECK(message("") == "npy header: expected '{', found its end");
  CHECK(message("{'descr': '<f4', 'fortran_order': False}") == "npy header: expected descr, fortran_order and shape");
  CHECK(message("{'descr': '<f4', 'descr': '<f4'}") == "npy header: the key descr comes twice");
  CHECK(message("{'descr': '|O', 'fortran_order': False, 'shape': ()}") ==
        "npy header: the file holds Python objects, which are never unpickled");
  CHECK(message("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}")
            .starts_with("npy header: expected one type as descr (structured types are not read), found '[("));
  CHECK(message("{'descr': '<c8', 'fortran_order': False, 'shape': ()}") ==
        "npy header: expected a type of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 V2, found '<c8'");
  for (const char* type : {"", "<", "f", "f3", "<f16", "<U4", "<V3", "<f 2", "4 i", " f", "2 "}) {
    CAPTURE(type);
    CHECK(message(std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': ()}")
              .starts_with("npy header: expected a type of"));
  }
  CHECK(message("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}") ==
        "npy header: expected True or False as fortran_order, found '0, 'shape': ()}'");
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': (3)}") ==
        "npy header: expected ',': the shape is a tuple, found ')}'");
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}") ==
        "npy header: expected an extent >= 0 that fits 64 bits, found '-1,)}'");
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}")
            .starts_with("npy header: expected an extent >= 0 that fits 64 bits"));
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': (1,2").starts_with("npy header: expected ')'"));
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x") ==
        "npy header: expected nothing more, found 'x'");
  CHECK(message("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}")
            .starts_with("npy header: expected one type"));
  CHECK(message("{'colour': 1}") == "npy header: expected a key of descr, fortran_order, shape, found ': 1}'");
}

TEST_CASE("more axes than NumPy has are refused") {
  std::string shape;
  for (int i = 0; i < 65; ++i) shape += "1,";
  CHECK(message("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}") ==
        "npy header: expected at most 64 axes");
}

TEST_CASE("the preamble gives the header's place in every version") {
  using namespace std::string_literals;
  const auto one = parse_npy_preamble(bytes_of("\x93NUMPY\x01\x00\x76\x00"s));
  REQUIRE(one);
  CHECK(one->text_offset == 10);
  CHECK(one->text_bytes == 118);
  const auto two = parse_npy_preamble(bytes_of("\x93NUMPY\x02\x00\x76\x01\x00\x00"s));
  REQUIRE(two);
  CHECK(two->text_offset == 12);
  CHECK(two->text_bytes == 0x176);
  CHECK(parse_npy_preamble(bytes_of("\x93NUMPY\x03\x00\x76\x00\x00\x00"s)));
}

TEST_CASE("a preamble that is wrong says how") {
  using namespace std::string_literals;
  const auto refused = [](const std::string& text) {
    const auto preamble = parse_npy_preamble(bytes_of(text));
    return preamble ? "ok" : preamble.error().message;
  };
  CHECK(refused("") == "not a .npy file: it does not begin with \\x93NUMPY");
  CHECK(refused("PK\x03\x04 a zip archive") == "not a .npy file: it does not begin with \\x93NUMPY");
  CHECK(refused("\x93NUMPY\x01\x00\x76"s) == "npy header: the file ends inside it");
  CHECK(refused("\x93NUMPY\x02\x00\x76\x00\x00"s) == "npy header: the file ends inside it");
  CHECK(refused("\x93NUMPY\x04\x00\x76\x00\x00\x00"s) == "npy header: expected version 1.0, 2.0 or 3.0, found 4.0");
  CHECK(refused("\x93NUMPY\x01\x01\x76\x00"s) == "npy header: expected version 1.0, 2.0 or 3.0, found 1.1");
  CHECK(refused("\x93NUMPY\x02\x00\xff\xff\xff\xff"s) == "npy header: expected at most 65536 bytes, found 4294967295");
}

TEST_CASE("what is written is read back, and data begins at a multiple of 64") {
  for (const char* name : {"f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"}) {
    const DLDataType dtype = type(name);
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{0, 3}, Shape{1, 2, 3, 4, 5, 6}, Shape(20, 1099511627776)}) {
      const std::string text = format_npy_header(dtype, shape);
      CHECK(text.size() % 64 == 0);
      const auto preamble = parse_npy_preamble(bytes_of(text).first(12));
      REQUIRE(preamble);
      CHECK(preamble->text_offset + preamble->text_bytes == static_cast<std::int64_t>(text.size()));
      const auto header = parse_npy_header(std::string_view(text).substr(10));
      REQUIRE(header);
      CHECK(header->shape == shape);
      CHECK(holds(*header, dtype));
    }
  }
  CHECK(format_npy_header(type("f32"), {3}).find("'shape': (3,), }") != std::string::npos);
  CHECK(format_npy_header(type("i8"), {3, 4}).find("{'descr': '|i1', 'fortran_order': False, 'shape': (3, 4), }") !=
        std::string::npos);
}

TEST_CASE("types stand for each other nowhere but in bf16") {
  const auto header = [](const char* descr) {
    return *parse_npy_header(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': ()}");
  };
  CHECK(holds(header("<u2"), type("u16")));
  CHECK(holds(header("<u2"), type("bf16")));
  CHECK(holds(header("|V2"), type("bf16")));
  CHECK_FALSE(holds(header("|V2"), type("u16")));
  CHECK_FALSE(holds(header("<i2"), type("u16")));
  CHECK_FALSE(holds(header("<f2"), type("bf16")));
  CHECK_FALSE(holds(header("|u1"), type("bool")));
  CHECK_FALSE(holds(header("<f8"), type("f32")));
}

TEST_CASE("no bytes make the reader fail other than by saying so") {
  const std::uint64_t seed = padlock::testing::seed_or(20261120);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::string good = format_npy_header(type("f32"), {3, 4, 5});
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    const int edits = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < edits && !text.empty(); ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 8);
          break;
        case 2:
          text.insert(at, 1, "{}()[],:'\"L0123456789\0\\ "[random() % 24]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 16));
          break;
      }
    }
    const auto preamble = parse_npy_preamble(bytes_of(text).first(std::min<std::size_t>(12, text.size())));
    if (!preamble) {
      CHECK_FALSE(preamble.error().message.empty());
      ++refused;
      continue;
    }
    CHECK(preamble->text_bytes <= kMaxNpyHeaderBytes);
    const auto header = parse_npy_header(std::string_view(text).substr(std::min<std::size_t>(10, text.size())));
    if (!header) {
      CHECK_FALSE(header.error().message.empty());
      ++refused;
      continue;
    }
    CHECK(header->shape.size() <= kMaxNpyRank);
    for (const std::int64_t extent : header->shape) CHECK(extent >= 0);
    ++accepted;
  }
  // Both happen, or the edits would not be worth much.
  CHECK(accepted > 100);
  CHECK(refused > 100);
}

}  // namespace
}  // namespace padlock::tools
