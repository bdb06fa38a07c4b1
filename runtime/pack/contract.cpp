#include "runtime/pack/contract.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/pack/cubin.h"
#include "runtime/pack/expr_table.h"
#include "runtime/pack/pack_header.h"

namespace padlock::runtime {
namespace {

using abi::KernelAbi;
using ir::Expr;

/// Most threads of a GPU's block, on all architectures.
constexpr std::int64_t kMostThreads = 1024;

/// Most elements that LaunchParts count: their offsets are signed 32-bit numbers.
constexpr std::int64_t kMostElements = std::numeric_limits<std::int32_t>::max();

template <class Parts, class Visit>
void visit_parts(Parts& parts, Visit&& visit) {
  for (auto& extent : parts.extents) visit(extent);
  visit(parts.columns);
  for (auto& span : parts.spans) visit(span);
  for (auto& reach : parts.reaches) {
    for (auto& step : reach.steps) visit(step);
    visit(reach.least);
    visit(reach.most);
  }
}

/// Visits every expression of a contract in one order, which writing and reading share.
template <class Abi, class Visit>
void visit_exprs(Abi& abi, Visit&& visit) {
  visit(abi.rows);
  visit(abi.columns);
  visit(abi.row_bytes);
  if (abi.shared_bytes.valid()) visit(abi.shared_bytes);
  for (auto& size : abi.sizes) visit(size.value);
  for (auto& precondition : abi.preconditions) {
    visit(precondition.lhs);
    visit(precondition.rhs);
  }
  for (auto& guard : abi.guards) {
    visit(guard.holds.lhs);
    visit(guard.holds.rhs);
  }
  if (abi.parts) visit_parts(*abi.parts, visit);
}

[[nodiscard]] bool names_origin(abi::SizeArgument::Encoding fit) {
  return fit == abi::SizeArgument::Encoding::from_origin || fit == abi::SizeArgument::Encoding::from_origin32;
}

void write_ids(const std::vector<ir::ValueId>& ids, ByteWriter& to) {
  to.number(static_cast<Int128>(ids.size()));
  for (const ir::ValueId id : ids) to.number(id);
}

/// Writes everything except expressions. The reader knows the counts: a span for each input, and a step for each
/// extent.
void write_parts(const std::optional<abi::LaunchParts>& parts, ByteWriter& to) {
  to.number(parts ? 1 : 0);
  if (!parts) return;
  to.number(parts->block_elements);
  to.number(parts->lanes);
  to.number(parts->most_elements);
  to.number(static_cast<Int128>(parts->extents.size()));
  to.number(static_cast<Int128>(parts->reaches.size()));
  for (const abi::Reach& reach : parts->reaches) to.number(reach.input);
}

void write_abi(const KernelAbi& abi, const ir::Order& order, ByteWriter& to) {
  to.text(abi.name);
  write_ids(abi.inputs, to);
  write_ids(abi.results, to);
  write_ids(abi.scalars, to);
  to.number(abi.threads);
  to.number(abi.waits ? 1 : 0);
  to.number(abi.shared_bytes.valid() ? 1 : 0);
  to.number(static_cast<Int128>(abi.accesses.size()));
  for (const std::string& access : abi.accesses) to.text(access);
  to.number(static_cast<Int128>(abi.sizes.size()));
  for (const abi::SizeArgument& size : abi.sizes) {
    to.number(static_cast<int>(size.fit));
    if (names_origin(size.fit)) to.number(size.input);
  }
  to.number(static_cast<Int128>(abi.preconditions.size()));
  for (const ir::Constraint& precondition : abi.preconditions) to.number(static_cast<int>(precondition.comparison));
  to.number(static_cast<Int128>(abi.guards.size()));
  for (const abi::Guard& guard : abi.guards) {
    to.number(static_cast<int>(guard.assumption));
    to.number(static_cast<int>(guard.holds.comparison));
  }
  write_parts(abi.parts, to);
  visit_exprs(abi, [&](const Expr& e) { to.number(order.slot(e)); });
}

Result<std::vector<ir::ValueId>> read_ids(ByteReader& from) {
  PADLOCK_TRY(const std::size_t count, from.count());
  std::vector<ir::ValueId> ids;
  for (std::size_t i = 0; i < count; ++i) {
    PADLOCK_TRY(const std::int64_t id, from.number(0, std::numeric_limits<ir::ValueId>::max()));
    ids.push_back(static_cast<ir::ValueId>(id));
  }
  return ids;
}

/// Reads an index into the inputs of a contract.
Result<std::uint32_t> read_input(const KernelAbi& abi, ByteReader& from) {
  PADLOCK_TRY(const std::int64_t input, from.number(0, std::ssize(abi.inputs) - 1));
  return static_cast<std::uint32_t>(input);
}

Status read_sizes(KernelAbi& abi, ByteReader& from) {
  PADLOCK_TRY(const std::size_t count, from.count());
  for (std::size_t i = 0; i < count; ++i) {
    abi::SizeArgument& size = abi.sizes.emplace_back();
    PADLOCK_TRY(size.fit, from.choice(abi::SizeArgument::Encoding::from_origin32));
    if (!names_origin(size.fit)) continue;
    PADLOCK_TRY(size.input, read_input(abi, from));
  }
  return {};
}

Status read_preconditions(KernelAbi& abi, ByteReader& from) {
  PADLOCK_TRY(const std::size_t count, from.count());
  for (std::size_t i = 0; i < count; ++i) {
    PADLOCK_TRY(const ir::Comparison comparison, from.choice(ir::Comparison::gt));
    abi.preconditions.push_back({.lhs = {}, .comparison = comparison, .rhs = {}});
  }
  return {};
}

Status read_guards(KernelAbi& abi, ByteReader& from) {
  PADLOCK_TRY(const std::size_t count, from.count());
  for (std::size_t i = 0; i < count; ++i) {
    abi::Guard guard;
    PADLOCK_TRY(const std::int64_t assumption, from.number(1, static_cast<std::int64_t>(abi::kLastAssumption)));
    guard.assumption = static_cast<abi::Assumption>(assumption);
    PADLOCK_TRY(guard.holds.comparison, from.choice(ir::Comparison::gt));
    abi.guards.push_back(guard);
  }
  return {};
}

Status read_parts(KernelAbi& abi, ByteReader& from) {
  PADLOCK_TRY(const std::int64_t has_parts, from.number(0, 1));
  if (has_parts == 0) return {};
  abi::LaunchParts& parts = abi.parts.emplace();
  PADLOCK_TRY(parts.block_elements, from.number(1, kMostElements));
  PADLOCK_TRY(parts.lanes, from.number(1, kMostElements));
  PADLOCK_TRY(parts.most_elements, from.number(1, kMostElements));
  PADLOCK_TRY(const std::size_t extents, from.count());
  PADLOCK_TRY(const std::size_t reaches, from.count());
  // Each step takes at least one byte, so a damaged count cannot request more memory.
  if (extents != 0 && reaches > from.left() / extents)
    return damaged_pack(fmt::format("{} reaches of {} steps in {} bytes", reaches, extents, from.left()));
  parts.extents.resize(extents);
  parts.spans.resize(abi.inputs.size());
  for (std::size_t i = 0; i < reaches; ++i) {
    abi::Reach& reach = parts.reaches.emplace_back();
    PADLOCK_TRY(reach.input, read_input(abi, from));
    reach.steps.resize(extents);
  }
  return {};
}

Result<KernelAbi> read_abi(std::span<const Expr> exprs, ByteReader& from) {
  KernelAbi abi;
  PADLOCK_TRY(abi.name, from.text());
  PADLOCK_TRY(abi.inputs, read_ids(from));
  PADLOCK_TRY(abi.results, read_ids(from));
  PADLOCK_TRY(abi.scalars, read_ids(from));
  PADLOCK_TRY(const std::int64_t threads, from.number(0, kMostThreads));
  abi.threads = static_cast<int>(threads);
  PADLOCK_TRY(const std::int64_t waits, from.number(0, 1));
  abi.waits = waits != 0;
  PADLOCK_TRY(const std::int64_t asks_for_memory, from.number(0, exprs.empty() ? 0 : 1));
  if (asks_for_memory != 0) abi.shared_bytes = exprs.front();  // the expression is read with the others
  PADLOCK_TRY(const std::size_t accesses, from.count());
  for (std::size_t i = 0; i < accesses; ++i) {
    PADLOCK_TRY(const std::string_view access, from.text());
    abi.accesses.emplace_back(access);
  }
  PADLOCK_CHECK(read_sizes(abi, from));
  PADLOCK_CHECK(read_preconditions(abi, from));
  PADLOCK_CHECK(read_guards(abi, from));
  PADLOCK_CHECK(read_parts(abi, from));
  Status status;
  visit_exprs(abi, [&](Expr& e) {
    const auto slot = status ? from.number(0, std::ssize(exprs) - 1) : Result<std::int64_t>(0);
    if (!slot) status = std::unexpected(slot.error());
    if (status) e = exprs[static_cast<std::size_t>(*slot)];
  });
  PADLOCK_CHECK(std::move(status));
  return abi;
}

}  // namespace

Result<std::vector<std::byte>> write_contracts(const abi::CompiledCode& code) {
  ByteWriter to;
  std::vector<Expr> roots;
  for (const auto& variants : code.kernels)
    for (const abi::KernelVariant& variant : variants)
      visit_exprs(variant.abi, [&](const Expr& e) { roots.push_back(e); });
  PADLOCK_TRY(const ir::Order order, write_exprs(roots, to));
  to.number(static_cast<Int128>(code.kernels.size()));
  for (const auto& variants : code.kernels) {
    to.number(static_cast<Int128>(variants.size()));
    for (const abi::KernelVariant& variant : variants) {
      to.number(static_cast<Int128>(variant.offset));
      to.number(variant.planner ? static_cast<Int128>(*variant.planner) : -1);
      write_abi(variant.abi, order, to);
    }
  }
  return std::move(to).take();
}

Result<abi::CompiledCode> read_code(const ir::Program& program, abi::CodeKind kind, const PackConfig& packed) {
  if (!packed.cubin.empty() && (kind != abi::CodeKind::ptx || !is_whole_cubin(packed.cubin)))
    return damaged_pack("a cubin is not whole");
  ByteReader from(packed.contracts, kPack);
  PADLOCK_TRY(const std::vector<Expr> exprs, read_exprs(program, from));
  PADLOCK_TRY(const std::size_t kernels, from.count());
  abi::CompiledCode code{.kind = kind,
                         .bytes = {packed.code.begin(), packed.code.end()},
                         .cubin = {packed.cubin.begin(), packed.cubin.end()},
                         .task_bytes = packed.task_bytes};
  for (std::size_t i = 0; i < kernels; ++i) {
    PADLOCK_TRY(const std::size_t count, from.count());
    if (count == 0) return damaged_pack("a kernel has no variant");
    auto& variants = code.kernels.emplace_back();
    for (std::size_t v = 0; v < count; ++v) {
      PADLOCK_TRY(const std::int64_t offset, from.number(0, std::numeric_limits<std::int64_t>::max()));
      PADLOCK_TRY(const std::int64_t planner, from.number(-1, std::numeric_limits<std::int64_t>::max()));
      PADLOCK_TRY(KernelAbi abi, read_abi(exprs, from));
      variants.push_back({std::move(abi), static_cast<std::size_t>(offset)});
      if (planner >= 0) variants.back().planner = static_cast<std::size_t>(planner);
    }
  }
  PADLOCK_CHECK(from.finish());
  return code;
}

}  // namespace padlock::runtime
