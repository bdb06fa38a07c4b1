#include "compiler/emit/scalar/lane_masks.h"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <llvm/IR/Constants.h>

namespace padlock::compiler {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr unsigned kVectorBytes = 16;

/// Emits masks of a vector of 16 bytes from constants, which LLVM folds.
class FoldedMasks {
 public:
  explicit FoldedMasks(unsigned bits) : lanes(8 * kVectorBytes / bits), bits_(bits) {}

  Words range(unsigned first, unsigned end) {
    return words_of(masks_.range(builder_.getInt32(first), builder_.getInt32(end), bits_));
  }
  Words choose_range(unsigned first, unsigned end, std::uint32_t a, std::uint32_t b) {
    const auto all = [&](std::uint32_t word) { return builder_.CreateVectorSplat(4, builder_.getInt32(word)); };
    return words_of(masks_.choose_range(builder_.getInt32(first), builder_.getInt32(end), all(a), all(b), bits_));
  }

  const unsigned lanes;

 private:
  static Words words_of(llvm::Value* value) {
    Words words;
    for (unsigned i = 0; i < kVectorBytes / 4; ++i) {
      const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
      REQUIRE(constant != nullptr);
      const auto* word = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
      REQUIRE(word != nullptr);
      words.push_back(static_cast<std::uint32_t>(word->getZExtValue()));
    }
    return words;
  }

  unsigned bits_;
  llvm::LLVMContext context_;
  llvm::IRBuilder<> builder_{context_};
  LaneMasks masks_{builder_, TargetFeatures(), static_cast<int>(lanes)};
};

}  // namespace

TEST_CASE("a mask has all bits of the lanes in its range, and no others") {
  int ranges = 0;
  for (const unsigned bits : {8U, 16U, 32U, 64U}) {
    FoldedMasks masks(bits);
    for (unsigned end = 0; end <= masks.lanes; ++end)
      for (unsigned first = 0; first <= end; ++first, ++ranges) {
        CAPTURE(bits);
        CAPTURE(first);
        CAPTURE(end);
        Words expected, chosen;
        for (unsigned bit = 0; bit < 8 * kVectorBytes; ++bit) {
          if (bit % 32 == 0) expected.push_back(0);
          const bool inside = bit / bits >= first && bit / bits < end;
          expected.back() |= (inside ? 1U : 0U) << (bit % 32);
        }
        for (const std::uint32_t word : expected) chosen.push_back((0x13579bdf & word) | (0x2468ace0 & ~word));
        CHECK(masks.range(first, end) == expected);
        CHECK(masks.choose_range(first, end, 0x13579bdf, 0x2468ace0) == chosen);
      }
  }
  CHECK(ranges == 153 + 45 + 15 + 6);
}

}  // namespace padlock::compiler
