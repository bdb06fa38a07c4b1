#include "python/core/tensors/torch_state.h"

#include "python/core/failure.h"
#include "python/core/tensors/families.h"

namespace padlock::python {
namespace {

/// METH_FASTCALL | METH_KEYWORDS, whose name depends on Python's version.
using FastFunction = PyObject* (*)(PyObject * self, PyObject* const* values, Py_ssize_t count, PyObject* names);

/// A function of torch's without arguments. Where it is C's it is called as such: asked by Python's ways, the questions
/// of a call take longer than the call.
class Question {
 public:
  explicit Question(const nb::object& callable) : callable_(nb::object(callable).release().ptr()) {
    if (PyCFunction_Check(callable_) == 0) return;
    self_ = PyCFunction_GetSelf(callable_);
    const int flags = PyCFunction_GetFlags(callable_);
    const PyCFunction function = PyCFunction_GetFunction(callable_);
    if (flags == METH_NOARGS) plain_ = function;
    if (flags == (METH_FASTCALL | METH_KEYWORDS))
      fast_ = reinterpret_cast<FastFunction>(reinterpret_cast<void*>(function));
  }

  [[nodiscard]] bool is_known() const { return callable_ != Py_None; }
  [[nodiscard]] nb::object ask() const {
    if (plain_ != nullptr) return owned(plain_(self_, nullptr));
    if (fast_ != nullptr) return owned(fast_(self_, nullptr, 0, nullptr));
    return owned(PyObject_CallNoArgs(callable_));
  }
  /// Returns the function where it is a method that any object may be asked by.
  [[nodiscard]] PyCFunction method() const { return plain_; }

 private:
  PyObject *callable_, *self_ = nullptr;
  PyCFunction plain_ = nullptr;
  FastFunction fast_ = nullptr;
};

/// A question to a plain tensor.
class TensorQuestion {
 public:
  TensorQuestion(PyObject* tensor, const char* name)
      : unbound_(nb::object(loaded_module("torch").attr("Tensor").attr(name)).release().ptr()),
        method_(Question(nb::handle(tensor).attr(name)).method()) {}

  [[nodiscard]] bool ask(PyObject* tensor) const {
    const nb::object answer =
        owned(method_ != nullptr ? method_(tensor, nullptr) : PyObject_CallFunctionObjArgs(unbound_, tensor, nullptr));
    return answer.ptr() != Py_False;
  }

 private:
  PyObject* unbound_;
  PyCFunction method_;
};

}  // namespace

bool TorchState::has_modes() {
  const auto found = [](const char* name) {
    return Question(nb::getattr(loaded_module("torch._C"), name, nb::none()));
  };
  static const Question functions = found("_len_torch_function_stack");
  static const Question dispatches = found("_len_torch_dispatch_stack");
  static const Question transforms = found("_are_functorch_transforms_active");
  static const Question tracing = found("_is_tracing");
  // Another torch may ask otherwise: its dispatcher knows.
  if (!functions.is_known() || !dispatches.is_known() || !transforms.is_known() || !tracing.is_known()) return true;
  return PyLong_AsLong(functions.ask().ptr()) != 0 || PyLong_AsLong(dispatches.ask().ptr()) != 0 ||
         transforms.ask().ptr() != Py_False || tracing.ask().ptr() != Py_False;
}

bool TorchState::is_plain(PyObject* object, const DLTensor& view) {
  static const TensorQuestion is_negative(object, "is_neg"), is_conjugate(object, "is_conj");
  static const Question records(loaded_module("torch").attr("is_grad_enabled"));
  static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
  if (modes_ < 0) modes_ = has_modes() ? 1 : 0;
  if (modes_ != 0) return false;
  if (is_negative.ask(object) || (view.dtype.code == kDLComplexCode && is_conjugate.ask(object))) return false;
  if (owned(PyObject_GetAttr(object, requires_grad)).ptr() != Py_False && records.ask().ptr() != Py_False) return false;
  if (view.data != nullptr) return true;
  for (int axis = 0; axis < view.ndim; ++axis)
    if (view.shape[axis] == 0) return true;
  return false;  // elements without memory: a wrapper that names none
}

}  // namespace padlock::python
