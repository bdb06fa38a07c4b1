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

/// A model's names of inputs, results and symbols, for commands that take or show names. The program's names are
/// accepted, too; if a name is in both, the model's meaning counts.
class ModelNames {
 public:
  /// `interface`: padlock_onnx_import's.
  [[nodiscard]] static Outcome<ModelNames> read(std::string_view interface);

  /// Returns the model's name of a result given by either name; an unknown text is returned unchanged.
  [[nodiscard]] std::string result(const std::string& name) const;
  /// Replaces inputs' names by the program's. Inputs that hold sizes become values of symbols, from the elements of a
  /// file or from a literal. Replaces symbols' names by the program's. Failures: `file`; `mismatch` for a file of other
  /// elements or of another number; `usage` for sizes that are missing or not numbers.
  [[nodiscard]] Outcome<void> take_inputs(std::vector<InputArgument>& inputs,
                                          std::map<std::string, std::int64_t>& symbols) const;
  [[nodiscard]] const ShownNames& shown() const { return shown_; }

 private:
  JsonValue interface_;
  ShownNames shown_;
};

/// Replaces a model's names of symbols by those of its program. For a program it changes nothing. Failures: those of
/// import_model; `usage` for a symbol that is given twice.
[[nodiscard]] Outcome<void> take_model_symbols(const lib::Context& context, const std::string& path,
                                               std::map<std::string, std::int64_t>& symbols);

}  // namespace padlock::tools
