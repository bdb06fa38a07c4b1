#pragma once

#include <doctest/doctest.h>

#include "onnx/import.h"
#include "tests/onnx/model_writer.h"

namespace padlock::onnx::testing {

/// Returns the program's text for a model that can be imported.
inline std::string imported(const ModelParts& parts) {
  const auto made = import_model(model(parts));
  INFO((made ? std::string() : made.error().to_string()));
  REQUIRE(made.has_value());
  return made->text;
}

/// Checks that a model is refused with a message that contains `part`.
inline void check_refused(const ModelParts& parts, const std::string& part, Code code = Code::unimplemented) {
  const auto made = import_model(model(parts));
  REQUIRE_FALSE(made.has_value());
  CAPTURE(made.error().message);
  CHECK(made.error().message.find(part) != std::string::npos);
  CHECK(made.error().code == code);
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace padlock::onnx::testing
