#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace padlock::python {

/// Returns (text of a program, JSON) of an ONNX model's bytes; `folder`: of its external data, empty: nowhere.
/// `outputs`: of the part that is wanted; empty: all. Errors: as padlock_onnx_import.
[[nodiscard]] nanobind::tuple import_onnx(const nanobind::bytes& model, const std::string& folder,
                                          const std::vector<std::string>& outputs);

}  // namespace padlock::python
