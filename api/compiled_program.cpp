#include "api/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/compiled_state.h"
#include "ir/interpreter.h"
#include "support/stack_array.h"

namespace padlock::api {

using runtime::BufferView;

namespace {

/// Takes the next `count` numbers. A stride that nobody uses may not fit; it saturates, as in a Binding.
std::vector<std::int64_t> take(std::span<const std::optional<Int128>>& numbers, std::size_t count) {
  std::vector<std::int64_t> taken;
  taken.reserve(count);
  for (const std::optional<Int128>& number : numbers.first(count))
    taken.push_back(static_cast<std::int64_t>(std::clamp(number.value_or(kInt64Max), kInt64Min, kInt64Max)));
  numbers = numbers.subspan(count);
  return taken;
}

ir::Interpreter interpreter_for(const ir::Binding& binding, const runtime::ArgumentSizes& sizes,
                                std::span<const BufferView> inputs, std::span<const std::uint64_t> scalars) {
  std::vector<std::span<const std::byte>> bytes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    bytes.emplace_back(static_cast<const std::byte*>(inputs[i].data()),
                       static_cast<std::size_t>(sizes.input_bytes()[i]));
  return {binding, std::move(bytes), {scalars.begin(), scalars.end()}};
}

Status interpret(const ir::Binding& binding, const runtime::ArgumentSizes& sizes, const LaunchViews& views,
                 std::span<const std::uint64_t> scalars) {
  ir::Interpreter interpreter = interpreter_for(binding, sizes, views.inputs(), scalars);
  const auto& results = binding.program().results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::span out(static_cast<std::byte*>(views.outputs()[i].data()),
                        static_cast<std::size_t>(sizes.output_bytes()[i]));
    PADLOCK_CHECK(interpreter.evaluate(results[i], out));
  }
  return {};
}

}  // namespace

const Program& CompiledProgram::program() const { return state_->program; }
const Device& CompiledProgram::device() const { return state_->device; }
const std::string& CompiledProgram::config() const { return state_->config; }
const std::string& CompiledProgram::target() const { return state_->target; }

std::string CompiledProgram::reason() const {
  const std::shared_ptr<const TunedConfigs> tuned = state_->tuned.get();
  return tuned ? tuned->reason : state_->reason;
}

std::vector<std::vector<const ir::KernelAbi*>> CompiledProgram::kernels() const {
  std::vector<std::vector<const ir::KernelAbi*>> list;
  for (const runtime::KernelLauncher& kernel : state_->launchers) {
    auto& variants = list.emplace_back();
    for (const runtime::HostVariant& variant : kernel.variants()) variants.push_back(&variant.abi);
  }
  if (state_->loaded == nullptr) return list;
  for (const runtime::cuda::KernelLauncher& kernel : state_->loaded->kernels()) {
    auto& variants = list.emplace_back();
    for (std::size_t i = 0; i < kernel.variant_count(); ++i) variants.push_back(&kernel.abi(i));
  }
  return list;
}

Result<BoundProgram> CompiledProgram::bind(const ir::BindRequest& request) const {
  auto bind_result = state_->binder.bind(request);
  if (!bind_result) return std::unexpected(state_->program.with_source_line(std::move(bind_result).error()));
  ir::Binding binding = *std::move(bind_result);
  std::shared_ptr<const State> chosen = state_;
  std::string reason;
  if (const std::shared_ptr<const TunedConfigs> tuned = state_->tuned.get()) {
    const tuner::Chosen choice = tuned->choices.choose(binding);
    reason = fmt::format("{}: {}", tuned->reason, choice.reason);
    if (const auto other = tuned->compiled.find(choice.config); other != tuned->compiled.end()) chosen = other->second;
  }
  PADLOCK_TRY(runtime::ArgumentSizes sizes, state_->sizer.sizes(binding));
  auto bound = std::make_shared<BoundProgram::State>(BoundProgram::State{
      .compiled = chosen, .binding = std::move(binding), .sizes = std::move(sizes), .reason = std::move(reason)});
  for (const runtime::KernelLauncher& launcher : chosen->launchers) {
    PADLOCK_TRY(runtime::BoundKernel kernel,
                launcher.bind(bound->binding, chosen->task_bytes, chosen->parallel_for.threads));
    bound->kernels.push_back(std::move(kernel));
  }
  if (chosen->loaded) {
    PADLOCK_TRY(bound->device_launch, chosen->loaded->bind(bound->binding, bound->sizes));
  }
  bound->describe_arguments();
  return BoundProgram(std::move(bound));
}

CompiledProgram BoundProgram::compiled() const { return CompiledProgram(state_->compiled); }
std::string BoundProgram::reason() const { return state_->reason.empty() ? state_->compiled->reason : state_->reason; }
const ir::Binding& BoundProgram::binding() const { return state_->binding; }
const std::vector<TensorInfo>& BoundProgram::inputs() const { return state_->inputs; }
const std::vector<TensorInfo>& BoundProgram::results() const { return state_->results; }

