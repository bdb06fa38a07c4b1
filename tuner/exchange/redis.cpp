#include "tuner/exchange/redis.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds kPerCall = std::chrono::milliseconds(20), kPerByte(1);
constexpr std::int64_t kMostExports = 16384;
constexpr std::size_t kMostBytes = std::size_t{512} << 20;  // a server's own limit of a value

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, Free>;

struct RedisPlace {
  std::string user, password;  // empty: none
  std::string host;
  int port = 6379;
};

/// Characters as they are or as %XX; nothing where that is no text.
std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned code = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2) return std::nullopt;
    plain += static_cast<char>(code);
    i += 2;
  }
  return plain;
}

/// "[[USER]:PASSWORD@]HOST[:PORT]". A password that is not there is that of the environment, if any.
std::optional<RedisPlace> parse(std::string_view text) {
  RedisPlace place;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = text.substr(0, at);
    const std::size_t colon = who.find(':');
    if (colon == std::string_view::npos || colon + 1 == who.size()) return std::nullopt;
    const auto user = decoded(who.substr(0, colon)), password = decoded(who.substr(colon + 1));
    if (!user || !password) return std::nullopt;
    place.user = *user;
    place.password = *password;
    text.remove_prefix(at + 1);
  } else if (const char* const password = std::getenv(kRedisPasswordVariable)) {
    place.password = password;
  }
  const std::size_t colon = text.find(':');
  place.host = text.substr(0, colon);
  if (place.host.empty() || place.host.find_first_of("/@?#[]") != std::string::npos ||
      printable(place.host) != place.host)
    return std::nullopt;
  if (colon == std::string_view::npos) return place;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, place.port);
  if (read.ec != std::errc() || read.ptr != end || place.port <= 0 || place.port >= 65536) return std::nullopt;
  return place;
}

/// The client's own, which allocates what an answer merely claims to be long. Its private data is the client's table.
template <class Count>
void* create_array(const redisReadTask* task, Count count) {
  if (std::cmp_greater(count, kMostExports)) return nullptr;
  return static_cast<redisReplyObjectFunctions*>(task->privdata)->createArray(task, count);
}

/// One connection, over which one command goes at a time. The client connects, and takes answers apart; bytes go to and
/// fro here, so that nothing waits without end and no signal is raised.
class Connection {
 public:
  Connection(RedisPlace place, microseconds patience) : place_(std::move(place)), patience_(patience) {}

  /// Says nothing of the password.
  [[nodiscard]] std::string title() const { return fmt::format("redis://{}:{}", place_.host, place_.port); }

  /// The answer, which is of one of the types. A command that the server refuses costs nothing else; whatever else goes
  /// wrong ends the connection, and every later command fails as this one.
  Result<Reply> ask(std::initializer_list<std::string_view> words, std::initializer_list<int> types) {
    if (lost_) return std::unexpected(*lost_);
    auto reply = exchange(words);
    if (reply && (*reply)->type == REDIS_REPLY_ERROR)
      return failed(fmt::format("the server says '{}'", printable({(*reply)->str, (*reply)->len}, 200)));
    if (reply && std::ranges::find(types, (*reply)->type) == types.end())
      reply = failed("the answer is of another kind than the command's");
    if (reply) return reply;
    lost_ = reply.error();
    context_.reset();
    return reply;
  }

 private:
  [[nodiscard]] std::unexpected<Error> failed(std::string_view what) const {
    return unavailable(fmt::format("{}: {}", title(), what));
  }

  Result<Reply> exchange(std::initializer_list<std::string_view> words) {
    if (context_ == nullptr) PADLOCK_CHECK(connect());
    patience_ += kPerCall;
    PADLOCK_CHECK(send(words));
    return receive();
  }

  /// Tells the server who this is, where it is to be told.
  Status authenticate() {
    if (place_.password.empty()) return {};
    PADLOCK_CHECK(place_.user.empty() ? send({"AUTH", place_.password}) : send({"AUTH", place_.user, place_.password}));
    PADLOCK_TRY(const Reply reply, receive());
    if (reply->type == REDIS_REPLY_STATUS) return {};
    const bool says = reply->type == REDIS_REPLY_ERROR;
    return failed(
        says ? fmt::format("the server does not take the password: '{}'", printable({reply->str, reply->len}, 200))
             : "the answer is of another kind than the command's");
  }

  Status connect() {
    context_.reset(redisConnectNonBlock(place_.host.c_str(), place_.port));
    if (context_ == nullptr) return failed("out of memory");
    if (context_->err != 0) return failed(printable(context_->errstr));
    redisReader* const reader = context_->reader;
    functions_ = *reader->fn;
    functions_.createArray = &create_array;
    reader->privdata = std::exchange(reader->fn, &functions_);
    PADLOCK_CHECK(wait(POLLOUT));
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    return error == 0 ? authenticate() : failed(std::strerror(error));
  }

