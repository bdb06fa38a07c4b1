#include "session/launch/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/reference/interpreter.h"
#include "session/launch/compiled_state.h"
#include "support/stack_array.h"

namespace padlock::session {

using runtime::BufferView;

namespace {

/// Takes the next `count` numbers.
std::vector<std::int64_t> take(std::span<const std::int64_t>& numbers, std::size_t count) {
  const auto taken = numbers.first(count);
  numbers = numbers.subspan(count);
  return {taken.begin(), taken.end()};
}

ir::Interpreter interpreter_for(const ir::Binding& binding, const runtime::ArgumentSizes& sizes,
                                std::span<const BufferView> inputs, std::span<const std::uint64_t> scalars) {
  std::vector<std::span<const std::byte>> bytes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    bytes.emplace_back(static_cast<const std::byte*>(inputs[i].data()),
                       static_cast<std::size_t>(sizes.input_bytes()[i]));
  return {binding, std::move(bytes), {scalars.begin(), scalars.end()}};
}

}  // namespace

const Program& CompiledProgram::program() const { return state_->program; }
const runtime::Device& CompiledProgram::device() const { return *state_->device; }
const std::string& CompiledProgram::config() const { return state_->config; }
const std::string& CompiledProgram::target() const { return state_->target; }

std::string CompiledProgram::reason() const {
  const std::shared_ptr<const TunedConfigs> tuned = state_->tuned.get();
  return tuned ? tuned->reason : state_->reason;
}

std::vector<std::vector<const abi::KernelAbi*>> CompiledProgram::kernels() const { return state_->loaded->contracts(); }

Result<BoundProgram> CompiledProgram::bind(const ir::BindRequest& request) const {
  auto bind_result = state_->program.binder().bind(request);
  if (!bind_result) return std::unexpected(state_->program.with_source_line(std::move(bind_result).error()));
  ir::Binding binding = *std::move(bind_result);
  auto bound = std::make_shared<BoundProgram::State>(
      BoundProgram::State{.compiled = state_, .binding = std::move(binding), .reason = {}});
  const std::shared_ptr<const TunedConfigs> tuned = state_->tuned.get();
  if (tuned) {
    const tuner::Chosen choice = tuned->choices.choose(bound->binding);
    bound->reason = fmt::format("{}: {}", tuned->reason, choice.reason);
    const auto other = tuned->compiled.find(choice.config);
    if (other != tuned->compiled.end()) bound->compiled = other->second;
  }
  Status loaded = bound->load();
  // A choice is a hint: if the present device does not accept it, the default serves.
  if (!loaded && bound->compiled != state_ && !tuned->is_required && !is_device_lost(loaded.error())) {
    bound->reason = fmt::format("{} but for {}: {}: not tuned: the default config", tuned->reason,
                                bound->compiled->config, loaded.error().message);
    bound->compiled = state_;
    loaded = bound->load();
  }
  PADLOCK_CHECK(std::move(loaded));
  bound->describe_arguments();
  return BoundProgram(std::move(bound));
}

CompiledProgram BoundProgram::compiled() const { return CompiledProgram(state_->compiled); }
std::string BoundProgram::reason() const { return state_->reason.empty() ? state_->compiled->reason : state_->reason; }
const ir::Binding& BoundProgram::binding() const { return state_->binding; }
const std::vector<TensorInfo>& BoundProgram::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& BoundProgram::results() const { return state_->results; }

std::shared_ptr<CompiledProgram::State> make_state(const Program& program, const runtime::Device& device) {
  return std::shared_ptr<CompiledProgram::State>(new CompiledProgram::State{.program = program, .device = &device});
}

Status BoundProgram::State::load() {
  PADLOCK_TRY(runtime::ArgumentSizes sizes, compiled->program.binder().sizes(binding));
  PADLOCK_TRY(bound, compiled->loaded->bind(binding, std::move(sizes)));
  return {};
}

void BoundProgram::State::describe_arguments() {
  const ir::Program& program = binding.program();
  std::vector<std::int64_t> wide;
  std::span<const std::int64_t> numbers = compiled->program.binder().shapes(binding, wide);
  const auto describe = [&](std::span<const ir::ValueId> ids, std::span<const std::int64_t> bytes,
                            std::vector<TensorInfo>& tensors) {
    tensors.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const ir::Value& value = program.value(ids[i]);
      TensorInfo& tensor = tensors.emplace_back();
      tensor.name = value.name;
      tensor.dtype = value.dtype;
      tensor.extents = take(numbers, value.extents().size());
      tensor.strides = take(numbers, value.extents().size());
      tensor.storage_bytes = bytes[i];
    }
  };
  describe(program.tensor_parameters(), bound->sizes().input_bytes(), inputs);
  describe(program.results(), bound->sizes().output_bytes(), results);
}

LaunchViews::LaunchViews(const LaunchArguments& arguments)
    : inputs_(arguments.inputs.size()), views_(arguments.inputs.size() + arguments.outputs.size()) {
  std::size_t at = 0;
  for (const runtime::UserBuffer& buffer : arguments.inputs) views_[at++] = BufferView(buffer);
  for (const runtime::UserBuffer& buffer : arguments.outputs) views_[at++] = BufferView(buffer);
}

LaunchViews::LaunchViews(const LaunchPointers& pointers, const runtime::ArgumentSizes& sizes)
    : inputs_(pointers.inputs.size()), views_(pointers.inputs.size() + pointers.outputs.size()) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < pointers.inputs.size(); ++i)
    views_[at++] = BufferView(runtime::UserBuffer(pointers.inputs[i], sizes.input_bytes()[i]));
  for (std::size_t i = 0; i < pointers.outputs.size(); ++i)
    views_[at++] = BufferView(runtime::UserBuffer(pointers.outputs[i], sizes.output_bytes()[i]));
}

Status BoundProgram::State::launch(const LaunchViews& views, std::span<const std::uint64_t> scalars,
                                   void* stream) const {
  // Instructions of another CPU would end the process.
  if (!compiled->runs_here)
    return failed_precondition(fmt::format("expected a program made for this machine, found one made for {}",
                                           compiled->target.substr(0, compiled->target.find(' '))));
  return bound->launch(views.inputs(), views.outputs(), scalars, stream);
}

Status BoundProgram::launch(const LaunchArguments& arguments) const {
  return state_->launch(LaunchViews(arguments), arguments.scalars, arguments.stream);
}

Status BoundProgram::launch(const LaunchPointers& pointers) const {
  // Check before making views, which read one size per pointer.
  const runtime::ArgumentSizes& sizes = state_->bound->sizes();
  PADLOCK_CHECK(sizes.check_counts(pointers.inputs.size(), pointers.outputs.size()));
  return state_->launch(LaunchViews(pointers, sizes), pointers.scalars, pointers.stream);
}

Status BoundProgram::synchronize(void* stream) const { return state_->bound->synchronize(stream); }

Result<bool> BoundProgram::nan_is_open(std::size_t result, std::span<const std::int64_t> coordinates,
                                       const LaunchArguments& arguments) const {
  const LaunchViews views(arguments);
  ir::Interpreter interpreter =
      interpreter_for(state_->binding, state_->bound->sizes(), views.inputs(), arguments.scalars);
  PADLOCK_TRY(const ir::Element element, interpreter.element(state_->binding.program().results()[result], coordinates));
  return element.nan_open;
}

}  // namespace padlock::session
