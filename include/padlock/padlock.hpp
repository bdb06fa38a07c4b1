// The C API as C++17, header-only: a class for each handle of padlock.h, whose contracts hold, and Expected for errors.
// A copy of a handle is one more reference to the same object; a moved-from or default-made one is empty. Only
// Expected::value() throws.
//
// Define PADLOCK_V1_NOT_INLINE first if you have your own namespace padlock, and write padlock::v1::Context.
#ifndef PADLOCK_PADLOCK_HPP_
#define PADLOCK_PADLOCK_HPP_

#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "padlock/padlock.h"

namespace padlock {
#if defined(PADLOCK_V1_NOT_INLINE)
namespace v1 {
#else
inline namespace v1 {
#endif

namespace detail {

/// Holds one reference of a handle.
template <class T, void (*kRetain)(T*), void (*kRelease)(T*)>
class Handle {
 public:
  Handle() = default;
  /// Takes over a reference.
  explicit Handle(T* handle) noexcept : handle_(handle) {}
  Handle(const Handle& other) noexcept : handle_(other.handle_) { kRetain(handle_); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { kRelease(handle_); }

  /// Returns the handle for functions of padlock.h; borrowed.
  T* get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

 private:
  T* handle_ = nullptr;
};

template <class T>
T sized() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

inline const char* c_str_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace detail

/// A status with its message, position and values.
class Error : public detail::Handle<padlock_error, padlock_error_retain, padlock_error_release> {
 public:
  using Handle::Handle;
  padlock_status status() const { return padlock_error_status(get()); }
  padlock_blame blame() const { return padlock_error_blame(get()); }
  const char* message() const { return padlock_error_message(get()); }
  const char* text() const { return padlock_error_text(get()); }
  int line() const { return padlock_error_line(get()); }
  int column() const { return padlock_error_column(get()); }
  int axis() const { return padlock_error_axis(get()); }
  const char* expression() const { return padlock_error_expression(get()); }
  std::vector<std::pair<std::string, std::int64_t>> values() const {
    std::vector<std::pair<std::string, std::int64_t>> list;
    for (std::size_t i = 0; i < padlock_error_value_count(get()); ++i) {
      const padlock_named_value value = padlock_error_value(get(), i);
      list.emplace_back(value.name, value.value);
    }
    return list;
  }
  /// Returns the further errors of the same text.
  std::vector<Error> others() const {
    std::vector<Error> list;
    for (std::size_t i = 0; i < padlock_error_other_count(get()); ++i) {
      padlock_error* const other = padlock_error_other(get(), i);
      padlock_error_retain(other);
      list.emplace_back(other);
    }
    return list;
  }
};

/// Thrown by Expected::value() if it holds an error.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.text()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

namespace detail {

/// Admits an E whose error() is an Error and that does not convert to bool: std::unexpected, but not Expected.
template <class E>
using IfUnexpected = std::enable_if_t<std::is_same_v<std::decay_t<decltype(std::declval<const E&>().error())>, Error> &&
                                      !std::is_constructible_v<bool, const E&>>;

}  // namespace detail

/// A value or an error.
template <class T>
class Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: as std::expected
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  /// Converts from std::unexpected<Error>, with which C++23 returns an error.
  template <class E, class = detail::IfUnexpected<E>>
  Expected(const E& unexpected) : Expected(Error(unexpected.error())) {}  // NOLINT
  explicit operator bool() const noexcept { return state_.index() == 0; }

  /// Precondition: it holds a value.
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  /// Precondition: it holds an error.
  const Error& error() const { return *std::get_if<1>(&state_); }

  /// Throws Exception.
  T& value() & { return checked(), **this; }
  T&& value() && { return checked(), std::move(**this); }

 private:
  void checked() const {
    if (!*this) throw Exception(error());
  }
  std::variant<T, Error> state_;
};

template <>
class Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT
  template <class E, class = detail::IfUnexpected<E>>
  Expected(const E& unexpected) : Expected(Error(unexpected.error())) {}  // NOLINT
  explicit operator bool() const noexcept { return !failed_; }
  const Error& error() const { return error_; }
  /// Throws Exception.
  void value() const {
    if (failed_) throw Exception(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

using Status = Expected<void>;

namespace detail {

/// Calls a C function whose last argument is the error's place.
template <class Function, class... Arguments>
Status call(Function function, Arguments... arguments) {
  padlock_error* error = nullptr;
  if (function(arguments..., &error) == PADLOCK_OK) return {};
  return Error(error);
}

/// Calls a C function whose last arguments are a handle's place and the error's.
template <class Wrapper, class Raw, class Function, class... Arguments>
Expected<Wrapper> make(Function function, Arguments... arguments) {
  Raw* handle = nullptr;
  padlock_error* error = nullptr;
  if (function(arguments..., &handle, &error) == PADLOCK_OK) return Wrapper(handle);
  return Error(error);
}

}  // namespace detail

/// A text that the library returns: JSON, a stage of compiling, an export.
class Text : public detail::Handle<padlock_text, padlock_text_retain, padlock_text_release> {
 public:
  using Handle::Handle;
  std::string_view view() const { return {padlock_text_data(get()), padlock_text_size(get())}; }
};

/// Symbols with their values.
class Sizes {
 public:
  Sizes() = default;
  Sizes(std::initializer_list<std::pair<std::string, std::int64_t>> list) : list_(list) {}
  Sizes& set(std::string name, std::int64_t value) {
    list_.emplace_back(std::move(name), value);
    return *this;
  }
  /// Returns them for C; the names are borrowed.
  std::vector<padlock_named_value> raw() const {
    std::vector<padlock_named_value> values;
    for (const auto& [name, value] : list_) values.push_back({name.c_str(), value});
    return values;
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> list_;
};

/// The DLPack type of a C++ type.
template <class T>
constexpr DLDataType dl_type() {
  static_assert(std::is_arithmetic_v<T>, "of other types, write the DLDataType");
  using Limits = std::integral_constant<std::uint8_t, static_cast<std::uint8_t>(8 * sizeof(T))>;
  if constexpr (std::is_same_v<T, bool>) return {kDLBool, 8, 1};
  if constexpr (std::is_floating_point_v<T>) return {kDLFloat, Limits::value, 1};
  return {static_cast<std::uint8_t>(std::is_signed_v<T> ? kDLInt : kDLUInt), Limits::value, 1};
}

/// Returns the language's name of a type; empty for a type that programs do not have.
inline const char* type_name(DLDataType type) { return padlock_type_name(type); }
inline Expected<DLDataType> find_type(const std::string& name) {
  DLDataType type{};
  if (const Status status = detail::call(padlock_type_find, name.c_str(), &type); !status) return status.error();
  return type;
}
/// Parses a literal of the language to the bits of a scalar.
inline Expected<std::uint64_t> parse_scalar(const std::string& literal, DLDataType type) {
  std::uint64_t bits = 0;
  if (const Status status = detail::call(padlock_scalar_parse, literal.c_str(), type, &bits); !status)
    return status.error();
  return bits;
}
inline Expected<Text> print_scalar(DLDataType type, std::uint64_t bits) {
  return detail::make<Text, padlock_text>(padlock_scalar_print, type, bits);
}
inline Expected<std::vector<std::int64_t>> dense_strides(const std::vector<std::int64_t>& extents,
                                                         padlock_order order = PADLOCK_ROW_MAJOR) {
  std::vector<std::int64_t> strides(extents.size());
  if (const Status status = detail::call(padlock_dense_strides, extents.data(), static_cast<int32_t>(extents.size()),
                                         order, strides.data());
      !status)
    return status.error();
  return strides;
}

/// Describes a tensor. The caller owns the data.
class TensorView {
 public:
  /// `strides`: in elements; empty: dense and row-major.
  TensorView(void* data, DLDataType type, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {},
             DLDevice device = {kDLCPU, 0}, std::uint64_t byte_offset = 0)
      : extents_(std::move(extents)), strides_(std::move(strides)) {
    tensor_.data = data;
    tensor_.device = device;
    tensor_.ndim = static_cast<std::int32_t>(extents_.size());
    tensor_.dtype = type;
    tensor_.byte_offset = byte_offset;
  }
  template <class T>
  static TensorView of(T* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {}) {
    using Element = std::remove_const_t<T>;
    return {const_cast<Element*>(data), dl_type<Element>(), std::move(extents), std::move(strides)};
  }
  /// Returns the description for C; borrowed from this, which must not move meanwhile.
  const DLTensor* get() const {
    tensor_.shape = const_cast<std::int64_t*>(extents_.data());
    tensor_.strides = strides_.empty() ? nullptr : const_cast<std::int64_t*>(strides_.data());
    return &tensor_;
  }

 private:
  std::vector<std::int64_t> extents_, strides_;
  mutable DLTensor tensor_{};
};

/// Returns the bits of a scalar, for a binding.
template <class T>
std::uint64_t bits_of(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t), "a scalar has 64 bits");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The inputs, sizes and scalars to which a call is bound.
struct Binding {
  std::vector<const DLTensor*> inputs;  ///< borrowed; none at all: `dims` has every symbol
  Sizes dims = {};
  std::vector<std::uint64_t> scalars = {};
  bool unplaced = false;  ///< the inputs have no layout yet; the call returns it
};

namespace detail {

/// A Binding for C; borrows it.
class RawBinding {
 public:
  explicit RawBinding(const Binding& binding) : dims_(binding.dims.raw()) {
    options_.inputs = binding.inputs.data();
    options_.input_count = binding.inputs.size();
    options_.dims = dims_.data();
    options_.dim_count = dims_.size();
    options_.scalars = binding.scalars.data();
    options_.scalar_count = binding.scalars.size();
    options_.unplaced = binding.unplaced ? 1 : 0;
  }
  explicit RawBinding(Binding&&) = delete;
  RawBinding(const RawBinding&) = delete;
  RawBinding& operator=(const RawBinding&) = delete;
  const padlock_bind_options* get() const { return &options_; }

 private:
  std::vector<padlock_named_value> dims_;
  padlock_bind_options options_ = sized<padlock_bind_options>();
};

}  // namespace detail

/// A tensor under a binding. Borrowed from its call.
struct TensorInfo {
  std::string_view name;
  DLDataType type;
  std::vector<std::int64_t> extents, strides;
  std::int64_t storage_bytes;
};

/// A kernel bound to sizes.
class Call : public detail::Handle<padlock_call, padlock_call_retain, padlock_call_release> {
 public:
  using Handle::Handle;

  std::vector<TensorInfo> inputs() const { return list(padlock_call_input_count(get()), padlock_call_input); }
  std::vector<TensorInfo> results() const { return list(padlock_call_result_count(get()), padlock_call_result); }
  const char* config() const { return padlock_call_config(get()); }
  const char* reason() const { return padlock_call_reason(get()); }

  Status launch(const void* const* inputs, std::size_t input_count, void* const* results, std::size_t result_count,
                void* stream = nullptr) const {
    return detail::call(padlock_call_launch, get(), inputs, input_count, results, result_count, stream);
  }
  Status launch(std::initializer_list<const void*> inputs, std::initializer_list<void*> results,
                void* stream = nullptr) const {
    return launch(inputs.begin(), inputs.size(), results.begin(), results.size(), stream);
  }
  Status launch_tensors(const std::vector<const DLTensor*>& inputs, const std::vector<const DLTensor*>& results,
                        void* stream = nullptr) const {
    return detail::call(padlock_call_launch_tensors, get(), inputs.data(), inputs.size(), results.data(),
                        results.size(), stream);
  }
  /// Checks whether an element of a result may be `actual` if the reference has `expected`. The inputs are in the
  /// host's memory.
  Expected<bool> matches(std::size_t result, const std::vector<std::int64_t>& coordinates, std::uint64_t expected,
                         std::uint64_t actual, std::uint64_t ulp, const std::vector<const void*>& inputs) const {
    std::int32_t yes = 0;
    if (const Status status = detail::call(padlock_call_matches, get(), result, coordinates.data(), expected, actual,
                                           ulp, inputs.data(), inputs.size(), &yes);
        !status)
      return status.error();
    return yes != 0;
  }
  Status synchronize(void* stream = nullptr) const { return detail::call(padlock_call_synchronize, get(), stream); }

 private:
  template <class Function>
  std::vector<TensorInfo> list(std::size_t count, Function function) const {
    std::vector<TensorInfo> tensors;
    for (std::size_t i = 0; i < count; ++i) {
      auto info = detail::sized<padlock_tensor_info>();
      if (function(get(), i, &info, nullptr) != PADLOCK_OK) break;
      tensors.push_back({info.name,
                         info.dtype,
                         {info.extents, info.extents + info.ndim},
                         {info.strides, info.strides + info.ndim},
                         info.storage_bytes});
    }
    return tensors;
  }
};

/// A compiled program.
class Kernel : public detail::Handle<padlock_kernel, padlock_kernel_retain, padlock_kernel_release> {
 public:
  using Handle::Handle;
  Expected<Call> bind(const Binding& binding) const {
    const detail::RawBinding raw(binding);
    return detail::make<Call, padlock_call>(padlock_kernel_bind, get(), raw.get());
  }
  const char* target() const { return padlock_kernel_target(get()); }
  const char* config() const { return padlock_kernel_config(get()); }
};

/// Device, target and config of a compile. Empty texts stand for the defaults.
struct CompileOptions {
  std::string device = {}, target = {}, config = {};  ///< empty: the default
  bool bounds_check = false;
};

namespace detail {

inline padlock_compile_options raw(const CompileOptions& options) {
  auto made = sized<padlock_compile_options>();
  made.device = c_str_or_null(options.device);
  made.target = c_str_or_null(options.target);
  made.config = c_str_or_null(options.config);
  made.bounds_check = options.bounds_check ? 1 : 0;
  return made;
}

}  // namespace detail

/// The sizes, time limit and search of a tuning.
struct TuneOptions {
  std::string device = {}, search = {};
  Sizes min = {}, opt = {}, max = {};
  double budget_seconds = 0;
  std::uint64_t seed = 0;
  std::int64_t memory_bytes = 0;
  bool resume = false;
  padlock_progress_function progress = nullptr;
  padlock_cancel_function cancel = nullptr;
  void* user = nullptr;
  std::int32_t shard_index = 0, shard_count = 0;
  std::string regime = {};
};

/// One tuning of one program. See padlock_tuner_create.
class Tuner : public detail::Handle<padlock_tuner, padlock_tuner_retain, padlock_tuner_release> {
 public:
  using Handle::Handle;
  Status run() const { return detail::call(padlock_tuner_run, get()); }
  void cancel() const { padlock_tuner_cancel(get()); }
  /// Return, as JSON, what a run would try, and what the last one found.
  Expected<Text> plan() const { return detail::make<Text, padlock_text>(padlock_tuner_plan, get()); }
  Expected<Text> report() const { return detail::make<Text, padlock_text>(padlock_tuner_report, get()); }
};

/// The main of a program like padlock-worker.
inline int worker_main() { return padlock_worker_main(); }

/// A verified program.
class Program : public detail::Handle<padlock_program, padlock_program_retain, padlock_program_release> {
 public:
  using Handle::Handle;
  const char* name() const { return padlock_program_name(get()); }
  /// Tensors, then scalars, then dims.
  std::vector<padlock_parameter_info> parameters() const {
    return list<padlock_parameter_info>(padlock_program_parameter_count(get()), padlock_program_parameter);
  }
  std::vector<padlock_parameter_info> results() const {
    return list<padlock_parameter_info>(padlock_program_result_count(get()), padlock_program_result);
  }
  /// Returns the symbols, to which a binding gives values.
  std::vector<padlock_symbol_info> symbols() const {
    return list<padlock_symbol_info>(padlock_program_symbol_count(get()), padlock_program_symbol);
  }

  Expected<Kernel> compile(const CompileOptions& options = {}) const {
    const padlock_compile_options raw = detail::raw(options);
    return detail::make<Kernel, padlock_kernel>(padlock_program_compile, get(), &raw);
  }
  /// Binds the program for its sizes alone; the call cannot be launched.
  Expected<Call> bind(const Binding& binding) const {
    const detail::RawBinding raw(binding);
    return detail::make<Call, padlock_call>(padlock_program_bind, get(), raw.get());
  }
  /// Returns the symbols that the binding would leave without a value.
  Expected<std::vector<std::string>> missing(const Binding& binding) const {
    const detail::RawBinding raw(binding);
    const auto lines = detail::make<Text, padlock_text>(padlock_program_missing, get(), raw.get());
    if (!lines) return lines.error();
    std::vector<std::string> names;
    for (const char c : lines->view()) {
      if (names.empty() || names.back().back() == '\n') names.emplace_back();
      names.back() += c;
    }
    for (std::string& name : names) name.pop_back();
    return names;
  }
  /// Describes the kernel as JSON; with a binding in numbers, too.
  Expected<Text> explain(const CompileOptions& options = {}, const Binding* binding = nullptr) const {
    const padlock_compile_options raw = detail::raw(options);
    const Binding none;
    const detail::RawBinding sizes(binding != nullptr ? *binding : none);
    return detail::make<Text, padlock_text>(padlock_program_explain, get(), &raw,
                                            binding != nullptr ? sizes.get() : nullptr);
  }
  /// Returns one stage of compiling, as text; empty: "ir".
  Expected<Text> emit(const std::string& stage = {}, const CompileOptions& options = {}) const {
    const padlock_compile_options raw = detail::raw(options);
    const padlock_compile_options* const given = &raw;
    return detail::make<Text, padlock_text>(padlock_program_emit, get(), given, detail::c_str_or_null(stage));
  }
  /// Proofs of every access: the number of refuted obligations, and all obligations for people and as JSON.
  struct Proofs {
    std::int64_t refuted = 0;
    Text report, json;
  };
  Expected<Proofs> prove(const CompileOptions& options = {}, bool all_configs = false) const {
    const padlock_compile_options raw = detail::raw(options);
    const padlock_compile_options* const given = &raw;
    Proofs proofs;
    padlock_text *report = nullptr, *json = nullptr;
    if (const Status status =
            detail::call(padlock_program_prove, get(), given, all_configs ? 1 : 0, &proofs.refuted, &report, &json);
        !status)
      return status.error();
    proofs.report = Text(report);
    proofs.json = Text(json);
    return proofs;
  }
  Expected<Tuner> tuner(const TuneOptions& options) const {
    auto raw = detail::sized<padlock_tune_options>();
    const auto min = options.min.raw(), opt = options.opt.raw(), max = options.max.raw();
    raw.device = detail::c_str_or_null(options.device);
    raw.search = detail::c_str_or_null(options.search);
    raw.min = min.data(), raw.min_count = min.size();
    raw.opt = opt.data(), raw.opt_count = opt.size();
    raw.max = max.data(), raw.max_count = max.size();
    raw.budget_seconds = options.budget_seconds;
    raw.seed = options.seed;
    raw.memory_bytes = options.memory_bytes;
    raw.resume = options.resume ? 1 : 0;
    raw.progress = options.progress;
    raw.cancel = options.cancel;
    raw.user = options.user;
    raw.shard_index = options.shard_index;
    raw.shard_count = options.shard_count;
    raw.regime = detail::c_str_or_null(options.regime);
    const padlock_tune_options* const given = &raw;
    return detail::make<Tuner, padlock_tuner>(padlock_tuner_create, get(), given);
  }

 private:
  template <class Info, class Function>
  std::vector<Info> list(std::size_t count, Function function) const {
    std::vector<Info> all;
    for (std::size_t i = 0; i < count; ++i) {
      auto info = detail::sized<Info>();
      if (function(get(), i, &info, nullptr) == PADLOCK_OK) all.push_back(info);
    }
    return all;
  }
};

/// Compiled programs in a file. Running them needs no compiler.
class Pack : public detail::Handle<padlock_pack, padlock_pack_retain, padlock_pack_release> {
 public:
  using Handle::Handle;
  std::vector<std::string_view> programs() const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < padlock_pack_program_count(get()); ++i)
      names.emplace_back(padlock_pack_program_name(get(), i));
    return names;
  }
  /// Loads a program's kernel. The name may be empty for a pack with one program.
  Expected<Kernel> kernel(const std::string& name = {}, const std::string& device = {}) const {
    return detail::make<Kernel, padlock_kernel>(padlock_pack_kernel, get(), detail::c_str_or_null(name),
                                                detail::c_str_or_null(device));
  }
  Expected<Program> program(const std::string& name = {}) const {
    return detail::make<Program, padlock_program>(padlock_pack_program, get(), detail::c_str_or_null(name));
  }
  /// Compiles programs of one context.
  static Expected<Pack> make(const std::vector<Program>& programs, const std::vector<std::string>& targets) {
    std::vector<padlock_program*> handles;
    std::vector<const char*> names;
    for (const Program& program : programs) handles.push_back(program.get());
    for (const std::string& target : targets) names.push_back(target.c_str());
    return detail::make<Pack, padlock_pack>(padlock_pack_make, handles.data(), handles.size(), names.data(),
                                            names.size());
  }
  /// Returns the contents of the pack's file; borrowed.
  std::string_view bytes() const {
    return {static_cast<const char*>(padlock_pack_data(get())), padlock_pack_size(get())};
  }
  /// Describes the pack's contents, as JSON.
  Expected<Text> describe() const { return detail::make<Text, padlock_text>(padlock_pack_describe, get()); }
};

/// A file of tuning records, or an export of one.
class Cache : public detail::Handle<padlock_cache, padlock_cache_retain, padlock_cache_release> {
 public:
  using Handle::Handle;
  const char* path() const { return padlock_cache_path(get()); }
  /// Records or problems, a line each.
  struct Lines {
    Text records, problems;
  };
  Expected<Lines> export_lines() const {
    padlock_text *records = nullptr, *problems = nullptr;
    if (const Status status = detail::call(padlock_cache_export, get(), &records, &problems); !status)
      return status.error();
    return Lines{Text(records), Text(problems)};
  }
  /// Describes all records, as JSON.
  Expected<Text> describe() const { return detail::make<Text, padlock_text>(padlock_cache_describe, get()); }
  struct Verified {
    std::int64_t records = 0;
    Text problems;
  };
  Expected<Verified> verify() const {
    std::int64_t records = 0;
    padlock_text* problems = nullptr;
    if (const Status status = detail::call(padlock_cache_verify, get(), &records, &problems); !status)
      return status.error();
    return Verified{records, Text(problems)};
  }
  struct Difference {
    Text only_here, only_there, changed;
  };
  Expected<Difference> compare(const Cache& other) const {
    padlock_text *here = nullptr, *there = nullptr, *changed = nullptr;
    if (const Status status = detail::call(padlock_cache_compare, get(), other.get(), &here, &there, &changed); !status)
      return status.error();
    return Difference{Text(here), Text(there), Text(changed)};
  }
  /// Lists what `prune` would remove.
  Expected<Text> stale(const std::string& before = {}) const {
    return detail::make<Text, padlock_text>(padlock_cache_stale, get(), detail::c_str_or_null(before));
  }
  Expected<std::int64_t> merge(const Cache& other) const {
    std::int64_t written = 0;
    return count(detail::call(padlock_cache_merge, get(), other.get(), &written), written);
  }
  struct Synced {
    std::int64_t written = 0;
    Text problems;
  };
  Expected<Synced> sync(const std::string& url) const {
    std::int64_t written = 0;
    padlock_text* problems = nullptr;
    if (const Status status = detail::call(padlock_cache_sync, get(), url.c_str(), &written, &problems); !status)
      return status.error();
    return Synced{written, Text(problems)};
  }
  Expected<std::int64_t> prune(const std::string& before = {}) const {
    std::int64_t removed = 0;
    return count(detail::call(padlock_cache_prune, get(), detail::c_str_or_null(before), &removed), removed);
  }
  struct Pruned {
    std::int64_t records = 0;  ///< good records before pruning
    Text removed, problems;
  };
  /// Prunes, or with `dry_run` only finds what would go. Returns the number of good records before, the removed records
  /// and the bad ones that stay.
  Expected<Pruned> prune_listed(const std::string& before = {}, bool dry_run = false) const {
    std::int64_t records = 0;
    padlock_text *removed = nullptr, *problems = nullptr;
    if (const Status status = detail::call(padlock_cache_prune_listed, get(), detail::c_str_or_null(before),
                                           dry_run ? 1 : 0, &records, &removed, &problems);
        !status)
      return status.error();
    return Pruned{records, Text(removed), Text(problems)};
  }
  /// Returns a title for each record in `lines`, a line each.
  static Expected<Text> titles(const Text& lines) {
    return detail::make<Text, padlock_text>(padlock_cache_titles, lines.get());
  }

 private:
  static Expected<std::int64_t> count(const Status& status, const std::int64_t& value) {
    if (!status) return status.error();
    return value;
  }
};

/// The machine's devices, listed when it is made.
class Devices : public detail::Handle<padlock_devices, padlock_devices_retain, padlock_devices_release> {
 public:
  using Handle::Handle;
  /// Returns the devices; texts are borrowed from this.
  std::vector<padlock_device_info> list() const {
    std::vector<padlock_device_info> all;
    for (std::size_t i = 0; i < padlock_devices_count(get()); ++i) {
      auto info = detail::sized<padlock_device_info>();
      if (padlock_devices_get(get(), i, &info, nullptr) == PADLOCK_OK) all.push_back(info);
    }
    return all;
  }
};

/// Memory of a device.
class Memory : public detail::Handle<padlock_memory, padlock_memory_retain, padlock_memory_release> {
 public:
  using Handle::Handle;
  void* data() const { return padlock_memory_data(get()); }
  std::int64_t bytes() const { return padlock_memory_bytes(get()); }
  /// Copies all of `from` to the beginning of this.
  Status copy_from(const Memory& from) const {
    return detail::call(padlock_memory_copy, get(), 0, from.get(), 0, from.bytes());
  }
};

/// A program's text that was made from an ONNX model. `interface`: the tensor, scalar or dims that stand for each input
/// and result of the model, as JSON.
struct OnnxImport {
  Text text, interface;
};

/// Owns kernels, threads and the tuning cache; makes programs and loads packs. Safe to use from several threads.
class Context : public detail::Handle<padlock_context, padlock_context_retain, padlock_context_release> {
 public:
  using Handle::Handle;
  static padlock_context_options options() { return detail::sized<padlock_context_options>(); }
  static Expected<Context> create(const padlock_context_options& options = Context::options()) {
    return detail::make<Context, padlock_context>(padlock_context_create, &options);
  }

  Expected<Program> parse(std::string_view text) const {
    return detail::make<Program, padlock_program>(padlock_program_parse, get(), text.data(), text.size());
  }
  Expected<Program> load(const std::string& path) const {
    return detail::make<Program, padlock_program>(padlock_program_load, get(), path.c_str());
  }
  /// Makes a program's text from an ONNX model. `folder` has its files of external data; empty: the model has none.
  /// `outputs` names values of the model, for the part that computes these; empty: the whole model.
  Expected<OnnxImport> import_onnx(const void* bytes, std::size_t size, const std::string& folder = {},
                                   const std::vector<std::string>& outputs = {}) const {
    std::vector<const char*> names;
    for (const std::string& output : outputs) names.push_back(output.c_str());
    auto options = detail::sized<padlock_onnx_options>();
    options.outputs = names.empty() ? nullptr : names.data();
    options.output_count = names.size();
    options.folder = detail::c_str_or_null(folder);
    padlock_text *text = nullptr, *interface = nullptr;
    if (const Status status = detail::call(padlock_onnx_import, get(), bytes, size, &options, &text, &interface);
        !status)
      return status.error();
    return OnnxImport{Text(text), Text(interface)};
  }
  Expected<Pack> load_pack(const std::string& path) const {
    return detail::make<Pack, padlock_pack>(padlock_pack_load, get(), path.c_str());
  }
  Expected<Pack> read_pack(const void* bytes, std::size_t size) const {
    return detail::make<Pack, padlock_pack>(padlock_pack_read, get(), bytes, size);
  }
  /// Allocates memory of the host or a GPU. `name` is for the message of RESOURCE_EXHAUSTED.
  Expected<Memory> allocate(std::int64_t bytes, const std::string& name, const std::string& device = {}) const {
    return detail::make<Memory, padlock_memory>(padlock_memory_allocate, get(), detail::c_str_or_null(device), bytes,
                                                name.c_str());
  }
  /// Checks whether programs can run on the device; empty: on the host.
  Status check_device(const std::string& device) const {
    return detail::call(padlock_device_check, get(), detail::c_str_or_null(device));
  }
  /// Describes a target: CPU and features, or a GPU's architecture.
  Expected<Text> describe_target(const std::string& target) const {
    return detail::make<Text, padlock_text>(padlock_target_describe, get(), target.c_str());
  }
  /// Returns the path of the worker that tuning starts.
  Expected<Text> find_worker() const { return detail::make<Text, padlock_text>(padlock_worker_find, get()); }
  Expected<Devices> devices() const { return detail::make<Devices, padlock_devices>(padlock_devices_list, get()); }
  /// Opens a cache; an empty path: the user's.
  Expected<Cache> cache(const std::string& path = {}) const {
    return detail::make<Cache, padlock_cache>(padlock_cache_open, get(), detail::c_str_or_null(path));
  }
  padlock_statistics statistics() const {
    auto made = detail::sized<padlock_statistics>();
    padlock_context_statistics(get(), &made, nullptr);
    return made;
  }
  std::int64_t trim() const { return padlock_context_trim(get()); }
};

}  // namespace v1
}  // namespace padlock

#endif
