#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "ir/reference/numeric.h"
#include "tests/activation/activation_run.h"
#include "tests/activation/exact.h"

namespace padlock::activation {

/// The right results of a function for all arguments of f16 or bf16.
class HalfJudged {
 public:
  HalfJudged(ir::Op op, ir::DType dtype) : dtype_(dtype), arguments_(65536) {
    Judge judge;
    std::iota(arguments_.begin(), arguments_.end(), std::uint16_t{0});
    for (const std::uint16_t bits : arguments_)
      results_.push_back(ir::bits_from_float(dtype, judge.value(op, ir::float_from_bits(dtype, bits))));
  }

  /// Returns how many results are wrong.
  [[nodiscard]] int wrong(const ActivationRun& run) const {
    std::vector<std::uint16_t> found;
    REQUIRE(run.run(arguments_, found).has_value());
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += found[i] != results_[i] && !(ir::is_nan(dtype_, found[i]) && ir::is_nan(dtype_, results_[i])) ? 1 : 0;
    return wrong;
  }

 private:
  ir::DType dtype_;
  std::vector<std::uint16_t> arguments_;
  std::vector<std::uint64_t> results_;
};

}  // namespace padlock::activation
