#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/tuner/cache/samples.h"
#include "tuner/exchange/exchange.h"

// Servers on this machine's loopback interface, for tests of an exchange.
namespace padlock::tuner::testing {

/// A socket that listens on a port of its own during its lifetime.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(fd_ >= 0);
    REQUIRE(::bind(fd_, generic, size) == 0);
    REQUIRE(::listen(fd_, 16) == 0);
    REQUIRE(::getsockname(fd_, generic, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(fd_); }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string place() const { return fmt::format("127.0.0.1:{}", port_); }

 private:
  int fd_, port_ = 0;
};

/// Serves one connection on a thread; the connection is closed when `serve` returns.
class OneConnection {
 public:
  explicit OneConnection(std::function<void(int)> serve)
      : thread_([this, serve = std::move(serve)] {
          pollfd waiting{.fd = listener_.fd(), .events = POLLIN, .revents = 0};
          if (::poll(&waiting, 1, 10'000) != 1) return;
          const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
          serve(fd);
          ::close(fd);
        }) {}
  OneConnection(const OneConnection&) = delete;
  OneConnection& operator=(const OneConnection&) = delete;
  ~OneConnection() { thread_.join(); }
  [[nodiscard]] std::string place() const { return listener_.place(); }

 private:
  Listener listener_;
  std::thread thread_;
};

inline std::string redis_server_file() {
  for (const char* file : {"/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"})
    if (::access(file, X_OK) == 0) return file;
  return {};
}

/// A Redis server without files, which ends with the object.
class RedisServer {
 public:
  RedisServer() {
    {
      const Listener free;  // closed at once: only its port is used
      place_ = free.place();
      port_ = free.port();
    }
    const std::string port = std::to_string(port_);
    std::string words[] = {redis_server_file(), "--port", port,    "--bind",       "127.0.0.1", "--save",       "",
                           "--appendonly",      "no",     "--dir", folder_.path(), "--logfile", folder_ / "log"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    REQUIRE(::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) == 0);
    for (int i = 0; i < 1000 && !answers(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    REQUIRE_MESSAGE(answers(), "redis-server does not answer");
  }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] const std::string& place() const { return place_; }
  [[nodiscard]] int port() const { return port_; }

 private:
  [[nodiscard]] bool answers() const {
    const auto exchange = CacheExchange::open("redis://" + place_);
    return exchange && (*exchange)->names();
  }

  Folder folder_;
  std::string place_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace padlock::tuner::testing
