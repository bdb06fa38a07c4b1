#include "tuner/exchange/answer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tuner/cache/record.h"

namespace padlock::tuner {
namespace {

std::unexpected<Error> no_answer(const std::string& why) { return unavailable("no answer of a Redis server: " + why); }

std::optional<std::int64_t> number_of(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the length of a text or a list; -1 if the server has no such value.
Result<std::int64_t> length_of(std::string_view text, std::string_view unit) {
  const auto length = number_of(text);
  if (length && *length >= -1) return *length;
  return no_answer(fmt::format("expected a number of {}, found '{}'", unit, printable(text, 40)));
}

}  // namespace

std::string command_text(std::initializer_list<std::string_view> words) {
  std::string text = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words) {
    text += fmt::format("${}\r\n", word.size());
    text.append(word).append("\r\n");
  }
  return text;
}

Status AnswerReader::fill() {
  if (at_ < end_) return {};
  at_ = end_ = 0;
  PADLOCK_TRY(end_, socket_.receive(bytes_));
  return {};
}

/// Returns a line without its line end.
Result<std::string> AnswerReader::line() {
  std::string found;
  for (;;) {
    PADLOCK_CHECK(fill());
    const std::span<const char> there(bytes_.data() + at_, end_ - at_);
    const auto newline = std::ranges::find(there, '\n');
    found.append(there.begin(), newline);
    at_ += static_cast<std::size_t>(newline - there.begin()) + (newline == there.end() ? 0 : 1);
    if (found.size() > ExchangeBudget::kLineBytes)
      return no_answer(fmt::format("expected a line of at most {} bytes, found more", ExchangeBudget::kLineBytes));
    if (newline == there.end()) continue;
    if (!found.ends_with('\r')) return no_answer("expected a line that ends in \\r\\n");
    found.pop_back();
    return found;
  }
}

Result<Answer> AnswerReader::text(std::string_view length) {
  PADLOCK_TRY(const std::int64_t size, length_of(length, "bytes"));
  Answer answer;
  if (size < 0) return answer;
  if (std::cmp_greater(size, budget_.bytes_left() + (end_ - at_)))
    return no_answer(
        fmt::format("expected at most {} bytes in all, found a text of {} more", ExchangeBudget::kBytes, size));
  answer.kind = Answer::Kind::text;
  const std::size_t all = static_cast<std::size_t>(size) + 2;
  answer.text.reserve(all);
  while (answer.text.size() < all) {
    PADLOCK_CHECK(fill());
    const std::size_t count = std::min(all - answer.text.size(), end_ - at_);
    answer.text.append(bytes_.data() + at_, count);
    at_ += count;
  }
  if (!answer.text.ends_with("\r\n")) return no_answer("expected \\r\\n behind a text");
  answer.text.resize(all - 2);
  return answer;
}

Result<Answer> AnswerReader::list(std::string_view length) {
  PADLOCK_TRY(const std::int64_t size, length_of(length, "elements"));
  Answer answer;
  if (size < 0) return answer;
  answer.kind = Answer::Kind::list;
  if (!budget_.take_elements(static_cast<std::uint64_t>(size)))
    return no_answer(
        fmt::format("expected at most {} elements in all, found a list of {} more", ExchangeBudget::kElements, size));
  for (std::int64_t i = 0; i < size; ++i) {
    PADLOCK_TRY(const std::string begin, line());
    if (!begin.starts_with('$'))
      return no_answer(fmt::format("expected a list of texts, found '{}' in it", printable(begin, 40)));
    PADLOCK_TRY(Answer element, text(std::string_view(begin).substr(1)));
    if (element.kind != Answer::Kind::text) return no_answer("expected a list of texts, found nothing in it");
    answer.list.push_back(std::move(element.text));
  }
  return answer;
}

Result<Answer> AnswerReader::read() {
  PADLOCK_TRY(std::string found, line());
  const char kind = found.empty() ? '\0' : found.front();
  const std::string_view rest = std::string_view(found).substr(found.empty() ? 0 : 1);
  switch (kind) {
    case '$':
      return text(rest);
    case '*':
      return list(rest);
    case '+':
      return Answer{.kind = Answer::Kind::status, .text = std::string(rest), .list = {}};
    case '-':
      return Answer{.kind = Answer::Kind::error, .text = std::string(rest), .list = {}};
    case ':':
      if (number_of(rest)) return Answer{.kind = Answer::Kind::integer, .text = std::string(rest), .list = {}};
      break;
    default:
      break;
  }
  return no_answer(fmt::format("found '{}'", printable(found, 40)));
}

}  // namespace padlock::tuner
