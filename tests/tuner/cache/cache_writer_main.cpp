// One of many processes that write a cache until they are killed: cache_writer FILE WRITER COUNT [URL]. Prints the
// number of each record once it is committed or, with a URL, left at that exchange.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/tuner/cache/crash_records.h"
#include "tuner/cache/store.h"
#include "tuner/exchange/sync.h"

namespace padlock::tuner {
namespace {

bool leave_at(const std::string& path, const std::string& url) {
  auto exchange = CacheExchange::open(url);
  auto file = StoreFile::open(path, Access::write);
  if (!exchange || !file) return false;
  const auto synced = sync(*file, **exchange);
  for (const std::string& problem : synced ? synced->problems : std::vector{synced.error().message})
    fmt::print(stderr, "writer: {}\n", problem);
  return synced && synced->problems.empty();
}

int main_of(const std::string& path, int writer, int count, const std::string& url) {
  bool warned = false;
  auto store = Store::open({.mode = Mode::read_write, .user_file = path, .warn = [&warned](const std::string& text) {
                              warned = true;
                              fmt::print(stderr, "writer: {}\n", text);
                            }});
  if (!store) return 2;
  const CacheKey key = testing::key_of_writer(writer);
  for (int i = 0; i < count; ++i) {
    const Measurement written[] = {testing::crash_record(writer, i)};
    if (!(*store)->add(key, written) || warned) return 3;
    if (!url.empty() && !leave_at(path, url)) return 5;
    const std::string line = fmt::format("{}\n", i);
    if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return 4;
  }
  return 0;
}

}  // namespace
}  // namespace padlock::tuner

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that fails leaves no process behind
  return padlock::tuner::main_of(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), argc == 5 ? argv[4] : "");
}
