#include "tuner/exchange/socket.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace padlock::tuner {
namespace {

struct FreeAddresses {
  void operator()(addrinfo* first) const { ::freeaddrinfo(first); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> addresses_of(const std::string& host, int port) {
  addrinfo wanted = {};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (status != 0) return unavailable(status == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(status));
  return Addresses(found);
}

bool is_temporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void Socket::close() {
  if (is_open()) ::close(std::exchange(fd_, -1));
}

Status Socket::connect(const std::string& host, int port) {
  PADLOCK_TRY(const Addresses addresses, addresses_of(host, port));
  Status last = unavailable("the host has no address");
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    close();
    fd_ = ::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    int error = fd_ < 0 || ::connect(fd_, at->ai_addr, at->ai_addrlen) != 0 ? errno : 0;
    if (error == EINPROGRESS) {
      PADLOCK_CHECK(wait(POLLOUT));
      socklen_t size = sizeof error;
      if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
    if (error == 0) return {};
    last = unavailable(std::strerror(error));
  }
  close();
  return last;
}

Status Socket::wait(short events) const {
  for (;;) {
    const auto left = budget_.time_left();
    if (left <= ExchangeBudget::Duration(0)) return unavailable("no answer in time");
    pollfd socket{.fd = fd_, .events = events, .revents = 0};
    const auto most = std::chrono::ceil<std::chrono::milliseconds>(left);
    const int ready = ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(most.count(), 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return unavailable(std::strerror(errno));
  }
}

Status Socket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    PADLOCK_CHECK(wait(POLLOUT));
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !is_temporary(errno)) return unavailable(std::strerror(errno));
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::size_t> Socket::receive(std::span<char> into) {
  const std::size_t most = std::min(into.size(), budget_.bytes_left());
  if (most == 0)
    return unavailable(fmt::format("expected at most {} bytes in all, found more", ExchangeBudget::kBytes));
  for (;;) {
    PADLOCK_CHECK(wait(POLLIN));
    const ssize_t got = ::recv(fd_, into.data(), most, MSG_DONTWAIT);
    if (got == 0) return unavailable("the server has closed the connection");
    if (got < 0 && !is_temporary(errno)) return unavailable(std::strerror(errno));
    if (got < 0) continue;
    budget_.take_bytes(static_cast<std::size_t>(got));
    return static_cast<std::size_t>(got);
  }
}

bool Socket::has_bytes() const {
  char byte = 0;
  return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace padlock::tuner
