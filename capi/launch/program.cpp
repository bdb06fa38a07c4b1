#include "capi/launch/program.h"

#include "capi/error.h"
#include "capi/options.h"
#include "capi/tensor.h"
#include "ir/binding/symbol_binding.h"
#include "support/file.h"

namespace padlock::capi {

Result<padlock_program*> parse(padlock_context& context, std::string text, std::string file) {
  PADLOCK_TRY(session::Program program, session::Program::from_text(text, std::move(file)));
  PADLOCK_TRY(session::CompiledProgram uncompiled, context.launching->interpret(program));
  return make<padlock_program>(context.allocator(), 0, context, std::move(program), std::move(text),
                               std::move(uncompiled));
}

namespace {

padlock_parameter_info info_of(const ir::Value& value) {
  const bool tensor = value.kind != ir::ValueKind::scalar_parameter;
  return {.struct_size = 0,
          .name = value.name.c_str(),
          .kind = tensor ? PADLOCK_TENSOR : PADLOCK_SCALAR,
          .ndim = value.rank(),
          .dtype = dl_type(value.dtype)};
}

Status write_parameter(const ir::Program& program, std::size_t index, padlock_parameter_info* info) {
  const auto& tensors = program.tensor_parameters();
  const auto& scalars = program.scalar_parameters();
  const auto& dims = program.dim_parameters();
  const std::size_t named = tensors.size() + scalars.size();
  PADLOCK_CHECK(check_index(index, named + dims.size()));
  if (index < named) {
    const ir::ValueId id = index < tensors.size() ? tensors[index] : scalars[index - tensors.size()];
    return write_struct(info, info_of(program.value(id)), "padlock_parameter_info");
  }
  const ir::Symbol& symbol = program.exprs().symbol(dims[index - named].symbol());
  return write_struct(
      info,
      {.struct_size = 0, .name = symbol.name.c_str(), .kind = PADLOCK_DIM, .ndim = 0, .dtype = dl_type(ir::DType::i64)},
      "padlock_parameter_info");
}

padlock_symbol_kind kind_of(ir::SymbolKind kind) {
  if (kind == ir::SymbolKind::dim) return PADLOCK_SYMBOL_DIM;
  return kind == ir::SymbolKind::stride ? PADLOCK_SYMBOL_STRIDE : PADLOCK_SYMBOL_EXTENT;
}

/// Returns the symbols to which a binding gives values; compiling adds none.
std::vector<const ir::Symbol*> symbols_of(const padlock_program& program) {
  std::vector<const ir::Symbol*> symbols = ir::symbols_of(program.program.ir());
  std::erase_if(symbols, [](const ir::Symbol* symbol) { return symbol->kind == ir::SymbolKind::coordinate; });
  return symbols;
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;
using padlock::Result;
using padlock::Status;

extern "C" {

PADLOCK_COUNTED_HANDLE(program)

padlock_status padlock_program_parse(padlock_context* context, const char* text, size_t size, padlock_program** program,
                                     padlock_error** error) {
  return guarded_handle(context, "a context", program, error, [&]() -> Result<padlock_program*> {
    if (size > 0) PADLOCK_CHECK(require(text, "a program's text"));
    return parse(*context, std::string(text, size), {});
  });
}

padlock_status padlock_program_load(padlock_context* context, const char* path, padlock_program** program,
                                    padlock_error** error) {
  return guarded_handle(context, "a context", program, error, [&]() -> Result<padlock_program*> {
    PADLOCK_CHECK(require(path, "a path"));
    PADLOCK_TRY(std::string text, padlock::read_text_file(path, padlock::session::Program::kMaxTextBytes));
    return parse(*context, std::move(text), path);
  });
}

const char* padlock_program_name(const padlock_program* program) {
  return program != nullptr ? program->program.ir().name().c_str() : "";
}

size_t padlock_program_parameter_count(const padlock_program* program) {
  if (program == nullptr) return 0;
  const padlock::ir::Program& ir = program->program.ir();
  return ir.tensor_parameters().size() + ir.scalar_parameters().size() + ir.dim_parameters().size();
}

size_t padlock_program_result_count(const padlock_program* program) {
  return program != nullptr ? program->program.ir().results().size() : 0;
}

padlock_status padlock_program_parameter(const padlock_program* program, size_t index, padlock_parameter_info* info,
                                         padlock_error** error) {
  return guarded(program, "a program", error, [&] { return write_parameter(program->program.ir(), index, info); });
}

size_t padlock_program_symbol_count(const padlock_program* program) {
  size_t count = 0;
  guarded(allocator_of(program), nullptr, [&]() -> Status {
    if (program != nullptr) count = padlock::capi::symbols_of(*program).size();
    return {};
  });
  return count;
}

padlock_status padlock_program_symbol(const padlock_program* program, size_t index, padlock_symbol_info* info,
                                      padlock_error** error) {
  return guarded(program, "a program", error, [&]() -> Status {
    const std::vector<const padlock::ir::Symbol*> symbols = padlock::capi::symbols_of(*program);
    PADLOCK_CHECK(check_index(index, symbols.size()));
    return write_struct(
        info,
        {.struct_size = 0, .name = symbols[index]->name.c_str(), .kind = kind_of(symbols[index]->kind), .reserved = 0},
        "padlock_symbol_info");
  });
}

padlock_status padlock_program_result(const padlock_program* program, size_t index, padlock_parameter_info* info,
                                      padlock_error** error) {
  return guarded(program, "a program", error, [&]() -> Status {
    const padlock::ir::Program& ir = program->program.ir();
    PADLOCK_CHECK(check_index(index, ir.results().size()));
    padlock_parameter_info result = info_of(ir.value(ir.results()[index]));
    result.kind = PADLOCK_TENSOR;
    return write_struct(info, result, "padlock_parameter_info");
  });
}

}  // extern "C"
