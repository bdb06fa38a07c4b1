#include "python/core/tensors/element_type.h"

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "python/core/failure.h"

namespace padlock::python {
namespace {

constexpr std::uint8_t kFloat8E4M3Fn = 10;

/// By DLPack's code, the types that NumPy's extensions and DLPack name differently.
constexpr auto kNamed = std::to_array<std::pair<std::string_view, DLDataType>>({
    {"bfloat16", {kDLBfloat, 16, 1}},
    {"float8_e3m4", {7, 8, 1}},
    {"float8_e4m3", {8, 8, 1}},
    {"float8_e4m3b11fnuz", {9, 8, 1}},
    {"float8_e4m3fn", {kFloat8E4M3Fn, 8, 1}},
    {"float8_e4m3fnuz", {11, 8, 1}},
    {"float8_e5m2", {12, 8, 1}},
    {"float8_e5m2fnuz", {13, 8, 1}},
    {"float8_e8m0fnu", {14, 8, 1}},
});

std::uint8_t code_of_letter(char letter) {
  constexpr std::string_view kInt = "bhilqn", kUInt = "BHILQN", kFloat = "efd";
  if (letter == '?') return kDLBool;
  if (kInt.contains(letter)) return kDLInt;
  if (kUInt.contains(letter)) return kDLUInt;
  return kFloat.contains(letter) ? static_cast<std::uint8_t>(kDLFloat) : 0xff;
}

[[noreturn]] void refuse(nb::handle value, DLDataType type) {
  fail(PADLOCK_INVALID_ARGUMENT, "expected a value of " + readable_name(type) + ", found " + nb::repr(value).c_str());
}

double double_of(nb::handle value, DLDataType type) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number != -1.0 || PyErr_Occurred() == nullptr) return number;
  PyErr_Clear();
  refuse(value, type);
}

std::uint64_t float_bits(double number, nb::handle value, DLDataType type) {
  if (type.code == kDLFloat && type.bits == 64) return std::bit_cast<std::uint64_t>(number);
  const auto single = static_cast<float>(number);
  if (std::isfinite(number) && !std::isfinite(single)) refuse(value, type);
  if (type.code == kDLFloat && type.bits == 32) return std::bit_cast<std::uint32_t>(single);
  if (number == 0) return std::signbit(number) ? 0x8000 : 0;
  // A float of 16 bits: the library parses the number as text, and rounds once.
  char* const text = PyOS_double_to_string(number, 'r', 0, 0, nullptr);
  if (text == nullptr) throw nb::python_error();
  const std::string literal(text);
  PyMem_Free(text);
  return value_of(parse_scalar(literal, type));
}

std::uint64_t int_bits(nb::handle value, DLDataType type) {
  nb::object number = nb::borrow(value);
  if (PyFloat_Check(value.ptr()) || nb::hasattr(value, "is_integer")) {
    const double real = double_of(value, type);
    if (real != std::trunc(real)) refuse(value, type);
    number = owned(PyNumber_Long(value.ptr()));
  } else {
    number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) {
      PyErr_Clear();
      refuse(value, type);
    }
  }
  if (type.code == kDLUInt && type.bits == 64) {
    const std::uint64_t bits = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() == nullptr) return bits;
  } else {
    const std::int64_t whole = PyLong_AsLongLong(number.ptr());
    const int shift = type.bits - (type.code == kDLInt ? 1 : 0);
    const std::int64_t least = type.code == kDLInt ? -(std::int64_t{1} << (shift - 1)) * 2 : 0;
    const bool fits = shift >= 63 ? true : whole >= least && whole < (std::int64_t{1} << shift);
    if (PyErr_Occurred() == nullptr && fits) return static_cast<std::uint64_t>(whole);
  }
  PyErr_Clear();
  refuse(value, type);
}

/// Returns the bits of a number as an 8-bit float, which NumPy's extension computes if it is installed.
std::uint64_t float8_bits(nb::handle value, DLDataType type) {
  if (double_of(value, type) == 0 && !std::signbit(double_of(value, type))) return 0;
  const nb::object made = nb::module_::import_("padlock._eager").attr("float8_bits")(value, numpy_name(type));
  return nb::cast<std::uint64_t>(made);
}

