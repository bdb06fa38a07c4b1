// Many threads share one context: they compile, look up, bind and launch some fifty programs in any order. Every result
// is compared bit for bit with the reference's. It is meant for sanitizers. They do not see accesses of compiled
// kernels, so each launch writes between guards into poisoned memory. A build with assertions counts the tasks that
// ran.
//
// usage: padlock_capi_stress [SECONDS [THREADS]]; prints the seed, and takes it from PADLOCK_SEED.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "padlock/padlock.hpp"
#include "tests/common/environment.h"
#include "tests/common/rng.h"

namespace {

using padlock::testing::Rng;

constexpr int kPrograms = 50, kSizes = 4;
constexpr std::size_t kGuard = 64;
constexpr unsigned char kPoison = 0xA5;

/// One size of a program, with its data and results.
struct Problem {
  std::int64_t rows = 0, columns = 0, low = 0;
  std::vector<float> x;
  std::vector<unsigned char> expected;

  [[nodiscard]] padlock::Binding binding() const {
    return {{}, {{"B", rows}, {"S", columns}, {"lo", low}}, {padlock::bits_of(1.5f)}};
  }
};

struct Subject {
  std::string text;
  std::vector<Problem> problems;
};

std::string program_text(int number) {
  const char* const modes[] = {"constant, value = v", "reflect", "edge", "wrap"};
  return "program p" + std::to_string(number) +
         "(x: f32[B, S], lo: dim, v: f32) where B >= 1, S >= 10, 0 <= lo <= 8\n{ y = pad(x, low = [0, lo], high = "
         "[0, " +
         std::to_string(number % 9) + "], mode = " + modes[number % 4] + ") w = clamp(y, lo = -" +
         std::to_string(number) + ", hi = v) " + (number % 3 == 0 ? "z = transpose(w, perm = [1, 0])" : "z = relu(w)") +
         " return z }";
}

[[noreturn]] void fail(const char* what, const char* text) {
  std::fprintf(stderr, "padlock_capi_stress: %s: %s\n", what, text);
  std::abort();
}

template <class T>
T expect(padlock::Expected<T> value, const char* what) {
  if (!value) fail(what, value.error().text());
  return *std::move(value);
}

/// Launches between guards; the result's bytes.
std::vector<unsigned char> launch(const padlock::Call& call, const Problem& problem) {
  const auto bytes = static_cast<std::size_t>(call.results()[0].storage_bytes);
  std::vector<unsigned char> memory(bytes + 2 * kGuard, kPoison);
  const void* const inputs[] = {problem.x.data()};
  void* const results[] = {memory.data() + kGuard};
  if (const auto status = call.launch(inputs, 1, results, 1); !status) fail("launch", status.error().text());
  for (std::size_t i = 0; i < kGuard; ++i)
    if (memory[i] != kPoison || memory[kGuard + bytes + i] != kPoison) fail("launch", "a guard was written");
  return {memory.begin() + kGuard, memory.end() - kGuard};
}

Subject make_subject(const padlock::Context& context, int number, Rng& rng) {
  Subject subject{program_text(number), {}};
  padlock::CompileOptions reference;
  reference.device = "reference";
  const auto kernel = expect(expect(context.parse(subject.text), subject.text.c_str()).compile(reference), "reference");
  for (int i = 0; i < kSizes; ++i) {
    Problem problem;
    // Some are large enough for several tasks.
    const bool large = i + 1 == kSizes && number % 5 == 0;
    problem.rows = large ? 64 : rng.between(1, 5);
    problem.columns = large ? 1000 : rng.between(10, 60);
    problem.low = rng.between(0, 8);
    problem.x.resize(static_cast<std::size_t>(problem.rows * problem.columns));
    for (float& value : problem.x) value = static_cast<float>(rng.between(-9, 9)) / 2;
    problem.expected = launch(expect(kernel.bind(problem.binding()), "bind"), problem);
    subject.problems.push_back(std::move(problem));
  }
  return subject;
}

/// What one thread does until the end.
class Worker {
 public:
  Worker(const padlock::Context& context, const std::vector<Subject>& subjects, std::uint64_t seed)
      : context_(context), subjects_(subjects), rng_(seed), calls_(subjects.size() * kSizes) {}

  void step() {
    const auto subject = static_cast<std::size_t>(rng_.between(0, static_cast<std::int64_t>(subjects_.size()) - 1));
    const auto size = static_cast<std::size_t>(rng_.between(0, kSizes - 1));
    const Problem& problem = subjects_[subject].problems[size];
    padlock::Call& call = calls_[subject * kSizes + size];
    if (!call || rng_.chance(10)) call = bind(subject, problem);
    if (launch(call, problem) != problem.expected)
      fail("another result than the reference's", subjects_[subject].text.c_str());
    if (rng_.chance(2)) refuse(subject);
    if (rng_.chance(1)) call = {};
  }

 private:
  padlock::Call bind(std::size_t subject, const Problem& problem) {
    const auto program = expect(context_.parse(subjects_[subject].text), "parse");
    return expect(expect(program.compile(), "compile").bind(problem.binding()), "bind");
  }
  void refuse(std::size_t subject) {
    const auto program = expect(context_.parse(subjects_[subject].text), "parse");
    const auto call = program.bind({{}, {{"B", 1}, {"S", 5}, {"lo", 1}}});
    if (call || call.error().status() != PADLOCK_FAILED_PRECONDITION) fail("bind", "sizes that do not fit were taken");
  }

  const padlock::Context& context_;
  const std::vector<Subject>& subjects_;
  Rng rng_;
  std::vector<padlock::Call> calls_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 2;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 64;
  const std::uint64_t seed = padlock::testing::seed_or(
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);

  padlock_context_options options = padlock::Context::options();
  options.threads = 4;
  const padlock::Context context = expect(padlock::Context::create(options), "context");
  Rng rng(seed);
  std::vector<Subject> subjects;
  for (int i = 0; i < kPrograms; ++i) subjects.push_back(make_subject(context, i, rng));

  std::atomic<std::int64_t> steps = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      Worker worker(context, subjects, seed + 1 + static_cast<std::uint64_t>(i));
      do {
        worker.step();
        ++steps;
      } while (std::chrono::steady_clock::now() < end);
    });
  for (std::thread& worker : workers) worker.join();
  const padlock_statistics statistics = context.statistics();
  std::printf("%lld steps, %lld compiled, %lld look-ups\n", static_cast<long long>(steps),
              static_cast<long long>(statistics.programs_compiled), static_cast<long long>(statistics.look_ups));
  if (statistics.programs_compiled > 2 * kPrograms) fail("compile", "a program was compiled twice");
  if (context.trim() != statistics.kernels_cached) fail("trim", "a kernel is still held");
  return 0;
}
