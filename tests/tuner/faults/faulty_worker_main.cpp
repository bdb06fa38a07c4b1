// A worker whose configs misbehave as PADLOCK_TEST_FAULT says.

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "tests/tuner/faults/faulty_code.h"
#include "tuner/trial/try_config.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/wire.h"
#include "tuner/worker/worker_loop.h"

namespace padlock::tuner::faults {
namespace {

Fault fault_of_process() {
  const char* const name = std::getenv(kFaultVariable);
  for (const Expectation& expectation : kExpectations)
    if (name != nullptr && expectation.name == name) return expectation.fault;
  return Fault::none;
}

/// Whether it is this config that misbehaves.
bool is_faulty(const TryRequest& request) {
  const char* const named = std::getenv(kFaultyConfigsVariable);
  const std::string_view mark = named != nullptr ? named : request.device == "host" ? kFaultyHost : kFaultyGpu;
  return request.config.find(mark) != std::string::npos;
}

/// Returns whether the worker misbehaves at this point of its request.
bool is_faulty_place(std::size_t index) {
  const char* const named = std::getenv(kFaultyPlaceVariable);
  return named == nullptr || std::to_string(index) == named;
}

void die_at(Step step) {
  const char* const death = std::getenv(kDeathVariable);
  if (death != nullptr && text_of(step) == death) std::raise(SIGKILL);
}

/// To the parent: stdin is its socket, too.
void write_raw(const std::string& bytes) {
  if (::write(STDIN_FILENO, bytes.data(), bytes.size()) < 0) ::_exit(9);
}

void break_protocol(Fault fault) {
  std::string result = encode_frame(FrameKind::result, to_bytes(TryResult{}));
  switch (fault) {
    case Fault::garbage:
      write_raw("*** glibc detected ***: something is odd\n");
      break;
    case Fault::truncated_frame:
      write_raw(result.substr(0, 30));
      ::_exit(0);
    case Fault::huge_length:
      for (std::size_t i = 12; i < 16; ++i) result[i] = '\xff';
      write_raw(result);
      break;
    case Fault::wrong_checksum:
      result.back() ^= 1;
      write_raw(result);
      break;
    case Fault::foreign_verdict:
      write_raw(encode_frame(FrameKind::result, "\xc8"));
      break;
    case Fault::two_results:
      write_raw(result + result);
      break;
    case Fault::flood:
      for (;;) write_raw(encode_frame(FrameKind::step, to_bytes(Step::time)));
    case Fault::silence:
      for (;;) ::pause();
    default:
      break;
  }
}

/// During its lifetime there are hardly any addresses for mappings.
class NoAddresses {
 public:
  NoAddresses() {
    ::getrlimit(RLIMIT_AS, &before_);
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    rlimit limit = before_;
    // One buffer takes 64 MiB and more, and the first of two is to be had.
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (rlim_t{100} << 20);
    ::setrlimit(RLIMIT_AS, &limit);
  }
  NoAddresses(const NoAddresses&) = delete;
  NoAddresses& operator=(const NoAddresses&) = delete;
  ~NoAddresses() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

class FaultyHandler {
 public:
  TryResult operator()(const TryRequest& request, const std::function<void(Step)>& on_step) {
    bool faulty = is_faulty(request) && is_faulty_place(0);
    const Fault fault = faulty ? fault_of_process() : Fault::none;
    break_protocol(fault);
    std::size_t place = 0;  // the next
    current_ = [&](Step step) {
      on_step(step);
      if (step == Step::prepare) {
        faulty = is_faulty(request) && is_faulty_place(place);
        set_fault(faulty ? fault_of_process() : Fault::none,
                  place == 0 ? request.symbols : request.further.at(place - 1).symbols);
        ++place;
      }
      if (faulty) die_at(step);
    };
    // So that the n-th allocation is this config's.
    if (fault == Fault::no_scratch_memory) trials_ = make();
    std::optional<NoAddresses> limited;
    if (fault == Fault::no_scratch_memory && request.device == "host") limited.emplace();
    return trials_->try_config(request);
  }

 private:
  std::unique_ptr<Trials> make() {
    set_comparison_fault(is_of_comparison(fault_of_process()) ? fault_of_process() : Fault::none);
    return std::make_unique<Trials>([this](Step step) { current_(step); }, make_faulty_compiler);
  }
  std::function<void(Step)> current_;
  std::unique_ptr<Trials> trials_ = make();
};

}  // namespace
}  // namespace padlock::tuner::faults

int main() {
  using namespace padlock::tuner;
  using namespace padlock::tuner::faults;
  if (fault_of_process() == Fault::full_pipe) {  // reads nothing
    write_raw(encode_frame(FrameKind::hello, ""));
    for (;;) ::pause();
  }
  const auto handler = std::make_shared<FaultyHandler>();
  return run_worker([handler](const TryRequest& request, const std::function<void(Step)>& on_step) {
    return (*handler)(request, on_step);
  });
}
