#include "bench/short_rows.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace padlock::bench {
namespace {

constexpr std::array kTypes = {ir::DType::i8, ir::DType::f16, ir::DType::f32, ir::DType::f64};
constexpr std::array<std::int64_t, 12> kRowBytes = {1, 3, 4, 7, 8, 12, 16, 28, 32, 48, 56, 64};

/// `amount` on each side of rows of so many elements.
PadSpec rows_of(ir::DType dtype, std::int64_t elements, const char* mode, std::int64_t amount, std::int64_t all_bytes) {
  const std::int64_t bytes = ir::byte_size(dtype);
  PadCase pad{.name = fmt::format("{}_{}_{}", amount < 0 ? "crop" : mode, ir::name_of(dtype), elements * bytes),
              .symbols = {"B", "S"},
              .extents = {all_bytes / ((2 * elements + 2 * amount) * bytes), elements},
              .low = {0, amount},
              .high = {"0", std::to_string(amount)},
              .mode = mode};
  return {.pad = std::move(pad), .dtype = dtype};
}

void add_pads(ir::DType dtype, std::int64_t all_bytes, std::vector<PadSpec>& all) {
  for (const std::int64_t bytes : kRowBytes) {
    const std::int64_t elements = bytes / ir::byte_size(dtype);
    if (bytes % ir::byte_size(dtype) != 0) continue;
    for (const char* const mode : {"constant", "edge", "reflect", "wrap"})
      if (elements > 1 || mode != std::string_view("reflect"))
        all.push_back(rows_of(dtype, elements, mode, 1, all_bytes));
    if (elements > 2) all.push_back(rows_of(dtype, elements, "constant", -1, all_bytes));
  }
}

void add_channels(ir::DType dtype, std::int64_t bytes, std::vector<PadSpec>& all) {
  const std::int64_t pixels = bytes / (std::int64_t{6} * ir::byte_size(dtype));
  const auto name = [&](const char* what) { return fmt::format("{}_{}", what, ir::name_of(dtype)); };
  // Rows of both are merged pixels; those of tiles are known to be short.
  all.push_back({.pad = {.name = name("images"),
                         .symbols = {"N", "H", "W", "C"},
                         .extents = {std::max<std::int64_t>(1, pixels / (224 * 224)), 224, 224, 3},
                         .low = {0, 1, 1, 0},
                         .high = {"0", "1", "1", "0"}},
                 .dtype = dtype});
  const std::int64_t width = 16 / ir::byte_size(dtype);
  all.push_back({.pad = {.name = name("tiles"),
                         .symbols = {"N", "H", std::to_string(width), "3"},
                         .extents = {pixels / (64 * width), 64, width, 3},
                         .low = {0, 1, 1, 0},
                         .high = {"0", "1", "1", "0"}},
                 .dtype = dtype});
  all.push_back({.pad = {.name = name("fourth_channel"),
                         .symbols = {"N", "L", "C"},
                         .extents = {8, pixels / 10, 3},
                         .low = {0, 0, 0},
                         .high = {"0", "0", "1"}},
                 .dtype = dtype});
  // Channels apart to channels last: a literal extent, for that axis is what the program is about.
  for (const std::int64_t channels : {2, 3, 4})
    all.push_back({.pad = {.name = name(channels == 2   ? "transpose_2"
                                        : channels == 3 ? "transpose_3"
                                                        : "transpose_4"),
                           .symbols = {"N", std::to_string(channels), "L"},
                           .extents = {4, channels, pixels * 3 / channels / 4},
                           .low = {0, 0, 0},
                           .high = {"0", "0", "0"},
                           .mode = "transpose"},
                   .dtype = dtype});
}

}  // namespace

std::vector<PadSpec> short_rows(std::int64_t bytes) {
  std::vector<PadSpec> all;
  for (const ir::DType dtype : kTypes) {
    add_pads(dtype, bytes, all);
    add_channels(dtype, bytes, all);
  }
  return all;
}

}  // namespace padlock::bench
