#include "tuner/worker/wire.h"

#include <fmt/format.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "support/byte_stream.h"

namespace padlock::tuner {
namespace {

constexpr double kMostMs = 1e9;  // some days
constexpr int kMostSamples = 1'000'000;
constexpr std::uint64_t kMostRivals = 1000;
constexpr std::int64_t kMostSkew = 63;
constexpr std::int64_t kMostPlaces = 100'000;

template <class T>
constexpr T kLeast = std::numeric_limits<T>::lowest();
template <class T>
constexpr T kMost = std::numeric_limits<T>::max();

class Writer {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void field(const char* /*name*/, const T& value, T /*least*/, T /*most*/) {
    bytes_.fixed(value);
  }
  void field(const char* /*name*/, const std::string& text) {
    count(text.size());
    bytes_.append(std::as_bytes(std::span(text)));
  }
  template <class List, class Each>
  void list(const char* /*name*/, const List& values, const Each& each) {
    count(values.size());
    for (const auto& value : values) each(value);
  }
  void count(std::uint64_t number) { bytes_.fixed(number); }
  [[nodiscard]] std::string take() && {
    const std::vector<std::byte> bytes = std::move(bytes_).take();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  ByteWriter bytes_;
};

/// Keeps the first error; anything read after it is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(std::as_bytes(std::span(bytes)), "a message") {}

  template <class T>
    requires std::is_arithmetic_v<T>
  void field(const char* name, T& value, T least, T most) {
    // A bool is read as a byte, since a bool with another value would be undefined.
    const auto read = fixed<std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>(name);
    if (!read) return;
    // Written so that a NaN is refused, too.
    if (*read >= least && *read <= most) {
      value = static_cast<T>(*read);
    } else {
      fail(fmt::format("{} is {}, expected {} to {}", name, *read, least, most));
    }
  }
  void field(const char* name, std::string& text) {
    const auto found = bytes_.take(count(name)).value_or(std::span<const std::byte>());
    text.assign(reinterpret_cast<const char*>(found.data()), found.size());
  }
  /// Reads a length, which is at most the number of bytes left: each element has at least one.
  std::uint64_t count(const char* name, std::uint64_t most = kMost<std::uint64_t>) {
    const auto number = fixed<std::uint64_t>(name);
    if (!number) return 0;
    if (*number <= bytes_.left() && *number <= most) return *number;
    fail(fmt::format("{} claims a length of {}, {} bytes are left", name, *number, bytes_.left()));
    return 0;
  }
  [[nodiscard]] bool failed() const { return !status_; }
  [[nodiscard]] Status finish() {
    if (status_ && bytes_.left() > 0) fail(fmt::format("{} bytes are left over", bytes_.left()));
    return status_;
  }
  void fail(const std::string& what) {
    if (!status_) return;
    status_ = std::unexpected(Error{.code = Code::data_loss, .blame = Blame::environment, .message = what});
    bytes_ = {{}, {}};
  }

 private:
  template <class T>
  std::optional<T> fixed(const char* name) {
    const auto value = bytes_.fixed<T>();
    if (!value) fail(fmt::format("{} is missing", name));
    return value;
  }

