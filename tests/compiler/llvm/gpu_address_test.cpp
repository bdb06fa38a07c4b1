// A GPU's kernels past 2^31 elements, executed without the memory as those of the host: a tile at a time, as simt runs
// it, in storage of which only the pages that it should touch exist.
#include <doctest/doctest.h>

#include <array>

#include "tests/common/environment.h"
#include "tests/compiler/llvm/address_run.h"

namespace padlock::compiler {
namespace {

using testing::Rng;

constexpr Variant kStream{"stream", "map=stream"};
constexpr Variant kNoSplit{"no split", "map=stream,split=0,items=1,threads=64"};

/// The variant that a launch takes. Whether its indices have 32 bits.
bool check_case(const AddressCase& c, Compilations& compilations, const Variant& variant) {
  const std::uint64_t seed = testing::seed_or(31);
  CAPTURE(c.name);
  CAPTURE(variant.name);
  CAPTURE(seed);
  CAPTURE(c.text());
  Rng rng(seed);
  const Compiled& compiled = compilations.of(c.text(), variant);
  const std::vector<runtime::HostVariant>& variants = compiled.variants();
  AddressRun any(c, compiled);
  const bool narrow = variants.size() > 1 && any.admits(variants[1]);
  AddressRun run(c, compiled.program, variants[narrow ? 1 : 0]);
  run.takes_tiles();
  CHECK(run.run(rng) == "");
  CHECK(run.elements_checked() > 0);
  return narrow;
}

constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};

}  // namespace

TEST_CASE("indices of 32 bits serve every tensor whose axes they hold") {
  Compilations compilations(/*for_gpu=*/true);
  for (const char* mode : kModes) {
    const AddressCase rows{.name = "rows", .extents = {401408, 8191}, .low = {0, 1}, .high = {0, 1}, .mode = mode};
    const AddressCase frames{
        .name = "frames", .extents = {8388907, 16, 33}, .low = {0, 1, 1}, .high = {0, 1, 1}, .mode = mode};
    const AddressCase large{.name = "bytes of images",
                            .type = "f32",
                            .element_bytes = 4,
                            .extents = {33000, 257, 3, 1023},
                            .low = {0, 2, 0, 3},
                            .high = {1, 0, 0, 0},
                            .mode = mode};
    for (const AddressCase& c : {rows, frames, large})
      for (const Variant& variant : {kStream, kNoSplit}) CHECK(check_case(c, compilations, variant));
  }
}

// The tables of rows (compiler/llvm/emit/grid/row_table.h) serve columns that these are at and beyond both ends of.
TEST_CASE("rows that a warp takes several of are found in a table, others by division") {
  Compilations compilations(/*for_gpu=*/true);
  const std::uint64_t seed = testing::seed_or(41);
  CAPTURE(seed);
  Rng rng(seed);
  for (const char* mode : {"constant", "edge"})
    for (const auto& [columns, by_table] :
         {std::pair{34, false}, {35, true}, {129, true}, {144, false}, {255, true}, {257, false}}) {
      const AddressCase c{.name = "short rows",
                          .extents = {5000, 37, 29, columns - 2},
                          .low = {0, 1, 0, 1},
                          .high = {0, 0, 1, 1},
                          .mode = mode};
      CAPTURE(mode);
      CAPTURE(columns);
      const Compiled& compiled = compilations.of(c.text(), kStream);
      const runtime::HostVariant& last = compiled.variants().back();
      REQUIRE(last.abi.name.ends_with("_short_rows"));
      AddressRun run(c, compiled.program, last);
      CHECK(run.admits(last) == by_table);
      if (!by_table) continue;
      run.takes_tiles();
      CHECK(run.run(rng) == "");
      CHECK(run.elements_checked() > 0);
    }
}

TEST_CASE("tables of rows serve outputs past 2^31 elements, where their records are as short") {
  Compilations compilations(/*for_gpu=*/true);
  const std::uint64_t seed = testing::seed_or(43);
  CAPTURE(seed);
  Rng rng(seed);
  const auto variant_of = [](const Compiled& compiled) -> const runtime::HostVariant* {
    for (const runtime::HostVariant& variant : compiled.variants())
      if (variant.abi.name.ends_with("_offset64_short_rows")) return &variant;
    return nullptr;
  };
  AddressCase c{.name = "short rows", .extents = {50000, 37, 29, 127}, .low = {0, 1, 0, 1}, .high = {0, 0, 1, 1}};
  c.mode = "constant";
  const Compiled& compiled = compilations.of(c.text(), kStream);
  const runtime::HostVariant* wide = variant_of(compiled);
  REQUIRE(wide != nullptr);
  AddressRun run(c, compiled.program, *wide);
  CHECK(run.admits(*wide));
  CHECK_FALSE(run.admits(compiled.variants().back()));
  run.takes_tiles();
  CHECK(run.run(rng) == "");
  CHECK(run.elements_checked() > 0);
  c.mode = "reflect";  // the starts of its rows' ends are no record of 16 bytes
  CHECK(variant_of(compilations.of(c.text(), kStream)) == nullptr);
}

