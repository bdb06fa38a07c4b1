#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/cache/record.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/rows.h"

// Records and folders for tests of the cache.
namespace padlock::tuner::testing {

inline KeyFields fields() {
  return {.program = std::string(32, 'a'),
          .types = "f32;->f32",
          .abi = "1",
          .code = "1",
          .llvm = "22.1.8",
          .target = "host",
          .architecture = "x86_64",
          .cpu = "sapphirerapids +avx2,+avx512f",
          .multiprocessors = "",
          .bandwidth = "",
          .threads = "2",
          .l2_bytes = "2097152",
          .l3_bytes = "272629760",
          .policy = "1",
          .device = "Xeon",
          .driver = "",
          .host = "here",
          .date = "2026-01-31T12:00:00Z"};
}
inline CacheKey key() { return CacheKey(fields()); }

inline Provenance provenance() { return {.seed = 7, .date = "2026-01-31T12:00:00Z", .version = "0.1.0"}; }

inline Choice choice(std::string region, std::string config) {
  return {.region = std::move(region), .config = std::move(config), .provenance = provenance()};
}

inline Measurement measurement(std::string region, std::string config, std::int64_t median_ps = 1500) {
  return {.region = std::move(region),
          .config = std::move(config),
          .sizes = {{"B", 4}, {"S", 1024}},
          .verdict = Verdict::ok,
          .message = {},
          .samples_ps = {median_ps + 100, median_ps, median_ps - 100},
          .median_ps = median_ps,
          .noise_ps = 10,
          .provenance = provenance()};
}

inline Measurement failure(std::string config, Verdict verdict, std::string message) {
  return {.region = {},
          .config = std::move(config),
          .sizes = {{"B", 4}},
          .verdict = verdict,
          .message = std::move(message),
          .provenance = provenance()};
}

/// Returns the rows of valid records.
inline std::vector<Row> rows_of(const std::vector<Record>& records) {
  std::vector<Row> rows;
  for (const Record& record : records) rows.emplace_back(record, to_line(record));
  return rows;
}

inline Status legal(const Choice&) { return {}; }

/// A folder, which the destructor removes.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "padlock_cache_XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace padlock::tuner::testing
