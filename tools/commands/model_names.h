#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/arrays/arguments.h"
#include "tools/arrays/shown_names.h"
#include "tools/text/json_value.h"

namespace padlock::tools {

/// A model's names of inputs, results and symbols, where a command takes or shows names. Those of its program are
/// taken, too, and where both are names the model's goes first.
class ModelNames {
 public:
  /// `interface`: padlock_onnx_import's.
  [[nodiscard]] static Outcome<ModelNames> read(std::string_view interface);

  /// Returns the model's name of a result that is given by either name; other texts as they are.
  [[nodiscard]] std::string result(const std::string& name) const;
  /// Gives inputs the model's names, and makes those that say sizes symbols, of the elements of a file or of a literal;
  /// gives symbols the program's names. Failures: `file`; `mismatch` for a file of other elements or of another number;
  /// `usage` for sizes that are no numbers, or are not given.
  [[nodiscard]] Outcome<void> take_inputs(std::vector<InputArgument>& inputs,
                                          std::map<std::string, std::int64_t>& symbols) const;
  [[nodiscard]] const ShownNames& shown() const { return shown_; }

 private:
  JsonValue interface_;
  ShownNames shown_;
};

/// Gives symbols that are given by a model's names those of its program; those of a program stay as they are. Failures:
/// as import_model; `usage` for one that is given twice.
[[nodiscard]] Outcome<void> take_model_symbols(const lib::Context& context, const std::string& path,
                                               std::map<std::string, std::int64_t>& symbols);

}  // namespace padlock::tools
