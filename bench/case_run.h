#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/argument_sets.h"
#include "bench/pad_case.h"
#include "bench/peer.h"
#include "bench/report.h"
#include "session/compile/context.h"

namespace padlock::bench {

/// Prints figures as tables and keeps them as JSON.
class Report {
 public:
  /// Writes tables to stdout if `tables`.
  Report(const Provenance& provenance, bool tables) : tables_(tables), json_(to_json_line(provenance)) {}
  void add(const Comparison& comparison);
  void add_table(const Comparison& comparison) const;
  void add_line(JsonWriter line) { json_ += take_line(std::move(line)); }
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  bool tables_;
  std::string json_;
};

/// How long a case may take.
struct Effort {
  TimingOptions variants;  ///< Padlock beside memcpy and itself
  TimingOptions peers;     ///< Padlock beside peers, for each type and number of threads
  TimingOptions cold;
  std::vector<ir::DType> peer_types = {ir::DType::f32, ir::DType::f16, ir::DType::bf16, ir::DType::i8};
  double tune_seconds = 2;  ///< of one case; 0: only what is known already
};

/// Machine holds what all cases share. Contexts of one thread, of as many as are compared, and of one that has a tuning
/// cache.
struct Machine {
  session::Context one{{.threads = 1, .parallel_for = {}}};
  session::Context two{{.threads = 2, .parallel_for = {}}};
  std::unique_ptr<session::Context> tuned = {};  ///< absent: nothing is tuned
  std::vector<Peer> peers = {};
  std::string target = "host";                        ///< of the code of short rows
  std::string folder = {};                            ///< for arrays that peers read and write
  std::int64_t cache_bytes = std::int64_t{64} << 20;  ///< what no cache holds
};

/// Times one case in all its forms. Every result is compared with its definition first. Errors: as the session's, and
/// internal where a result is wrong.
[[nodiscard]] Status run_case(Machine& machine, const PadCase& pad, const Effort& effort, Report& report);
/// Only f32 beside memcpy and peers: what the picture needs.
[[nodiscard]] Status run_size(Machine& machine, const PadCase& pad, const Effort& effort, Report& report);
/// Times a case of short rows, whose extents and pads are elements of its type, beside memcpy and the peers of one
/// thread that compile nothing for seconds.
[[nodiscard]] Status run_short_rows(Machine& machine, const PadSpec& rows, const TimingOptions& options,
                                    Report& report);
/// A launch of 16x16 whose pointers alternate, in nanoseconds.
[[nodiscard]] Status run_call(Machine& machine, const TimingOptions& options, Report& report);

}  // namespace padlock::bench
