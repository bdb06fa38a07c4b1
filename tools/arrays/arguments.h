#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/failure.h"

// Parses the values of options. Failures exit with `usage` and name the option. No file is opened here.
namespace padlock::tools {

/// Extents and type of a raw file: "4x16xf32"; for rank 0 "f32".
struct RawSpec {
  std::vector<std::int64_t> extents;
  DLDataType type = {kDLFloat, 32, 1};
};

/// "@x.npy", or "4x16xf32=@x.bin".
struct FileArgument {
  std::string path;
  std::optional<RawSpec> raw;  // absent: a .npy file
};
struct RandomArgument {};
struct LiteralArgument {
  std::string text;
};

/// The value of "--input=NAME=".
struct InputArgument {
  std::string name;
  std::variant<FileArgument, RandomArgument, LiteralArgument> value;
};
/// "--output=NAME=@FILE"; the format follows from the file's suffix.
struct OutputArgument {
  enum class Format : std::uint8_t { npy, raw };
  std::string name;
  std::string path;
  Format format = Format::npy;
};
/// "--expect=NAME=@FILE" or raw, as for inputs.
struct ExpectArgument {
  std::string name;
  FileArgument file;
};

[[nodiscard]] Outcome<RawSpec> parse_raw_spec(std::string_view text);
[[nodiscard]] Outcome<InputArgument> parse_input(std::string_view text);
[[nodiscard]] Outcome<OutputArgument> parse_output(std::string_view text);
[[nodiscard]] Outcome<ExpectArgument> parse_expect(std::string_view text);
/// Parses several "B=4,lo=-3". A name may come only once. `option` is the option as typed, for messages.
[[nodiscard]] Outcome<std::map<std::string, std::int64_t>> parse_bind(const std::vector<std::string>& texts,
                                                                      std::string_view option = "bind");

/// Checks that every name is a symbol of the program. `option` as above.
[[nodiscard]] Outcome<void> check_symbols(const lib::Program& program,
                                          const std::map<std::string, std::int64_t>& symbols,
                                          std::string_view option = "bind");
/// Makes the failure for symbols without a value: it names them and says how to give one.
[[nodiscard]] std::unexpected<Failure> missing_symbols(const std::vector<std::string>& names);

}  // namespace padlock::tools
