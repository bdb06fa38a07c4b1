#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::onnx {

struct ImportOptions {
  /// The folder with files of external data. Empty: a model with external data is refused.
  std::string folder;
  /// Values of the model that the program computes. If a program cannot express a node, the node's results become
  /// inputs. Empty: the program is the whole model.
  std::vector<std::string> outputs = {};
};

/// Names the part of the program that is an input, a result or a named dimension of the model.
struct Place {
  enum class Kind : std::uint8_t { tensor, scalar, dims, unused, symbol };
  Kind kind = Kind::tensor;
  std::string model_name;
  std::vector<std::string> names;  ///< one name; for dims one for each element; none if it is unused
};

struct Import {
  std::string text;                    ///< canonical
  std::vector<Place> inputs, results;  ///< in the model's order
  std::vector<Place> symbols;          ///< dimensions that the model names

  /// Prints the places as JSON ("schema": 1).
  [[nodiscard]] std::string interface() const;
};

/// Makes a program from a model's bytes. Thread-safe. Errors: invalid_argument for bytes that are no model;
/// unimplemented if programs cannot express it, with each such node by name, operator and reason, and the parts that
/// are programs; not_found for an output that nothing computes; resource_exhausted beyond onnx/limits.h; errors of
/// files for external data.
[[nodiscard]] Result<Import> import_model(std::string_view bytes, const ImportOptions& options = {});

}  // namespace padlock::onnx
