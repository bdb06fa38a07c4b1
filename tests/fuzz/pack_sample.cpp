#include "tests/fuzz/pack_sample.h"

#include <cstdlib>
#include <deque>
#include <string>

#include "ir/program.h"
#include "runtime/pack/contract.h"
#include "runtime/pack/pack_file.h"
#include "runtime/pack/pack_header.h"
#include "support/hash.h"

namespace padlock::fuzz {
namespace {

using runtime::PackHeader;

const char* const kTexts[] = {
    "program a(x: f32[B, S], lo: dim, v: f32) where 1 <= B, -8 <= lo <= 8, S + lo >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v) return y }",
    "program b(x: u8[N], k: dim) where k >= 1 { y = pad(x, low = [N floordiv 3], high = [max(N, k) mod k]) return y }"};

/// Gives a contract the LaunchParts of GPU code with 32-bit offsets, as if the kernel read each input from far before
/// to far after the element that it writes.
void add_parts(abi::KernelAbi& abi, const ir::Program& program) {
  ir::ExprContext& exprs = program.exprs();
  const ir::Value& result = program.value(program.results().front());
  const auto outer = result.extents().first(result.extents().size() - 1);
  abi::LaunchParts& parts = abi.parts.emplace(abi::LaunchParts{.extents = {outer.begin(), outer.end()},
                                                               .columns = abi.columns,
                                                               .spans = {},
                                                               .reaches = {},
                                                               .block_elements = 1024,
                                                               .lanes = 4,
                                                               .most_elements = 1 << 30});
  for (std::uint32_t input = 0; input < abi.inputs.size(); ++input) {
    parts.spans.push_back(program.value(abi.inputs[input]).layout.storage_extent());
    const std::vector<ir::Expr> steps(outer.size(), abi.columns);
    parts.reaches.push_back({input, steps, exprs.constant(-64), exprs.add(abi.columns, exprs.constant(64))});
    abi.sizes.push_back({parts.spans.back(), abi::SizeArgument::Encoding::from_origin, input});
    abi.sizes.push_back({parts.spans.back(), abi::SizeArgument::Encoding::from_origin32, input});
  }
  abi.sizes.push_back({abi.columns, abi::SizeArgument::Encoding::first_row});
  abi.sizes.push_back({abi.columns, abi::SizeArgument::Encoding::elements});
}

/// Contracts such as a compiler makes, of a kernel with two variants.
std::vector<std::byte> contracts_of(const ir::Program& program) {
  ir::ExprContext& exprs = program.exprs();
  const ir::Value& result = program.value(program.results().front());
  abi::KernelAbi abi{.name = "k",
                     .inputs = program.tensor_parameters(),
                     .results = program.results(),
                     .scalars = program.scalar_parameters(),
                     .sizes = {},
                     .rows = {},
                     .columns = {},
                     .row_bytes = {},
                     .accesses = {"load of x", "store of y"}};
  for (const ir::Expr extent : result.extents()) {
    abi.sizes.push_back({.value = extent});
    abi.sizes.push_back({.value = extent, .fit = abi::SizeArgument::Encoding::magic_multiplier});
    abi.sizes.push_back({.value = exprs.min(extent, exprs.constant(64)), .fit = abi::SizeArgument::Encoding::saturate});
  }
  abi.columns = result.extents().back();
  abi.rows = result.rank() == 1 ? exprs.constant(1) : result.extents().front();
  abi.row_bytes = exprs.mul(abi.columns, exprs.constant(ir::byte_size(result.dtype)));
  abi.preconditions = {{abi.columns, ir::Comparison::le, exprs.constant(Int128{1} << 60)}};
  abi::KernelAbi special = abi;
  special.name = "k.index32";
  special.guards = {
      {.assumption = abi::Assumption::index32, .holds = {abi.columns, ir::Comparison::lt, exprs.constant(1 << 20)}}};
  add_parts(special, program);
  const auto written = runtime::write_contracts({.kernels = {{{abi, 0}, {special, 64}}}});
  return written ? *written : std::vector<std::byte>();
}

std::vector<std::byte> make_sample() {
  const std::vector<std::byte> code(256, std::byte{0xC3});
  std::deque<std::vector<std::byte>> contracts;
  runtime::PackContents contents{.build = "by hand", .programs = {}};
  for (const char* const text : kTexts) {
    const auto program = ir::parse_program(text);
    if (!program) std::abort();
    contracts.push_back(contracts_of(*program));
    const runtime::PackConfig plain{
        .config = "unroll=1", .task_bytes = 4096, .contracts = contracts.back(), .code = code};
    runtime::PackConfig other = plain;
    other.config = "unroll=2";
    const char* const region = program->name() == "a" ? "S >= 64" : "N mod 4 == 0, k <= 2";
    contents.programs.push_back({.name = text[8] == 'a' ? "a" : "b",
                                 .text = text,
                                 .fingerprint = "0123456789abcdef",
                                 .targets = {{.name = "host",
                                              .description = "x86-64 +sse2",
                                              .elf_number = 62,
                                              .features = {"sse2"},
                                              .reason = "the default",
                                              .choices = {{region, "unroll=2"}},
                                              .codes = {plain, other}},
                                             {.name = "sm_90", .description = "sm_90", .codes = {plain}}}});
  }
  const auto pack = runtime::write_pack(contents);
  if (!pack) std::abort();
  return *pack;
}

}  // namespace

const std::vector<std::byte>& sample_pack() {
  static const std::vector<std::byte> kPack = make_sample();
  return kPack;
}

std::vector<std::byte> sample_metadata() {
  const auto header = PackHeader::of(sample_pack());
  if (!header) std::abort();
  const auto first = sample_pack().begin() + PackHeader::kBytes;
  return {first, first + static_cast<std::ptrdiff_t>(header->metadata_bytes)};
}

std::vector<std::byte> sealed_pack(std::vector<std::byte> metadata) {
  PackHeader header = *PackHeader::of(sample_pack());
  const auto code = sample_pack().end() - static_cast<std::ptrdiff_t>(PackHeader::kChecksumBytes + header.code_bytes);
  header.metadata_bytes = metadata.size();
  const auto head = header.bytes();
  std::vector<std::byte> pack(head.begin(), head.end());
  pack.insert(pack.end(), metadata.begin(), metadata.end());
  pack.insert(pack.end(), code, sample_pack().end() - PackHeader::kChecksumBytes);
  const auto sum = checksum128(pack);
  pack.insert(pack.end(), sum.begin(), sum.end());
  return pack;
}

}  // namespace padlock::fuzz
