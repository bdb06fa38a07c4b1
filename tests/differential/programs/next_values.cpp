#include "tests/differential/programs/next_values.h"

#include <fmt/format.h>

namespace padlock::differential {
namespace {

constexpr std::int64_t kMaxRunElements = 16384;
constexpr int kTries = 40;

}  // namespace

std::optional<SymbolValues> next_values(const GeneratedProgram& generated,
                                        const std::function<bool(const SymbolValues&)>& is_refused, testing::Rng& rng,
                                        std::string& failure) {
  for (int tries = 0; tries < kTries; ++tries) {
    SymbolValues values = generated.vary(rng);
    if (generated.legal(values)) {
      if (generated.within(values, kMaxRunElements)) return values;
      continue;
    }
    if (is_refused(values)) continue;
    failure = fmt::format("an illegal binding was accepted: {}", describe(values));
    return std::nullopt;
  }
  return std::nullopt;
}

std::string describe(const SymbolValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

}  // namespace padlock::differential
