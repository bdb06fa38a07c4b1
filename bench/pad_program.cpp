#include "bench/pad_program.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "bench/pad_check.h"

namespace padlock::bench {

std::map<std::string, std::int64_t> sizes_of(const PadCase& pad) {
  std::map<std::string, std::int64_t> sizes;
  for (std::size_t i = 0; i < pad.rank(); ++i)
    if (pad.symbols[i] != std::to_string(pad.extents[i])) sizes[pad.symbols[i]] = pad.extents[i];
  return sizes;
}

namespace {

Result<session::CompiledProgram> compile_for(session::Context& context, const session::Program& program,
                                             const std::string& target) {
  if (target == "host") return context.compile(program);
  PADLOCK_TRY(std::vector<std::byte> packed, context.pack({program}, {target}));
  PADLOCK_TRY(const auto pack, runtime::PackFile::parse(std::move(packed)));
  return context.load(*pack, "");
}

}  // namespace

Result<PadProgram> PadProgram::make(session::Context& context, const PadSpec& spec, const std::string& target) {
  PADLOCK_TRY(const session::Program program, session::Program::from_text(program_text(spec), spec.pad.name));
  PADLOCK_TRY(const session::CompiledProgram compiled, compile_for(context, program, target));
  ir::BindRequest request{.tensors = {std::nullopt}, .symbols = {}};
  if (spec.literal_extents)
    request.tensors = {ir::ArgumentShape{spec.pad.extents, std::nullopt}};
  else
    request.symbols = sizes_of(spec.pad);
  PADLOCK_TRY(session::BoundProgram bound, compiled.bind(request));
  PadSpec numbers = spec;
  numbers.pad = with_numbers(spec.pad, bound.results().front().extents);
  return PadProgram{std::move(numbers), std::move(bound)};
}

void PadProgram::launch(std::span<const std::byte> input, std::span<std::byte> result) const {
  const runtime::UserBuffer from(input.data(), std::ssize(input));
  const runtime::UserBuffer to(result.data(), std::ssize(result));
  if (!bound.launch({.inputs = {&from, 1}, .outputs = {&to, 1}, .scalars = {}})) std::abort();
}

Result<PadArrays> PadArrays::create(std::int64_t bytes) {
  // In huge pages, as the peers' arrays are (host_peers.py): where small ones lie in the second cache is chance, and
  // two that compete for its places lose a third of their speed in every round of a comparison.
  constexpr auto kPage = static_cast<std::int64_t>(runtime::kHugePage);
  const std::int64_t whole = std::max((bytes + kPage - 1) / kPage, std::int64_t{1}) * kPage;
  PadArrays arrays;
  arrays.bytes_ = static_cast<std::size_t>(bytes);
  PADLOCK_TRY(arrays.input_, arrays.memory_.allocate(whole, "input"));
  PADLOCK_TRY(arrays.result_, arrays.memory_.allocate(whole, "result"));
  fill_with_noise(arrays.input_.span());
  return arrays;
}

Status PadArrays::check(const PadProgram& program) {
  const std::span<std::byte> to = result().first(static_cast<std::size_t>(program.result_bytes()));
  std::ranges::fill(to, std::byte{0xA5});
  program.launch(input(), to);
  return check_result(program.spec, input(), to);
}

}  // namespace padlock::bench
