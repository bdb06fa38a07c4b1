#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "padlock/padlock.hpp"
#include "python/core/call_cache.h"
#include "python/core/failure.h"
#include "python/core/pack.h"
#include "python/core/process.h"
#include "python/core/tensors/tensor.h"

// Programs as Python calls them.
namespace padlock::python {

/// A parameter of a program, for matching arguments.
struct Parameter {
  std::string name;
  PyObject* key;  // the name, interned; owned by the kernel
  padlock_parameter_kind kind;
  DLDataType type;
};

/// A program within one context. If the process gets another context, it is made again.
struct Compiled {
  std::uint64_t generation = 0;
  Program program;
  std::map<std::pair<int, int>, padlock::Kernel> kernels;  // keys are device type and number
  CallCache calls{256};
};

class KernelObject {
 public:
  /// Parses and verifies the text. `order`: names of parameters in the order of positional arguments; empty: tensors,
  /// scalars, dims. `pack` has the compiled program under its name; NULL: it is compiled here.
  KernelObject(std::string text, const std::vector<std::string>& order, std::string config, bool bounds_check,
               std::shared_ptr<PackObject> pack = nullptr);

  /// Precondition: the GIL is held.
  ~KernelObject();
  KernelObject(const KernelObject&) = delete;
  KernelObject& operator=(const KernelObject&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string name();
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

  /// Sets values for parameters that a call leaves out, by name. Errors: InvalidArgument for a name that is no scalar
  /// or dim.
  void set_defaults(const nb::dict& defaults);

  /// Compiles for a device, unless that was done.
  void compile(const std::string& device);
  /// Runs the program on a tuple and a dict (or NULL) of arguments.
  [[nodiscard]] nb::object call(PyObject* arguments, PyObject* named);
  /// Runs it on memory, inside torch's dispatcher. Values have the program's order.
  [[nodiscard]] nb::object call_memory(const nb::args& values);
  /// The same of memory, where torch's dispatcher does not have to see a tensor; None where it does.
  [[nodiscard]] nb::object call_plain(const nb::args& values);
  /// As call_memory, into existing tensors: a tensor, or a sequence of them.
  [[nodiscard]] nb::object call_into(nb::handle out, const nb::args& values);
  /// Returns one value for each parameter, in the program's order. Error: TypeError for a missing one.
  [[nodiscard]] nb::list ordered(const nb::args& arguments, const nb::kwargs& named);
  /// How many parameters are scalars, and how many dims.
  [[nodiscard]] std::pair<std::size_t, std::size_t> counts() const {
    return {scalars_, parameters_.size() - tensors_ - scalars_};
  }
  /// Names of all parameters, in the program's order.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the results' extents, by name.
  [[nodiscard]] nb::dict shapes(const nb::args& arguments, const nb::kwargs& named);
  /// Returns the explanation as JSON; with arguments in numbers, too.
  [[nodiscard]] nb::str explain(const nb::args& arguments, const nb::kwargs& named);
  /// Returns how many obligations are refuted, all obligations for people, and all as JSON.
  [[nodiscard]] nb::tuple prove(const std::string& target, bool all_configs);
  [[nodiscard]] nb::str emit(const std::string& stage, const std::string& target);
  /// Tunes for these sizes; returns the report as JSON.
  [[nodiscard]] nb::str tune(const nb::dict& min, const nb::dict& opt, const nb::dict& max, double budget,
                             const std::string& device, const std::string& search, const std::string& regime,
                             nb::object progress);

  /// Returns whether memory of large results is reused after they died; initially it is not.
  [[nodiscard]] bool keeps_results() const { return memory_->is_on(); }
  void keep_results(bool keep) { memory_->switch_on(keep); }
  [[nodiscard]] std::size_t kept_bytes() const { return memory_->kept_bytes(); }
  /// Shares the memory of results with all kernels of the process that call this. Applies to calls bound from now on.
  void share_results() { memory_ = shared_result_memory(); }

  /// Returns the call for inputs and sizes with this key; binds it if it is new. For callers that already have
  /// DLTensors. `device` is in the key and decides where a program without inputs runs; others run where their first
  /// input is.
  [[nodiscard]] std::shared_ptr<BoundCall> bound(const CallKey& key, const DLTensor* const* inputs, std::size_t count,
                                                 std::span<const std::uint64_t> scalars,
                                                 std::span<const padlock_named_value> dims,
                                                 DLDevice device = {kDLCPU, 0});

 private:
  struct Arguments;
  Compiled& compiled();
  [[nodiscard]] Program program_of_text() const;
  padlock::Kernel& kernel(DLDevice device);
  [[nodiscard]] CompileOptions options(const std::string& device, const std::string& target) const;
  void match(PyObject* arguments, PyObject* named, Arguments& matched);
  void place(PyObject* key, PyObject* value, Arguments& matched);
  void read(Arguments& matched, bool need_memory);
  [[nodiscard]] nb::object run(Arguments& matched);
  [[nodiscard]] nb::dict shapes_of(const nb::args& arguments, const nb::kwargs& named);
  template <class Body>
  auto translated(Body&& body);
  void translate(const nb::python_error& error);

  std::string text_, config_;
  bool bounds_check_;
  std::shared_ptr<PackObject> pack_;       // shared with Python; NULL if the program is compiled here
  std::vector<nb::object> defaults_;       // one for each parameter; empty if there are none
  std::vector<Parameter> parameters_;      // in the program's order
  std::vector<std::size_t> positional_;    // their indices in the order of positional arguments
  std::size_t tensors_ = 0, scalars_ = 0;  // numbers of tensor and scalar parameters
  Compiled compiled_;
  std::shared_ptr<ResultMemory> memory_ = std::make_shared<ResultMemory>();
};

/// Runs it. An error in a traced function gets its position in the Python file, since the user never saw the text.
template <class Body>
auto KernelObject::translated(Body&& body) {
  try {
    return body();
  } catch (const nb::python_error& error) {
    translate(error);
    throw;
  }
}

}  // namespace padlock::python
