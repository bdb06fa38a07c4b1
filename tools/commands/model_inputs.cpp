#include "tools/commands/model_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tools/arrays/array_file.h"
#include "tools/text/json_value.h"

namespace padlock::tools {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr DLDataType kInt64 = {kDLInt, 64, 1}, kInt32 = {kDLInt, 32, 1};
constexpr std::int64_t kMostBytes = 1 << 20;

Outcome<Numbers> numbers_of(const std::string& name, const FileArgument& argument) {
  PADLOCK_TRY(const ArrayFile file, ArrayFile::open(argument));
  if ((!file.holds(kInt64) && !file.holds(kInt32)) || file.data_bytes() > kMostBytes)
    return fail(ExitCode::mismatch, fmt::format("{}: expected elements of i64 or i32 that say sizes for {}, found {}",
                                                file.path(), name, file.description()));
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.data_bytes()));
  PADLOCK_CHECK(file.read(0, bytes));
  Numbers numbers;
  const auto width = static_cast<std::size_t>(file.element_bytes());
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    std::memcpy(width == sizeof wide ? static_cast<void*>(&wide) : &narrow, bytes.data() + at, width);
    numbers.push_back(width == sizeof wide ? wide : narrow);
  }
  return numbers;
}

Outcome<Numbers> numbers_of(const InputArgument& argument) {
  if (const auto* file = std::get_if<FileArgument>(&argument.value)) return numbers_of(argument.name, *file);
  const auto* literal = std::get_if<LiteralArgument>(&argument.value);
  std::int64_t number = 0;
  const std::string text = literal != nullptr ? literal->text : "";
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc() || end != text.data() + text.size())
    return fail(ExitCode::usage,
                fmt::format("{} says sizes: give --input={}=@FILE.npy, or a number", argument.name, argument.name));
  return Numbers{number};
}

Outcome<void> add_symbols(const InputArgument& argument, const std::vector<JsonValue>& names,
                          std::map<std::string, std::int64_t>& symbols) {
  PADLOCK_TRY(const Numbers numbers, numbers_of(argument));
  if (numbers.size() != names.size())
    return fail(ExitCode::mismatch,
                fmt::format("expected {} elements of {}, found {}", names.size(), argument.name, numbers.size()));
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!symbols.emplace(names[i].text(), numbers[i]).second)
      return fail(ExitCode::usage,
                  fmt::format("--bind gives {}, and so does --input={}", names[i].text(), argument.name));
  return {};
}

}  // namespace

Outcome<void> take_model_inputs(std::string_view interface, std::vector<InputArgument>& inputs,
                                std::map<std::string, std::int64_t>& symbols) {
  PADLOCK_TRY(const JsonValue model, JsonValue::parse(interface));
  std::vector<InputArgument> left;
  for (InputArgument& input : inputs) {
    const auto& places = model["inputs"].items();
    const auto place =
        std::ranges::find_if(places, [&](const JsonValue& one) { return one["name"].text() == input.name; });
    const bool says_sizes = place != places.end() && (*place)["kind"].text() == "dims";
    if (says_sizes) {
      PADLOCK_CHECK(add_symbols(input, (*place)["parameters"].items(), symbols));
      continue;
    }
    if (place != places.end() && !(*place)["parameters"].items().empty())
      input.name = (*place)["parameters"].items()[0].text();
    left.push_back(std::move(input));
  }
  inputs = std::move(left);
  return {};
}

}  // namespace padlock::tools
