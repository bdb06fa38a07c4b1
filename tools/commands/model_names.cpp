#include "tools/commands/model_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tools/arrays/array_file.h"
#include "tools/commands/open.h"
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

/// Finds a place by its name in the model, else by its name in the program; null if there is none.
const JsonValue* find(const JsonValue& places, const std::string& name) {
  for (const JsonValue& place : places.items())
    if (place["name"].text() == name) return &place;
  for (const JsonValue& place : places.items())
    if (place["parameters"].items().size() == 1 && place["parameters"].items()[0].text() == name) return &place;
  return nullptr;
}

/// Maps names of the model to names of the program, or the other way.
std::map<std::string, std::string> names_of(const JsonValue& places) {
  std::map<std::string, std::string> names;
  for (const JsonValue& place : places.items())
    if (place["kind"].text() != "dims" && place["parameters"].items().size() == 1)
      names.emplace(place["parameters"].items()[0].text(), place["name"].text());
  return names;
}

Outcome<void> rename_symbols(const JsonValue& places, std::map<std::string, std::int64_t>& symbols) {
  std::map<std::string, std::int64_t> renamed;
  for (const auto& [name, value] : symbols) {
    const JsonValue* const place = find(places, name);
    const std::string own = place == nullptr ? name : (*place)["parameters"].items()[0].text();
    if (!renamed.emplace(own, value).second)
      return fail(ExitCode::usage, fmt::format("--bind gives {} twice, by the model's name and by the program's", own));
  }
  symbols = std::move(renamed);
  return {};
}

/// Reports sizes without a value by the model's names: the caller has never seen the program's symbols.
Outcome<void> check_sizes(const JsonValue& places, const std::map<std::string, std::int64_t>& symbols) {
  for (const JsonValue& place : places.items()) {
    const auto& names = place["parameters"].items();
    if (place["kind"].text() != "dims" || names.empty()) continue;
    if (std::ranges::any_of(names, [&](const JsonValue& name) { return symbols.contains(name.text()); })) continue;
    return fail(ExitCode::usage,
                fmt::format("no value for {0}, which says sizes: give --input={0}=@FILE.npy", place["name"].text()));
  }
  return {};
}

}  // namespace

Outcome<ModelNames> ModelNames::read(std::string_view interface) {
  ModelNames names;
  PADLOCK_TRY(names.interface_, JsonValue::parse(interface));
  names.shown_ = {.inputs = names_of(names.interface_["inputs"]), .results = names_of(names.interface_["results"])};
  return names;
}

std::string ModelNames::result(const std::string& name) const {
  const JsonValue* const place = find(interface_["results"], name);
  return place == nullptr ? name : (*place)["name"].text();
}

Outcome<void> ModelNames::take_inputs(std::vector<InputArgument>& inputs,
                                      std::map<std::string, std::int64_t>& symbols) const {
  PADLOCK_CHECK(rename_symbols(interface_["symbols"], symbols));
  std::vector<InputArgument> left;
  for (InputArgument& input : inputs) {
    const JsonValue* const place = find(interface_["inputs"], input.name);
    if (place != nullptr) input.name = (*place)["name"].text();
    if (place != nullptr && (*place)["kind"].text() == "dims") {
      PADLOCK_CHECK(add_symbols(input, (*place)["parameters"].items(), symbols));
    } else {
      left.push_back(std::move(input));
    }
  }
  inputs = std::move(left);
  return check_sizes(interface_["inputs"], symbols);
}

Outcome<void> take_model_symbols(const lib::Context& context, const std::string& path,
                                 std::map<std::string, std::int64_t>& symbols) {
  if (!is_model(path)) return {};
  PADLOCK_TRY(const auto made, import_model(context, path));
  PADLOCK_TRY(const JsonValue interface, JsonValue::parse(made.interface.view()));
  return rename_symbols(interface["symbols"], symbols);
}

}  // namespace padlock::tools
