#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace padlock::onnx {

/// Collects a program's text: parameters, statements, results, and the names in use.
class ProgramText {
 public:
  /// Takes a name for a value that the model calls `wanted`: `wanted` itself if it is a free identifier, else a similar
  /// one.
  std::string take_name(std::string_view wanted);

  void add_parameter(const std::string& name, std::string_view type);
  /// Adds "name = text", which belongs to a node of the model.
  void add_statement(const std::string& name, std::string_view text, std::size_t node);
  /// Adds a comparison that is checked when sizes are bound.
  void add_guard(const std::string& text) { guards_.push_back(text); }
  void add_result(const std::string& name) { results_.push_back(name); }
  /// Returns whether the text has reached the length limit of programs.
  [[nodiscard]] bool is_too_long() const;

  [[nodiscard]] std::string print(std::string_view program) const;
  /// Returns the node whose statement stands on a line of the printed text; kNoNode for other lines.
  [[nodiscard]] std::size_t node_at(std::size_t line) const;
  static constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

 private:
  std::unordered_set<std::string> names_;
  std::string parameters_, statements_;
  std::vector<std::size_t> nodes_;  // node of each statement
  std::vector<std::string> results_, guards_;
};

}  // namespace padlock::onnx
