#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "session/compile/context.h"
#include "session/compile/tuning_cache.h"
#include "tests/common/expect.h"
#include "tests/tuner/cache/samples.h"

// Shared by tests of tuning and its cache through a session.
namespace padlock::session::testing {

using tuner::testing::Folder;

inline Program program_of(const std::string& text) { return padlock::testing::value_of(Program::from_text(text)); }

inline void use(Context& context, const std::string& file, tuner::Mode mode) {
  tuner::StoreOptions options;
  options.mode = mode;
  options.user_file = file;
  REQUIRE(context.use_cache(options));
}

inline TuneReport tuned(Context& context, const Program& program, const TuneOptions& options) {
  return padlock::testing::value_of(context.tune(program, options));
}

/// Binds a program by its symbols' values alone.
inline BoundProgram bound(Context& context, const Program& program, const tuner::Sizes& sizes,
                          const CompileOptions& options = {}) {
  const auto compiled = context.compile(program, options);
  REQUIRE_MESSAGE(compiled, (compiled ? "" : compiled.error().to_string()));
  ir::BindRequest request{.tensors = {}, .symbols = sizes};
  request.tensors.resize(program.ir().tensor_parameters().size());
  auto made = compiled->bind(request);
  REQUIRE_MESSAGE(made, (made ? "" : made.error().to_string()));
  return *std::move(made);
}

/// Puts a choice into a cache file, as a tuning for tensors in a cache would.
inline void learn(const std::string& file, const tuner::CacheKey& key, const std::string& region,
                  const std::string& config) {
  auto store = tuner::Store::open({.mode = tuner::Mode::read_write, .user_file = file});
  REQUIRE(store);
  tuner::Choice choice = tuner::testing::choice(region, config);
  choice.regime = tuner::Regime::warm;
  REQUIRE((*store)->add(key, choice));
}

/// Sets a variable of this process and of those it starts, during the object's lifetime.
class Environment {
 public:
  Environment(const char* name, std::string_view value) : name_(name) { ::setenv(name, std::string(value).c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace padlock::session::testing
