// Any bytes as a program: an error with a position, or a program that prints, binds and evaluates.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "ir/reference/interpreter.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/fuzz/fuzz_body.h"

namespace padlock::fuzz {
namespace {

constexpr std::int64_t kMaxEvaluated = 1 << 16;

/// Symbols by name from a small set of values: sizes, signs and the ends of 64 bits.
ir::BindRequest request_for(const ir::Program& program, testing::Rng& rng) {
  static constexpr std::array<std::int64_t, 12> kValues = {
      0, 1, 2, 3, 8, -1, -3, 17, std::int64_t{1} << 40, std::int64_t{1} << 62, -(std::int64_t{1} << 62), 4096};
  ir::BindRequest request;
  request.tensors.resize(program.tensor_parameters().size());
  const bool small = rng.chance(80);
  for (std::uint32_t i = 0; i < program.exprs().symbol_count(); ++i) {
    const ir::Symbol& symbol = program.exprs().symbol(i);
    if (symbol.kind == ir::SymbolKind::coordinate) continue;
    request.symbols[symbol.name] = small ? rng.between(0, 6) : rng.pick(kValues);
  }
  return request;
}

std::int64_t elements_of(const ir::Binding& binding, const ir::Value& value) {
  Int128 count = 1;
  for (const std::int64_t n : binding.extents_of(value)) count = std::min<Int128>(count * n, kMaxEvaluated + 1);
  return static_cast<std::int64_t>(count);
}

/// Evaluates the first and last element of each result, if the inputs are small enough.
void evaluate(const ir::Program& program, const ir::Binding& binding) {
  std::vector<std::vector<std::byte>> inputs;
  for (const ir::ValueId id : program.tensor_parameters()) {
    const std::int64_t bytes = binding.storage_bytes(program.value(id));
    require(bytes >= 0 && bytes < ir::kMaxStorageBytes, "storage is within its limit");
    if (bytes > kMaxEvaluated) return;
    inputs.emplace_back(static_cast<std::size_t>(bytes), std::byte{0x3c});
  }
  ir::Interpreter reference(binding, {inputs.begin(), inputs.end()},
                            std::vector<std::uint64_t>(program.scalar_parameters().size(), 1));
  for (const ir::ValueId id : program.results()) {
    const ir::Value& value = program.value(id);
    if (elements_of(binding, value) == 0) continue;
    std::vector<std::int64_t> last = binding.extents_of(value);
    for (std::int64_t& c : last) --c;
    for (const std::vector<std::int64_t>& at : {std::vector<std::int64_t>(last.size(), 0), last}) {
      const Result<ir::Element> element = reference.element(id, at);
      require(element.has_value() || element.error().code == Code::resource_exhausted, "an element has a value");
    }
  }
}

void bind_and_evaluate(const ir::Program& program, testing::Rng& rng) {
  for (int k = 0; k < 4; ++k) {
    const Result<ir::Binding> binding = ir::Binding::bind(program, request_for(program, rng));
    if (binding)
      evaluate(program, *binding);
    else
      require(!binding.error().message.empty(), "a refused binding says why");
  }
}

}  // namespace

double seconds_allowed() { return 1; }

}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::int64_t before = steps_taken();
  const Result<ir::Program> program = ir::parse_program(text);
  fuzz::require_steps(steps_taken() - before, limits::kVerifySteps);
  if (!program) {
    fuzz::require(program.error().where.known() && !program.error().message.empty(),
                  "a refused program says where and why");
    return 0;
  }
  std::uint64_t seed = size;
  for (const char c : text) seed = seed * 1099511628211U + static_cast<unsigned char>(c);
  testing::Rng rng(seed);
  fuzz::bind_and_evaluate(*program, rng);
  const std::string canonical = to_string(*program);
  if (canonical.find("...") == std::string::npos)
    fuzz::require(ir::parse_program(canonical).has_value(), "canonical text is a program");
  return 0;
}
