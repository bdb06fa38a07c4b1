#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "runtime/host/allocation.h"
#include "runtime/host/system_memory.h"

namespace padlock::runtime {
namespace {

TEST_CASE("an allocation is zeroed, page-aligned and counted") {
  MemoryBudget budget(std::int64_t{1} << 30);
  auto allocation = budget.allocate(100000, "x");
  REQUIRE(allocation);
  CHECK(allocation->bytes() == 100000);
  CHECK(reinterpret_cast<std::uintptr_t>(allocation->data()) % 4096 == 0);
  CHECK(
      std::all_of(allocation->span().begin(), allocation->span().end(), [](std::byte b) { return b == std::byte{0}; }));
  CHECK(budget.available() == (std::int64_t{1} << 30) - 100000);
  allocation->data()[99999] = std::byte{1};
}

TEST_CASE("a large allocation is aligned to huge pages, and both its ends are usable") {
  MemoryBudget budget(std::int64_t{1} << 30);
  auto allocation = budget.allocate((5 << 20) + 3, "x");
  REQUIRE(allocation);
  CHECK(reinterpret_cast<std::uintptr_t>(allocation->data()) % (2 << 20) == 0);
  allocation->span().front() = allocation->span().back() = std::byte{7};
}

TEST_CASE("what fills one huge page is laid in it") {
  CHECK_FALSE(fills_huge_page(kHugePage - 1));
  CHECK(fills_huge_page(kHugePage));
  MemoryBudget budget(std::int64_t{1} << 30);
  for (int i = 0; i < 4; ++i) {
    auto allocation = budget.allocate(static_cast<std::int64_t>(kHugePage), "x");
    REQUIRE(allocation);
    CHECK(reinterpret_cast<std::uintptr_t>(allocation->data()) % kHugePage == 0);
  }
}

TEST_CASE("nothing is allocated for nothing") {
  MemoryBudget budget(0);
  auto allocation = budget.allocate(0, "x");
  REQUIRE(allocation);
  CHECK(allocation->data() == nullptr);
}

TEST_CASE("memory that is not there is refused before it is touched") {
  MemoryBudget budget(1000);
  REQUIRE(budget.allocate(600, "x"));  // freed at once: the budget limits live memory
  auto refused = budget.allocate(600, "result z");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message == "result z needs 600 bytes of memory, 400 are available");
  auto huge = MemoryBudget::of_this_process().allocate(std::int64_t{1} << 46, "result z");
  REQUIRE_FALSE(huge);
  CHECK(huge.error().code == Code::resource_exhausted);
}

TEST_CASE("moving an allocation moves the memory") {
  MemoryBudget budget(1 << 20);
  Allocation a = *budget.allocate(64, "a");
  std::byte* const data = a.data();
  Allocation b = std::move(a);
  CHECK(b.data() == data);
  CHECK(a.data() == nullptr);  // NOLINT(bugprone-use-after-move)
  a = std::move(b);
  CHECK(a.data() == data);
}

TEST_CASE("MemAvailable is read in KiB") {
  CHECK(parse_mem_available("MemTotal:  100 kB\nMemAvailable:     25 kB\n") == 25 * 1024);
  CHECK_FALSE(parse_mem_available("MemTotal: 100 kB\n").has_value());
  CHECK_FALSE(parse_mem_available("MemAvailable: lots\n").has_value());
  CHECK_FALSE(parse_mem_available("MemAvailable: 9223372036854775807 kB\n").has_value());
  CHECK_FALSE(parse_mem_available("").has_value());
}

TEST_CASE("a control group leaves its limit less what it uses, file cache apart") {
  CHECK(control_group_leaves("1000\n", "400\n", "") == 600);
  CHECK(control_group_leaves("1000\n", "400\n", "anon 1\ninactive_file 300\n") == 900);
  CHECK(control_group_leaves("1000\n", "1400\n", "") == 0);
  CHECK(control_group_leaves("1000\n", "400\n", "inactive_file 999999\n") == 1000);
  CHECK_FALSE(control_group_leaves("max\n", "400\n", "").has_value());
  CHECK_FALSE(control_group_leaves("9223372036854771712\n", "400\n", "").has_value());
  CHECK_FALSE(control_group_leaves("", "", "").has_value());
}

TEST_CASE("the control group's path is version 2's line") {
  CHECK(control_group_path("12:memory:/x\n0::/user.slice/a\n") == "/user.slice/a");
  CHECK_FALSE(control_group_path("12:memory:/x\n").has_value());
}

TEST_CASE("this machine has memory") { CHECK(available_memory() > 0); }

}  // namespace
}  // namespace padlock::runtime