std::shared_ptr<CompiledProgram::State> make_state(const Program& program, const Device& device,
                                                   const runtime::ParallelFor& parallel_for) {
  return std::shared_ptr<CompiledProgram::State>(
      new CompiledProgram::State{.program = program,
                                 .binder = ir::Binder(program.ir()),
                                 .sizer = runtime::ArgumentSizer(program.ir()),
                                 .shapes = argument_shapes(program.ir()),
                                 .device = device,
                                 .parallel_for = parallel_for});
}

Status set_image(CompiledProgram::State& state, ir::CompiledCode code) {
  PADLOCK_TRY(runtime::HostImage image, runtime::load_image(std::move(code)));
  state.code = std::move(image.code);
  for (std::vector<runtime::HostVariant>& kernel : image.kernels) {
    PADLOCK_TRY(runtime::KernelLauncher launcher,
                runtime::KernelLauncher::create(std::move(kernel), state.program.ir()));
    state.launchers.push_back(std::move(launcher));
  }
  return {};
}

ir::ExprTape argument_shapes(const ir::Program& program) {
  std::vector<ir::Expr> roots;
  const auto append = [&](const ir::Layout& layout) {
    roots.insert(roots.end(), layout.extents().begin(), layout.extents().end());
    roots.insert(roots.end(), layout.strides().begin(), layout.strides().end());
  };
  for (const ir::ValueId id : program.tensor_parameters()) append(program.value(id).layout);
  for (const ir::ValueId id : program.results()) append(runtime::result_layout(program, id));
  return {program.exprs(), std::move(roots)};
}

void BoundProgram::State::describe_arguments() {
  const ir::Program& program = binding.program();
  StackArray<std::optional<Int128>, 64> values(compiled->shapes.roots().size());
  compiled->shapes.evaluate(binding.values(), values.span());
  std::span<const std::optional<Int128>> numbers = values.span();
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
  describe(program.tensor_parameters(), sizes.input_bytes(), inputs);
  describe(program.results(), sizes.output_bytes(), results);
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

Status BoundProgram::State::check(const LaunchViews& views, std::span<const std::uint64_t> scalars) const {
  PADLOCK_CHECK(sizes.check(views.inputs(), views.outputs()));
  // What a GPU's kernels take for granted.
  if (compiled->device.kind == DeviceKind::simt) PADLOCK_CHECK(sizes.check_alignment(views.inputs(), views.outputs()));
  return sizes.check_scalars(scalars);
}

Status BoundProgram::State::launch(const LaunchViews& views, std::span<const std::uint64_t> scalars,
                                   void* stream) const {
  // Another CPU's instructions would end the process.
  if (!compiled->runs_here)
    return failed_precondition(fmt::format("expected a program made for this machine, found one made for {}",
                                           compiled->target.substr(0, compiled->target.find(' '))));
  if (device_launch)
    return device_launch->launch(views.inputs(), views.outputs(), scalars,
                                 runtime::cuda::Stream::borrow(compiled->loaded->context(), stream));
  PADLOCK_CHECK(check(views, scalars));
  if (compiled->device.kind == DeviceKind::reference) return interpret(binding, sizes, views, scalars);
  for (const runtime::BoundKernel& kernel : kernels)
    PADLOCK_CHECK(kernel.run(views.inputs(), views.outputs(), scalars, compiled->parallel_for));
  return {};
}

Status BoundProgram::launch(const LaunchArguments& arguments) const {
  return state_->launch(LaunchViews(arguments), arguments.scalars, arguments.stream);
}

Status BoundProgram::launch(const LaunchPointers& pointers) const {
  // Before there are views, which ask the sizes of as many.
  PADLOCK_CHECK(state_->sizes.check_counts(pointers.inputs.size(), pointers.outputs.size()));
  return state_->launch(LaunchViews(pointers, state_->sizes), pointers.scalars, pointers.stream);
}

Status BoundProgram::synchronize(void* stream) const {
  const auto& loaded = state_->compiled->loaded;
  return loaded ? loaded->synchronize(runtime::cuda::Stream::borrow(loaded->context(), stream)) : Status();
}

Result<bool> BoundProgram::nan_is_open(std::size_t result, std::span<const std::int64_t> coordinates,
                                       const LaunchArguments& arguments) const {
  const LaunchViews views(arguments);
  ir::Interpreter interpreter = interpreter_for(state_->binding, state_->sizes, views.inputs(), arguments.scalars);
  PADLOCK_TRY(const ir::Element element, interpreter.element(state_->binding.program().results()[result], coordinates));
  return element.nan_open;
}

}  // namespace padlock::api
