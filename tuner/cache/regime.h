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

// Where launches find their tensors. The value of a config depends on it: stores past the caches gain where the tensors
// are not in a cache anyway, and lose where they are.
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

/// Splits sizes by regime. Tensors of at most half the cache are warm; those of more than twice the cache are cold.
struct RegimeBorders {
  std::int64_t most_warm = 0;  ///< bytes of all tensors of a launch
  std::int64_t most_both = 0;

  /// `cache_bytes`: the part of the last cache that a launch can have.
  [[nodiscard]] static RegimeBorders of_cache(std::int64_t cache_bytes) { return {cache_bytes / 2, 2 * cache_bytes}; }
  [[nodiscard]] Regime regime_of(std::int64_t tensor_bytes) const;
  /// Returns guards, as text, that hold for the sizes of a regime. `bytes`: the text of tensor_bytes.
  [[nodiscard]] std::vector<std::string> guards_of(Regime regime, std::string_view bytes) const;
};

/// Bytes of all elements of a program's tensors, parameters and results.
[[nodiscard]] ir::Expr tensor_bytes(const ir::Program& program);
/// Returns the text of tensor_bytes; nullopt if it is too long for a region, or equal for all sizes.
[[nodiscard]] std::optional<std::string> tensor_bytes_text(const ir::Program& program);

/// Setting in which one sample is taken.
enum class Setting : std::uint8_t {
  cold,            ///< buffers in turn, together more than twice the last cache
  warm,            ///< the same buffers each time, after a launch without timing
  cold_then_read,  ///< as cold; the timing includes one read of all results after each launch
  warm_then_read,
};
// The one table of their names: keys of a record, also shown to people.
inline constexpr std::array kSettingNames = {std::string_view("cold"), std::string_view("warm"),
                                             std::string_view("cold_then_read"), std::string_view("warm_then_read")};
[[nodiscard]] constexpr std::string_view name_of(Setting s) { return kSettingNames[static_cast<std::size_t>(s)]; }
[[nodiscard]] constexpr bool is_warm(Setting s) { return s == Setting::warm || s == Setting::warm_then_read; }
[[nodiscard]] constexpr bool is_read(Setting s) { return s == Setting::cold_then_read || s == Setting::warm_then_read; }

/// Returns the settings in which configs of a regime are compared, the main one first. `read`: also with a reader
/// behind the launches.
[[nodiscard]] std::vector<Setting> settings_of(Regime regime, bool read);

}  // namespace padlock::tuner
