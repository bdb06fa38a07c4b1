#include "tuner/worker/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tuner/worker/frame.h"
#include "tuner/worker/wire.h"

namespace padlock::tuner {
namespace {

/// For a worker that has closed its side and is about to end: its exit status is worth waiting for.
constexpr std::chrono::milliseconds kPatience{200};

/// Time between two questions whether to stop.
constexpr std::chrono::milliseconds kPause{100};

/// Returns the folder of a file; empty if it has none.
std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(path.substr(0, slash == std::string_view::npos ? 0 : slash));
}

std::string executable() {
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// Returns the file of this code: the library, if it is one. Empty if the system does not say. Asks the kernel, since
/// the linker's name may be relative to a folder that is no longer the current one.
std::string library() {
  std::ifstream maps("/proc/self/maps");
  const auto code = reinterpret_cast<std::uintptr_t>(&folder_of);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &first, &last) != 2 || code < first || code >= last)
      continue;
    const std::size_t path = line.find('/');
    return path == std::string::npos ? "" : line.substr(path);
  }
  return {};
}

std::vector<std::string> places_beside() {
  std::vector<std::string> places;
  for (const std::string& file : {library(), executable()}) {
    const std::string folder = folder_of(file);
    if (folder.empty()) continue;
    for (const char* place : {".", "../libexec", "../libexec/padlock", PADLOCK_LIBRARY_TO_WORKER})
      places.push_back(fmt::format("{}/{}/{}", folder, place, kWorkerName));
  }
  return places;
}

