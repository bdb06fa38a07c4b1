#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/error.h"
#include "support/fork.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/record.h"
#include "tuner/cache/store_file.h"

namespace padlock::tuner {

enum class Mode : std::uint8_t {
  off,         ///< nothing is looked up or kept
  read,        ///< files are read; new results live as long as the store
  read_write,  ///< new results go to the user's file
  require,     ///< as read, and a miss or an unusable file is an error
};

struct StoreOptions {
  Mode mode = Mode::read;
  Match match = Match::strict;
  std::string user_file = {};             ///< empty: default_cache_file()
  std::vector<std::string> shipped = {};  ///< read-only files beside a program; the first has precedence
  /// Called at most once per file, on the thread that met the trouble and under the store's lock. May be empty.
  std::function<void(const std::string&)> warn = {};
};

/// Lookup holds what the store knows for a key.
struct Lookup {
  std::vector<Choice> choices;  ///< of different regions or regimes; empty: a miss
  /// Reason. For a miss: the nearest record and the field in which it differs, or that there is none. For a loose hit:
  /// the field that differs. Else empty.
  std::string reason;

  [[nodiscard]] bool hit() const { return !choices.empty(); }
};

/// Checks that a choice can serve here and now: its config is in the search space and legal for this program and
/// target, and its region is of this program (check_choice of choice.h). The error says why not. Called under the
/// store's lock.
using Legal = std::function<Status(const Choice&)>;

/// Tuning records in layers: this process's results, the user's file, files shipped beside a program. For each region
/// of sizes and regime, the first layer with a choice serves. A loose match is used only if no layer matches strictly.
/// Nothing in a file can make a look-up fail, except in Mode::require. Records that are damaged, of another schema, or
/// not legal are skipped with one warning per file, and never removed. Another device, version or program is a miss
/// with its reason. Thread-safe. A fork closes the files; parent and child each open them again.
class Store {
 public:
  /// Opens files; in Mode::read_write only on first need, so that a process without results leaves no file. Errors only
  /// in Mode::require: a file that exists and cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(StoreOptions options);
  [[nodiscard]] Mode mode() const { return options_.mode; }

  /// Looks up the choices of a key. `legal` validates choices from a file, which then stay in memory: a later look-up
  /// of the key asks neither again. Errors only in Mode::require: not_found for a miss, with its reason.
  [[nodiscard]] Result<std::shared_ptr<const Lookup>> look_up(const CacheKey& key, const Legal& legal);
  /// Returns the measurements under exactly this key, for any Match: of each place the first layer's.
  [[nodiscard]] std::vector<Measurement> measurements(const CacheKey& key);

  /// Keeps results: in Mode::read_write in the user's file or, if it cannot be written, in memory with a warning. A
  /// call is kept whole or not at all. Errors: invalid_argument for a result that validate refuses.
  [[nodiscard]] Status add(const CacheKey& key, std::span<const Measurement> measurements);
  [[nodiscard]] Status add(const CacheKey& key, const Choice& choice);
  /// Returns why results went only to memory since the store was opened, though the mode is read_write; empty: none
  /// did.
  [[nodiscard]] std::string not_kept();

 private:
  struct Layer {
    std::string path;  // empty: memory
    Access access = Access::write;
    std::optional<StoreFile> file;  // absent: missing, unusable, or closed
    bool warned = false;
    bool closed = false;  // by a fork
  };

  explicit Store(StoreOptions options) : options_(std::move(options)) {}
  Status ensure_open();
  Status open_layers();
  Status open_layer(const std::string& path, Access access);
  Status open(Layer& layer);
  void close_files();
  Status reopen_files();
  Status trouble(Layer& layer, const std::string& what);
  Status trouble_of_user(Layer& layer, const std::string& what);
  Status take(Layer& layer, RecordSet& set);
  Result<Lookup> search(const CacheKey& key, const Legal& legal);
  Status collect(Layer& layer, const Record& found, const Legal& legal, std::vector<Choice>& choices);
  Status add(std::vector<Record> records);

  const StoreOptions options_;
  std::shared_mutex known_mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Lookup>> known_;  // hits by digest; guarded by known_mutex_
  std::mutex files_mutex_;                                                // locked before known_mutex_
  std::vector<Layer> layers_;                                             // memory first; guarded by files_mutex_
  bool opened_ = false;                                                   // guarded by files_mutex_
  std::string not_kept_;                                                  // guarded by files_mutex_
  const ForkListener listener_{[this] { close_files(); }};                // last: it may be called at once
};

}  // namespace padlock::tuner
