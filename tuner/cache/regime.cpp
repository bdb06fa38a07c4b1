#include "tuner/cache/regime.h"

#include <fmt/format.h>

#include <algorithm>

namespace padlock::tuner {
namespace {

constexpr std::array kRegimeNames = {std::string_view("warm"), std::string_view("cold"), std::string_view("both")};
constexpr std::size_t kMostText = 2000;  // a region has a length limit, too

}  // namespace

std::string_view name_of(Regime regime) { return kRegimeNames.at(static_cast<std::size_t>(regime)); }

Result<Regime> regime_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kRegimeNames, name);
  if (found == kRegimeNames.end())
    return invalid_argument(fmt::format("expected a regime (warm, cold or both), found '{}'", name));
  return static_cast<Regime>(found - kRegimeNames.begin());
}

Regime RegimeBorders::regime_of(std::int64_t tensor_bytes) const {
  if (tensor_bytes <= most_warm) return Regime::warm;
  return tensor_bytes <= most_both ? Regime::both : Regime::cold;
}

std::vector<std::string> RegimeBorders::guards_of(Regime regime, std::string_view bytes) const {
  const std::string above_warm = fmt::format("{} > {}", bytes, most_warm);
  const std::string to_both = fmt::format("{} <= {}", bytes, most_both);
  switch (regime) {
    case Regime::warm:
      return {fmt::format("{} <= {}", bytes, most_warm)};
    case Regime::cold:
      return {fmt::format("{} > {}", bytes, most_both)};
    case Regime::both:
      break;
  }
  return {above_warm, to_both};
}

ir::Expr tensor_bytes(const ir::Program& program) {
  ir::ExprContext& exprs = program.exprs();
  ir::Expr sum = exprs.constant(0);
  const auto add = [&](ir::ValueId id) {
    const ir::Value& value = program.value(id);
    sum = exprs.add(sum, exprs.mul(value.layout.element_count(), exprs.constant(ir::byte_size(value.dtype))));
  };
  for (const ir::ValueId id : program.tensor_parameters()) add(id);
  for (const ir::ValueId id : program.results()) add(id);
  return sum;
}

std::optional<std::string> tensor_bytes_text(const ir::Program& program) {
  const ir::Expr bytes = tensor_bytes(program);
  if (bytes.is_constant()) return std::nullopt;
  std::string text = ir::to_string(program.exprs(), bytes, kMostText);
  // A text that was cut is not an expression.
  if (text.size() >= kMostText) return std::nullopt;
  return text;
}

std::vector<Setting> settings_of(Regime regime, bool read) {
  switch (regime) {
    case Regime::warm:
      return read ? std::vector{Setting::warm, Setting::warm_then_read} : std::vector{Setting::warm};
    case Regime::cold:
      return read ? std::vector{Setting::cold, Setting::cold_then_read} : std::vector{Setting::cold};
    case Regime::both:
      break;
  }
  std::vector<Setting> settings = {Setting::warm, Setting::cold};
  if (read) settings.push_back(Setting::warm_then_read);
  return settings;
}

}  // namespace padlock::tuner
