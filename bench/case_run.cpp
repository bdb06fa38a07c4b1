#include "bench/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <utility>

#include "bench/by_hand.h"
#include "bench/entries.h"
#include "bench/pad_program.h"

namespace padlock::bench {
namespace {

Entry plain_copy() { return {.engine = "memcpy", .op = "", .dtype = ""}; }
Entry plain_pad() { return {.engine = "padlock"}; }

Entry variant(std::string name) {
  Entry entry = plain_pad();
  entry.variant = std::move(name);
  return entry;
}

/// Padlock's entry of the same program.
Entry ours_of(const Entry& peer) {
  Entry entry = peer;
  entry.engine = "padlock";
  return entry;
}

std::string dtype_name(ir::DType dtype) { return std::string(ir::name_of(dtype)); }

/// One case: its programs, arrays and comparisons.
class CaseRun {
 public:
  /// Compiles the case itself, for one thread.
  static Result<std::unique_ptr<CaseRun>> create(Machine& machine, const PadCase& pad, Report& report,
                                                 ir::DType dtype = ir::DType::f32) {
    PADLOCK_TRY(PadProgram base, PadProgram::make(machine.one, {.pad = pad, .dtype = dtype}, machine.target));
    const std::int64_t bytes = std::max(base.result_bytes(), base.bound.inputs().front().storage_bytes);
    PADLOCK_TRY(PadArrays arrays, PadArrays::create(bytes));
    PADLOCK_CHECK(arrays.check(base));
    return std::unique_ptr<CaseRun>(new CaseRun(machine, pad, std::move(base), std::move(arrays), report));
  }

  Status compare_variants(const Effort& effort);
  Status compare_peers(ir::DType dtype, const TimingOptions& options);
  Status compare_cold(const TimingOptions& options);
  Status compare_short_rows(const TimingOptions& options);

 private:
  CaseRun(Machine& machine, const PadCase& pad, PadProgram base, PadArrays arrays, Report& report)
      : machine_(machine), pad_(pad), base_(std::move(base)), arrays_(std::move(arrays)), report_(report) {}

  /// The case with numbers for pads.
  [[nodiscard]] const PadCase& numbers() const { return base_.spec.pad; }
  [[nodiscard]] double bytes() const {
    return static_cast<double>(base_.result_bytes() + base_.bound.inputs().front().storage_bytes);
  }
  void add_memcpy(Entries& entries);
  Status add(Entries& entries, const Entry& entry, session::Context& context, const PadSpec& spec);
  void add(Entries& entries, const Entry& entry, const PadProgram& program);  // which is borrowed
  Status add_types(Entries& entries);
  Status add_modes(Entries& entries);
  Status add_tuned(Entries& entries, double seconds);
  void add_by_hand(Entries& entries);
  Status add_peers(Entries& entries, const PadSpec& spec, bool quick_ones = false);
  Comparison finish(const char* state, const Entries& entries, const TimingOptions& options,
                    ir::DType dtype = ir::DType::f32);
  void ratio(const Comparison& comparison, const std::string& what, const Entry& of, const Entry& to);
  void variant_ratios(const Comparison& comparison, const Entries& entries);

  Machine& machine_;    // borrowed
  const PadCase& pad_;  // borrowed
  PadProgram base_;
  PadArrays arrays_;
  Report& report_;                   // borrowed
  std::deque<PadProgram> programs_;  // contestants point into it
  int next_id_ = 0;                  // of what peers were made ready for
};

void CaseRun::add_memcpy(Entries& entries) {
  // It reads and writes in equal parts; a result differs a little from its input.
  const auto half = static_cast<std::size_t>(bytes() / 2);
  entries.add(plain_copy(),
              [half, from = arrays_.input(), to = arrays_.result()] { std::memcpy(to.data(), from.data(), half); });
}

Status CaseRun::add(Entries& entries, const Entry& entry, session::Context& context, const PadSpec& spec) {
  PADLOCK_TRY(PadProgram made, PadProgram::make(context, spec));
  PADLOCK_CHECK(arrays_.check(made));
  programs_.push_back(std::move(made));
  add(entries, entry, programs_.back());
  return {};
}

void CaseRun::add(Entries& entries, const Entry& entry, const PadProgram& program) {
  entries.add(entry, [&program, from = arrays_.input(), to = arrays_.result()] { program.launch(from, to); });
}

Status CaseRun::add_types(Entries& entries) {
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16, ir::DType::i8}) {
    Entry entry = plain_pad();
    entry.dtype = dtype_name(dtype);
    PADLOCK_CHECK(add(entries, entry, machine_.one, {.pad = of_type(numbers(), dtype), .dtype = dtype}));
    // Skip what the pad does not move along the rows: it cannot misalign.
    if (numbers().low.back() == 0 && numbers().high.back() == "0") continue;
    entry.variant = "misaligned";
    PADLOCK_CHECK(add(entries, entry, machine_.one, {.pad = of_type(numbers(), dtype, 1), .dtype = dtype}));
  }
  return {};
}

