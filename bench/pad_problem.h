#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/context.h"
#include "bench/harness.h"
#include "support/error.h"

namespace padlock::bench {

/// pad (by 1 on every side) and relu of a rows x columns array of f32, compiled and bound, with its data.
class PadProblem {
 public:
  /// Runs it once and compares with the loop written by hand: nothing is timed that is not right. Errors: as the
  /// API's, and internal where the results differ. The context outlives the problem.
  [[nodiscard]] static Result<std::unique_ptr<PadProblem>> create(api::Context& context, std::int64_t rows,
                                                                  std::int64_t columns);

  /// Bytes that must be read and written.
  [[nodiscard]] double bytes() const;
  /// memcpy of the same number of bytes (the baseline), the loop written by hand, and Padlock with its default config
  /// and with each kind of store. They borrow the problem.
  [[nodiscard]] std::vector<Contestant> contestants();

 private:
  PadProblem(std::int64_t rows, std::int64_t columns);
  struct Variant {
    std::string name;
    api::BoundProgram bound;
  };
  [[nodiscard]] Status compile(api::Context& context);
  [[nodiscard]] Status launch(const Variant& variant);
  [[nodiscard]] Status verify();
  void run_by_hand();

  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<float> in_;
  std::vector<float> out_;
  std::vector<Variant> variants_;
};

}  // namespace padlock::bench