bool can_run(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

Result<std::string> find_worker(const std::string& option) { return find_worker(option, places_beside()); }

Result<std::string> find_worker(const std::string& option, const std::vector<std::string>& places) {
  if (!option.empty()) {
    if (can_run(option)) return option;
    return unavailable(fmt::format("expected a worker to tune with, found that {} cannot be run", option));
  }
  const char* const variable = ::secure_getenv(kWorkerVariable);
  if (variable != nullptr && *variable != '\0') {
    if (can_run(variable)) return variable;
    return unavailable(
        fmt::format("expected a worker to tune with, found that {}={} cannot be run", kWorkerVariable, variable));
  }
  for (const std::string& place : places)
    if (can_run(place)) return place;
  return unavailable(
      fmt::format("tuning needs a worker process: no option names one, {} is not set, and there is none of {}",
                  kWorkerVariable, fmt::join(places, ", ")));
}

Result<Worker> Worker::start(Options options) {
  if (options.command.empty()) return invalid_argument("expected a worker's command, found none");
  Worker worker(std::move(options));
  PADLOCK_CHECK(worker.make_ready());
  return worker;
}

Status Worker::spawn() {
  ready_ = false;
  process_.reset();
  PADLOCK_TRY(WorkerProcess process, WorkerProcess::spawn(options_.command));
  process_.emplace(std::move(process));
  ++starts_;
  return {};
}

Status Worker::wait_for_hello() {
  const auto deadline = Clock::now() + options_.start_limit;
  const auto not_started = [&](const std::string& why) {
    process_.reset();
    return unavailable(fmt::format("{} did not start as a worker: it {}", options_.command.front(), why));
  };
  FrameReader reader;
  while (true) {
    std::string_view nothing;
    std::string incoming;
    const auto event = process_->exchange(nothing, incoming, deadline);
    reader.append(incoming);
    const auto frame = reader.next();
    if (!frame) return not_started("wrote what is no frame: " + frame.error().message);
    if (*frame) {
      if ((*frame)->kind != FrameKind::hello || reader.pending() != 0) return not_started("began with another frame");
      ready_ = true;
      return {};
    }
    if (event == WorkerProcess::Event::ended) return not_started(process_->end(kPatience).text);
    if (event == WorkerProcess::Event::timeout)
      return not_started(fmt::format("said nothing for {} ms", options_.start_limit.count()));
  }
}

Status Worker::make_ready() {
  // Replace a worker that died or wrote without a request; no config is to blame.
  if (process_ && ready_ && !process_->is_idle()) process_.reset();
  if (!process_) PADLOCK_CHECK(spawn());
  return ready_ ? Status() : wait_for_hello();
}

TryResult Worker::result_of(Verdict verdict, std::string message) const {
  return {.verdict = verdict, .message = std::move(message), .passed = std::max<std::int64_t>(places_ - 1, 0)};
}

TryResult Worker::died() {
  const WorkerProcess::End end = process_->end(kPatience);
  const bool fault = end.signal == SIGSEGV || end.signal == SIGBUS;
  return result_of(step_ == Step::run_flush && fault ? Verdict::out_of_bounds_load : Verdict::crash,
                   fmt::format("the worker {} while {}", end.text, text_of(step_)));
}

Result<TryResult> Worker::converse(std::string_view outgoing, std::int64_t limit_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(limit_ms);
  ready_ = false;
  step_ = Step::none;
  places_ = 0;
  FrameReader reader;
  while (true) {
    if (options_.cancelled && options_.cancelled())
      return std::unexpected(Error{.code = Code::cancelled,
                                   .blame = Blame::user,
                                   .message = fmt::format("trying a config was interrupted while {}", text_of(step_))});
    std::string incoming;
    const auto event = process_->exchange(outgoing, incoming, std::min(deadline, Clock::now() + kPause));
    reader.append(incoming);
    while (true) {
      const auto frame = reader.next();
      if (!frame) return result_of(Verdict::protocol, "the worker wrote " + frame.error().message);
      if (!*frame) break;
      if ((*frame)->kind == FrameKind::step) {
        const auto entered = step_from_bytes((*frame)->payload);
        if (!entered) return result_of(Verdict::protocol, "the worker wrote no step: " + entered.error().message);
        step_ = *entered;
        places_ += step_ == Step::prepare ? 1 : 0;
      } else if ((*frame)->kind == FrameKind::result) {
        auto result = result_from_bytes((*frame)->payload);
        if (!result) return result_of(Verdict::protocol, "the worker wrote no result: " + result.error().message);
        if (reader.pending() != 0) return result_of(Verdict::protocol, "the worker wrote more than a result");
        ready_ = !result->worker_ends;
        return *std::move(result);
      } else {
        return result_of(Verdict::protocol, "the worker wrote a frame that is not its own");
      }
    }
    if (event == WorkerProcess::Event::ended) {
      if (reader.pending() == 0) return died();
      return result_of(Verdict::protocol, fmt::format("a frame of the worker ends after {} bytes; it {}",
                                                      reader.pending(), process_->end(kPatience).text));
    }
    if (event == WorkerProcess::Event::timeout && Clock::now() >= deadline)
      return result_of(Verdict::timeout, fmt::format("no verdict after {} ms, while {}", limit_ms, text_of(step_)));
  }
}

Result<TryResult> Worker::try_config(const TryRequest& request) {
  const std::string frame = encode_frame(FrameKind::request, to_bytes(request));
  PADLOCK_CHECK(make_ready());
  Result<TryResult> result = converse(frame, request.time_limit_ms);
  // A config is not to blame for the configs that are compiled along with it.
  if (result && result->verdict != Verdict::ok && !ready_ && step_ == Step::compile && !request.next.empty()) {
    process_.reset();
    TryRequest alone = request;
    alone.next.clear();
    return try_config(alone);
  }
  // A worker that died before it began was dying already: the first time, the config is not to blame.
  if (result && result->verdict == Verdict::crash && step_ == Step::none) {
    process_.reset();
    PADLOCK_CHECK(make_ready());
    result = converse(frame, request.time_limit_ms);
  }
  // Kill the process now, and start the next while the caller handles the verdict. The next request reports a failed
  // start.
  if (!ready_ && !spawn()) process_.reset();
  return result;
}

}  // namespace padlock::tuner
