// Sizes past 2^31 elements and byte offsets up to 2^47, without the memory. Compiled kernels run on chosen ranges of
// rows and columns, in storage that only has the pages they should touch. A case's name begins with the reports that it
// rules out. padlock_large_sizes runs such results whole.
#include <doctest/doctest.h>

#include <array>

#include "tests/common/environment.h"
#include "tests/compiler/emit/address_run.h"

namespace padlock::compiler {
namespace {

using testing::Rng;

constexpr std::array kVariants = {Variant{"default", ""}, Variant{"no split", "split=0"},
                                  Variant{"bounds check", "", true},
                                  Variant{"narrow, past the caches", "vector_bytes=16,unroll=4,store=nontemporal"}};

/// Runs the kernel, and its variant for these sizes if there is one.
void check_case(const AddressCase& c, Compilations& compilations, const Variant& variant) {
  const std::uint64_t seed = testing::seed_or(31);
  CAPTURE(c.name);
  CAPTURE(variant.name);
  CAPTURE(seed);
  CAPTURE(c.text());
  Rng rng(seed);
  const Compiled& compiled = compilations.of(c.text(), variant);
  AddressRun run(c, compiled);
  CHECK(run.run(rng) == "");
  CHECK(run.elements_checked() > 0);
  if (compiled.variants().size() < 2 || !run.admits(1)) return;
  CAPTURE(compiled.variants()[1].abi.name);
  AddressRun specialised(c, compiled, 1);
  CHECK(specialised.run(rng) == "");
}

/// Each in the default variant and in one of the others, which take turns.
void check_cases(const std::vector<AddressCase>& cases) {
  Compilations compilations;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    check_case(cases[i], compilations, kVariants[0]);
    check_case(cases[i], compilations, kVariants[1 + i % (kVariants.size() - 1)]);
  }
}

constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};

AddressCase typed(AddressCase c, const char* type, int bytes) {
  c.type = type;
  c.element_bytes = bytes;
  return c;
}

Wide zeros(std::size_t n) { return Wide(n, 0); }

}  // namespace

TEST_CASE("D1 tensorflow_91027: every mode, where the result has more than 2^31 elements and the input has not") {
  std::vector<AddressCase> cases;
  for (const char* mode : kModes) {
    AddressCase reflect{.name = "500 x 500 x 5000",
                        .extents = {500, 500, 5000},
                        .low = {100, 100, 0},
                        .high = {100, 100, 0},
                        .mode = mode};
    cases.push_back(typed(reflect, "f32", 4));
    cases.push_back({.name = "33000 images",
                     .type = "u8",
                     .extents = {33000, 256, 256, 1},
                     .low = {0, 1, 1, 0},
                     .high = {0, 1, 1, 0},
                     .mode = mode});
  }
  check_cases(cases);
}

TEST_CASE("D2 pytorch_182193: chunks of which only the offset's product is large") {
  AddressCase chunk{.name = "chunk 3 of 5",
                    .extents = {5, 70001, 65537},
                    .start = {3, 1, 2},
                    .limit = {5, 70001, 65500},
                    .step = {1, 1, 1},
                    .low = {0, 1, -1},
                    .high = {0, 0, 3},
                    .concat_axis = 0,
                    .tail = 2,
                    .tail_first = true};
  AddressCase pitched = chunk;
  pitched.strides = {Int128{70001} * 70000, 70000, 1};
  AddressCase steps = chunk;
  steps.step = {1, 3, 2};
  check_cases({typed(chunk, "i16", 2), typed(pitched, "f32", 4), typed(steps, "i8", 1)});
}

TEST_CASE("D4 torchdynamo_1821: 3288334336 elements, flat and in rows") {
  AddressCase flat{.name = "flat", .extents = {3288334336}, .low = {3}, .high = {-3}};
  AddressCase rows{.name = "rows", .extents = {401408, 8192}, .low = {0, 1}, .high = {0, 0}};
  check_cases({typed(flat, "u8", 1), typed(flat, "f32", 4), typed(rows, "f16", 2)});
}

TEST_CASE("D5 pytorch_145350: every mode with 8388906 rows of frames, 8.6 GB before the end") {
  std::vector<AddressCase> cases;
  for (const char* mode : kModes) {
    AddressCase c{.name = "frames", .extents = {8388907, 16, 16}, .low = {0, 1, 1}, .high = {0, 1, 1}, .mode = mode};
    cases.push_back(typed(c, "f32", 4));
    c.low = {-3, 0, 40}, c.high = {50, 0, -9};
    cases.push_back(typed(c, "i16", 2));
  }
  check_cases(cases);
}

