#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "ir/reference/interpreter.h"
#include "tests/common/bytes.h"
#include "tests/common/expect.h"

namespace padlock::ir::testing {

/// A tensor argument: its shape, and its storage from the base pointer on.
struct Argument {
  ArgumentShape shape;
  std::vector<std::byte> storage;
};

using padlock::testing::bytes_of;

template <class T>
[[nodiscard]] Argument tensor(const std::vector<std::int64_t>& extents, const std::vector<T>& values,
                              const std::optional<std::vector<std::int64_t>>& strides = std::nullopt) {
  return {.shape = {.extents = extents, .strides = strides}, .storage = bytes_of(values)};
}

/// Returns 0, 1, 2, ... as a dense tensor.
template <class T>
[[nodiscard]] Argument iota(const std::vector<std::int64_t>& extents) {
  std::size_t count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<std::size_t>(extent);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i);
  return tensor<T>(extents, values);
}

using Symbols = std::map<std::string, std::int64_t>;

[[nodiscard]] inline std::unique_ptr<Program> parse_or_fail(std::string_view text) {
  return std::make_unique<Program>(padlock::testing::program_of(text));
}

/// A program bound to arguments, with everything that its interpreter borrows.
struct Run {
  std::unique_ptr<Program> program;
  Binding binding;
  std::vector<Argument> arguments;
  Interpreter interpreter;

  [[nodiscard]] ValueId result() const { return program->results()[0]; }
  [[nodiscard]] std::vector<std::int64_t> extents() const { return binding.extents_of(program->value(result())); }
};

[[nodiscard]] inline std::unique_ptr<Run> start(std::string_view text, std::vector<Argument> arguments,
                                                Symbols symbols = {}, std::vector<std::uint64_t> scalars = {}) {
  auto program = parse_or_fail(text);
  BindRequest request{.tensors = {}, .symbols = std::move(symbols)};
  std::vector<std::span<const std::byte>> inputs;
  for (const Argument& argument : arguments) {
    request.tensors.emplace_back(argument.shape);
    inputs.emplace_back(argument.storage);
  }
  auto binding = Binding::bind(*program, request);
  if (!binding) FAIL(binding.error().to_string());
  Interpreter interpreter(*binding, std::move(inputs), std::move(scalars));
  return std::unique_ptr<Run>(
      new Run{std::move(program), *std::move(binding), std::move(arguments), std::move(interpreter)});
}

/// Returns all elements of the program's first result.
template <class T>
[[nodiscard]] std::vector<T> run(std::string_view text, std::vector<Argument> arguments, Symbols symbols = {},
                                 std::vector<std::uint64_t> scalars = {}) {
  const auto started = start(text, std::move(arguments), std::move(symbols), std::move(scalars));
  const Value& value = started->program->value(started->result());
  std::vector<T> elements(static_cast<std::size_t>(started->binding.storage_bytes(value)) / sizeof(T));
  const auto status = started->interpreter.evaluate(started->result(), std::as_writable_bytes(std::span(elements)));
  if (!status) FAIL(status.error().to_string());
  return elements;
}

}  // namespace padlock::ir::testing