  /// Waits until the socket can be read or written, or there is something else to learn of it.
  Status wait(short events) {
    for (;;) {
      if (patience_ <= microseconds(0)) return failed("no answer in time");
      pollfd socket{.fd = context_->fd, .events = events, .revents = 0};
      const auto begin = Clock::now();
      const auto most = std::chrono::ceil<std::chrono::milliseconds>(patience_);
      const int ready = ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(most.count(), 60'000)));
      const int error = errno;
      patience_ -= std::chrono::duration_cast<microseconds>(Clock::now() - begin);
      if (ready > 0) return {};
      if (ready < 0 && error != EINTR) return failed(std::strerror(error));
    }
  }

  /// How many bytes a call has moved, none of it where it has to be repeated.
  Result<std::size_t> moved(ssize_t bytes) {
    const int error = errno;
    if (bytes < 0 && error != EAGAIN && error != EINTR) return failed(std::strerror(error));
    const std::size_t count = bytes < 0 ? 0 : static_cast<std::size_t>(bytes);
    patience_ += kPerByte * count;
    return count;
  }

  Status send(std::initializer_list<std::string_view> words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    char* raw = nullptr;
    const auto size = redisFormatCommandArgv(&raw, static_cast<int>(texts.size()), texts.data(), sizes.data());
    if (size < 0) return failed("the command cannot be made");
    const std::unique_ptr<char, void (*)(char*)> command(raw, redisFreeCommand);
    for (std::string_view rest(raw, static_cast<std::size_t>(size)); !rest.empty();) {
      PADLOCK_CHECK(wait(POLLOUT));
      PADLOCK_TRY(const std::size_t sent,
                  moved(::send(context_->fd, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT)));
      rest.remove_prefix(sent);
    }
    return {};
  }

  Result<Reply> receive() {
    std::array<char, 65536> bytes;
    for (std::size_t received = 0; received <= kMostBytes;) {
      void* raw = nullptr;
      if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK)
        return failed(fmt::format("no answer of a Redis server: {}", printable(context_->reader->errstr)));
      if (raw != nullptr) return Reply(static_cast<redisReply*>(raw));
      PADLOCK_CHECK(wait(POLLIN));
      const ssize_t got = ::recv(context_->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got == 0) return failed("the server has closed the connection");
      PADLOCK_TRY(const std::size_t count, moved(got));
      if (redisReaderFeed(context_->reader, bytes.data(), count) != REDIS_OK) return failed("out of memory");
      received += count;
    }
    return failed(fmt::format("an answer of more than {} bytes", kMostBytes));
  }

  const RedisPlace place_;
  microseconds patience_;  // that is left
  redisReplyObjectFunctions functions_ = {};
  std::unique_ptr<redisContext, Free> context_;  // its reader points to functions_
  std::optional<Error> lost_;
};

class RedisExchange : public CacheExchange {
 public:
  RedisExchange(RedisPlace place, microseconds patience) : connection_(std::move(place), patience) {}

  Result<std::vector<std::string>> names() override {
    PADLOCK_TRY(const Reply reply, connection_.ask({"HKEYS", key_}, {REDIS_REPLY_ARRAY}));
    std::vector<std::string> found;
    for (std::size_t i = 0; i < reply->elements; ++i)
      if (const redisReply* name = reply->element[i]; name->type == REDIS_REPLY_STRING)
        found.emplace_back(name->str, name->len);
    return found;
  }
  Result<std::string> read(const std::string& name) override {
    PADLOCK_TRY(const Reply reply, connection_.ask({"HGET", key_, name}, {REDIS_REPLY_STRING, REDIS_REPLY_NIL}));
    if (reply->type == REDIS_REPLY_STRING) return std::string(reply->str, reply->len);
    return std::unexpected(
        Error{.code = Code::not_found, .blame = Blame::environment, .message = title(name) + ": it is gone"});
  }
  Status write(const std::string& name, std::string_view text) override {
    PADLOCK_CHECK(connection_.ask({"HSET", key_, name, text}, {REDIS_REPLY_INTEGER}));
    return {};
  }
  void remove(const std::string& name) override {
    [[maybe_unused]] const auto removed = connection_.ask({"HDEL", key_, name}, {REDIS_REPLY_INTEGER});
  }
  [[nodiscard]] std::string title(const std::string& name) const override {
    return fmt::format("{} {}", connection_.title(), printable(name, 64));
  }

 private:
  const std::string key_ = fmt::format("padlock:exports:v{}", kRecordSchema);
  Connection connection_;
};

}  // namespace

Result<std::unique_ptr<CacheExchange>> redis_exchange(std::string_view place, microseconds patience) {
  std::optional<RedisPlace> parsed = parse(place);
  if (parsed) return std::make_unique<RedisExchange>(*std::move(parsed), patience);
  // A text that may hold a password is repeated from behind it on.
  const std::size_t at = place.rfind('@');
  const bool secret = at != std::string_view::npos;
  return invalid_argument(fmt::format("expected redis://[[USER]:PASSWORD@]HOST[:PORT], found 'redis://{}{}'",
                                      secret ? "...@" : "", printable(secret ? place.substr(at + 1) : place)));
}

}  // namespace padlock::tuner