Status CaseRun::add_modes(Entries& entries) {
  for (const char* mode : {"constant", "reflect", "symmetric", "edge", "wrap"}) {
    PadSpec spec{.pad = pad_};
    spec.pad.mode = mode;
    PADLOCK_CHECK(add(entries, variant(mode), machine_.one, spec));
  }
  return {};
}

Status CaseRun::add_tuned(Entries& entries, double seconds) {
  if (!machine_.tuned) return {};
  const PadSpec spec{.pad = pad_};
  PADLOCK_TRY(const session::Program program, session::Program::from_text(program_text(spec)));
  if (seconds > 0) {
    session::TuneOptions options;
    options.budget_seconds = seconds;
    options.resume = true;
    options.sizes.regime = tuner::Regime::warm;  // as it is timed here
    for (const auto& [name, value] : sizes_of(pad_)) options.sizes.opt[name] = value;
    PADLOCK_TRY([[maybe_unused]] const session::TuneReport tuned, machine_.tuned->tune(program, options));
  }
  PADLOCK_TRY(const PadProgram made, PadProgram::make(*machine_.tuned, spec));
  // Without a choice it would be the default beside itself.
  if (!made.bound.reason().contains("tuned for")) return {};
  return add(entries, variant("tuned"), *machine_.tuned, spec);
}

void CaseRun::add_by_hand(Entries& entries) {
  const PadCase& pad = numbers();
  const std::string all = std::to_string(pad.low[0]);
  const bool fits = pad.rank() == 2 && pad.mode == "constant" && pad.value == "0" && pad.low[0] == pad.low[1] &&
                    pad.high[0] == all && pad.high[1] == all && pad.low[0] >= 0;
  if (!fits) return;
  const auto* const from = reinterpret_cast<const float*>(arrays_.input().data());
  auto* const to = reinterpret_cast<float*>(arrays_.result().data());
  entries.add({.engine = "C++ by hand", .op = "pad+relu"}, [from, to, &pad] {
    pad_relu_by_hand(from, to, pad.extents[0], pad.extents[1], pad.low[0], pad.low[0], 0.0F);
  });
}

Status CaseRun::compare_variants(const Effort& effort) {
  Entries entries;
  add_memcpy(entries);
  PADLOCK_CHECK(add(entries, plain_pad(), machine_.one, {.pad = pad_}));
  PADLOCK_CHECK(add(entries, {.engine = "padlock", .op = "pad+relu"}, machine_.one, {.pad = pad_, .relu = true}));
  PADLOCK_CHECK(add(entries, {.engine = "padlock", .threads = 2}, machine_.two, {.pad = pad_}));
  PADLOCK_CHECK(add(entries, variant("literal"), machine_.one, {.pad = numbers(), .literal_extents = true}));
  if (pad_.rank() >= 4) PADLOCK_CHECK(add(entries, variant("rank 2"), machine_.one, {.pad = as_rank_2(numbers())}));
  PADLOCK_CHECK(add_types(entries));
  PADLOCK_CHECK(add_modes(entries));
  PADLOCK_CHECK(add_tuned(entries, effort.tune_seconds));
  add_by_hand(entries);
  const Comparison comparison = finish("warm", entries, effort.variants);
  variant_ratios(comparison, entries);
  return {};
}

void CaseRun::variant_ratios(const Comparison& comparison, const Entries& entries) {
  ratio(comparison, "memcpy", plain_pad(), plain_copy());
  ratio(comparison, "two threads", {.engine = "padlock", .threads = 2}, plain_pad());
  ratio(comparison, "relu", {.engine = "padlock", .op = "pad+relu"}, plain_pad());
  for (const char* what : {"literal", "rank 2", "tuned"}) ratio(comparison, what, plain_pad(), variant(what));
  for (const char* mode : {"reflect", "symmetric", "edge", "wrap"})
    ratio(comparison, fmt::format("mode {}", mode), variant(mode), variant("constant"));
  for (const Entry& entry : entries.entries())
    if (entry.engine == "padlock" && entry.dtype != "f32")
      ratio(comparison, entry.variant.empty() ? "type" : entry.variant, entry, plain_pad());
}

