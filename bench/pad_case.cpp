#include "bench/pad_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>
#include <optional>

#include "bench/fields.h"

namespace padlock::bench {
namespace {

Status parse_extents(std::string_view text, PadCase& pad) {
  for (const std::string_view part : split(text, ' ')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const auto extent = equals == std::string_view::npos ? std::nullopt : integer(part.substr(equals + 1));
    if (!extent || *extent < 1 || equals == 0)
      return invalid_argument(fmt::format("expected an extent like N=8, found '{}'", part));
    pad.symbols.emplace_back(part.substr(0, equals));
    pad.extents.push_back(*extent);
  }
  return {};
}

Status parse_pads(std::string_view low, std::string_view high, PadCase& pad) {
  for (const std::string_view part : split(low, ',')) {
    const auto amount = integer(part);
    if (!amount) return invalid_argument(fmt::format("expected a low pad that is a number, found '{}'", part));
    pad.low.push_back(*amount);
  }
  for (const std::string_view part : split(high, ',')) pad.high.emplace_back(part);
  if (pad.low.size() == pad.rank() && pad.high.size() == pad.rank()) return {};
  return invalid_argument(
      fmt::format("expected {} low and high pads, found {} and {}", pad.rank(), pad.low.size(), pad.high.size()));
}

Result<PadCase> parse_case(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ';');
  if (fields.size() != 6)
    return invalid_argument(
        fmt::format("expected name; extents; low; high; mode; value, found {} fields", fields.size()));
  PadCase pad{.name = std::string(fields[0]), .mode = std::string(fields[4]), .value = std::string(fields[5])};
  PADLOCK_CHECK(parse_extents(fields[1], pad));
  PADLOCK_CHECK(parse_pads(fields[2], fields[3], pad));
  return pad;
}

}  // namespace

Result<std::vector<PadCase>> parse_cases(std::string_view text, std::string_view section) {
  std::vector<PadCase> cases;
  std::string_view current;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[' && line.back() == ']') {
      current = line.substr(1, line.size() - 2);
      continue;
    }
    auto parsed = parse_case(line);
    if (!parsed) return invalid_argument(fmt::format("line {}: {}", number, parsed.error().message));
    if (current == section) cases.push_back(*std::move(parsed));
  }
  return cases;
}

std::string fill_literal(const PadCase& pad, ir::DType dtype) {
  if (pad.value != "least") return pad.value;
  if (ir::is_float(dtype)) return "-inf";
  return ir::is_signed(dtype) ? fmt::format("-{}", std::uint64_t{1} << (ir::bit_width(dtype) - 1)) : "0";
}

std::string program_text(const PadSpec& spec) {
  const PadCase& pad = spec.pad;
  std::vector<std::string> extents = pad.symbols;
  if (spec.literal_extents)
    for (std::size_t i = 0; i < pad.rank(); ++i) extents[i] = std::to_string(pad.extents[i]);
  // An axis without elements has nothing to repeat.
  std::string where;
  if (pad.mode != "constant" && !spec.literal_extents)
    where = fmt::format("where {} >= 1\n", fmt::join(pad.symbols, " >= 1, "));
  if (pad.mode == "transpose") {
    std::vector<std::size_t> axes(pad.rank());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::swap(axes[pad.rank() - 2], axes[pad.rank() - 1]);
    return fmt::format("program {}(x: {}[{}]) {{ y = transpose(x, perm = [{}]) return y }}\n", pad.name,
                       ir::name_of(spec.dtype), fmt::join(extents, ", "), fmt::join(axes, ", "));
  }
  const std::string fill = pad.mode == "constant" ? ", value = " + fill_literal(pad, spec.dtype) : "";
  return fmt::format(
      "program {}(x: {}[{}])\n{}{{\n  y = pad(x, low = [{}], high = [{}], mode = {}{})\n{}  return {}\n}}\n", pad.name,
      ir::name_of(spec.dtype), fmt::join(extents, ", "), where, fmt::join(pad.low, ", "), fmt::join(pad.high, ", "),
      pad.mode, fill, spec.relu ? "  z = relu(y)\n" : "", spec.relu ? "z" : "y");
}

PadCase of_type(const PadCase& pad, ir::DType dtype, std::int64_t shift) {
  PadCase scaled = pad;
  const std::int64_t times = ir::byte_size(ir::DType::f32) / ir::byte_size(dtype);
  scaled.extents.back() *= times;
  scaled.low.back() = scaled.low.back() * times + shift;
  scaled.high.back() = std::to_string(integer(scaled.high.back()).value_or(0) * times - shift);
  return scaled;
}

PadCase as_rank_2(const PadCase& pad) {
  const std::vector<std::int64_t> result = result_extents(pad);
  const std::int64_t rows = element_count(pad.extents) / pad.extents.back();
  const std::int64_t result_rows = element_count(result) / result.back();
  const std::int64_t before = (result_rows - rows) / 2;
  PadCase flat = pad;
  flat.symbols = {"R", "C"};
  flat.extents = {rows, pad.extents.back()};
  flat.low = {before, pad.low.back()};
  flat.high = {std::to_string(result_rows - rows - before), pad.high.back()};
  return flat;
}

std::vector<std::int64_t> result_extents(const PadCase& pad) {
  std::vector<std::int64_t> extents;
  if (pad.mode == "transpose") {
    extents = pad.extents;
    std::swap(extents[pad.rank() - 2], extents[pad.rank() - 1]);
    return extents;
  }
  for (std::size_t i = 0; i < pad.rank(); ++i)
    extents.push_back(pad.low[i] + pad.extents[i] + integer(pad.high[i]).value_or(0));
  return extents;
}

std::int64_t element_count(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

PadCase with_numbers(PadCase pad, const std::vector<std::int64_t>& result) {
  for (std::size_t i = 0; i < pad.rank(); ++i) pad.high[i] = std::to_string(result[i] - pad.low[i] - pad.extents[i]);
  return pad;
}

}  // namespace padlock::bench
