#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "tests/common/host_arrays.h"
#include "tests/common/try_request.h"
#include "tests/session/cuda_twins.h"
#include "tests/session/tuning_testing.h"
#include "tests/tuner/faults/fault.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/request.h"

// Shared by the regressions of classes J and K: one program, requests that try its configs, and the right result of a
// launch.
namespace padlock::regressions {

using session::testing::bound;
using session::testing::Environment;
using session::testing::Folder;
using session::testing::learn;
using session::testing::program_of;
using session::testing::tuned;
using session::testing::use;
using testing::quick_request;
using tuner::name_of;
using tuner::TryRequest;
using tuner::TryResult;
using tuner::Verdict;
using tuner::faults::Fault;

inline constexpr const char* kTunedPad =
    "program p(x: f32[A, B]) where A >= 1, B >= 1 { z = pad(x, low = [1, 2], high = [3, 1], value = -1.5) return z }";

inline constexpr const char* kSlow = "unroll=1,split=0";  ///< never a default

inline tuner::Sizes sizes(std::int64_t a, std::int64_t b) { return {{"A", a}, {"B", b}}; }

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline tuner::CacheKey key_of(session::Context& context, const session::Program& program,
                              const session::CompileOptions& options = {}) {
  auto key = context.cache_key(program, options);
  REQUIRE_MESSAGE(key, (key ? "" : key.error().to_string()));
  return *std::move(key);
}

inline session::TuneOptions small_tuning(const tuner::Sizes& sizes, runtime::DeviceId device = {}) {
  session::TuneOptions options;
  options.device = device;
  options.sizes.opt = sizes;
  options.budget_seconds = 0.3;
  return options;
}

/// Launches it on a caller's data, and compares with the reference.
inline void check_results(const session::BoundProgram& program, const tuner::Sizes& sizes) {
  const session::Arrays arrays(program);
  const Status launched = padlock::testing::run_on_host_arrays(program, arrays.arguments());
  REQUIRE_MESSAGE(launched, (launched ? "" : launched.error().to_string()));
  ir::BindRequest request{.tensors = {}, .symbols = sizes};
  request.tensors.resize(program.inputs().size());
  CHECK(arrays.results == session::reference_results(program.compiled().program(), request, arrays));
}

}  // namespace padlock::regressions
