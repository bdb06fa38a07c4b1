#pragma once

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/driver/driver.h"
#include "tests/runtime/cuda/fake_driver.h"

namespace padlock::runtime::cuda {

/// Two kernels: `add` with (result, input, count, addend), 64-bit words each, and `nothing` without parameters. A real
/// GPU can run them, too.
inline constexpr const char* kPtx = R"(
// .entry no_entry(
.version 8.0
.target sm_75
.address_size 64
.visible .entry add(
  .param .u64 result, .param .u64 input,
  .param .u64 count, .param .u64 addend
)
{
  .reg .pred %outside;
  .reg .b32 %thread, %block, %threads, %value, %addend;
  .reg .b64 %index, %count, %result, %input, %offset;
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mul.wide.u32 %index, %block, %threads;
  cvt.u64.u32 %offset, %thread;
  add.u64 %index, %index, %offset;
  ld.param.u64 %count, [count];
  setp.ge.u64 %outside, %index, %count;
  @%outside ret;
  ld.param.u64 %result, [result];
  ld.param.u64 %input, [input];
  ld.param.u32 %addend, [addend];
  cvta.to.global.u64 %result, %result;
  cvta.to.global.u64 %input, %input;
  shl.b64 %offset, %index, 2;
  add.u64 %result, %result, %offset;
  add.u64 %input, %input, %offset;
  ld.global.u32 %value, [%input];
  add.u32 %value, %value, %addend;
  st.global.u32 [%result], %value;
  ret;
}
.visible .entry nothing() { ret; }
)";

/// Returns kPtx with an `add` that waits for earlier work in its stream. For the fake only: a GPU of that target
/// cannot.
inline std::string waiting_ptx() {
  std::string text = kPtx;
  return text.insert(text.find("  mov.u32 %thread"), "  griddepcontrol.wait;\n");
}

/// The twin of `add`. Input and result hold `count` words of 32 bits.
inline void add_twin(void*, const std::uint64_t* parameters, std::size_t, unsigned grid_x, unsigned block_x) {
  auto* const result = std::bit_cast<std::uint32_t*>(parameters[0]);
  const auto* const input = std::bit_cast<const std::uint32_t*>(parameters[1]);
  for (std::uint64_t i = 0; i < std::uint64_t{grid_x} * block_x; ++i)
    if (i < parameters[2]) result[i] = input[i] + static_cast<std::uint32_t>(parameters[3]);
}

/// A freshly loaded fake driver with the twins of kPtx. Its destructor checks that nothing made in it is left.
class Fake {
 public:
  explicit Fake(const char* file = PADLOCK_FAKE_CUDA) : file_(file), control_(FakeDriver::of(file)) {
    REQUIRE(control_ != nullptr);
    control_->reset();
    control_->register_twin("add", add_twin, nullptr);
    control_->register_twin("nothing", [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
  }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;
  ~Fake() { check_clean(); }

  FakeDriver* operator->() const { return control_; }
  [[nodiscard]] Result<std::shared_ptr<const Driver>> load() const { return Driver::load(file_); }
  /// Creates a caller's own context and makes it current on this thread.
  CUcontext make_callers_context(int device = 0) {
    callers_.push_back(control_->create_context(device));
    control_->set_context_stack(callers_);
    return callers_.back();
  }
  [[nodiscard]] std::unique_ptr<const Context> primary() const { return *Context::retain_primary(*load(), 0); }

  /// Checks that nothing is alive, nothing was left to a context to clean up, no handle was misused, and this thread's
  /// stack is its caller's.
  void check_clean() const {
    CHECK(control_->live() == FakeCounts{});
    CHECK(control_->orphaned() == FakeCounts{});
    CHECK(control_->context_stack() == callers_);
    for (const std::string& misuse : control_->take_misuses()) FAIL_CHECK(misuse);
  }

 private:
  std::string file_;
  FakeDriver* control_;  // borrowed from the library, which stays loaded
  std::vector<CUcontext> callers_;
};

/// Returns the error of a call that must fail.
template <class Value>
Error error_of(Result<Value> result) {
  REQUIRE_FALSE(result);
  return std::move(result).error();
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

inline std::span<const std::byte> bytes_of(const std::vector<std::uint32_t>& words) {
  return std::as_bytes(std::span(words));
}
inline std::span<std::byte> bytes_of(std::vector<std::uint32_t>& words) {
  return std::as_writable_bytes(std::span(words));
}

}  // namespace padlock::runtime::cuda
