// Option structs of other versions, and the options of a context.
#include <atomic>
#include <mutex>

#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

/// A padlock_compile_options of a later version.
struct NewerOptions {
  padlock_compile_options known = sized<padlock_compile_options>();
  std::int64_t unknown = 0;
};

TEST_CASE("options of an older header are read as far as they go, those of a newer one if they ask for nothing new") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  Kernel kernel;
  Error error;
  const auto compile_with = [&](const padlock_compile_options& options) {
    return padlock_program_compile(program, &options, kernel.out(), error.out());
  };
  padlock_compile_options options = sized<padlock_compile_options>();
  options.device = "reference";
  options.config = "nonsense";
  CHECK(compile_with(options) == PADLOCK_INVALID_ARGUMENT);
  options.struct_size = offsetof(padlock_compile_options, config);  // before there was a config
  CHECK(compile_with(options) == PADLOCK_OK);

  NewerOptions newer;
  newer.known.device = "reference";
  newer.known.struct_size = sizeof newer;
  CHECK(compile_with(newer.known) == PADLOCK_OK);
  newer.unknown = 1;
  CHECK(compile_with(newer.known) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) ==
        std::string("expected padlock_compile_options as this version knows it, found more that is set"));

  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{5000}, SIZE_MAX}) {
    options.struct_size = size;
    CHECK(compile_with(options) == PADLOCK_INVALID_ARGUMENT);
    CHECK(padlock_error_message(error) ==
          "expected padlock_compile_options's struct_size to be its sizeof, found " + std::to_string(size));
  }
}

TEST_CASE("what is told fits the struct of an older caller") {
  const Context context = make_context();
  padlock_statistics statistics = sized<padlock_statistics>();
  statistics.struct_size = offsetof(padlock_statistics, look_ups);
  statistics.look_ups = -7;
  REQUIRE(padlock_context_statistics(context, &statistics, nullptr) == PADLOCK_OK);
  CHECK(statistics.programs_compiled == 0);
  CHECK(statistics.look_ups == -7);
  CHECK(statistics.struct_size == offsetof(padlock_statistics, look_ups));
}

TEST_CASE("a context refuses options that make no sense") {
  const auto message_of = [](const padlock_context_options& options) {
    Context context;
    Error error;
    CHECK(padlock_context_create(&options, context.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
    CHECK(context.get() == nullptr);
    return std::string(padlock_error_message(error));
  };
  padlock_context_options options = sized<padlock_context_options>();
  options.threads = -1;
  CHECK(message_of(options) == "expected 0 to 4096 threads, found -1");
  options.threads = 0;
  options.cache_mode = 9;
  CHECK(message_of(options) == "expected a PADLOCK_CACHE_ mode, found 9");
  options.cache_mode = PADLOCK_CACHE_OFF;
  options.allocator.release = [](void*, void*, std::size_t, std::size_t) {};
  CHECK(message_of(options) == "expected both functions of an allocator or neither, found one");
}

struct Messages {
  std::mutex mutex;
  std::vector<std::string> list;
};

TEST_CASE("a logger hears what was compiled and why so; nothing is printed") {
  Messages messages;
  padlock_context_options options = sized<padlock_context_options>();
  options.log_user = &messages;
  options.log = [](void* user, padlock_log_level level, const char* message) {
    auto& heard = *static_cast<Messages*>(user);
    const std::lock_guard lock(heard.mutex);
    heard.list.push_back(std::to_string(level) + " " + message);
  };
  const Context context = make_context(&options);
  const Kernel kernel = compile(parse(context, kPadRelu), "reference");
  REQUIRE(messages.list.size() == 1);
  CHECK(messages.list[0].find("1 compiled pad_relu for reference") == 0);
}

TEST_CASE("a caller's own loop runs what is worth it") {
  static std::atomic<std::int64_t> indices;
  indices = 0;
  padlock_context_options options = sized<padlock_context_options>();
  options.threads = 4;  // that it has
  options.parallel_for = [](void*, std::int64_t count, padlock_loop_body body, void* state) {
    indices += count;
    for (std::int64_t i = count; i-- > 0;) body(state, i);
  };
  const Context context = make_context(&options);
  const Call call = bind(compile(parse(context, kPadRelu)), PadReluSizes(512, 2049, 5));
  std::vector<float> x(512 * 2049), z(512 * 2056);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(static_cast<std::int64_t>(i));
  const void* const inputs[] = {x.data()};
  void* const results[] = {z.data()};
  REQUIRE(padlock_call_launch(call, inputs, 1, results, 1, nullptr, nullptr) == PADLOCK_OK);
  CHECK(wrong_elements(z.data(), 512, 2049, 5) == 0);
  CHECK(indices > 1);
}

}  // namespace
}  // namespace padlock::capi::testing
