#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "support/error.h"

// Where launches find their tensors. What a config is worth depends on it: stores past the caches gain where nothing
// is found there anyway, and lose where everything is.
namespace padlock::tuner {

/// Regime of a region of sizes: where its launches are expected to find their tensors.
enum class Regime : std::uint8_t {
  warm,  ///< in the last cache
  cold,  ///< in memory
  both,  ///< either, near the border
};
[[nodiscard]] std::string_view name_of(Regime regime);  ///< "warm", "cold", "both"
/// Error: invalid_argument, listing these.
[[nodiscard]] Result<Regime> regime_from_name(std::string_view name);

/// Splits sizes by regime. Tensors of at most half of the cache are warm, those of more than twice the cache are cold.
struct RegimeBorders {
  std::int64_t most_warm = 0;  ///< bytes of all tensors of a launch
  std::int64_t most_both = 0;

  /// `cache_bytes`: of the last cache, as far as a launch can have it.
  [[nodiscard]] static RegimeBorders of_cache(std::int64_t cache_bytes) { return {cache_bytes / 2, 2 * cache_bytes}; }
  [[nodiscard]] Regime regime_of(std::int64_t tensor_bytes) const;
  /// Guards that hold for the sizes of a regime, as text. `bytes`: the text of tensor_bytes.
  [[nodiscard]] std::vector<std::string> guards_of(Regime regime, std::string_view bytes) const;
};

/// Bytes of all elements of a program's tensors, parameters and results.
[[nodiscard]] ir::Expr tensor_bytes(const ir::Program& program);
/// Its text; nothing where it is too long for a region, or the same for all sizes.
[[nodiscard]] std::optional<std::string> tensor_bytes_text(const ir::Program& program);

/// Setting in which one sample is taken.
enum class Setting : std::uint8_t {
  cold,            ///< buffers in turn, until they exceed the last cache twice
  warm,            ///< the same buffers each time, after a launch that is not timed
  cold_then_read,  ///< as cold; all results are read once after each launch, which is timed along with it
  warm_then_read,
};
// The one table of their names: as keys of a record, and for people.
inline constexpr std::array kSettingNames = {std::string_view("cold"), std::string_view("warm"),
                                             std::string_view("cold_then_read"), std::string_view("warm_then_read")};
[[nodiscard]] constexpr std::string_view name_of(Setting s) { return kSettingNames[static_cast<std::size_t>(s)]; }
[[nodiscard]] constexpr bool is_warm(Setting s) { return s == Setting::warm || s == Setting::warm_then_read; }
[[nodiscard]] constexpr bool is_read(Setting s) { return s == Setting::cold_then_read || s == Setting::warm_then_read; }

/// Settings in which configs of a regime are compared, the first one first. `read`: with a reader behind them, too.
[[nodiscard]] std::vector<Setting> settings_of(Regime regime, bool read);

}  // namespace padlock::tuner
