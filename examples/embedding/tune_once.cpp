// Tune once and keep what was learnt: a later process, or a later context of this one, reads it from the file.
// usage: tune_once CACHE_FILE [SECONDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "padlock/padlock.hpp"

namespace {

constexpr const char* kProgram = R"(program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B, 0 <= S, S + lo >= 0
{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z })";

padlock::Context open(const std::string& cache, padlock_cache_mode mode) {
  padlock_context_options options = padlock::Context::options();
  options.cache_file = cache.c_str();
  options.cache_mode = mode;
  return padlock::Context::create(options).value();
}

void tune(const std::string& cache, double seconds) {
  const padlock::Context context = open(cache, PADLOCK_CACHE_READ_WRITE);
  padlock::TuneOptions options;
  options.opt = {{"B", 64}, {"S", 1000}, {"lo", 3}};
  options.budget_seconds = seconds;
  options.resume = true;
  options.progress = [](void*, const padlock_progress* progress) -> std::int32_t {
    std::fprintf(stderr, "\r%d of %d configs", progress->tried, progress->config_count);
    return 0;  // anything else stops it
  };
  const padlock::Tuner tuner = context.parse(kProgram).value().tuner(options).value();
  tuner.run().value();
  std::fprintf(stderr, "\n");
}

/// Serves as a process that starts tomorrow does.
void serve(const std::string& cache) {
  const padlock::Context context = open(cache, PADLOCK_CACHE_READ);
  const padlock::Kernel kernel = context.parse(kProgram).value().compile().value();
  const padlock::Call call = kernel.bind({{}, {{"B", 64}, {"S", 1000}, {"lo", 3}}}).value();
  std::printf("%s\n%s\n", call.config(), call.reason());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: tune_once CACHE_FILE [SECONDS]\n");
    return 2;
  }
  try {
    tune(argv[1], argc > 2 ? std::strtod(argv[2], nullptr) : 1);
    serve(argv[1]);
  } catch (const padlock::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
  return 0;
}
