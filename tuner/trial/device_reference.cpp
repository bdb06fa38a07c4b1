#include "tuner/trial/device_reference.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace padlock::tuner {
namespace {

using runtime::Comparison;
using runtime::ScratchBuffer;

constexpr std::byte kRed{0xC5};
constexpr std::byte kOneBit{1};

std::unexpected<Error> misled(const std::string& how) {
  return internal_error("the kernel that compares memory on the device " + how);
}

/// Expects the kernel to report byte `at`, or no byte at all.
Status found(Comparison& comparison, std::optional<std::int64_t> at, const char* where) {
  PADLOCK_TRY(const std::optional<std::int64_t> first, comparison.first_difference());
  if (first == at) return {};
  if (!first) return misled(fmt::format("missed a difference planted at byte {} of {}", *at, where));
  if (!at) return misled(fmt::format("found byte {} of {} different, which is not", *first, where));
  return misled(fmt::format("found byte {} instead of byte {} of {} different", *first, *at, where));
}

/// Tests the kernel on one tensor, which has the bytes of `golden` and of `data`.
class TensorTrial {
 public:
  TensorTrial(Comparison& comparison, ScratchBuffer& tensor, ScratchBuffer& golden, std::span<const std::byte> data)
      : comparison_(comparison), tensor_(tensor), golden_(golden), data_(data) {}

  Status run() {
    PADLOCK_CHECK(expect(std::nullopt));
    const std::int64_t size = std::ssize(data_);
    for (const std::int64_t at : size == 0 ? std::set<std::int64_t>{} : std::set{std::int64_t{0}, size / 2, size - 1}) {
      const std::byte was = data_[static_cast<std::size_t>(at)];
      PADLOCK_CHECK(tensor_.poke(at, was ^ kOneBit));
      PADLOCK_CHECK(expect(at));
      PADLOCK_CHECK(tensor_.poke(at, was));
    }
    if (size >= 8) PADLOCK_CHECK(in_nan(size / 2 / 8 * 8));
    return around(size);
  }

 private:
  Status expect(std::optional<std::int64_t> at) {
    PADLOCK_CHECK(tensor_.expect(comparison_, golden_));
    return found(comparison_, at, "a tensor");
  }

  /// A NaN must equal itself, and differ from one with another bit.
  Status in_nan(std::int64_t at) {
    constexpr std::array kNan = {std::byte{1}, std::byte{0}, std::byte{0xC0}, std::byte{0x7F},
                                 std::byte{0}, std::byte{0}, std::byte{0xF8}, std::byte{0x7F}};
    for (std::size_t i = 0; i < kNan.size(); ++i)
      for (ScratchBuffer* const buffer : {&tensor_, &golden_})
        PADLOCK_CHECK(buffer->poke(at + static_cast<std::int64_t>(i), kNan[i]));
    PADLOCK_CHECK(expect(std::nullopt));
    PADLOCK_CHECK(tensor_.poke(at, kNan[0] ^ std::byte{2}));
    PADLOCK_CHECK(expect(at));
    for (std::size_t i = 0; i < kNan.size(); ++i)
      for (ScratchBuffer* const buffer : {&tensor_, &golden_})
        PADLOCK_CHECK(buffer->poke(at + static_cast<std::int64_t>(i), data_[static_cast<std::size_t>(at) + i]));
    return {};
  }

  Status around(std::int64_t size) {
    PADLOCK_CHECK(tensor_.expect_intact(comparison_));
    PADLOCK_CHECK(found(comparison_, std::nullopt, "red zones"));
    for (const std::int64_t at : {std::int64_t{-1}, size}) {
      PADLOCK_CHECK(tensor_.poke(at, kRed ^ kOneBit));
      PADLOCK_CHECK(tensor_.expect_intact(comparison_));
      PADLOCK_CHECK(found(comparison_, tensor_.offset() - (at < 0 ? 1 : 0), "red zones"));
      PADLOCK_CHECK(tensor_.poke(at, kRed));
    }
    return {};
  }

  Comparison& comparison_;
  ScratchBuffer& tensor_;
  ScratchBuffer& golden_;
  std::span<const std::byte> data_;
};

}  // namespace

Result<DeviceReference> DeviceReference::create(runtime::ScratchSpace& space, Comparison& comparison,
                                                const Problem& problem, const Reference& reference, ScratchSet& set) {
  PADLOCK_TRY(ScratchSet golden, ScratchSet::allocate(space, problem.binding()));
  PADLOCK_CHECK(golden.write_inputs(problem.inputs()));
  for (std::size_t i = 0; i < golden.outputs.size(); ++i) PADLOCK_CHECK(golden.outputs[i].write(reference.bytes(i)));
  DeviceReference made(comparison, std::move(golden));
  PADLOCK_CHECK(made.try_kernel(set, problem, reference));
  return made;
}

Status DeviceReference::try_kernel(ScratchSet& set, const Problem& problem, const Reference& reference) {
  PADLOCK_CHECK(set.arm(runtime::Placement::red_zones, kRed, 0));
  PADLOCK_CHECK(write_inputs(set));
  for (std::size_t i = 0; i < set.inputs.size(); ++i)
    PADLOCK_CHECK(TensorTrial(*comparison_, set.inputs[i], golden_.inputs[i], problem.inputs()[i]).run());
  for (std::size_t i = 0; i < set.outputs.size(); ++i) {
    PADLOCK_CHECK(set.outputs[i].copy(golden_.outputs[i]));
    PADLOCK_CHECK(TensorTrial(*comparison_, set.outputs[i], golden_.outputs[i], reference.bytes(i)).run());
  }
  return {};
}

Status DeviceReference::write_inputs(ScratchSet& set) const {
  for (std::size_t i = 0; i < set.inputs.size(); ++i) PADLOCK_CHECK(set.inputs[i].copy(golden_.inputs[i]));
  return {};
}

Result<bool> DeviceReference::holds(const ScratchSet& set) {
  for (std::size_t i = 0; i < set.inputs.size(); ++i)
    PADLOCK_CHECK(set.inputs[i].expect(*comparison_, golden_.inputs[i]));
  for (std::size_t i = 0; i < set.outputs.size(); ++i)
    PADLOCK_CHECK(set.outputs[i].expect(*comparison_, golden_.outputs[i]));
  return are_intact(*comparison_, {&set, 1});
}

Status DeviceReference::adopt(const ScratchSet& set) {
  has_adopted_ = true;
  for (std::size_t i = 0; i < set.outputs.size(); ++i) PADLOCK_CHECK(golden_.outputs[i].copy(set.outputs[i]));
  return {};
}

Result<bool> are_intact(Comparison& comparison, std::span<const ScratchSet> sets) {
  for (const ScratchSet& set : sets)
    for (const auto* const list : {&set.inputs, &set.outputs})
      for (const ScratchBuffer& buffer : *list) PADLOCK_CHECK(buffer.expect_intact(comparison));
  PADLOCK_TRY(const std::optional<std::int64_t> first, comparison.first_difference());
  return !first.has_value();
}

}  // namespace padlock::tuner
