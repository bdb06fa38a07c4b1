// GPU kernels past 2^31 elements, without the memory: simt runs one tile at a time, in storage that only has the pages
// it should touch.
#include <doctest/doctest.h>

#include <array>

#include "tests/common/environment.h"
#include "tests/compiler/emit/address_run.h"

namespace padlock::compiler {
namespace {

using testing::Rng;

constexpr Variant kStream{"source", "map=vector_grid"};
constexpr Variant kNoSplit{"no split", "map=vector_grid,split=0,items=1,threads=64"};

/// Runs the variant that a launch takes. Returns the number of launches if its indices have 32 bits, else 0.
std::size_t check_case(const AddressCase& c, Compilations& compilations, const Variant& variant) {
  const std::uint64_t seed = testing::seed_or(31);
  CAPTURE(c.name);
  CAPTURE(variant.name);
  CAPTURE(seed);
  CAPTURE(c.text());
  Rng rng(seed);
  const Compiled& compiled = compilations.of(c.text(), variant);
  const bool narrow = compiled.variants().size() > 1 && AddressRun(c, compiled).admits(1);
  AddressRun run(c, compiled, narrow ? 1 : 0);
  run.takes_tiles();
  CHECK(run.run(rng) == "");
  CHECK(run.elements_checked() > 0);
  return narrow ? run.launches() : 0;
}

constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};

}  // namespace

TEST_CASE("indices of 32 bits serve every tensor whose axes they hold") {
  Compilations compilations(/*for_gpu=*/true);
  for (const char* mode : kModes) {
    const AddressCase rows{.name = "rows", .extents = {401408, 8191}, .low = {0, 1}, .high = {0, 1}, .mode = mode};
    const AddressCase frames{
        .name = "frames", .extents = {8388907, 16, 33}, .low = {0, 1, 1}, .high = {0, 1, 1}, .mode = mode};
    const AddressCase images{
        .name = "images", .extents = {50000, 37, 29, 127}, .low = {0, 1, 0, 1}, .high = {0, 0, 1, 1}, .mode = mode};
    const AddressCase large{.name = "bytes of images",
                            .type = "f32",
                            .element_bytes = 4,
                            .extents = {33000, 257, 3, 1023},
                            .low = {0, 2, 0, 3},
                            .high = {1, 0, 0, 0},
                            .mode = mode};
    for (const Variant& variant : {kStream, kNoSplit}) {
      for (const AddressCase& c : {rows, frames, images}) CHECK(check_case(c, compilations, variant) > 1);
      // Modes that repeat the outermost axis take 64 bits: a few rows may read any of its indices.
      CHECK((check_case(large, compilations, variant) > 1) == (std::string_view(mode) == "constant"));
    }
  }
}

TEST_CASE("strides beyond 2^31 are steps of an offset") {
  Compilations compilations(/*for_gpu=*/true);
  const AddressCase gaps{.name = "gaps",
                         .extents = {60, 3, 70},
                         .strides = {(Int128{1} << 40) - 87, Int128{1} << 33, (Int128{1} << 32) + 3},
                         .low = {2, 0, -1},
                         .high = {0, 0, 70},
                         .mode = "edge"};
  AddressCase volumes{.name = "volumes", .extents = {5, 70001, 65537}, .low = {1, 1, 2}, .high = {0, 0, 1}};
  volumes.mode = "constant";
  CHECK(check_case(gaps, compilations, kStream) == 0);    // the elements of a single row lie too far apart
  CHECK(check_case(volumes, compilations, kStream) > 5);  // no launch has all that an index of the first axis has
  volumes.mode = "reflect";
  CHECK(check_case(volumes, compilations, kStream) == 0);  // neighbouring rows may read any of the second axis
}

TEST_CASE("an axis that indices of 32 bits do not hold takes those of 64") {
  Compilations compilations(/*for_gpu=*/true);
  for (const char* mode : kModes) {
    const Int128 long_axis = (Int128{1} << 32) + 3;
    const AddressCase flat{.name = "flat", .extents = {long_axis}, .low = {3}, .high = {-1}, .mode = mode};
    const AddressCase rows{.name = "rows", .extents = {long_axis, 3}, .low = {0, 1}, .high = {0, 0}, .mode = mode};
    for (const AddressCase& c : {flat, rows})
      for (const Variant& variant : {kStream, kNoSplit}) CHECK(check_case(c, compilations, variant) == 0);
  }
}

TEST_CASE("tiles of transposes past 2^31 elements") {
  Compilations compilations(/*for_gpu=*/true);
  const auto check = [&](const AddressCase& c, const char* config, const AddressRun::TransposeShape& shape) {
    CAPTURE(c.text());
    const Compiled& compiled = compilations.of(c.text(), {config, config});
    const bool narrow = AddressRun(c, compiled).admits(1);
    AddressRun run(c, compiled, narrow ? 1 : 0);
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

TEST_CASE("narrow transposes past 2^31 elements are several launches of a source") {
  Compilations compilations(/*for_gpu=*/true);
  AddressCase images{.name = "channels innermost",
                     .extents = {20011, 3, 50177},
                     .perm = {0, 2, 1},
                     .low = {0, 1, 0},
                     .high = {0, 0, 2},
                     .mode = "constant"};
  AddressCase planes = images;
  planes.extents = {20011, 50177, 3};
  for (const AddressCase& c : {images, planes}) {
    CAPTURE(c.text());
    const Compiled& compiled = compilations.of(c.text(), {"default", ""});
    const auto narrow = std::ranges::find_if(
        compiled.variants(), [](const auto& variant) { return variant.abi.name.ends_with("_narrow_output"); });
    REQUIRE(narrow != compiled.variants().end());
    const auto number = static_cast<std::size_t>(narrow - compiled.variants().begin());
    AddressRun run(c, compiled, number);
    CHECK(run.admits(number));
    CHECK(run.launches() > 1);
    run.takes_tiles();
    Rng rng(1);
    CHECK(run.run(rng) == "");
    CHECK(run.elements_checked() > 0);
  }
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
    AddressRun run(c, compilations.of(c.text(), {name_of(mutation), "map=vector_grid", false, mutation}));
    run.takes_tiles();
    return run.run(rng) != "";
  };
  AddressCase c{
      .name = "frames", .extents = {8388907, 16, 1600}, .low = {0, 10, 10}, .high = {0, 10, 10}, .mode = "constant"};
  CHECK_FALSE(finds(c, Mutation::none));
  CHECK(finds(c, Mutation::pad_upper_bound_early));
}

}  // namespace padlock::compiler