  ByteReader bytes_;
  Status status_;
};

// One list of fields per type serves both writing and reading, so that neither omits a field.

template <class Stream, class Policy>
void policy_fields(Stream& stream, Policy& policy) {
  stream.field("warm_up_ms", policy.warm_up_ms, 0.0, kMostMs);
  stream.field("sample_us", policy.sample_us, 0.0, kMostMs);
  stream.field("rotation_bytes", policy.rotation_bytes, std::int64_t{0}, kMost<std::int64_t>);
  stream.field("min_samples", policy.min_samples, 1, kMostSamples);
  stream.field("max_samples", policy.max_samples, 1, kMostSamples);
  stream.field("noise", policy.noise, 0.0, 1.0);
  stream.field("budget_ms", policy.budget_ms, 0.0, kMostMs);
}

template <class Stream, class Request>
void request_fields(Stream& stream, Request& request) {
  stream.field("program", request.program);
  stream.field("device", request.device);
  stream.field("target", request.target);
  stream.field("config", request.config);
  stream.field("seed", request.seed, kLeast<std::uint64_t>, kMost<std::uint64_t>);
  stream.field("skew", request.skew, std::int64_t{0}, kMostSkew);
  stream.field("placement", request.placement, std::int64_t{0}, kMost<std::int64_t>);
  stream.field("threads", request.threads, 0, 4096);
  stream.field("reference_ms", request.reference_ms, 0.0, kMostMs);
  stream.field("memory_bytes", request.memory_bytes, std::int64_t{0}, kMost<std::int64_t>);
  stream.field("time_limit_ms", request.time_limit_ms, std::int64_t{1}, static_cast<std::int64_t>(kMostMs));
  policy_fields(stream, request.policy);
}

template <class Stream, class AnyResult>
void result_fields(Stream& stream, AnyResult& result) {
  constexpr double kMostTime = std::numeric_limits<double>::max();
  stream.field("message", result.message);
  stream.field("passed", result.passed, std::int64_t{0}, kMostPlaces);
  stream.field("throttled", result.throttled, 0, kMostSamples);
  stream.field("median_ps", result.median_ps, std::int64_t{0}, kMost<std::int64_t>);
  stream.field("noise_ps", result.noise_ps, std::int64_t{0}, kMost<std::int64_t>);
  stream.field("worker_ends", result.worker_ends, false, true);
  stream.field("compile_ms", result.compile_ms, 0.0, kMostTime);
  stream.field("verify_ms", result.verify_ms, 0.0, kMostTime);
  stream.field("timing_ms", result.timing_ms, 0.0, kMostTime);
}

void write_samples(Writer& writer, const std::vector<std::int64_t>& samples) {
  writer.list("samples", samples,
              [&](std::int64_t sample) { writer.field("sample", sample, std::int64_t{0}, std::int64_t{0}); });
}

void read_samples(Reader& reader, std::vector<std::int64_t>& samples) {
  for (std::uint64_t left = reader.count("samples"); left > 0 && !reader.failed(); --left)
    reader.field("sample", samples.emplace_back(), std::int64_t{0}, kMost<std::int64_t>);
}

void read_configs(Reader& reader, const char* name, std::vector<std::string>& configs) {
  for (std::uint64_t left = reader.count(name, kMostRivals); left > 0 && !reader.failed(); --left)
    reader.field("config", configs.emplace_back());
}

void write_symbols(Writer& writer, const std::map<std::string, std::int64_t>& symbols) {
  writer.list("symbols", symbols, [&](const auto& symbol) {
    writer.field("symbol", symbol.first);
    writer.field("value", symbol.second, kLeast<std::int64_t>, kMost<std::int64_t>);
  });
}

void read_symbols(Reader& reader, std::map<std::string, std::int64_t>& symbols) {
  for (std::uint64_t left = reader.count("symbols"); left > 0 && !reader.failed(); --left) {
    std::string name;
    std::int64_t value = 0;
    reader.field("symbol", name);
    reader.field("value", value, kLeast<std::int64_t>, kMost<std::int64_t>);
    if (!symbols.empty() && name <= symbols.rbegin()->first)
      reader.fail(fmt::format("symbol {} does not follow {}", name, symbols.rbegin()->first));
    symbols.emplace(std::move(name), value);
  }
}

template <class Enum>
std::uint8_t number_of(Enum value) {
  return static_cast<std::uint8_t>(value);
}

template <class Enum>
Enum read_enum(Reader& reader, const char* name, std::size_t count) {
  std::uint8_t number = 0;
  reader.field(name, number, std::uint8_t{0}, static_cast<std::uint8_t>(count - 1));
  return static_cast<Enum>(number);
}

}  // namespace

std::string to_bytes(const TryRequest& request) {
  Writer writer;
  request_fields(writer, request);
  writer.field("setting", number_of(request.policy.setting), std::uint8_t{0}, std::uint8_t{0});
  for (const auto* const list : {&request.rivals, &request.next})
    writer.list("configs", *list, [&](const std::string& config) { writer.field("config", config); });
  write_symbols(writer, request.symbols);
  writer.list("further", request.further, [&](const TryPoint& place) {
    writer.field("skew", place.skew, std::int64_t{0}, kMostSkew);
    write_symbols(writer, place.symbols);
  });
  return std::move(writer).take();
}

Result<TryRequest> request_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  TryRequest request;
  request_fields(reader, request);
  request.policy.setting = read_enum<Setting>(reader, "setting", kSettingNames.size());
  read_configs(reader, "rivals", request.rivals);
  read_configs(reader, "next", request.next);
  read_symbols(reader, request.symbols);
  for (std::uint64_t left = reader.count("further", kMostPlaces); left > 0 && !reader.failed(); --left) {
    TryPoint& place = request.further.emplace_back();
    reader.field("skew", place.skew, std::int64_t{0}, kMostSkew);
    read_symbols(reader, place.symbols);
  }
  PADLOCK_CHECK(reader.finish());
  return request;
}

std::string to_bytes(const TryResult& result) {
  Writer writer;
  writer.field("verdict", number_of(result.verdict), std::uint8_t{0}, std::uint8_t{0});
  result_fields(writer, result);
  writer.list("notes", result.notes, [&](const std::string& note) { writer.field("note", note); });
  write_samples(writer, result.samples_ps);
  writer.list("rivals", result.rivals_ps, [&](const auto& samples) { write_samples(writer, samples); });
  return std::move(writer).take();
}

Result<TryResult> result_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  TryResult result;
  result.verdict = read_enum<Verdict>(reader, "verdict", kVerdictNames.size());
  result_fields(reader, result);
  for (std::uint64_t left = reader.count("notes"); left > 0 && !reader.failed(); --left)
    reader.field("note", result.notes.emplace_back());
  read_samples(reader, result.samples_ps);
  for (std::uint64_t left = reader.count("rivals", kMostRivals); left > 0 && !reader.failed(); --left) {
    read_samples(reader, result.rivals_ps.emplace_back());
    if (result.rivals_ps.back().size() != result.samples_ps.size())
      reader.fail(
          fmt::format("a rival has {} samples, expected {}", result.rivals_ps.back().size(), result.samples_ps.size()));
  }
  PADLOCK_CHECK(reader.finish());
  return result;
}

std::string to_bytes(Step step) { return std::string(1, static_cast<char>(number_of(step))); }

Result<Step> step_from_bytes(std::string_view bytes) {
  Reader reader(bytes);
  const auto step = read_enum<Step>(reader, "step", kStepTexts.size());
  PADLOCK_CHECK(reader.finish());
  return step;
}

}  // namespace padlock::tuner