/// `quick_ones`: those of one thread alone that compile nothing for seconds.
Status CaseRun::add_peers(Entries& entries, const PadSpec& spec, bool quick_ones) {
  std::vector<Peer*> peers;
  for (Peer& peer : machine_.peers)
    if (!quick_ones || (peer.threads() == 1 && !peer.name().starts_with("torch-"))) peers.push_back(&peer);
  const std::string input = fmt::format("{}/input.{}", machine_.folder, dtype_name(spec.dtype));
  const std::span<const std::byte> data = arrays_.input();
  if (std::ofstream file(input, std::ios::binary);
      !file.write(reinterpret_cast<const char*>(data.data()), std::ssize(data)))
    return unavailable(fmt::format("{} cannot be written", input));
  const int id = next_id_++;
  const auto output = [&](const Peer& peer) {
    return fmt::format("{}/{}.{}", machine_.folder, peer.name(), peer.threads());
  };
  for (Peer* peer : peers) peer->revive();
  for (Peer* peer : peers) peer->prepare(id, spec, input, output(*peer));
  std::vector<std::byte> theirs(arrays_.result().size());
  const auto size = static_cast<std::size_t>(element_count(result_extents(spec.pad)) * ir::byte_size(spec.dtype));
  for (Peer* const each : peers) {
    Peer& peer = *each;
    const Entry entry{.engine = peer.name(),
                      .op = spec.relu ? "pad+relu" : "pad",
                      .dtype = dtype_name(spec.dtype),
                      .threads = peer.threads()};
    Status ready = peer.ready();
    if (ready) {
      std::ifstream file(output(peer), std::ios::binary);
      file.read(reinterpret_cast<char*>(theirs.data()), static_cast<std::streamsize>(size));
      // The result holds what Padlock made of the same program, which was compared with its definition.
      if (!file || std::memcmp(theirs.data(), arrays_.result().data(), size) != 0)
        ready = internal_error("its result differs");
    }
    std::remove(output(peer).c_str());
    if (ready) {
      entries.add_remote(entry, [&peer, id](int calls) { return peer.time_ms(id, calls); }, ours_of(entry));
    } else {
      JsonWriter line = json_line("not measured");
      line.member("case", pad_.name).member("engine", entry.engine).member("op", entry.op).member("dtype", entry.dtype);
      line.member("threads", entry.threads).member("reason", ready.error().message);
      report_.add_line(std::move(line));
    }
  }
  std::remove(input.c_str());
  return {};
}

Status CaseRun::compare_peers(ir::DType dtype, const TimingOptions& options) {
  Entries entries;
  add_memcpy(entries);
  for (const bool relu : {false, true}) {
    PadSpec spec{.pad = of_type(numbers(), dtype), .dtype = dtype, .relu = relu};
    Entry entry{.engine = "padlock", .op = relu ? "pad+relu" : "pad", .dtype = dtype_name(dtype)};
    PADLOCK_CHECK(add(entries, entry, machine_.one, spec));
    entry.threads = 2;
    PADLOCK_CHECK(add(entries, entry, machine_.two, spec));
    PADLOCK_CHECK(add_peers(entries, spec));
  }
  const Comparison comparison = finish("warm, beside peers", entries, options, dtype);
  for (const Entry& entry : entries.entries()) {
    if (entry.engine == "padlock" || entry.engine == "memcpy") continue;
    ratio(comparison, "peer", ours_of(entry), entry);
  }
  for (Peer& peer : machine_.peers) peer.forget_all();
  return {};
}

Status CaseRun::compare_cold(const TimingOptions& options) {
  const runtime::UserBuffer input(arrays_.input().data(), std::ssize(arrays_.input()));
  runtime::MemoryBudget memory = runtime::MemoryBudget::of_this_process();
  PADLOCK_TRY(ArgumentSets sets, ArgumentSets::create(base_.bound, {&input, 1}, machine_.cache_bytes, memory));
  PADLOCK_TRY(PlainCopy copy, PlainCopy::create(static_cast<std::int64_t>(bytes()), machine_.cache_bytes, memory));
  PADLOCK_TRY(const PadProgram two, PadProgram::make(machine_.two, {.pad = pad_}));
  const auto launch = [&sets](const PadProgram& program) {
    return [&sets, &program] {
      sets.advance();
      if (!program.bound.launch(sets.arguments())) std::abort();
    };
  };
  Entries entries;
  entries.add(plain_copy(), [&copy] { copy.run(); });
  entries.add(plain_pad(), launch(base_));
  entries.add({.engine = "padlock", .threads = 2}, launch(two));
  ratio(finish("cold", entries, options), "cold memcpy", plain_pad(), plain_copy());
  return {};
}

