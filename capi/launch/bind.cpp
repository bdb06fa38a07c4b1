#include <fmt/format.h>

#include "capi/error.h"
#include "capi/launch/call.h"
#include "capi/launch/compiler.h"
#include "capi/options.h"
#include "capi/text.h"

namespace padlock::capi {
namespace {

/// Error: invalid_argument for a null list with a count.
template <class T>
Status check_list(const T* list, std::size_t count, const char* what) {
  if (count == 0 || list != nullptr) return {};
  return invalid_argument(fmt::format("expected {} {}, found NULL", count, what));
}

Place place_of(const runtime::Device& device) {
  if (device.traits().host_memory) return {Place::Kind::host};
  return {Place::Kind::gpu, device.id().ordinal};
}

Status add_tensors(const ir::Program& program, const padlock_bind_options& options, const Place& place,
                   ir::BindRequest& request) {
  const auto& parameters = program.tensor_parameters();
  request.tensors.resize(parameters.size());
  if (options.input_count == 0) return {};
  if (options.input_count != parameters.size())
    return invalid_argument(fmt::format("program '{}' takes {} tensors, {} are given", program.name(),
                                        parameters.size(), options.input_count));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (options.inputs[i] == nullptr) continue;
    PADLOCK_TRY(request.tensors[i], shape_of(*options.inputs[i], program.value(parameters[i]), place));
  }
  return {};
}

Result<std::vector<std::uint64_t>> scalars_of(const ir::Program& program, const padlock_bind_options& options) {
  const auto& parameters = program.scalar_parameters();
  if (options.scalar_count != parameters.size())
    return invalid_argument(fmt::format("program '{}' takes {} scalars, {} are given", program.name(),
                                        parameters.size(), options.scalar_count));
  std::vector<std::uint64_t> bits(options.scalars, options.scalars + options.scalar_count);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const int width = ir::bit_width(program.value(parameters[i]).dtype);
    if (width < 64) bits[i] &= (std::uint64_t{1} << width) - 1;
  }
  return bits;
}

/// Makes the request that the options describe, without a place for the tensors.
Result<ir::BindRequest> plain_request(const ir::Program& program, const padlock_bind_options& options,
                                      const Place& place) {
  PADLOCK_CHECK(check_list(options.inputs, options.input_count, "inputs"));
  PADLOCK_CHECK(check_list(options.dims, options.dim_count, "dims"));
  if (options.reserved != 0) return invalid_argument("expected padlock_bind_options's reserved to be 0");
  ir::BindRequest request;
  PADLOCK_CHECK(add_tensors(program, options, place, request));
  for (std::size_t i = 0; i < options.dim_count; ++i) {
    const auto& [name, value] = options.dims[i];
    PADLOCK_CHECK(require(name, "the name of a dim"));
    if (!request.symbols.emplace(name, value).second)
      return invalid_argument(fmt::format("expected one value of '{}', found more", name));
  }
  return request;
}

Result<padlock_text*> missing(const padlock_program& program, const padlock_bind_options* given) {
  PADLOCK_TRY(const padlock_bind_options options, read_options(given, "padlock_bind_options"));
  const ir::Program& ir = program.program.ir();
  PADLOCK_TRY(ir::BindRequest request, plain_request(ir, options, {}));
  PADLOCK_TRY(const session::SourceRequest sources, unplaced_request(ir, std::move(request)));
  std::string names;
  for (const std::string& name : sources.missing) names += name + "\n";
  return make_text(program.allocator(), names);
}

Result<padlock_call*> bind(const padlock_allocator& allocator, const session::CompiledProgram& compiled,
                           padlock_kernel* kernel, padlock_program* program, const Place& place,
                           const padlock_bind_options* given) {
  PADLOCK_TRY(const padlock_bind_options options, read_options(given, "padlock_bind_options"));
  const ir::Program& ir = compiled.program().ir();
  PADLOCK_TRY(const ir::BindRequest request, bind_request(ir, options, place));
  std::vector<std::uint64_t> scalars;
  if (kernel != nullptr || options.scalar_count > 0) {
    PADLOCK_CHECK(check_list(options.scalars, options.scalar_count, "scalars"));
    PADLOCK_TRY(scalars, scalars_of(ir, options));
  }
  PADLOCK_TRY(session::BoundProgram bound, compiled.bind(request));
  return make<padlock_call>(allocator, 0, kernel, program, std::move(bound), std::move(scalars), place);
}

padlock_tensor_info info_of(const session::TensorInfo& tensor) {
  return {.struct_size = 0,
          .name = tensor.name.c_str(),
          .dtype = dl_type(tensor.dtype),
          .ndim = static_cast<std::int32_t>(tensor.extents.size()),
          .extents = tensor.extents.data(),
          .strides = tensor.strides.data(),
          .storage_bytes = tensor.storage_bytes};
}

Status write_tensor(const std::vector<session::TensorInfo>& tensors, std::size_t index, padlock_tensor_info* info) {
  PADLOCK_CHECK(check_index(index, tensors.size()));
  return write_struct(info, info_of(tensors[index]), "padlock_tensor_info");
}

}  // namespace

Result<ir::BindRequest> bind_request(const ir::Program& program, const padlock_bind_options& options,
                                     const Place& place) {
  if (options.unplaced == 0) return plain_request(program, options, place);
  PADLOCK_TRY(ir::BindRequest request, plain_request(program, options, {}));
  PADLOCK_TRY(session::SourceRequest sources, unplaced_request(program, std::move(request)));
  return std::move(sources.request);
}

}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

PADLOCK_COUNTED_HANDLE(call)

padlock_status padlock_kernel_bind(padlock_kernel* kernel, const padlock_bind_options* options, padlock_call** call,
                                   padlock_error** error) {
  return guarded_handle(kernel, "a kernel", call, error, [&] {
    return bind(kernel->allocator(), kernel->compiled, kernel, nullptr, place_of(kernel->compiled.device()), options);
  });
}

padlock_status padlock_program_bind(padlock_program* program, const padlock_bind_options* options, padlock_call** call,
                                    padlock_error** error) {
  return guarded_handle(program, "a program", call, error,
                        [&] { return bind(program->allocator(), program->uncompiled, nullptr, program, {}, options); });
}

padlock_status padlock_program_missing(padlock_program* program, const padlock_bind_options* options,
                                       padlock_text** names, padlock_error** error) {
  return guarded_handle(program, "a program", names, error, [&] { return missing(*program, options); });
}

size_t padlock_call_input_count(const padlock_call* call) { return call != nullptr ? call->bound.inputs().size() : 0; }
size_t padlock_call_result_count(const padlock_call* call) {
  return call != nullptr ? call->bound.results().size() : 0;
}
const char* padlock_call_config(const padlock_call* call) { return call != nullptr ? call->config : ""; }
const char* padlock_call_reason(const padlock_call* call) { return call != nullptr ? call->reason.c_str() : ""; }

padlock_status padlock_call_input(const padlock_call* call, size_t index, padlock_tensor_info* info,
                                  padlock_error** error) {
  return guarded(call, "a call", error, [&] { return write_tensor(call->bound.inputs(), index, info); });
}

padlock_status padlock_call_result(const padlock_call* call, size_t index, padlock_tensor_info* info,
                                   padlock_error** error) {
  return guarded(call, "a call", error, [&] { return write_tensor(call->bound.results(), index, info); });
}

}  // extern "C"
