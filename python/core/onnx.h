#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace padlock::python {

/// Returns (text of a program, JSON) for an ONNX model's bytes. `folder` has its external data; empty: none. `outputs`
/// names the values to compute; empty: all. Errors: those of padlock_onnx_import.
[[nodiscard]] nanobind::tuple import_onnx(const nanobind::bytes& model, const std::string& folder,
                                          const std::vector<std::string>& outputs);

}  // namespace padlock::python
