#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::onnx {

struct ImportOptions {
  /// The folder of files of external data; empty: a model that has some is refused.
  std::string folder;
  /// Names of values of the model: the program computes these, and what nodes compute that it cannot say are its
  /// inputs. Empty: it is the whole model.
  std::vector<std::string> outputs = {};
};

/// Names the part of the program that is an input, a result or a named dimension of the model.
struct Place {
  enum class Kind : std::uint8_t { tensor, scalar, dims, unused, symbol };
  Kind kind = Kind::tensor;
  std::string model_name;
  std::vector<std::string> names;  ///< one; of dims one for each element; unused: none
};

struct Import {
  std::string text;                    ///< canonical
  std::vector<Place> inputs, results;  ///< in the model's order
  std::vector<Place> symbols;          ///< of the dimensions that the model names

  /// Prints the places as JSON ("schema": 1).
  [[nodiscard]] std::string interface() const;
};

/// Makes a program of a model's bytes. Thread-safe. Errors: invalid_argument for what is no model; unimplemented for
/// one that programs cannot say, with each such node by name, operator and reason, and the parts that are programs;
/// not_found for an output that nothing computes; resource_exhausted beyond onnx/limits.h; files', of external data.
[[nodiscard]] Result<Import> import_model(std::string_view bytes, const ImportOptions& options = {});

}  // namespace padlock::onnx
