#include "bench/listed_program.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bench/fields.h"

namespace padlock::bench {
namespace {

Result<ListedProgram> parse_program(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, ';');
  if (fields.size() != 3)
    return invalid_argument(fmt::format("expected name; sizes; program, found {} fields", fields.size()));
  ListedProgram program{.name = std::string(fields[0]), .text = std::string(fields[2]), .sizes = {}};
  for (const std::string_view part : split(fields[1], ' ')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    const auto size = equals == std::string_view::npos ? std::nullopt : integer(part.substr(equals + 1));
    if (!size || equals == 0) return invalid_argument(fmt::format("expected a size like N=8, found '{}'", part));
    program.sizes[std::string(part.substr(0, equals))] = *size;
  }
  return program;
}

}  // namespace

Result<std::vector<ListedProgram>> parse_listed_programs(std::string_view text) {
  std::vector<ListedProgram> programs;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    auto program = parse_program(line);
    if (!program) return invalid_argument(fmt::format("line {}: {}", number, program.error().message));
    programs.push_back(*std::move(program));
  }
  return programs;
}

}  // namespace padlock::bench