TEST_CASE("D6 pytorch_165861: extents around 65536 on every axis, in results of 2^45 elements and more") {
  std::vector<AddressCase> cases;
  for (const Int128 n : {65535, 65536, 65537})
    for (std::size_t axis = 0; axis < 3; ++axis) {
      AddressCase c{
          .name = "65536", .extents = {65537, 16411, 65535}, .low = {1, 0, 1}, .high = {0, 0, 1}, .mode = "reflect"};
      std::swap(c.extents[0], c.extents[axis]);
      c.extents[axis] = n;
      cases.push_back(c);
    }
  cases.push_back({.name = "narrow rows",
                   .extents = {Int128{1} << 29, 65537, 2},
                   .low = {0, 0, 1},
                   .high = {1, 1, 0},
                   .mode = "symmetric"});
  check_cases(cases);
}

TEST_CASE("D7 tensorflow_51908: pads of 2^31, 2^32 and 2^40, of either sign") {
  std::vector<AddressCase> cases;
  for (const char* mode : kModes)
    for (const int power : {31, 32, 40}) {
      const Int128 pad = Int128{1} << power;
      cases.push_back({.name = "wide", .extents = {3}, .low = {pad}, .high = {pad + 1}, .mode = mode});
      cases.push_back({.name = "cropped", .extents = {2 * pad - 3}, .low = {-pad + 5}, .high = {1}, .mode = mode});
    }
  cases.push_back(
      {.name = "1 to 2^46", .extents = {7, 1}, .low = {0, 0}, .high = {0, (Int128{1} << 43) - 1}, .mode = "edge"});
  cases.push_back({.name = "interior",
                   .extents = {1 << 20, 1 << 10},
                   .low = {-3, 5},
                   .high = {1, -2},
                   .interior = {(1 << 8) - 1, 255}});
  check_cases(cases);
}

TEST_CASE("D8 flashinfer_3391: last offsets of exactly 2^31 and 2^32, one less and one more") {
  std::vector<AddressCase> cases;
  for (const int power : {31, 32})
    for (const int around : {-1, 0, 1}) {
      const Int128 last = (Int128{1} << power) + around;
      cases.push_back({.name = "last offset", .extents = {last + 1}, .low = {0}, .high = {0}});
      cases.push_back({.name = "last offset of the input", .extents = {last + 1}, .low = {-last + 70}, .high = {1}});
      cases.push_back(typed({.name = "last byte", .extents = {last / 4 + 1}, .low = {0}, .high = {0}}, "i32", 4));
    }
  AddressCase passes{.name = "131072 rows", .extents = {131072, 16384}, .low = {0, 0}, .high = {0, 0}};
  AddressCase fails{.name = "4194305 rows", .extents = {4194305, 512}, .low = {0, 0}, .high = {0, 0}};
  AddressCase gather{.name = "row 239674", .extents = {239680, 8961}, .low = {-239670, 0}, .high = {0, 1}};
  check_cases(cases);
  check_cases({typed(passes, "f16", 2), typed(fails, "f16", 2), typed(gather, "f32", 4)});
}

TEST_CASE("D9 pytorch_186749: few enough elements, too many bytes") {
  std::vector<AddressCase> cases;
  for (const char* mode : kModes) {
    AddressCase c{.name = "1.6e9", .extents = {40000, 40000}, .low = {1, 3}, .high = {0, -2}, .mode = mode};
    cases.push_back(typed(c, "bf16", 2));
    c.extents = {20000, 40000};
    cases.push_back(typed(c, "i32", 4));
  }
  check_cases(cases);
}

TEST_CASE("D10 tinygrad_8268: strides of 37748736 and of nearly 2^40, inside out and with gaps") {
  std::vector<AddressCase> cases;
  for (const char* mode : kModes) {
    AddressCase rows{.name = "rows", .extents = {64, 37748736}, .low = {0, -5}, .high = {0, 9}, .mode = mode};
    cases.push_back(typed(rows, "f32", 4));
    rows.perm = {1, 0};
    rows.low = {-5, 0}, rows.high = {9, 0};
    cases.push_back(typed(rows, "f32", 4));
    AddressCase columns = rows;
    columns.name = "column-major";
    columns.perm.clear();
    columns.strides = {1, 67};
    cases.push_back(typed(columns, "i16", 2));
    AddressCase gaps{.name = "gaps",
                     .extents = {60, 3, 70},
                     .strides = {(Int128{1} << 40) - 87, Int128{1} << 33, (Int128{1} << 32) + 3},
                     .low = {2, 0, -1},
                     .high = {0, 0, 70},
                     .mode = mode};
    cases.push_back(gaps);
  }
  check_cases(cases);
}