Status CaseRun::compare_short_rows(const TimingOptions& options) {
  const PadSpec& spec = base_.spec;
  Entries entries;
  add_memcpy(entries);
  const Entry entry{.engine = "padlock", .dtype = dtype_name(spec.dtype)};
  add(entries, entry, base_);
  PADLOCK_CHECK(add_peers(entries, spec, /*quick_ones=*/true));
  const Comparison comparison = finish("warm, short rows", entries, options, spec.dtype);
  ratio(comparison, "short rows memcpy", entry, plain_copy());
  for (const Entry& other : entries.entries())
    if (other.engine != "padlock" && other.engine != "memcpy") ratio(comparison, "short rows peer", entry, other);
  for (Peer& peer : machine_.peers)
    if (peer.threads() == 1) peer.forget_all();
  return {};
}

Comparison CaseRun::finish(const char* state, const Entries& entries, const TimingOptions& options, ir::DType dtype) {
  Comparison comparison =
      compare(fmt::format("{}, {}, {}", pad_.name, ir::name_of(dtype), state), bytes(), entries.contestants(), options);
  for (const TimedRow& row : comparison.rows) {
    JsonWriter line = row_line(comparison, row);
    line.member("case", pad_.name).member("state", state);
    if (const Entry* entry = entries.find(row.name)) {
      line.member("engine", entry->engine).member("op", entry->op).member("dtype", entry->dtype);
      line.member("threads", entry->threads).member("variant", entry->variant);
    }
    report_.add_line(std::move(line));
  }
  report_.add_table(comparison);
  return comparison;
}

void CaseRun::ratio(const Comparison& comparison, const std::string& what, const Entry& of, const Entry& to) {
  const TimedRow* const ours = comparison.find(of.name());
  const TimedRow* const theirs = comparison.find(to.name());
  if (ours == nullptr || theirs == nullptr) return;
  JsonWriter line = json_line("ratio");
  line.member("what", what)
      .member("case", pad_.name)
      .member("of", of.name())
      .member("to", to.name())
      .member("engine", to.engine);
  line.member("op", of.op).member("dtype", of.dtype).member("threads", of.threads).member("target", machine_.target);
  add_estimate(line, "ratio", speed_ratio(*ours, *theirs, 1)).member("result_bytes", base_.result_bytes());
  report_.add_line(std::move(line));
}

}  // namespace

void Report::add(const Comparison& comparison) {
  add_table(comparison);
  json_ += to_json_lines(comparison);
}

void Report::add_table(const Comparison& comparison) const {
  if (tables_) fmt::print("{}\n", to_table(comparison));
  std::fflush(stdout);
}

Status run_case(Machine& machine, const PadCase& pad, const Effort& effort, Report& report) {
  PADLOCK_TRY(const auto run, CaseRun::create(machine, pad, report));
  PADLOCK_CHECK(run->compare_variants(effort));
  PADLOCK_CHECK(run->compare_cold(effort.cold));
  for (const ir::DType dtype : effort.peer_types) PADLOCK_CHECK(run->compare_peers(dtype, effort.peers));
  return {};
}

Status run_size(Machine& machine, const PadCase& pad, const Effort& effort, Report& report) {
  PADLOCK_TRY(const auto run, CaseRun::create(machine, pad, report));
  return run->compare_peers(ir::DType::f32, effort.peers);
}

Status run_short_rows(Machine& machine, const PadSpec& rows, const TimingOptions& options, Report& report) {
  PADLOCK_TRY(const auto run, CaseRun::create(machine, rows.pad, report, rows.dtype));
  return run->compare_short_rows(options);
}

Status run_call(Machine& machine, const TimingOptions& options, Report& report) {
  const PadCase pad{.name = "call", .symbols = {"H", "W"}, .extents = {16, 16}, .low = {1, 1}, .high = {"1", "1"}};
  PADLOCK_TRY(const PadProgram program, PadProgram::make(machine.two, {.pad = pad}));
  runtime::MemoryBudget memory = runtime::MemoryBudget::of_this_process();
  PADLOCK_TRY(ArgumentSets sets, ArgumentSets::create(program.bound, {}, 2 * program.result_bytes(), memory));
  const Comparison comparison = compare("a call of 16x16, pointers alternating", 0,
                                        {{"padlock",
                                          [&] {
                                            sets.advance();
                                            if (!program.bound.launch(sets.arguments())) std::abort();
                                          }}},
                                        options);
  report.add(comparison);
  const Estimate ms = bootstrap_median(comparison.rows.front().samples_ms, options.seed);
  JsonWriter line = json_line("time");
  line.member("what", "call").member("unit", "ns");
  add_estimate(line, "value", {ms.value * 1e6, ms.low * 1e6, ms.high * 1e6});
  report.add_line(std::move(line));
  return {};
}

}  // namespace padlock::bench
