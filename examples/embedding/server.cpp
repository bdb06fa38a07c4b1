// A server's loop: many threads, one context, a size for every request. A program is compiled for whoever asks first;
// calls are kept by their sizes, so that a request of known sizes is a launch.
// usage: server [THREADS [REQUESTS]]
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "padlock/padlock.hpp"

namespace {

constexpr const char* kProgram = R"(program pad_to(x: f32[B, S], width: dim)
where 1 <= B, 1 <= S <= width
{ y = pad(x, low = [0, 0], high = [0, width - S], value = 0) return y })";

/// Calls by their sizes. A server that meets many drops old ones.
class Calls {
 public:
  explicit Calls(padlock::Kernel kernel) : kernel_(std::move(kernel)) {}

  padlock::Expected<padlock::Call> find(std::int64_t rows, std::int64_t columns, std::int64_t width) {
    const Key key{rows, columns, width};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto found = calls_.find(key); found != calls_.end()) return found->second;
    }
    auto call = kernel_.bind({{}, {{"B", rows}, {"S", columns}, {"width", width}}});
    if (!call) return call;
    const std::lock_guard<std::mutex> lock(mutex_);
    return calls_.emplace(key, *std::move(call)).first->second;
  }

 private:
  using Key = std::vector<std::int64_t>;
  padlock::Kernel kernel_;
  std::mutex mutex_;
  std::map<Key, padlock::Call> calls_;
};

/// One request: right?
bool serve(Calls& calls, std::int64_t rows, std::int64_t columns) {
  const std::int64_t width = (columns + 15) / 16 * 16;
  const auto call = calls.find(rows, columns, width);
  if (!call) return false;
  std::vector<float> x(static_cast<std::size_t>(rows * columns), 3.0f), y(static_cast<std::size_t>(rows * width), 7.0f);
  if (!call->launch({x.data()}, {y.data()})) return false;
  for (std::int64_t i = 0; i < rows * width; ++i)
    if (y[static_cast<std::size_t>(i)] != (i % width < columns ? 3.0f : 0.0f)) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? static_cast<int>(std::strtol(argv[1], nullptr, 10)) : 8;
  const int requests = argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 1000;
  const auto context = padlock::Context::create();
  if (!context) return 1;
  const auto program = context->parse(kProgram);
  const auto kernel = program ? program->compile() : padlock::Expected<padlock::Kernel>(program.error());
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().text());
    return 1;
  }
  Calls calls(*kernel);
  std::atomic<int> served{0};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < threads; ++worker)
    workers.emplace_back([&calls, &served, worker, requests] {
      for (int i = 0; i < requests; ++i) served += serve(calls, 1 + (worker + i) % 4, 1 + (7 * i) % 40);
    });
  for (std::thread& worker : workers) worker.join();
  std::printf("%d of %d requests served\n", served.load(), threads * requests);
  return served == threads * requests ? 0 : 1;
}
