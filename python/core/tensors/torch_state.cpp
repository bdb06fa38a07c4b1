#include "python/core/tensors/torch_state.h"

#include <dlfcn.h>

#include "python/core/failure.h"
#include "python/core/tensors/families.h"

namespace padlock::python {
namespace {

/// METH_FASTCALL | METH_KEYWORDS, whose name depends on Python's version.
using FastFunction = PyObject* (*)(PyObject * self, PyObject* const* values, Py_ssize_t count, PyObject* names);

/// A torch function without arguments. A C function is called directly: through Python the questions of a call take
/// longer than the call.
class Question {
 public:
  explicit Question(const nb::object& callable) : callable_(nb::object(callable).release().ptr()) {
    if (PyCFunction_Check(callable_) == 0) return;
    self_ = PyCFunction_GetSelf(callable_);
    const int flags = PyCFunction_GetFlags(callable_);
    const PyCFunction function = PyCFunction_GetFunction(callable_);
    if (flags == METH_NOARGS) plain_ = function;
    if (flags == (METH_FASTCALL | METH_KEYWORDS))
      fast_ = reinterpret_cast<FastFunction>(reinterpret_cast<void (*)()>(function));
  }

  [[nodiscard]] bool is_known() const { return callable_ != Py_None; }
  [[nodiscard]] nb::object ask() const {
    if (plain_ != nullptr) return owned(plain_(self_, nullptr));
    if (fast_ != nullptr) return owned(fast_(self_, nullptr, 0, nullptr));
    return owned(PyObject_CallNoArgs(callable_));
  }
  /// Returns the function if it is a method that can be called on any object.
  [[nodiscard]] PyCFunction method() const { return plain_; }

 private:
  PyObject *callable_, *self_ = nullptr;
  PyCFunction plain_ = nullptr;
  FastFunction fast_ = nullptr;
};

/// Asks torch's library about modes directly: through Python each question takes 50 ns, and a call has four.
class ModesInside {
 public:
  ModesInside() {
    // Python has loaded it already, with its names hidden from others.
    void* const library = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    const nb::object parse = nb::getattr(loaded_module("torch._C"), "_dispatch_key_parse", nb::object());
    if (library == nullptr || !parse.is_valid()) return;
    find(library, "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv", functions_);
    find(library, "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv", dispatches_);
    find(library, "_ZN3c104impl28tls_is_dispatch_key_includedENS_11DispatchKeyE", includes_);
    try {  // each version of torch has other numbers
      transforms_ = nb::cast<std::uint16_t>(nb::int_(nb::object(parse("FuncTorchDynamicLayerFrontMode"))));
      tracing_ = nb::cast<std::uint16_t>(nb::int_(nb::object(parse("Tracer"))));
    } catch (const nb::python_error&) {
      includes_ = nullptr;
    }
  }

  [[nodiscard]] bool can_be_asked() const {
    return functions_ != nullptr && dispatches_ != nullptr && includes_ != nullptr;
  }
  [[nodiscard]] bool any() const {
    return functions_() != 0 || dispatches_() != 0 || includes_(transforms_) || includes_(tracing_);
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
  }

  std::int64_t (*functions_)() = nullptr;
  std::int64_t (*dispatches_)() = nullptr;
  bool (*includes_)(std::uint16_t key) = nullptr;
  std::uint16_t transforms_ = 0, tracing_ = 0;
};

/// Reads a plain tensor's facts from the object inside Python's: through Python each answer takes 35 to 75 ns, because
/// torch releases the GIL for it.
class TensorInside {
 public:
  TensorInside() {
    void* const library = ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    is_negative_ = reinterpret_cast<bool (*)(const void*)>(::dlsym(library, "_ZN2at6native6is_negERKNS_6TensorE"));
    records_ = reinterpret_cast<bool (*)(const void*)>(::dlsym(library, "_ZNK3c1010TensorImpl13requires_gradEv"));
    try {
      is_known_ = is_negative_ != nullptr && records_ != nullptr && answers_are_right();
    } catch (const nb::python_error&) {
      is_known_ = false;
    }
  }

  [[nodiscard]] bool is_known() const { return is_known_; }
  [[nodiscard]] bool is_negative(PyObject* tensor) const {
    return is_negative_(static_cast<const void*>(handle_of(tensor)));
  }
  [[nodiscard]] bool records(PyObject* tensor) const { return records_(*handle_of(tensor)); }

 private:
  /// THPVariable: Python's head, then the handle, a pointer to the tensor.
  static const void* const* handle_of(PyObject* tensor) { return reinterpret_cast<const void* const*>(tensor + 1); }

  /// Asks tensors with known answers. A wrong offset reaches none of them.
  [[nodiscard]] bool answers_are_right() const {
    const nb::object torch = loaded_module("torch");
    const nb::object plain = torch.attr("zeros")(1), negative = torch.attr("_neg_view")(plain);
    const nb::object recording = torch.attr("zeros")(1, nb::arg("requires_grad") = true);
    for (const nb::object& one : {plain, negative, recording})
      if (reinterpret_cast<std::uintptr_t>(*handle_of(one.ptr())) != nb::cast<std::uintptr_t>(one.attr("_cdata")))
        return false;
    return !is_negative(plain.ptr()) && is_negative(negative.ptr()) && !records(plain.ptr()) &&
           records(recording.ptr());
  }

  bool (*is_negative_)(const void* handle) = nullptr;
  bool (*records_)(const void* tensor) = nullptr;
  bool is_known_ = false;
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
  static const ModesInside kInside;
  return kInside.can_be_asked() ? kInside.any() : asked_of_python();
}

bool TorchState::asked_of_python() {
  const auto found = [](const char* name) {
    return Question(nb::getattr(loaded_module("torch._C"), name, nb::none()));
  };
  static const Question kFunctions = found("_len_torch_function_stack");
  static const Question kDispatches = found("_len_torch_dispatch_stack");
  static const Question kTransforms = found("_are_functorch_transforms_active");
  static const Question kTracing = found("_is_tracing");
  // Another version of torch may not have these questions: then its dispatcher decides.
  if (!kFunctions.is_known() || !kDispatches.is_known() || !kTransforms.is_known() || !kTracing.is_known()) return true;
  return PyLong_AsLong(kFunctions.ask().ptr()) != 0 || PyLong_AsLong(kDispatches.ask().ptr()) != 0 ||
         kTransforms.ask().ptr() != Py_False || kTracing.ask().ptr() != Py_False;
}

bool TorchState::is_plain(PyObject* object, const DLTensor& view) {
  if (modes_ < 0) modes_ = has_modes() ? 1 : 0;
  if (modes_ != 0) return false;
  static const TensorInside kInside;
  static const TensorQuestion kIsNegative(object, "is_neg"), kIsConjugate(object, "is_conj");
  static const Question kIsRecording(loaded_module("torch").attr("is_grad_enabled"));
  static PyObject* const kRequiresGrad = PyUnicode_InternFromString("requires_grad");
  if (kInside.is_known() ? kInside.is_negative(object) : kIsNegative.ask(object)) return false;
  if (view.dtype.code == kDLComplexCode && kIsConjugate.ask(object)) return false;
  const bool wants_gradients =
      kInside.is_known() ? kInside.records(object) : owned(PyObject_GetAttr(object, kRequiresGrad)).ptr() != Py_False;
  if (wants_gradients && kIsRecording.ask().ptr() != Py_False) return false;
  if (view.data != nullptr) return true;
  for (int axis = 0; axis < view.ndim; ++axis)
    if (view.shape[axis] == 0) return true;
  return false;  // elements without memory: a wrapper
}

}  // namespace padlock::python
