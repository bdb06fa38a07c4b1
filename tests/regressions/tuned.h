#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "tests/api/cuda_twins.h"
#include "tests/api/tuning_testing.h"
#include "tests/common/host_arrays.h"
#include "tests/common/try_request.h"
#include "tests/tuner/faults/fault.h"
#include "tuner/problem.h"
#include "tuner/request.h"

// What the regressions of classes J and K share: one program, requests to try its configs, and what a launch must give.
namespace padlock::regressions {

using api::testing::bound;
using api::testing::Environment;
using api::testing::Folder;
using api::testing::learn;
using api::testing::program_of;
using api::testing::tuned;
using api::testing::use;
using testing::quick_request;
using tuner::name_of;
using tuner::TryRequest;
using tuner::TryResult;
using tuner::Verdict;
using tuner::faults::Fault;

inline constexpr const char* kTunedPad =
    "program p(x: f32[A, B]) where A >= 1, B >= 1 { z = pad(x, low = [1, 2], high = [3, 1], value = -1.5) return z }";

inline constexpr const char* kSlow = "unroll=1,split=0";  ///< a config that no default is

inline api::Sizes sizes(std::int64_t a, std::int64_t b) { return {{"A", a}, {"B", b}}; }

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline tuner::CacheKey key_of(api::Context& context, const api::Program& program,
                              const api::CompileOptions& options = {}) {
  auto key = context.cache_key(program, options);
  REQUIRE_MESSAGE(key, (key ? "" : key.error().to_string()));
  return *std::move(key);
}

inline api::TuneOptions small_tuning(const api::Sizes& sizes, api::DeviceId device = {}) {
  api::TuneOptions options;
  options.device = device;
  options.sizes.opt = sizes;
  options.budget_seconds = 0.3;
  return options;
}

/// Launches it on data of a caller's, and compares with the reference.
inline void check_results(const api::BoundProgram& program, const api::Sizes& sizes) {
  const api::Arrays arrays(program);
  const Status launched = padlock::testing::run_on_host_arrays(program, arrays.arguments());
  REQUIRE_MESSAGE(launched, (launched ? "" : launched.error().to_string()));
  ir::BindRequest request{.tensors = {}, .symbols = sizes};
  request.tensors.resize(program.inputs().size());
  CHECK(arrays.results == api::reference_results(program.compiled().program(), request, arrays));
}

}  // namespace padlock::regressions
