#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace padlock::python {

/// Returns (text of a program, JSON) of an ONNX model's bytes; `folder`: of its external data, empty: nowhere. Errors:
/// as padlock_onnx_import.
[[nodiscard]] nanobind::tuple import_onnx(const nanobind::bytes& model, const std::string& folder);

}  // namespace padlock::python
