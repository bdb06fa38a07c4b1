#include "tuner/exchange/redis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <utility>

#include "tuner/cache/record_text.h"
#include "tuner/exchange/answer.h"
#include "tuner/exchange/budget.h"
#include "tuner/exchange/socket.h"

namespace padlock::tuner {
namespace {

struct RedisPlace {
  std::string user, password;  // empty: none
  std::string host;
  int port = 6379;
};

/// Decodes characters written plainly or as %XX; nullopt if the result is not text.
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

/// Parses "[[USER]:PASSWORD@]HOST[:PORT]". A missing password comes from the environment, if set.
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

/// One connection, with one command at a time.
class Connection {
 public:
  Connection(RedisPlace place, std::chrono::microseconds patience) : place_(std::move(place)), budget_(patience) {}

  /// Omits the password.
  [[nodiscard]] std::string title() const { return fmt::format("redis://{}:{}", place_.host, place_.port); }

  /// Sends a command and returns its answer, which must be of one of the kinds. A command that the server refuses has
  /// no further effect. Any other failure ends the connection, and every later command fails with the same error.
  Result<Answer> ask(std::initializer_list<std::string_view> words, std::initializer_list<Answer::Kind> kinds) {
    if (lost_) return std::unexpected(*lost_);
    auto answer = exchange(words);
    if (answer && answer->kind == Answer::Kind::error)
      return unavailable(fmt::format("{}: the server says '{}'", title(), printable(answer->text, 200)));
    if (answer && std::ranges::find(kinds, answer->kind) == kinds.end()) answer = another_kind();
    if (answer) return answer;
    lost_ = answer.error();
    lost_->message = fmt::format("{}: {}", title(), lost_->message);
    socket_.close();
    return std::unexpected(*lost_);
  }

 private:
  static std::unexpected<Error> another_kind() {
    return unavailable("the answer is of another kind than the command's");
  }

  Result<Answer> exchange(std::initializer_list<std::string_view> words) {
    const ExchangeBudget::Call call(budget_);
    if (!socket_.is_open()) {
      PADLOCK_CHECK(socket_.connect(place_.host, place_.port));
      PADLOCK_CHECK(authenticate());
    }
    return answer_to(words);
  }

  Result<Answer> answer_to(std::initializer_list<std::string_view> words) {
    // It would be taken for the answer to this command.
    if (reader_.has_bytes()) return unavailable("there is an answer to no command");
    PADLOCK_CHECK(socket_.send(command_text(words)));
    return reader_.read();
  }

  /// Sends user and password, if there are any.
  Status authenticate() {
    if (place_.password.empty()) return {};
    PADLOCK_TRY(const Answer answer, place_.user.empty() ? answer_to({"AUTH", place_.password})
                                                         : answer_to({"AUTH", place_.user, place_.password}));
    if (answer.kind == Answer::Kind::status) return {};
    if (answer.kind != Answer::Kind::error) return another_kind();
    return unavailable(fmt::format("the server does not take the password: '{}'", printable(answer.text, 200)));
  }

  const RedisPlace place_;
  ExchangeBudget budget_;
  Socket socket_{budget_};
  AnswerReader reader_{socket_, budget_};
  std::optional<Error> lost_;
};

class RedisExchange : public CacheExchange {
 public:
  RedisExchange(RedisPlace place, std::chrono::microseconds patience) : connection_(std::move(place), patience) {}

  Result<std::vector<std::string>> names() override {
    PADLOCK_TRY(Answer answer, connection_.ask({"HKEYS", key_}, {Answer::Kind::list}));
    return std::move(answer.list);
  }
  Result<std::string> read(const std::string& name) override {
    PADLOCK_TRY(Answer answer, connection_.ask({"HGET", key_, name}, {Answer::Kind::text, Answer::Kind::none}));
    if (answer.kind == Answer::Kind::text) return std::move(answer.text);
    return std::unexpected(
        Error{.code = Code::not_found, .blame = Blame::environment, .message = title(name) + ": it is gone"});
  }
  Status write(const std::string& name, std::string_view text) override {
    // No reader would take so long a text.
    if (text.size() > ExchangeBudget::kBytes)
      return unavailable(fmt::format("{}: expected an export of at most {} bytes, found {}", connection_.title(),
                                     ExchangeBudget::kBytes, text.size()));
    PADLOCK_CHECK(connection_.ask({"HSET", key_, name, text}, {Answer::Kind::integer}));
    return {};
  }
  void remove(const std::string& name) override {
    [[maybe_unused]] const auto removed = connection_.ask({"HDEL", key_, name}, {Answer::Kind::integer});
  }
  [[nodiscard]] std::string title(const std::string& name) const override {
    return fmt::format("{} {}", connection_.title(), printable(name, 64));
  }

 private:
  const std::string key_ = fmt::format("padlock:exports:v{}", kRecordSchema);
  Connection connection_;
};

}  // namespace

Result<std::unique_ptr<CacheExchange>> redis_exchange(std::string_view place, std::chrono::microseconds patience) {
  std::optional<RedisPlace> parsed = parse(place);
  if (parsed) return std::make_unique<RedisExchange>(*std::move(parsed), patience);
  // The text may hold a password: the message repeats only what follows it.
  const std::size_t at = place.rfind('@');
  const bool secret = at != std::string_view::npos;
  return invalid_argument(fmt::format("expected redis://[[USER]:PASSWORD@]HOST[:PORT], found 'redis://{}{}'",
                                      secret ? "...@" : "", printable(secret ? place.substr(at + 1) : place)));
}

}  // namespace padlock::tuner
