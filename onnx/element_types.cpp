#include "onnx/element_types.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace padlock::onnx {
namespace {

struct Type {
  std::string_view name;
  std::optional<ir::DType> dtype;
};

using enum ir::DType;

/// Indexed by the format's number.
constexpr std::array<Type, 29> kTypes = {{
    {"undefined", {}},      {"float", f32},     {"uint8", u8},        {"int8", i8},           {"uint16", u16},
    {"int16", i16},         {"int32", i32},     {"int64", i64},       {"string", {}},         {"bool", boolean},
    {"float16", f16},       {"double", f64},    {"uint32", u32},      {"uint64", u64},        {"complex64", {}},
    {"complex128", {}},     {"bfloat16", bf16}, {"float8e4m3fn", {}}, {"float8e4m3fnuz", {}}, {"float8e5m2", {}},
    {"float8e5m2fnuz", {}}, {"uint4", {}},      {"int4", {}},         {"float4e2m1", {}},     {"float8e8m0", {}},
    {"uint2", {}},          {"int2", {}},       {"float6e2m3", {}},   {"float6e3m2", {}},
}};

}  // namespace

std::optional<ir::DType> element_type(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(kTypes.size())) return std::nullopt;
  return kTypes[static_cast<std::size_t>(number)].dtype;
}

std::string name_of_type(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(kTypes.size())) return fmt::format("type {}", number);
  return std::string(kTypes[static_cast<std::size_t>(number)].name);
}

}  // namespace padlock::onnx
