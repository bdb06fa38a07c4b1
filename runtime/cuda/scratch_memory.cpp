#include "runtime/cuda/scratch_memory.h"

#include <fmt/format.h>

#include "runtime/cuda/memory.h"

namespace padlock::runtime::cuda {
namespace {

constexpr std::size_t kInaccessible = ScratchMemory::kInaccessibleBytes;

class DeviceScratch : public ScratchMemory {
 public:
  explicit DeviceScratch(const Stream& stream) : stream_(&stream) {}

  Status write(std::int64_t offset, std::span<const std::byte> from) override {
    return copy_to_device(*stream_, at(offset), from);
  }
  Status read(std::int64_t offset, std::span<std::byte> to) const override {
    return copy_to_host(*stream_, to, at(offset));
  }
  Status copy(std::int64_t offset, const ScratchMemory& from, std::int64_t from_offset, std::int64_t count) override {
    const auto& other = static_cast<const DeviceScratch&>(from);
    PADLOCK_CHECK(enqueue_copy(*stream_, at(offset), other.at(from_offset), count));
    return stream_->synchronize();
  }
  Status fill(std::int64_t offset, std::byte value, std::int64_t count) override {
    PADLOCK_CHECK(enqueue_fill(*stream_, at(offset), value, count));
    return stream_->synchronize();
  }

 protected:
  [[nodiscard]] CUdeviceptr at(std::int64_t offset) const { return address_ + static_cast<std::uint64_t>(offset); }
  const Stream* stream_;  // borrowed (outlives this)
};

/// An allocation without inaccessible surroundings.
class AllocatedScratch final : public DeviceScratch {
 public:
  AllocatedScratch(const Stream& stream, DeviceBuffer buffer) : DeviceScratch(stream), buffer_(std::move(buffer)) {
    address_ = buffer_.address();
    bytes_ = buffer_.bytes();
  }

 private:
  DeviceBuffer buffer_;
};

/// Physical memory in the middle of a range of addresses. Made in steps; the destructor releases the steps taken.
class MappedScratch final : public DeviceScratch {
 public:
  explicit MappedScratch(const Stream& stream) : DeviceScratch(stream) {}
  ~MappedScratch() override {
    const Context& context = stream_->context();
    const Driver& driver = context.driver();
    const auto scope = ContextScope::enter(context);
    if (mapped_) driver.cuMemUnmap.address(address_, static_cast<std::size_t>(bytes_));
    if (handle_ != 0) driver.cuMemRelease.address(handle_);
    if (reserved_ != 0) driver.cuMemAddressFree.address(reserved_, reserved_bytes_);
  }

  Status map(std::size_t bytes) {
    const Context& context = stream_->context();
    const Driver& driver = context.driver();
    PADLOCK_TRY(const ContextScope scope, ContextScope::enter(context));
    const CUmemAllocationProp kind = {.type = kMemAllocationPinned,
                                      .location = {.type = kMemLocationDevice, .id = context.ordinal()}};
    std::size_t unit = 0;
    PADLOCK_CHECK(context.call(driver.cuMemGetAllocationGranularity, &unit, &kind, kMemGranularityMinimum));
    if (unit == 0) return internal_error("the CUDA driver maps memory in units of 0 bytes");
    const std::size_t size = (bytes + unit - 1) / unit * unit;
    const std::size_t before = (kInaccessible + unit - 1) / unit * unit;
    PADLOCK_CHECK(context.call(driver.cuMemAddressReserve, &reserved_, size + 2 * before, std::size_t{0},
                               CUdeviceptr{0}, std::uint64_t{0}));
    reserved_bytes_ = size + 2 * before;
    PADLOCK_CHECK(context.call(driver.cuMemCreate, &handle_, size, &kind, std::uint64_t{0}));
    address_ = reserved_ + before;
    bytes_ = static_cast<std::int64_t>(size);
    PADLOCK_CHECK(context.call(driver.cuMemMap, at(0), size, std::size_t{0}, handle_, std::uint64_t{0}));
    mapped_ = true;
    const CUmemAccessDesc access = {.location = kind.location, .flags = kMemAccessReadWrite};
    return context.call(driver.cuMemSetAccess, at(0), size, &access, std::size_t{1});
  }

 private:
  // Owned, each unless 0 or false.
  CUdeviceptr reserved_ = 0;
  std::size_t reserved_bytes_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
  bool mapped_ = false;
};

}  // namespace

bool DeviceScratchSpace::is_isolated() const {
  const Driver& driver = stream_.context().driver();
  return driver.cuMemAddressReserve && driver.cuMemAddressFree && driver.cuMemCreate && driver.cuMemRelease &&
         driver.cuMemMap && driver.cuMemUnmap && driver.cuMemSetAccess && driver.cuMemGetAllocationGranularity;
}

Result<std::unique_ptr<ScratchMemory>> DeviceScratchSpace::map(std::int64_t bytes, std::int64_t /*aligned*/,
                                                               const std::string& what) {
  if (bytes <= 0) return resource_exhausted(fmt::format("{} cannot have {} bytes of scratch memory", what, bytes));
  if (!is_isolated()) {
    PADLOCK_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(stream_.context(), bytes, what));
    return std::make_unique<AllocatedScratch>(stream_, std::move(buffer));
  }
  auto memory = std::make_unique<MappedScratch>(stream_);
  if (Status mapped = memory->map(static_cast<std::size_t>(bytes)); !mapped)
    return std::unexpected(
        std::move(mapped).error().in(fmt::format("{} needs {} bytes of scratch memory", what, bytes)));
  return memory;
}

Result<std::int64_t> DeviceScratchSpace::free_bytes() const {
  PADLOCK_TRY(const std::optional<std::int64_t> known, free_memory(stream_.context()));
  return known.value_or(std::int64_t{1} << 62);
}

}  // namespace padlock::runtime::cuda
