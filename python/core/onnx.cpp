#include "python/core/onnx.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/core/failure.h"
#include "python/core/process.h"

namespace padlock::python {

nb::tuple import_onnx(const nb::bytes& model, const std::string& folder, const std::vector<std::string>& outputs) {
  const OnnxImport made = value_of(process_context().import_onnx(model.data(), model.size(), folder, outputs));
  const auto text_of = [](const Text& text) { return nb::str(text.view().data(), text.view().size()); };
  return nb::make_tuple(text_of(made.text), text_of(made.interface));
}

}  // namespace padlock::python
