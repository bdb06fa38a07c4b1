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
  read,        ///< files are read; what is learnt lives as long as the store
  read_write,  ///< what is learnt goes to the user's file
  require,     ///< as read, and a miss or a file that cannot be used is an error
};

struct StoreOptions {
  Mode mode = Mode::read;
  Match match = Match::strict;
  std::string user_file = {};             ///< empty: default_cache_file()
  std::vector<std::string> shipped = {};  ///< files beside a program, which nobody writes; the first has precedence
  /// Hears of each file at most once, on the thread that met the trouble and under the store's lock. May be empty.
  std::function<void(const std::string&)> warn = {};
};

/// Lookup holds what is known for a key.
struct Lookup {
  std::vector<Choice> choices;  ///< of different regions or regimes; empty: a miss
  /// Reason. For a miss: what is nearest and the field in which it differs, or that nothing is there. For a loose hit:
  /// the field that differs. Else empty.
  std::string reason;

  [[nodiscard]] bool hit() const { return !choices.empty(); }
};

/// Checks that a choice can serve here and now: its config is in the search space and legal for this program and
/// target, its region is of this program (check_choice of choice.h). The error says why not. Called under the store's
/// lock.
using Legal = std::function<Status(const Choice&)>;

/// Tuning records in layers: what this process learnt, the user's file, files shipped beside a program. For each region
/// of sizes and regime the first layer that has it serves, and only if no layer matches strictly is a loose match
/// taken. Nothing in a file can make a look-up fail, but in Mode::require: what is damaged, of another schema, or not
/// legal is left out, warned of once a file, and never removed. What is of another device, version or program is a miss
/// with its reason. Thread-safe. A fork
/// closes the files, which parent and child open again each for itself.
class Store {
 public:
  /// Files are opened here; in Mode::read_write when they are first needed, so that who learns nothing leaves no file.
  /// Errors only in Mode::require: a file that is there and cannot be used.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(StoreOptions options);
  [[nodiscard]] Mode mode() const { return options_.mode; }

  /// Looks up the choices of a key. Those that come from a file are validated by `legal` and kept in memory: a later
  /// look-up of the key asks neither again. Errors only in Mode::require: not_found for a miss, with its reason.
  [[nodiscard]] Result<std::shared_ptr<const Lookup>> look_up(const CacheKey& key, const Legal& legal);
  /// Returns what was measured under this very key, whatever Match is: of each place the first layer's.
  [[nodiscard]] std::vector<Measurement> measurements(const CacheKey& key);

  /// Keeps results: in the user's file in Mode::read_write and, where that cannot be written, in memory with a warning.
  /// One call is kept whole or not at all. Errors: invalid_argument for a result that validate refuses.
  [[nodiscard]] Status add(const CacheKey& key, std::span<const Measurement> measurements);
  [[nodiscard]] Status add(const CacheKey& key, const Choice& choice);
  /// Returns why results went to memory alone since the store was opened, though the mode is read_write; empty: none
  /// did.
  [[nodiscard]] std::string not_kept();

 private:
  struct Layer {
    std::string path;  // empty: memory
    Access access = Access::write;
    std::optional<StoreFile> file;  // absent: not there, not usable, or closed
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
  std::mutex files_mutex_;                                                // held before known_mutex_ where both are
  std::vector<Layer> layers_;                                             // memory first; guarded by files_mutex_
  bool opened_ = false;                                                   // guarded by files_mutex_
  std::string not_kept_;                                                  // guarded by files_mutex_
  const ForkListener listener_{[this] { close_files(); }};                // last: it may hear at once
};

}  // namespace padlock::tuner
