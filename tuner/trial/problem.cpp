#include "tuner/trial/problem.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "runtime/arguments.h"
#include "tuner/trial/scratch_data.h"

namespace padlock::tuner {
namespace {

Result<ir::Binding> bind_sizes(const ir::Program& program, const Symbols& symbols) {
  ir::BindRequest request{.tensors = {}, .symbols = symbols};
  request.tensors.resize(program.tensor_parameters().size());
  return ir::Binding::bind(program, request);
}

std::int64_t elements_of(const ir::Binding& binding) {
  std::int64_t sum = 0;
  for (const ir::ValueId id : binding.program().results())
    sum += binding(binding.program().value(id).layout.element_count());
  return sum;
}

/// Returns values between a symbol's value and 0, the smallest first, with multiples of powers of two, as constraints
/// need.
std::vector<std::int64_t> smaller(std::int64_t value) {
  std::vector<std::int64_t> candidates;
  for (std::int64_t divisor = 64; divisor > 1; divisor /= 2) {
    candidates.push_back(value / divisor);
    candidates.push_back(value / divisor / 64 * 64);
  }
  return candidates;
}

}  // namespace

Result<Problem> Problem::create(const ir::Program& program, const Symbols& symbols, std::uint64_t seed) {
  PADLOCK_TRY(ir::Binding binding, bind_sizes(program, symbols));
  Problem problem(std::move(binding), symbols, seed);
  PADLOCK_TRY(const auto sizes, runtime::ArgumentSizes::of(problem.binding_));
  for (std::size_t i = 0; i < sizes.input_bytes().size(); ++i) {
    auto& input = problem.inputs_.emplace_back(static_cast<std::size_t>(sizes.input_bytes()[i]));
    fill_data(input, program.value(program.tensor_parameters()[i]).dtype, Domain::full, seed + i);
  }
  for (const ir::ValueId id : program.scalar_parameters())
    problem.scalars_.push_back(scalar_bits(program.value(id).dtype, ~seed - problem.scalars_.size()));
  return problem;
}

std::int64_t Problem::result_elements() const { return elements_of(binding_); }

std::int64_t Problem::input_bytes() const {
  return std::accumulate(inputs_.begin(), inputs_.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& input) { return sum + std::ssize(input); });
}

std::int64_t Problem::result_bytes() const {
  std::int64_t sum = 0;
  for (const ir::ValueId id : program().results()) {
    const ir::Value& value = program().value(id);
    sum += binding_(runtime::result_layout(program(), id).storage_extent()) * ir::byte_size(value.dtype);
  }
  return sum;
}

Symbols shrink(const ir::Program& program, Symbols symbols, std::int64_t most_elements) {
  const auto legal = bind_sizes(program, symbols);
  std::int64_t elements = legal ? elements_of(*legal) : 0;
  for (bool progress = true; progress && elements > most_elements;) {
    progress = false;
    for (auto& [name, value] : symbols) {
      const std::int64_t before = value;
      for (const std::int64_t candidate : smaller(before)) {
        value = candidate;
        const auto binding = bind_sizes(program, symbols);
        if (const std::int64_t now = binding ? elements_of(*binding) : 0; now > 0 && now < elements) {
          elements = now;
          progress = true;
          break;
        }
        value = before;
      }
      if (elements <= most_elements) break;
    }
  }
  return symbols;
}

std::int64_t data_bytes(const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  Int128 bytes = 0;
  for (const ir::ValueId id : program.tensor_parameters()) bytes += binding.storage_bytes(program.value(id));
  for (const ir::ValueId id : program.results())
    bytes +=
        Int128{binding(runtime::result_layout(program, id).storage_extent())} * ir::byte_size(program.value(id).dtype);
  return static_cast<std::int64_t>(std::min<Int128>(3 * bytes, kInt64Max));
}

std::int64_t scratch_bytes(const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  const std::size_t buffers = program.tensor_parameters().size() + program.results().size();
  const Int128 bytes = Int128{data_bytes(binding)} + Int128{buffers} * runtime::ScratchBuffer::footprint(0);
  return static_cast<std::int64_t>(std::min<Int128>(bytes, kInt64Max));
}

Result<ScratchSet> ScratchSet::allocate(runtime::ScratchSpace& space, const ir::Binding& binding) {
  const ir::Program& program = binding.program();
  ScratchSet set;
  for (const ir::ValueId id : program.tensor_parameters()) {
    const ir::Value& value = program.value(id);
    PADLOCK_TRY(auto buffer,
                runtime::ScratchBuffer::allocate(space, binding, value.layout, value.dtype, "input " + value.name));
    set.inputs.push_back(std::move(buffer));
  }
  for (const ir::ValueId id : program.results()) {
    const ir::Value& value = program.value(id);
    PADLOCK_TRY(auto buffer, runtime::ScratchBuffer::allocate(space, binding, runtime::result_layout(program, id),
                                                              value.dtype, "result " + value.name));
    set.outputs.push_back(std::move(buffer));
  }
  return set;
}

std::int64_t ScratchSet::mapped_bytes() const {
  std::int64_t sum = 0;
  for (const auto* const list : {&inputs, &outputs})
    for (const auto& buffer : *list) sum += buffer.mapped_bytes();
  return sum;
}

Status ScratchSet::arm(runtime::Placement placement, std::byte red, std::int64_t skew) {
  for (auto* const list : {&inputs, &outputs})
    for (auto& buffer : *list) PADLOCK_CHECK(buffer.arm(placement, red, skew));
  return {};
}

Status ScratchSet::scatter(std::byte red, std::int64_t skew, std::uint64_t draw) {
  constexpr std::int64_t kStep = 64, kSteps = 64;
  std::mt19937_64 random(draw);
  for (auto* const list : {&inputs, &outputs})
    for (auto& buffer : *list)
      PADLOCK_CHECK(
          buffer.arm(runtime::Placement::red_zones, red, skew + kStep * static_cast<std::int64_t>(random() % kSteps)));
  return {};
}

Status ScratchSet::write_inputs(const std::vector<std::vector<std::byte>>& data) {
  for (std::size_t i = 0; i < inputs.size(); ++i) PADLOCK_CHECK(inputs[i].write(data[i]));
  return {};
}

Status ScratchSet::write_plain_inputs(const Problem& problem, std::vector<std::byte>& staging) {
  const ir::Program& program = problem.program();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    staging.resize(std::min(kPlainPeriod, static_cast<std::size_t>(inputs[i].bytes())));
    fill_data(staging, program.value(program.tensor_parameters()[i]).dtype, Domain::plain, problem.seed() + i);
    PADLOCK_CHECK(inputs[i].repeat(staging));
  }
  return {};
}

Status ScratchSet::poison(std::byte value) {
  for (auto& buffer : outputs) PADLOCK_CHECK(buffer.fill(value));
  return {};
}

Result<std::string> ScratchSet::damage() const {
  for (const auto* const list : {&inputs, &outputs}) {
    for (const auto& buffer : *list) {
      PADLOCK_TRY(std::string damage, buffer.damage());
      if (!damage.empty()) return damage;
    }
  }
  return std::string();
}

}  // namespace padlock::tuner