TEST_CASE("strides beyond 2^31 are steps of an offset") {
  Compilations compilations(/*for_gpu=*/true);
  const AddressCase gaps{.name = "gaps",
                         .extents = {60, 3, 70},
                         .strides = {(Int128{1} << 40) - 87, Int128{1} << 33, (Int128{1} << 32) + 3},
                         .low = {2, 0, -1},
                         .high = {0, 0, 70},
                         .mode = "edge"};
  const AddressCase volumes{
      .name = "volumes", .extents = {5, 70001, 65537}, .low = {1, 1, 2}, .high = {0, 0, 1}, .mode = "reflect"};
  for (const AddressCase& c : {gaps, volumes}) check_case(c, compilations, kStream);
}

TEST_CASE("an axis that indices of 32 bits do not hold takes those of 64") {
  Compilations compilations(/*for_gpu=*/true);
  for (const char* mode : kModes) {
    const Int128 long_axis = (Int128{1} << 32) + 3;
    const AddressCase flat{.name = "flat", .extents = {long_axis}, .low = {3}, .high = {-1}, .mode = mode};
    const AddressCase rows{.name = "rows", .extents = {long_axis, 3}, .low = {0, 1}, .high = {0, 0}, .mode = mode};
    for (const AddressCase& c : {flat, rows})
      for (const Variant& variant : {kStream, kNoSplit}) CHECK_FALSE(check_case(c, compilations, variant));
  }
}

TEST_CASE("tiles of transposes past 2^31 elements") {
  Compilations compilations(/*for_gpu=*/true);
  const auto check = [&](const AddressCase& c, const char* config, const AddressRun::TransposeShape& shape) {
    CAPTURE(c.text());
    const Compiled& compiled = compilations.of(c.text(), {config, config});
    AddressRun any(c, compiled);
    const bool narrow = any.admits(compiled.variants()[1]);
    AddressRun run(c, compiled.program, compiled.variants()[narrow ? 1 : 0]);
    run.takes_transposes(shape);
    Rng rng(1);
    CHECK(run.run(rng) == "");
    CHECK(run.elements_checked() > 0);
    return narrow;
  };
  const AddressCase bytes{
      .name = "bytes", .extents = {65537, 65535}, .perm = {1, 0}, .low = {0, 1}, .high = {0, 1}, .mode = "constant"};
  AddressCase words = bytes;
  words.type = "f32";
  words.element_bytes = 4;
  AddressCase long_rows = bytes;
  long_rows.extents = {3, (Int128{1} << 31) + 5};
  CHECK(check(bytes, "tiles=large", {128, 128, 32}));
  CHECK(check(bytes, "tiles=small", {128, 64, 32}));
  CHECK(check(words, "tiles=large", {32, 64, 8}));
  CHECK_FALSE(check(long_rows, "tiles=large", {128, 128, 32}));
}

TEST_CASE("random programs of huge sizes") {
  Compilations compilations(/*for_gpu=*/true);
  const std::uint64_t seed = testing::seed_or(2147483648);
  CAPTURE(seed);
  Rng rng(seed);
  for (int i = 0; i < 16; ++i) check_case(random_address_case(rng), compilations, i % 2 == 0 ? kStream : kNoSplit);
}

TEST_CASE("a seeded bug is found in these places") {
  Compilations compilations(/*for_gpu=*/true);
  const auto finds = [&](const AddressCase& c, Mutation mutation) {
    Rng rng(1);
    AddressRun run(c, compilations.of(c.text(), {name_of(mutation), "map=stream", false, mutation}));
    run.takes_tiles();
    return run.run(rng) != "";
  };
  AddressCase c{
      .name = "frames", .extents = {8388907, 16, 1600}, .low = {0, 10, 10}, .high = {0, 10, 10}, .mode = "constant"};
  CHECK_FALSE(finds(c, Mutation::none));
  CHECK(finds(c, Mutation::pad_upper_bound_early));
}

}  // namespace padlock::compiler
