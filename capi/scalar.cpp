#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "capi/error.h"
#include "capi/tensor.h"
#include "capi/text.h"
#include "ir/text/foreign.h"
#include "ir/text/literal.h"
#include "session/launch/arguments.h"

namespace padlock::capi {
namespace {

Result<ir::DType> known(const DLDataType& type) {
  if (const auto dtype = dtype_of(type)) return *dtype;
  return invalid_argument(
      fmt::format("expected a type that programs have, found code {} with {} bits", type.code, type.bits));
}

Status find_type(const char* name, DLDataType* type) {
  PADLOCK_CHECK(require(name, "a type's name"));
  PADLOCK_CHECK(require(type, "a place for the type"));
  const auto dtype = ir::dtype_from_name(name);
  if (!dtype)
    return invalid_argument(
        fmt::format("expected the name of a type, found '{}'{}", name, ir::spelling_hint(ir::Vocabulary::type, name)));
  *type = dl_type(*dtype);
  return {};
}

Status parse(const char* literal, const DLDataType& type, std::uint64_t* bits) {
  PADLOCK_CHECK(require(literal, "a literal"));
  PADLOCK_CHECK(require(bits, "a place for the bits"));
  PADLOCK_TRY(const ir::DType dtype, known(type));
  PADLOCK_TRY(const ir::Scalar value, ir::parse_literal(literal, dtype));
  *bits = value.bits;
  return {};
}

Result<padlock_text*> print(const DLDataType& type, std::uint64_t bits) {
  PADLOCK_TRY(const ir::DType dtype, known(type));
  const int width = ir::bit_width(dtype);
  if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
  return make_text(standard_allocator(), ir::to_string(ir::Scalar{dtype, bits}));
}

Status write_dense_strides(const std::int64_t* extents, std::int32_t ndim, padlock_order order, std::int64_t* strides) {
  if (ndim < 0) return invalid_argument(fmt::format("expected a rank of 0 or more, found {}", ndim));
  if (order != PADLOCK_ROW_MAJOR && order != PADLOCK_COLUMN_MAJOR)
    return invalid_argument(fmt::format("expected PADLOCK_ROW_MAJOR or PADLOCK_COLUMN_MAJOR, found {}", order));
  if (ndim == 0) return {};
  PADLOCK_CHECK(require(extents, "extents"));
  PADLOCK_CHECK(require(strides, "a place for the strides"));
  PADLOCK_TRY(const std::vector<std::int64_t> list,
              session::dense_strides({extents, extents + ndim}, order == PADLOCK_ROW_MAJOR
                                                                    ? session::ElementOrder::row_major
                                                                    : session::ElementOrder::column_major));
  std::ranges::copy(list, strides);
  return {};
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

const char* padlock_type_name(DLDataType type) {
  const auto dtype = dtype_of(type);
  return dtype ? padlock::ir::name_of(*dtype).data() : "";  // literals, which end with a zero byte
}

padlock_status padlock_type_find(const char* name, DLDataType* type, padlock_error** error) {
  return guarded(standard_allocator(), error, [&] { return find_type(name, type); });
}

padlock_status padlock_scalar_parse(const char* literal, DLDataType type, uint64_t* bits, padlock_error** error) {
  return guarded(standard_allocator(), error, [&] { return parse(literal, type, bits); });
}

padlock_status padlock_scalar_print(DLDataType type, uint64_t bits, padlock_text** literal, padlock_error** error) {
  return guarded_handle(standard_allocator(), literal, error, [&] { return print(type, bits); });
}

padlock_status padlock_dense_strides(const int64_t* extents, int32_t ndim, padlock_order order, int64_t* strides,
                                     padlock_error** error) {
  return guarded(standard_allocator(), error, [&] { return write_dense_strides(extents, ndim, order, strides); });
}

}  // extern "C"
