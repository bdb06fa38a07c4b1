#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::onnx {

struct ImportOptions {
  /// The folder of files of external data; empty: a model that has some is refused.
  std::string folder;
};

/// Names the part of the program that is an input or a result of the model.
struct Place {
  enum class Kind : std::uint8_t { tensor, scalar, dims, unused };
  Kind kind = Kind::tensor;
  std::string model_name;
  std::vector<std::string> names;  ///< one; of dims one for each element; unused: none
};

struct Import {
  std::string text;                    ///< canonical
  std::vector<Place> inputs, results;  ///< in the model's order

  /// Prints the places as JSON ("schema": 1).
  [[nodiscard]] std::string interface() const;
};

/// Makes a program of a model's bytes. Thread-safe. Errors: invalid_argument for what is no model; unimplemented for
/// one that programs cannot say, with each such node by name, operator and reason; resource_exhausted beyond
/// onnx/limits.h; files', of external data.
[[nodiscard]] Result<Import> import_model(std::string_view bytes, const ImportOptions& options = {});

}  // namespace padlock::onnx
