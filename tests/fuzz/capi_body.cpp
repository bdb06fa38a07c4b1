// Any bytes as calls of the C API: tensors of any type, rank, extents, strides and offset, option structs of any size,
// wrong names and counts. Each call succeeds or says why not. A bound call is launched if its memory can be allocated,
// and must write nothing else.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "padlock/padlock.h"
#include "tests/fuzz/fuzz_body.h"

namespace padlock::fuzz {
namespace {

constexpr std::size_t kMostAxes = 4;
constexpr std::size_t kMemory = 1 << 14;
constexpr unsigned char kPoison = 0xA5;

/// The bytes of an input, one number after the other; zeros behind its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  template <class T>
  T take() {
    T value{};
    const std::size_t count = std::min(sizeof(T), size_);
    if (count > 0) std::memcpy(&value, data_, count);
    data_ += count;
    size_ -= count;
    return value;
  }
  std::size_t below(std::size_t limit) { return take<std::uint8_t>() % limit; }
  /// Mostly small, sometimes anything.
  std::int64_t number() {
    const auto kind = take<std::uint8_t>();
    if (kind < 200) return kind % 24;
    if (kind < 230) return take<std::int16_t>();
    return take<std::int64_t>();
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// A struct with an arbitrary size in its first member, and room for that size.
template <class T>
struct Sized {
  explicit Sized(Bytes& bytes) {
    const auto kind = bytes.take<std::uint8_t>();
    const std::size_t size = kind < 220   ? sizeof(T)
                             : kind < 240 ? bytes.take<std::uint16_t>()
                                          : bytes.take<std::size_t>();
    std::memcpy(room.data(), &size, sizeof size);
    if (kind == 255) room[sizeof(T) + bytes.below(64)] = 1;
  }
  T* get() { return reinterpret_cast<T*>(room.data()); }
  alignas(16) std::array<unsigned char, 8192> room = {};
};

struct Session {
  padlock_context* context = nullptr;
  std::vector<padlock_program*> programs;
  std::vector<padlock_kernel*> kernels;
};

/// Made once: kernels for the host and the reference.
const Session& session() {
  static const Session* const made = [] {
    auto* const session = new Session;
    require(padlock_context_create(nullptr, &session->context, nullptr) == PADLOCK_OK, "a context is made");
    for (const char* text :
         {"program a(x: f32[B, S], lo: dim, v: f32) where B >= 1, S + lo >= 0\n"
          "{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v) z = relu(y) return z }",
          "program b(x: i16[N] strides [P], y: i16[M]) where N + M >= 1\n{ z = concat(x, y, axis = 0) return z, x }",
          "program c(x: bool[], k: dim) where 0 <= k <= 9\n{ y = broadcast(x, shape = [k, k], axes = []) return y }"}) {
      padlock_program* program = nullptr;
      require(padlock_program_parse(session->context, text, std::strlen(text), &program, nullptr) == PADLOCK_OK, text);
      session->programs.push_back(program);
      for (const char* device : {"host", "reference"}) {
        padlock_compile_options options{};
        options.struct_size = sizeof options;
        options.device = device;
        padlock_kernel* kernel = nullptr;
        require(padlock_program_compile(program, &options, &kernel, nullptr) == PADLOCK_OK, text);
        session->kernels.push_back(kernel);
      }
    }
    return session;
  }();
  return *made;
}

/// A tensor with extents and strides for as many axes as a program may have; everything else is arbitrary.
struct Tensor {
  explicit Tensor(Bytes& bytes) {
    for (std::size_t i = 0; i < kMostAxes; ++i) {
      shape[i] = bytes.number();
      strides[i] = bytes.number();
    }
    const auto odd = bytes.take<std::uint8_t>();
    view.ndim = odd < 240 ? static_cast<std::int32_t>(bytes.below(kMostAxes)) : bytes.take<std::int32_t>();
    view.dtype = odd % 16 < 14 ? std::array<DLDataType, 3>{{{2, 32, 1}, {0, 16, 1}, {6, 8, 1}}}[bytes.below(3)]
                               : bytes.take<DLDataType>();
    std::int32_t device = odd % 32 < 30 ? 1 : bytes.take<std::int32_t>();
    std::memcpy(&view.device, &device, sizeof device);
    view.device.device_id = bytes.take<std::uint8_t>();
    view.shape = odd == 1 ? nullptr : shape;
    view.strides = odd % 4 == 0 ? strides : nullptr;
    view.data = odd == 2 ? nullptr : memory();
    view.byte_offset = odd % 64 == 3 ? bytes.take<std::uint64_t>() : bytes.below(9);
  }
  static void* memory() {
    alignas(64) static std::array<unsigned char, kMemory> bytes;
    return bytes.data();
  }
  std::int64_t shape[kMostAxes], strides[kMostAxes];
  DLTensor view{};
};

/// `error` by reference: the call that sets it may be evaluated after the other argument.
void check(padlock_status status, padlock_error* const& error) {
  require((status == PADLOCK_OK) == (error == nullptr), "there is an error if, and only if, the status says so");
  if (error != nullptr) {
    require(padlock_error_status(error) == status, "the error has the status");
    require(*padlock_error_message(error) != 0, "the error says something");
    for (std::size_t i = 0; i < padlock_error_value_count(error); ++i)
      require(padlock_error_value(error, i).name != nullptr, "a value has a name");
  }
  require(status != PADLOCK_INTERNAL, "nothing is the library's fault");
  padlock_error_release(error);
}

/// Launches into guarded memory, from any alignment.
void launch(const padlock_call* call, Bytes& bytes) {
  static std::vector<unsigned char> memory(4 * kMemory);
  std::array<const void*, 2> inputs{};
  std::array<void*, 2> results{};
  const std::size_t input_count = padlock_call_input_count(call), result_count = padlock_call_result_count(call);
  padlock_tensor_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; i < input_count; ++i) {
    require(padlock_call_input(call, i, &info, nullptr) == PADLOCK_OK, "an input is told");
    if (info.storage_bytes > static_cast<std::int64_t>(kMemory) - 16) return;
    inputs[i] = static_cast<unsigned char*>(Tensor::memory()) + bytes.below(16);
  }
  std::array<std::int64_t, 2> sizes{};
  std::fill(memory.begin(), memory.end(), kPoison);
  for (std::size_t i = 0; i < result_count; ++i) {
    require(padlock_call_result(call, i, &info, nullptr) == PADLOCK_OK, "a result is told");
    if (info.storage_bytes > static_cast<std::int64_t>(kMemory)) return;
    sizes[i] = info.storage_bytes;
    results[i] = memory.data() + i * 2 * kMemory + 64 + bytes.below(16);
  }
  padlock_error* error = nullptr;
  const padlock_status status =
      padlock_call_launch(call, inputs.data(), input_count, results.data(), result_count, nullptr, &error);
  check(status, error);
  for (std::size_t i = 0; i < result_count; ++i) {
    const auto* const first = static_cast<const unsigned char*>(results[i]);
    for (int k = 1; k <= 48; ++k)
      require(first[-k] == kPoison && first[sizes[i] + k - 1] == kPoison, "a launch writes its result alone");
  }
}

void bind_and_launch(Bytes& bytes) {
  const Session& made = session();
  Tensor first(bytes), second(bytes);
  const DLTensor* tensors[] = {bytes.below(16) == 0 ? nullptr : &first.view, &second.view};
  const char* const names[] = {"lo", "B", "S", "N", "M", "P", "k", "x", "", nullptr};
  padlock_named_value dims[4];
  for (padlock_named_value& dim : dims) dim = {names[bytes.below(std::size(names))], bytes.number()};
  const std::uint64_t scalars[] = {bytes.take<std::uint64_t>(), 1};
  const std::size_t which = bytes.below(made.kernels.size());
  Sized<padlock_bind_options> options(bytes);
  padlock_bind_options& bind = *options.get();
  bind.inputs = tensors;
  bind.dims = dims;
  bind.scalars = bytes.below(32) == 0 ? nullptr : scalars;
  // Mostly the number that the program takes.
  bind.input_count = bytes.below(8) == 0 ? bytes.below(3) : which / 2 == 1 ? 2 : 1;
  bind.dim_count = bytes.below(5);
  bind.scalar_count = bytes.below(8) == 0 ? bytes.below(3) : which / 2 == 0 ? 1 : 0;
  bind.unplaced = bytes.below(4) == 0 ? 1 : 0;

  padlock_text* missing = nullptr;
  padlock_call* call = nullptr;
  padlock_error* error = nullptr;
  check(padlock_program_missing(made.programs[which / 2], &bind, &missing, &error), error);
  padlock_text_release(missing);
  error = nullptr;
  check(padlock_program_bind(made.programs[which / 2], &bind, &call, &error), error);
  padlock_call_release(call);
  error = nullptr;
  const padlock_status status = padlock_kernel_bind(made.kernels[which], &bind, &call, &error);
  check(status, error);
  if (status != PADLOCK_OK) return require(call == nullptr, "a call that is not made is NULL");
  launch(call, bytes);
  error = nullptr;
  first.view.data = second.view.data = nullptr;  // the address is made up
  const DLTensor* const results[] = {&second.view, &first.view};
  const padlock_status refused =
      padlock_call_launch_tensors(call, tensors, bind.input_count, results, bytes.below(3), nullptr, &error);
  check(refused, error);
  padlock_call_release(call);
}

void compile_with_any_options(Bytes& bytes) {
  const char* const texts[] = {nullptr, "", "host", "reference", "simt", "cuda:99", "host:", "sm_", "unroll=", "\xff"};
  Sized<padlock_compile_options> options(bytes);
  options.get()->device = texts[bytes.below(2) == 0 ? 3 : bytes.below(std::size(texts))];
  options.get()->target = bytes.below(4) == 0 ? texts[bytes.below(std::size(texts))] : nullptr;
  options.get()->config = bytes.below(4) == 0 ? texts[bytes.below(std::size(texts))] : nullptr;
  padlock_kernel* kernel = nullptr;
  padlock_error* error = nullptr;
  check(padlock_program_compile(session().programs[bytes.below(3)], options.get(), &kernel, &error), error);
  padlock_kernel_release(kernel);
  Sized<padlock_tensor_info> info(bytes);
  error = nullptr;
  check(padlock_call_input(nullptr, bytes.below(4), info.get(), &error), error);
}

}  // namespace

double seconds_allowed() { return 1; }

}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  padlock::fuzz::Bytes bytes(data, size);
  if (bytes.below(16) == 0) {
    padlock::fuzz::compile_with_any_options(bytes);
  } else {
    padlock::fuzz::bind_and_launch(bytes);
  }
  return 0;
}
