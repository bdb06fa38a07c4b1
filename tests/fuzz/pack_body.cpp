// Any bytes as a pack, and any metadata in a pack with correct sizes and checksum: refused with a reason, or loaded and
// bound. Nothing is launched: a pack is trusted as code is.
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "ir/binding/symbol_binding.h"
#include "session/launch/launch_context.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/pack_sample.h"

namespace padlock::fuzz {
namespace {

bool explained(const Error& error) { return !error.message.empty(); }

/// All symbols that one value.
void bind(const session::CompiledProgram& program, std::int64_t value) {
  ir::BindRequest request;
  request.tensors.resize(program.program().ir().tensor_parameters().size());
  for (const ir::Symbol* symbol : ir::symbols_of(program.program().ir())) request.symbols[symbol->name] = value;
  const auto bound = program.bind(request);
  require(bound || explained(bound.error()), "sizes that are refused are so for a reason");
}

void load_all(const runtime::PackFile& pack) {
  static session::LaunchContext context({.threads = 1});
  for (const runtime::PackProgram& program : pack.contents().programs) {
    const auto loaded = context.load(pack, program.name);
    require(loaded || explained(loaded.error()), "a program that is refused is so for a reason");
    if (!loaded) continue;
    for (const std::int64_t value : {0, 1, 8, 100, 1 << 20}) bind(*loaded, value);
  }
}

void read(std::span<const std::byte> bytes) {
  const auto pack = runtime::PackFile::parse({bytes.begin(), bytes.end()});
  require(pack || explained(pack.error()), "a pack that is refused is so for a reason");
  if (pack) load_all(**pack);
}

}  // namespace

double seconds_allowed() { return 3; }

}  // namespace padlock::fuzz

/// The first byte selects the kind of the others: '*' for a whole file, any other for metadata.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock::fuzz;
  if (size == 0) return 0;
  const std::span rest(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  if (data[0] == '*') {
    read(rest);
  } else {
    read(sealed_pack({rest.begin(), rest.end()}));
  }
  return 0;
}