TEST_CASE("D11 mlx_3720: reading backwards past 2^32, and a negative stride refused") {
  std::vector<AddressCase> cases;
  for (const char* mode : {"reflect", "symmetric", "wrap"}) {
    const Int128 n = (Int128{1} << 33) + 11;
    cases.push_back({.name = "a lap each way", .extents = {n}, .low = {n - 1}, .high = {n - 1}, .mode = mode});
    AddressCase rows{.name = "rows backwards", .extents = {3, n}, .low = {2, n - 1}, .high = {3, 1}, .mode = mode};
    cases.push_back(rows);
    rows.strides = {2 * n + 1, 2};
    cases.push_back(typed(rows, "i16", 2));
  }
  check_cases(cases);
  const auto program = ir::parse_program("program p(x: f32[N] strides [S]) { y = relu(x) return y }");
  REQUIRE(program.has_value());
  const auto refused = ir::Binding::bind(*program, {{ir::ArgumentShape{{Int128{1} << 33}, {{-1}}}}, {}});
  REQUIRE_FALSE(refused.has_value());
  CHECK_MESSAGE(refused.error().message.find("stride") != std::string::npos, refused.error().message);
}

TEST_CASE("storage just under 2^47 bytes") {
  constexpr Int128 kMost = (Int128{1} << 47) - 1;
  std::vector<AddressCase> cases;
  for (const char* mode : kModes) {
    cases.push_back({.name = "input", .extents = {kMost}, .low = {-5}, .high = {-(Int128{1} << 46)}, .mode = mode});
    cases.push_back(
        {.name = "result", .extents = {11}, .low = {kMost / 2}, .high = {kMost - kMost / 2 - 11}, .mode = mode});
    AddressCase both{
        .name = "both", .extents = {(Int128{1} << 44) - 1, 2}, .low = {0, 1}, .high = {0, 0}, .mode = mode};
    cases.push_back(typed(both, "i16", 2));
    AddressCase pitched{.name = "pitched",
                        .extents = {8, 3, 100},
                        .strides = {(Int128{1} << 42) - 333, Int128{1} << 40, 1},
                        .low = zeros(3),
                        .high = {1, 2, 3},
                        .mode = mode};
    cases.push_back(typed(pitched, "f32", 4));
  }
  check_cases(cases);
}

TEST_CASE("random programs of huge sizes") {
  Compilations compilations;
  const std::uint64_t seed = testing::seed_or(2147483648);
  CAPTURE(seed);
  Rng rng(seed);
  for (int i = 0; i < 24; ++i) check_case(random_address_case(rng), compilations, rng.pick(kVariants));
}

TEST_CASE("divisions of 32 bits and more") {
  std::vector<AddressCase> cases;
  for (const char* mode : {"reflect", "symmetric", "wrap"})
    for (const std::int64_t extent : {std::int64_t{3}, (std::int64_t{1} << 30) + 1, (std::int64_t{1} << 44) - 1})
      for (const Int128 pad : {(Int128{1} << 31) + 100, (Int128{1} << 45) + 7})
        cases.push_back(
            typed({.name = "laps", .extents = {extent}, .low = {pad}, .high = {pad / 2}, .mode = mode}, "i8", 1));
  check_cases(cases);
}

TEST_CASE("a seeded bug is found in these places") {
  Compilations compilations;
  const auto finds = [&](const AddressCase& c, Mutation mutation) {
    Rng rng(1);
    return AddressRun(c, compilations.of(c.text(), {name_of(mutation), "", false, mutation})).run(rng) != "";
  };
  AddressCase c{
      .name = "frames", .extents = {8388907, 16, 1600}, .low = {0, 10, 10}, .high = {0, 10, 10}, .mode = "constant"};
  CHECK_FALSE(finds(c, Mutation::none));
  CHECK(finds(c, Mutation::pad_upper_bound_early));
  CHECK(finds(c, Mutation::pad_lower_bound_late));
}

}  // namespace padlock::compiler
