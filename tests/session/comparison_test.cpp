#include "session/compile/comparison.h"

#include <doctest/doctest.h>

namespace padlock::session {
namespace {

using ir::DType;

TEST_CASE("without a tolerance, bits decide") {
  CHECK(match_elements(DType::f32, 0x3f800000, 0x3f800000, 0) == ElementMatch::equal);
  CHECK(match_elements(DType::f32, 0x3f800000, 0x3f800001, 0) == ElementMatch::differs);
  CHECK(match_elements(DType::f32, 0x00000000, 0x80000000, 0) == ElementMatch::differs);
  CHECK(match_elements(DType::f32, 0x7fc00001, 0x7fc00001, 0) == ElementMatch::equal);
}

TEST_CASE("two NaNs of different bits are right where they are open") {
  CHECK(match_elements(DType::f32, 0x7fc00000, 0xffc00001, 0) == ElementMatch::if_open);
  CHECK(match_elements(DType::bf16, 0x7fc0, 0xffc1, 9) == ElementMatch::if_open);
  CHECK(match_elements(DType::f32, 0x7fc00000, 0x7f800000, 1000000) ==
        ElementMatch::differs);  // a NaN is near no number
}

TEST_CASE("units in the last place count values, across zero too") {
  CHECK(match_elements(DType::f32, 0x3f800000, 0x3f800002, 2) == ElementMatch::equal);
  CHECK(match_elements(DType::f32, 0x3f800000, 0x3f800003, 2) == ElementMatch::differs);
  CHECK(match_elements(DType::f32, 0x3f800003, 0x3f800000, 2) == ElementMatch::differs);
  CHECK(match_elements(DType::f32, 0x00000000, 0x80000000, 1) == ElementMatch::equal);
  CHECK(match_elements(DType::f32, 0x00000001, 0x80000001, 2) == ElementMatch::equal);
  CHECK(match_elements(DType::f32, 0x00000001, 0x80000001, 1) == ElementMatch::differs);
  CHECK(match_elements(DType::f64, 0x7fefffffffffffff, 0xffefffffffffffff, ~std::uint64_t{0} >> 1) ==
        ElementMatch::differs);
  CHECK(match_elements(DType::f16, 0x3c00, 0x3c01, 1) == ElementMatch::equal);
}

TEST_CASE("integers have no tolerance") {
  CHECK(match_elements(DType::i32, 5, 6, 10) == ElementMatch::differs);
  CHECK(match_elements(DType::boolean, 1, 2, 10) == ElementMatch::differs);
}

}  // namespace
}  // namespace padlock::session
