#include "capi/error.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <ranges>
#include <string>

namespace padlock::capi {
namespace {

constexpr const char* kOutOfMemory = "expected memory for this call, found none";

/// Returned if there is no memory for an error. Its own reference is never given back.
struct OutOfMemory : padlock_error {
  OutOfMemory() {
    status = PADLOCK_RESOURCE_EXHAUSTED;
    blame = PADLOCK_BLAME_ENVIRONMENT;
    message = text = kOutOfMemory;
  }
};
/// Never destroyed, so that nothing runs when the library is unloaded.
OutOfMemory& out_of_memory() {
  alignas(OutOfMemory) static std::array<std::byte, sizeof(OutOfMemory)> memory;
  static OutOfMemory* const kError = new (memory.data()) OutOfMemory;
  return *kError;
}

/// Copies texts and values into one block.
class Packer {
 public:
  explicit Packer(void* memory) : at_(static_cast<char*>(memory)) {}
  const char* add(std::string_view text) {
    char* const first = at_;
    std::memcpy(first, text.data(), text.size());
    first[text.size()] = 0;
    at_ += text.size() + 1;
    return first;
  }
  padlock_named_value* add_values(std::size_t count) {
    auto* const first = reinterpret_cast<padlock_named_value*>(at_);
    at_ += count * sizeof(padlock_named_value);
    return first;
  }

 private:
  char* at_;
};

padlock_error* make_one_error(const padlock_allocator& allocator, const Error& error) {
  const std::string text = error.to_string();
  const ErrorSubject& subject = error.subject;
  std::size_t bytes = error.message.size() + text.size() + subject.expression.size() + 3;
  for (const NamedValue& value : subject.values) bytes += sizeof(padlock_named_value) + value.name.size() + 1;
  auto* const made = make<padlock_error>(allocator, bytes);
  Packer packer(made + 1);
  made->value_count = subject.values.size();
  padlock_named_value* const values = packer.add_values(subject.values.size());  // first, where the block is aligned
  for (std::size_t i = 0; i < subject.values.size(); ++i)
    values[i] = {packer.add(subject.values[i].name), subject.values[i].value};
  made->values = values;
  made->status = status_of(error);
  made->blame = static_cast<padlock_blame>(error.blame);
  made->line = static_cast<std::int32_t>(error.where.line);
  made->column = static_cast<std::int32_t>(error.where.column);
  made->axis = subject.axis;
  made->message = packer.add(error.message);
  made->text = packer.add(text);
  made->expression = packer.add(subject.expression);
  return made;
}

padlock_error* make_error(const padlock_allocator& allocator, const Error& error) {
  Ref<padlock_error> rest;
  for (const Error& other : std::views::reverse(error.others)) {
    Ref<padlock_error> made(make_one_error(allocator, other));
    made->next = std::move(rest);
    rest = std::move(made);
  }
  padlock_error* const first = make_one_error(allocator, error);
  first->next = std::move(rest);
  return first;
}

}  // namespace

// padlock::Code has no OK; its other codes have the canonical order.
padlock_status status_of(const Error& error) { return static_cast<padlock_status>(error.code) + 1; }
static_assert(static_cast<int>(Code::cancelled) + 1 == PADLOCK_CANCELLED);
static_assert(static_cast<int>(Code::invalid_argument) + 1 == PADLOCK_INVALID_ARGUMENT);
static_assert(static_cast<int>(Code::internal) + 1 == PADLOCK_INTERNAL);
static_assert(static_cast<int>(Code::unauthenticated) + 1 == PADLOCK_UNAUTHENTICATED);
static_assert(static_cast<int>(Blame::user) == PADLOCK_BLAME_CALLER);
static_assert(static_cast<int>(Blame::environment) == PADLOCK_BLAME_ENVIRONMENT);
static_assert(static_cast<int>(Blame::internal) == PADLOCK_BLAME_LIBRARY);

padlock_status report(const padlock_allocator& allocator, const Error& error, padlock_error** out) noexcept {
  if (out != nullptr) {
    try {
      *out = make_error(allocator, error);
    } catch (...) {
      report_out_of_memory(out);
    }
  }
  return status_of(error);
}

padlock_status report_out_of_memory(padlock_error** out) noexcept {
  if (out != nullptr) {
    out_of_memory().retain();
    *out = &out_of_memory();
  }
  return PADLOCK_RESOURCE_EXHAUSTED;
}

padlock_status report_exception(const padlock_allocator& allocator, const char* what, padlock_error** out) noexcept {
  try {
    return report(allocator, internal_error(fmt::format("expected no exception, found {}", what)).error(), out);
  } catch (...) {
    return report_out_of_memory(out);
  }
}

Status missing(std::string_view what) { return invalid_argument(fmt::format("expected {}, found NULL", what)); }

Status check_index(std::size_t index, std::size_t count) {
  if (index < count) return {};
  return std::unexpected(
      Error{Code::out_of_range, Blame::user, fmt::format("expected an index below {}, found {}", count, index)});
}

}  // namespace padlock::capi

extern "C" {

PADLOCK_COUNTED_HANDLE(error)

padlock_status padlock_error_status(const padlock_error* error) {
  return error != nullptr ? error->status : PADLOCK_UNKNOWN;
}
padlock_blame padlock_error_blame(const padlock_error* error) {
  return error != nullptr ? error->blame : PADLOCK_BLAME_LIBRARY;
}
const char* padlock_error_message(const padlock_error* error) { return error != nullptr ? error->message : ""; }
const char* padlock_error_text(const padlock_error* error) { return error != nullptr ? error->text : ""; }
std::int32_t padlock_error_line(const padlock_error* error) { return error != nullptr ? error->line : 0; }
std::int32_t padlock_error_column(const padlock_error* error) { return error != nullptr ? error->column : 0; }
std::int32_t padlock_error_axis(const padlock_error* error) { return error != nullptr ? error->axis : -1; }
const char* padlock_error_expression(const padlock_error* error) { return error != nullptr ? error->expression : ""; }
size_t padlock_error_value_count(const padlock_error* error) { return error != nullptr ? error->value_count : 0; }

padlock_named_value padlock_error_value(const padlock_error* error, size_t index) {
  if (index >= padlock_error_value_count(error)) return {nullptr, 0};
  return error->values[index];
}

size_t padlock_error_other_count(const padlock_error* error) {
  size_t count = 0;
  for (; error != nullptr && error->next.get() != nullptr; error = error->next.get()) ++count;
  return count;
}
padlock_error* padlock_error_other(const padlock_error* error, size_t index) {
  if (index >= padlock_error_other_count(error)) return nullptr;
  padlock_error* other = error->next.get();
  for (; index > 0; --index) other = other->next.get();
  return other;
}

const char* padlock_status_name(padlock_status status) {
  if (status == PADLOCK_OK) return "OK";
  if (status < PADLOCK_OK || status > PADLOCK_UNAUTHENTICATED) return "UNKNOWN";
  return padlock::name_of(static_cast<padlock::Code>(status - 1));
}

}  // extern "C"
