#include "tools/arrays/arguments.h"
#include "support/messages/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tools/arrays/element_type.h"

namespace padlock::tools {
namespace {

std::unexpected<Failure> usage(std::string text) { return fail(ExitCode::usage, std::move(text)); }

/// Parses a text that is a decimal number and nothing else.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* const first = text.data();
  const char* const last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

struct NameAndRest {
  std::string name;
  std::string_view rest;
};

Outcome<NameAndRest> split_name(std::string_view option, std::string_view form, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return usage(fmt::format("expected --{}={}, found '--{}={}'", option, form, option, text));
  return NameAndRest{std::string(text.substr(0, equals)), text.substr(equals + 1)};
}

/// Parses "@FILE" or "SPEC=@FILE"; nullopt for any other text.
Outcome<std::optional<FileArgument>> parse_file(std::string_view text) {
  if (text.starts_with('@')) return FileArgument{std::string(text.substr(1)), std::nullopt};
  const std::size_t at = text.find("=@");
  if (at == std::string_view::npos) return std::optional<FileArgument>();
  PADLOCK_TRY(auto spec, parse_raw_spec(text.substr(0, at)));
  return FileArgument{std::string(text.substr(at + 2)), std::move(spec)};
}

}  // namespace

Outcome<RawSpec> parse_raw_spec(std::string_view text) {
  const auto wrong = [&](std::string_view hint) {
    return usage(
        fmt::format("expected extents and a type such as 4x16xf32, or f32 for rank 0, found '{}'{}", text, hint));
  };
  RawSpec spec;
  std::string_view rest = text;
  for (std::size_t x = rest.find('x'); x != std::string_view::npos; x = rest.find('x')) {
    const auto extent = parse_integer(rest.substr(0, x));
    if (!extent || *extent < 0) return wrong("");
    spec.extents.push_back(*extent);
    rest.remove_prefix(x + 1);
  }
  const auto type = lib::find_type(std::string(rest));
  if (!type) {
    const std::string_view message = type.error().message();
    return wrong(message.substr(std::min(message.find("; "), message.size())));  // keeps only the hint after "; "
  }
  spec.type = *type;
  return spec;
}

Outcome<InputArgument> parse_input(std::string_view text) {
  PADLOCK_TRY(auto split, split_name("input", "NAME=VALUE", text));
  PADLOCK_TRY(auto file, parse_file(split.rest));
  if (file) return InputArgument{split.name, *std::move(file)};
  if (split.rest == "random") return InputArgument{split.name, RandomArgument{}};
  return InputArgument{split.name, LiteralArgument{std::string(split.rest)}};
}

Outcome<OutputArgument> parse_output(std::string_view text) {
  PADLOCK_TRY(const auto split, split_name("output", "NAME=@FILE", text));
  if (!split.rest.starts_with('@'))
    return usage(fmt::format("expected --output=NAME=@FILE, found '--output={}'", text));
  OutputArgument output{split.name, std::string(split.rest.substr(1)), OutputArgument::Format::npy};
  if (output.path.ends_with(".npy")) return output;
  output.format = OutputArgument::Format::raw;
  if (output.path.ends_with(".bin")) return output;
  return usage(fmt::format("expected a file that ends in .npy or .bin (raw), found '--output={}'", text));
}

Outcome<ExpectArgument> parse_expect(std::string_view text) {
  PADLOCK_TRY(auto split, split_name("expect", "NAME=@FILE", text));
  PADLOCK_TRY(auto file, parse_file(split.rest));
  if (!file)
    return usage(
        fmt::format("expected --expect=NAME=@FILE or --expect=NAME=4x16xf32=@FILE, found '--expect={}'", text));
  return ExpectArgument{split.name, *std::move(file)};
}

Outcome<std::map<std::string, std::int64_t>> parse_bind(const std::vector<std::string>& texts,
                                                        std::string_view option) {
  std::map<std::string, std::int64_t> symbols;
  for (std::string_view text : texts) {
    for (bool more = true; more;) {
      const std::size_t comma = text.find(',');
      const std::string_view item = text.substr(0, comma);
      more = comma != std::string_view::npos;
      if (more) text.remove_prefix(comma + 1);
      PADLOCK_TRY(auto split, split_name(option, "NAME=INTEGER,...", item));
      const auto value = parse_integer(split.rest);
      if (!value)
        return usage(
            fmt::format("expected a 64-bit integer for {} in --{}, found '{}'", split.name, option, split.rest));
      if (!symbols.emplace(split.name, *value).second)
        return usage(fmt::format("--{} gives {} twice", option, split.name));
    }
  }
  return symbols;
}

Outcome<void> check_symbols(const lib::Program& program, const std::map<std::string, std::int64_t>& symbols,
                            std::string_view option) {
  std::vector<std::string_view> names;
  for (const padlock_symbol_info& symbol : program.symbols()) names.emplace_back(symbol.name);
  for (const auto& [name, value] : symbols)
    if (std::ranges::find(names, name) == names.end())
      return usage(fmt::format("--{} names '{}', which is no symbol of the program (it has: {}){}", option, name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                               did_you_mean(name, names)));
  return {};
}

std::unexpected<Failure> missing_symbols(const std::vector<std::string>& names) {
  return usage(fmt::format("no value for {}: give --bind={}=...", fmt::join(names, ", "), fmt::join(names, "=...,")));
}

}  // namespace padlock::tools
