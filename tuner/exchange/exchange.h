#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::tuner {

/// A place where caches meet: exports (record_text.h) by name, which many writers put, read and remove at a time. The
/// name of an export is its text's hash128, so that nobody ever writes two texts under one name. Exports of other
/// versions of the format are out of sight. Not thread-safe.
class CacheExchange {
 public:
  /// `url`: "file:///FOLDER" or "redis://[[USER]:PASSWORD@]HOST[:PORT]". Nothing is looked at before the first call.
  /// Errors: invalid_argument for another URL; unimplemented for rediss://.
  [[nodiscard]] static Result<std::unique_ptr<CacheExchange>> open(const std::string& url);
  virtual ~CacheExchange() = default;

  // Errors of all that follow name the place, and come in bounded time: as the system or the server says.
  [[nodiscard]] virtual Result<std::vector<std::string>> names() = 0;
  /// Returns whatever is there. Error also: not_found for a name that is gone.
  [[nodiscard]] virtual Result<std::string> read(const std::string& name) = 0;
  /// Writes all of it or nothing; what it returned for outlives the process.
  [[nodiscard]] virtual Status write(const std::string& name, std::string_view text) = 0;
  /// Removes it where that can be done: one that stays costs who reads it time, and nothing else.
  virtual void remove(const std::string& name) = 0;
  /// Returns what a message calls the export.
  [[nodiscard]] virtual std::string title(const std::string& name) const = 0;
};

}  // namespace padlock::tuner