Bits complex_bits(nb::handle value, DLDataType type) {
  const DLDataType half{kDLFloat, static_cast<std::uint8_t>(type.bits / 2), 1};
  nb::object number = nb::borrow(value);
  if (PyComplex_Check(value.ptr()) == 0) number = nb::builtins()["complex"](value);
  const std::uint64_t real = float_bits(PyComplex_RealAsDouble(number.ptr()), value, half);
  const std::uint64_t imaginary = float_bits(PyComplex_ImagAsDouble(number.ptr()), value, half);
  if (type.bits == 128) return {real, imaginary};
  return {real | imaginary << half.bits, 0};
}

/// Returns whether an element of this letter may have that many bytes.
bool has_bytes(char letter, std::int64_t bytes) {
  if (std::string_view("?bB").contains(letter)) return bytes == 1;
  if (std::string_view("hHe").contains(letter)) return bytes == 2;
  if (std::string_view("iIf").contains(letter)) return bytes == 4;
  if (std::string_view("lL").contains(letter)) return bytes == 4 || bytes == 8;  // on other machines, on this one
  return bytes == 8;
}

}  // namespace

DLDataType type_of_format(const char* format, std::int64_t bytes) {
  std::string_view text = format != nullptr ? format : "B";
  if (!text.empty() && (text[0] == '=' || text[0] == '@' || text[0] == '<')) text.remove_prefix(1);
  const auto bits = static_cast<std::uint8_t>(8 * bytes);
  if ((text == "Zf" && bytes == 8) || (text == "Zd" && bytes == 16)) return {kDLComplexCode, bits, 1};
  if (text.size() != 1 || code_of_letter(text[0]) == 0xff || !has_bytes(text[0], bytes)) return {0, 0, 0};
  return {code_of_letter(text[0]), bits, 1};
}

DLDataType bits_type_named(std::string_view name) {
  for (const auto& [known, type] : kNamed)
    if (known == name) return type;
  return {0, 0, 0};
}

std::string numpy_name(DLDataType type) {
  const std::string bits = std::to_string(type.bits);
  switch (type.code) {
    case kDLBool:
      return "bool";
    case kDLInt:
      return "int" + bits;
    case kDLUInt:
      return "uint" + bits;
    case kDLFloat:
      return "float" + bits;
    case kDLComplexCode:
      return "complex" + bits;
    default:
      break;
  }
  for (const auto& [name, known] : kNamed)
    if (known.code == type.code && known.bits == type.bits) return std::string(name);
  return "";
}

std::string readable_name(DLDataType type) {
  const std::string name = padlock_type_name(type);
  return name.empty() ? numpy_name(type) : name;
}

bool can_move(DLDataType type) {
  const int least = type.code == kDLFloat || type.code == kDLBfloat ? 16 : type.code == kDLComplexCode ? 32 : 8;
  const bool eight = type.code == kDLBool || (type.code >= kDLFirstFloat8Code && type.code <= kDLLastFloat8Code);
  const int most = eight                                                  ? 8
                   : type.code == kDLBfloat                               ? 16
                   : type.code == kDLFloat || type.code == kDLComplexCode ? 128
                                                                          : 64;
  return type.lanes == 1 && type.code <= kDLLastFloat8Code && type.code != kDLOpaqueCode && type.bits >= least &&
         type.bits <= most && std::has_single_bit(unsigned{type.bits});
}

DLDataType carrier(DLDataType type) {
  return {kDLUInt, static_cast<std::uint8_t>(type.bits == 128 ? 64 : type.bits), 1};
}

Bits bits_of(nb::handle value, DLDataType type) {
  if (value.is_none()) return {};
  switch (type.code) {
    case kDLBool: {
      const int truth = PyObject_IsTrue(value.ptr());
      check_python(truth >= 0);
      return {static_cast<std::uint64_t>(truth), 0};
    }
    case kDLInt:
    case kDLUInt:
      return {int_bits(value, type), 0};
    case kDLFloat:
    case kDLBfloat:
      return {float_bits(double_of(value, type), value, type), 0};
    case kDLComplexCode:
      return complex_bits(value, type);
    default:
      return {float8_bits(value, type), 0};
  }
}

}  // namespace padlock::python
