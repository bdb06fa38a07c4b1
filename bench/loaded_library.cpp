#include "bench/loaded_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "support/sized.h"

namespace padlock::bench {
namespace {

[[noreturn]] void fail(const char* why) {
  fmt::print(stderr, "padlock_bench_pairs: {}\n", why);
  std::exit(1);
}

}  // namespace

void TensorPlaces::add(std::int64_t tensor_bytes) {
  constexpr std::int64_t kCacheLine = 64;
  offsets.push_back(extent_bytes);
  bytes += tensor_bytes;
  extent_bytes += (tensor_bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

void LoadedCall::place(const std::byte* input_array, std::byte* result_array) {
  input_pointers_.clear();
  result_pointers_.clear();
  for (const std::int64_t offset : inputs.offsets) input_pointers_.push_back(input_array + offset);
  for (const std::int64_t offset : results.offsets) result_pointers_.push_back(result_array + offset);
}

void LoadedCall::run() const {
  if (launch_(call_, input_pointers_.data(), input_pointers_.size(), result_pointers_.data(), result_pointers_.size(),
              nullptr, nullptr) != PADLOCK_OK)
    std::abort();
}

LoadedLibrary::LoadedLibrary(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) fail(dlerror());
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    auto options = sized<padlock_context_options>();
    options.threads = static_cast<std::int32_t>(i) + 1;
    make("padlock_context_create", &padlock_context_create, contexts_[i], &options);
  }
}

LoadedCall LoadedLibrary::call(const ListedProgram& listed, const CompiledFor& how) const {
  padlock_program* program = nullptr;
  padlock_kernel* kernel = nullptr;
  padlock_text* code = nullptr;
  LoadedCall call;
  call.launch_ = find("padlock_call_launch", &padlock_call_launch);
  padlock_context* context = contexts_.at(static_cast<std::size_t>(how.threads - 1));
  auto compiled = sized<padlock_compile_options>();
  compiled.target = how.target.c_str();
  if (!how.config.empty()) compiled.config = how.config.c_str();
  make("padlock_program_parse", &padlock_program_parse, program, context, listed.text.data(), listed.text.size());
  if (how.target == "host") {
    make("padlock_program_compile", &padlock_program_compile, kernel, program, &compiled);
  } else {  // a pack has code of other targets that run on this machine
    padlock_pack* pack = nullptr;
    make("padlock_pack_make", &padlock_pack_make, pack, &program, std::size_t{1}, &compiled.target, std::size_t{1});
    make("padlock_pack_kernel", &padlock_pack_kernel, kernel, pack, nullptr, nullptr);
  }
  make("padlock_program_emit", &padlock_program_emit, code, program, &compiled, "asm");
  call.code = find("padlock_text_data", &padlock_text_data)(code);
  std::vector<padlock_named_value> dims;
  for (const auto& [name, value] : listed.sizes) dims.push_back({name.c_str(), value});
  auto options = sized<padlock_bind_options>();
  options.dims = dims.data();
  options.dim_count = dims.size();
  make("padlock_kernel_bind", &padlock_kernel_bind, call.call_, kernel, &options);
  const std::size_t inputs = find("padlock_call_input_count", &padlock_call_input_count)(call.call_);
  const std::size_t results = find("padlock_call_result_count", &padlock_call_result_count)(call.call_);
  for (std::size_t i = 0; i < inputs; ++i)
    call.inputs.add(info("padlock_call_input", &padlock_call_input, call.call_, i).storage_bytes);
  for (std::size_t i = 0; i < results; ++i)
    call.results.add(info("padlock_call_result", &padlock_call_result, call.call_, i).storage_bytes);
  const padlock_tensor_info first = info("padlock_call_result", &padlock_call_result, call.call_, 0);
  call.result_extents.assign(first.extents, first.extents + first.ndim);
  return call;
}

/// The library's own function of that name; the declaration of it says of what type.
template <class Function>
Function* LoadedLibrary::find(const char* name, Function* /*declared*/) const {
  auto* found = reinterpret_cast<Function*>(dlsym(handle_, name));
  if (found == nullptr) fail(dlerror());
  return found;
}

template <class Function, class Made, class... Given>
void LoadedLibrary::make(const char* name, Function* declared, Made*& made, Given... given) const {
  check(find(name, declared), [&](auto* function, padlock_error** error) { return function(given..., &made, error); });
}

template <class Function>
padlock_tensor_info LoadedLibrary::info(const char* name, Function* declared, const padlock_call* call,
                                        std::size_t index) const {
  auto info = sized<padlock_tensor_info>();
  check(find(name, declared),
        [&](auto* function, padlock_error** error) { return function(call, index, &info, error); });
  return info;
}

template <class Function, class Use>
void LoadedLibrary::check(Function* function, Use&& use) const {
  padlock_error* error = nullptr;
  if (use(function, &error) != PADLOCK_OK) fail(find("padlock_error_text", &padlock_error_text)(error));
}

}  // namespace padlock::bench
