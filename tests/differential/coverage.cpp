#include "tests/differential/coverage.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

namespace padlock::differential {
namespace {

const char* sign_of(Int128 v) { return v < 0 ? "negative" : v == 0 ? "zero" : "positive"; }

bool is_prime(std::int64_t n) {
  if (n < 2) return false;
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

bool near_vector_width(std::int64_t n) {
  return std::ranges::any_of(std::initializer_list<std::int64_t>{8, 16, 32, 64, 128, 256},
                             [n](std::int64_t width) { return n >= width - 1 && n <= width + 1; });
}

std::string pair_name(ir::Op producer, ir::Op consumer) {
  return fmt::format("{} -> {}", ir::name_of(producer), ir::name_of(consumer));
}

}  // namespace

Coverage::Coverage() {
  for (const ir::OpInfo& op : ir::kOperations) expect("operation", std::string(op.name));
  for (const ir::DType t : ir::kAllDTypes) expect("type", std::string(ir::name_of(t)));
  for (const ir::PadMode mode : ir::kPadModes) {
    expect("mode", std::string(ir::name_of(mode)));
    for (const char* sign : {"negative", "zero", "positive"})
      for (const char* side : {"low", "high"})
        expect("pad sign", fmt::format("{} {} {}", ir::name_of(mode), side, sign));
    if (mode != ir::PadMode::constant) expect("laps", fmt::format("{} past one lap", ir::name_of(mode)));
  }
  expect("laps", "constant beyond the extent");
  expect("laps", "constant with interior");
  for (const char* kind : kStrideKindNames) expect("stride kind", kind);
  for (int rank = 0; rank <= 6; ++rank) expect("rank", std::to_string(rank));
  for (const char* n : {"0", "1", "2", "prime", "around a vector width"}) expect("extent", n);
  for (const OpPair& p : legal_pairs()) expect("pair", pair_name(p.producer, p.consumer));
  for (const char* what : {"both placements", "refused binding", "bounds check", "default config", "other config"})
    expect("run", what);
}

void Coverage::count_pads(const GeneratedStatement& statement, const SymbolValues& values) {
  for (const PadSite& site : statement.pads) {
    const std::string mode(ir::name_of(site.mode));
    const Int128 low = evaluate(site.low, values).value_or(0);
    const Int128 high = evaluate(site.high, values).value_or(0);
    const Int128 n = evaluate(site.extent, values).value_or(0);
    count("pad sign", mode + " low " + sign_of(low));
    count("pad sign", mode + " high " + sign_of(high));
    const bool far = low > n || high > n || -low > n || -high > n;
    if (far && n > 0)
      count("laps", mode + (site.mode == ir::PadMode::constant ? " beyond the extent" : " past one lap"));
    if (site.interior > 0) count("laps", "constant with interior");
  }
}

void Coverage::count_extents(const std::vector<Dim>& extents, const SymbolValues& values) {
  count("rank", std::to_string(extents.size()));
  for (const Dim& e : extents) {
    const auto n = static_cast<std::int64_t>(evaluate(e, values).value_or(0));
    if (n <= 2) count("extent", std::to_string(n));
    if (n > 2 && is_prime(n)) count("extent", "prime");
    if (near_vector_width(n)) count("extent", "around a vector width");
  }
}

void Coverage::count_run(const GeneratedProgram& program, const SymbolValues& values) {
  ++runs_;
  const std::vector<bool> live = program.live_statements(program.results);
  std::map<std::string, ir::Op> producers;
  std::vector<std::string> read = program.results;
  for (std::size_t i = 0; i < program.statements.size(); ++i) {
    const GeneratedStatement& s = program.statements[i];
    if (!live[i]) continue;
    count("operation", std::string(ir::name_of(s.op)));
    count("type", std::string(ir::name_of(s.dtype)));
    if (s.op == ir::Op::pad && !s.pads.empty()) count("mode", std::string(ir::name_of(s.pads[0].mode)));
    count_pads(s, values);
    count_extents(s.extents, values);
    for (const std::string& operand : s.operands) {
      read.push_back(operand);
      if (const auto it = producers.find(operand); it != producers.end()) count("pair", pair_name(it->second, s.op));
    }
    producers[s.name] = s.op;
  }
  for (const GeneratedTensor& t : program.tensors)
    if (std::ranges::find(read, t.name) != read.end())
      count("stride kind", kStrideKindNames[static_cast<std::size_t>(t.stride_kind)]);
}

std::pair<std::uint64_t, std::string> Coverage::rarest(const std::string& left_out) const {
  std::pair<std::uint64_t, std::string> least{std::numeric_limits<std::uint64_t>::max(), ""};
  for (const auto& [category, names] : counts_)
    for (const auto& [name, n] : names)
      if (category != left_out) least = std::min(least, {n, category + ": " + name});
  return least;
}

void Coverage::print(bool all) const {
  for (const auto& [category, names] : counts_) {
    std::vector<std::pair<std::uint64_t, std::string>> rows;
    for (const auto& [name, n] : names) rows.emplace_back(n, name);
    std::ranges::sort(rows);
    const bool shorten = !all && rows.size() > 60;
    fmt::print("{} ({} kinds, {} to {} times){}\n", category, rows.size(), rows.front().first, rows.back().first,
               shorten ? ", the rarest:" : "");
    for (std::size_t i = 0; i < (shorten ? 10 : rows.size()); ++i)
      fmt::print("  {:8} {}\n", rows[i].first, rows[i].second);
  }
}

}  // namespace padlock::differential
