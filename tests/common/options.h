#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

// Command lines of programs that are tests of their own.
namespace padlock::testing {

/// One argument, "--NAME=VALUE" or "--NAME".
class Option {
 public:
  explicit Option(std::string_view argument) : name_(argument.substr(0, argument.find('='))) {
    if (name_.size() < argument.size()) value_ = argument.substr(name_.size() + 1);
  }

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const std::string& value() const { return value_; }

  // Each sets the value if the option has that name, and returns whether it did; false for a text that is no number.
  bool sets(std::string_view name, std::string& text) const { return name == name_ && (text = value_, true); }
  bool sets(std::string_view name, bool& flag) const { return name == name_ && (flag = true); }
  bool sets(std::string_view name, std::optional<bool>& flag) const { return name == name_ && (flag = true, true); }
  bool sets(std::string_view name, std::integral auto& number) const {
    char* end = nullptr;
    return name == name_ &&
           (number = static_cast<std::remove_reference_t<decltype(number)>>(std::strtoull(value_.c_str(), &end, 0)),
            is_whole(end));
  }
  bool sets(std::string_view name, double& number) const {
    char* end = nullptr;
    return name == name_ && (number = std::strtod(value_.c_str(), &end), is_whole(end));
  }

 private:
  [[nodiscard]] bool is_whole(const char* end) const { return !value_.empty() && *end == '\0'; }

  std::string_view name_;  // borrowed from the argument
  std::string value_;
};

/// Passes each argument to `takes`. If that does not take one, prints the usage and returns false.
template <class Takes>
bool read_options(int argc, char** argv, std::string_view usage, const Takes& takes) {
  for (int i = 1; i < argc; ++i) {
    if (takes(Option(argv[i]))) continue;
    fmt::print(stderr, "unknown argument {}\n{}", argv[i], usage);
    return false;
  }
  return true;
}

}  // namespace padlock::testing
