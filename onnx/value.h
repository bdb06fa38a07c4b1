#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "ir/expr/expr.h"
#include "onnx/elements.h"
#include "onnx/fraction.h"
#include "onnx/size_math.h"

namespace padlock::onnx {

/// The meaning of a name of the model: a tensor of the program, sizes as expressions, a constant, or several of these.
struct Value {
  ir::DType dtype = ir::DType::f32;
  std::vector<ir::Expr> shape;
  std::string name;                            ///< of the program's tensor or scalar; empty: there is none, or none yet
  bool is_scalar = false;                      ///< a scalar parameter
  std::optional<std::vector<ir::Expr>> sizes;  ///< each element, row by row; then the shape is literal
  /// Each element, as floats that are computed from sizes.
  std::optional<std::vector<Fraction>> fractions = {};
  std::shared_ptr<const Elements> constant = nullptr;
  /// The node that made it data, and why, if sizes are computed from it. Empty: it is an input, or not known.
  std::string origin = {};
};

/// An array of literal shape.
template <class Element>
struct ArrayOf {
  std::vector<std::int64_t> dims;
  std::vector<Element> elements;  ///< row by row
};
using SizeArray = ArrayOf<Expr>;
using FractionArray = ArrayOf<Fraction>;

/// Returns a constant as a value. A small one of an integer type or bool also has its sizes.
[[nodiscard]] Value constant_value(Elements elements, SizeMath& sizes);
/// Errors: those of ElementReader::read.
[[nodiscard]] Result<Value> constant_value(const StoredTensor& tensor, ElementReader& elements, SizeMath& sizes);

}  // namespace padlock::onnx
