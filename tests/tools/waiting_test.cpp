#include "tools/text/waiting.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>

namespace padlock::tools {
namespace {

using File = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

std::string contents(std::FILE* file) {
  std::string text(200, '\0');
  text.resize(static_cast<std::size_t>(::pread(::fileno(file), text.data(), text.size(), 0)));
  return text;
}

TEST_CASE("what takes long is named with its seconds, and the line is wiped") {
  const File file(std::tmpfile());
  REQUIRE(file != nullptr);
  {
    const Waiting waiting("packing", file.get(), std::chrono::milliseconds(0));
    while (contents(file.get()).empty()) std::this_thread::yield();
    CHECK(contents(file.get()) == "\rpacking, 0 s");
  }
  CHECK(contents(file.get()).starts_with("\rpacking, 0 s"));
  CHECK(contents(file.get()).ends_with("\r            \r"));
}

TEST_CASE("what ends before shows nothing, and without a terminal nothing is shown") {
  const File file(std::tmpfile());
  REQUIRE(file != nullptr);
  {
    const Waiting waiting("packing", file.get(), std::chrono::hours(1));
  }
  CHECK(contents(file.get()).empty());
  {
    const Waiting waiting("packing", nullptr, std::chrono::milliseconds(0));
  }
}

}  // namespace
}  // namespace padlock::tools
