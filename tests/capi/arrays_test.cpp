// Functions for callers without arrays of their own: types and scalars by name, layouts, memory, comparing results.
#include <limits>
#include <tuple>

#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

using Memory = Handle<padlock_memory, padlock_memory_release>;

constexpr DLDataType kF32 = {kDLFloat, 32, 1};

std::string text_of(const padlock_text* text) { return {padlock_text_data(text), padlock_text_size(text)}; }

TEST_CASE("types and scalars have the language's names and literals") {
  Error error;
  for (const std::string name : {"f64", "f32", "f16", "bf16", "i8", "u64", "bool"}) {
    DLDataType type{};
    REQUIRE_OK(padlock_type_find(name.c_str(), &type, error.out()), error);
    CHECK(padlock_type_name(type) == name);
  }
  DLDataType type{};
  CHECK(padlock_type_find("f33", &type, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_type_find("float64", &type, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected the name of a type, found 'float64'; write 'f64'"));
  CHECK(padlock_type_name({kDLFloat, 32, 4}) == std::string());
  std::uint64_t bits = 0;
  REQUIRE_OK(padlock_scalar_parse("-1.5", kF32, &bits, error.out()), error);
  CHECK(bits == 0xBFC00000);
  CHECK(padlock_scalar_parse("x", kF32, &bits, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_scalar_parse("1", {kDLFloat, 32, 4}, &bits, error.out()) == PADLOCK_INVALID_ARGUMENT);
  Text literal;
  REQUIRE_OK(padlock_scalar_print(kF32, 0x7FC00001, literal.out(), error.out()), error);
  CHECK(text_of(literal) == "bits(0x7fc00001)");
}

TEST_CASE("dense strides, in both orders") {
  const std::int64_t extents[] = {2, 3, 4}, negative[] = {-1};
  std::int64_t strides[3] = {};
  Error error;
  REQUIRE_OK(padlock_dense_strides(extents, 3, PADLOCK_ROW_MAJOR, strides, error.out()), error);
  CHECK(std::vector(strides, strides + 3) == std::vector<std::int64_t>{12, 4, 1});
  REQUIRE_OK(padlock_dense_strides(extents, 3, PADLOCK_COLUMN_MAJOR, strides, error.out()), error);
  CHECK(std::vector(strides, strides + 3) == std::vector<std::int64_t>{1, 2, 6});
  CHECK(padlock_dense_strides(negative, 1, PADLOCK_ROW_MAJOR, strides, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_dense_strides(extents, 3, 2, strides, error.out()) == PADLOCK_INVALID_ARGUMENT);
}

TEST_CASE("inputs that are still to be laid out: the program's strides, or those that the caller would take") {
  const Context context = make_context();
  const Program program = parse(context,
                                "program p(x: f32[A, B] strides [B + 5, 1], y: f32[A, B] strides [T, U], n: dim) "
                                "{ z = neg(x) return z, y }");
  Tensor x({2, 3}), y({2, 3}, {1, 2});
  const DLTensor x_view = x.view(), y_view = y.view();
  const DLTensor* const inputs[] = {&x_view, &y_view};
  padlock_bind_options options = sized<padlock_bind_options>();
  options.inputs = inputs;
  options.input_count = 2;
  options.unplaced = 1;
  Error error;
  Text names;
  REQUIRE_OK(padlock_program_missing(program, &options, names.out(), error.out()), error);
  CHECK(text_of(names) == "n\n");
  const padlock_named_value dims[] = {{"n", 1}};
  options.dims = dims;
  options.dim_count = 1;
  REQUIRE_OK(padlock_program_missing(program, &options, names.out(), error.out()), error);
  CHECK(text_of(names).empty());
  Call call;
  REQUIRE_OK(padlock_program_bind(program, &options, call.out(), error.out()), error);
  padlock_tensor_info info = sized<padlock_tensor_info>();
  REQUIRE_OK(padlock_call_input(call, 0, &info, error.out()), error);
  CHECK(std::vector(info.strides, info.strides + 2) == std::vector<std::int64_t>{8, 1});
  REQUIRE_OK(padlock_call_input(call, 1, &info, error.out()), error);
  CHECK(std::vector(info.strides, info.strides + 2) == std::vector<std::int64_t>{1, 2});
  options.unplaced = 0;
  CHECK(padlock_program_bind(program, &options, call.out(), error.out()) == PADLOCK_FAILED_PRECONDITION);
  options.inputs = nullptr;
  options.input_count = 0;
  REQUIRE_OK(padlock_program_missing(program, &options, names.out(), error.out()), error);
  CHECK(text_of(names) == "A\nB\nT\nU\n");
}

TEST_CASE("memory of the host: zeroed, copied within its bounds, and refused where there is less") {
  const Context context = make_context();
  Memory a, b, none;
  Error error;
  REQUIRE_OK(padlock_memory_allocate(context, nullptr, 64, "a", a.out(), error.out()), error);
  REQUIRE_OK(padlock_memory_allocate(context, "host", 32, nullptr, b.out(), error.out()), error);
  auto* const bytes = static_cast<unsigned char*>(padlock_memory_data(a));
  CHECK(padlock_memory_bytes(a) == 64);
  CHECK(bytes[63] == 0);
  bytes[40] = 7;
  REQUIRE_OK(padlock_memory_copy(b, 8, a, 32, 24, error.out()), error);
  CHECK(static_cast<unsigned char*>(padlock_memory_data(b))[16] == 7);
  for (const auto& [to, from, count] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{0, 0, 33},
                                        {-1, 0, 1},
                                        {0, 64, 1},
                                        {0, 0, -1},
                                        {31, 0, INT64_MAX}})
    CHECK(padlock_memory_copy(b, to, a, from, count, error.out()) == PADLOCK_OUT_OF_RANGE);
  CHECK(padlock_memory_copy(nullptr, 0, a, 0, 1, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_memory_allocate(context, "gpu", 1, "a", none.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_memory_allocate(context, "host", -1, "a", none.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_memory_allocate(context, "host", INT64_MAX / 2, "all of it", none.out(), error.out()) ==
        PADLOCK_RESOURCE_EXHAUSTED);
  CHECK(std::string(padlock_error_message(error)).find("all of it needs ") == 0);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_ENVIRONMENT);
  REQUIRE_OK(padlock_memory_allocate(context, "host", 0, "a", none.out(), error.out()), error);
  CHECK(padlock_memory_data(none) == nullptr);
}

TEST_CASE("elements match within the language's freedom alone") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, "program p(x: f32[A]) { y = add(x, x) return y, x }"));
  Tensor tensor({2});
  const DLTensor view = tensor.view();
  const DLTensor* const tensors[] = {&view};
  padlock_bind_options options = sized<padlock_bind_options>();
  options.inputs = tensors;
  options.input_count = 1;
  Call call;
  Error error;
  REQUIRE_OK(padlock_kernel_bind(kernel, &options, call.out(), error.out()), error);
  const float x[] = {std::numeric_limits<float>::quiet_NaN(), 1};
  const void* const inputs[] = {x};
  const auto matches = [&](std::size_t result, std::int64_t at, std::uint64_t expected, std::uint64_t actual,
                           std::uint64_t ulp) {
    std::int32_t yes = -1;
    REQUIRE_OK(padlock_call_matches(call, result, &at, expected, actual, ulp, inputs, 1, &yes, error.out()), error);
    return yes == 1;
  };
  CHECK(matches(0, 1, 0x40000000, 0x40000000, 0));
  CHECK_FALSE(matches(0, 1, 0x40000000, 0x40000001, 0));
  CHECK(matches(0, 1, 0x40000000, 0x40000001, 1));
  CHECK(matches(0, 0, 0x7FC00000, 0xFFC00055, 0));        // computed: any NaN
  CHECK_FALSE(matches(1, 0, 0x7FC00000, 0xFFC00055, 0));  // moved: its bits
  CHECK_FALSE(matches(0, 0, 0x7FC00000, 0x7F800000, 0));
  std::int32_t yes = -1;
  const std::int64_t beyond = 2;
  CHECK(padlock_call_matches(call, 0, &beyond, 1, 2, 0, inputs, 1, &yes, error.out()) == PADLOCK_OUT_OF_RANGE);
  CHECK(padlock_call_matches(call, 2, &beyond, 1, 2, 0, inputs, 1, &yes, error.out()) == PADLOCK_OUT_OF_RANGE);
  const std::int64_t first = 0;
  CHECK(padlock_call_matches(call, 0, &first, 0x7FC00000, 0xFFC00055, 0, inputs, 0, &yes, error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(yes == 0);
}

}  // namespace
}  // namespace padlock::capi::testing
