#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::tuner {

/// A place where caches meet: exports (record_text.h) by name, which many writers put, read and remove at a time. An
/// export's name is the hash128 of its text, so two texts never have one name. Exports in other versions of the format
/// are invisible. Not thread-safe.
class CacheExchange {
 public:
  /// `url`: "file:///FOLDER" or "redis://[[USER]:PASSWORD@]HOST[:PORT]". Contacts nothing before the first call.
  /// Errors: invalid_argument for another URL; unimplemented for rediss://.
  [[nodiscard]] static Result<std::unique_ptr<CacheExchange>> open(const std::string& url);
  virtual ~CacheExchange() = default;

  // Errors of the following calls name the place, come in bounded time, and are the system's or the server's.
  [[nodiscard]] virtual Result<std::vector<std::string>> names() = 0;
  /// Returns the stored text, unchecked. Error also: not_found for a name that is gone.
  [[nodiscard]] virtual Result<std::string> read(const std::string& name) = 0;
  /// Writes all or nothing. A text survives the process once this has returned.
  [[nodiscard]] virtual Status write(const std::string& name, std::string_view text) = 0;
  /// Removes the export if possible. An export that stays only costs its readers time.
  virtual void remove(const std::string& name) = 0;
  /// Returns a name of the export for messages.
  [[nodiscard]] virtual std::string title(const std::string& name) const = 0;
};

}  // namespace padlock::tuner
