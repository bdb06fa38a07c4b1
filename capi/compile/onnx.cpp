#include "capi/error.h"
#include "capi/launch/context.h"
#include "capi/options.h"
#include "capi/text.h"
#include "onnx/import.h"

namespace padlock::capi {
namespace {

Result<onnx::Import> import_model(std::string_view bytes, const padlock_onnx_options* given) {
  PADLOCK_TRY(const padlock_onnx_options read, read_options(given, "padlock_onnx_options"));
  onnx::ImportOptions options{.folder = std::string(text_or(read.folder, "")), .outputs = {}};
  if (read.output_count > 0) PADLOCK_CHECK(require(read.outputs, "names of outputs"));
  for (std::size_t i = 0; i < read.output_count; ++i) {
    PADLOCK_CHECK(require(read.outputs[i], "the name of an output"));
    options.outputs.emplace_back(read.outputs[i]);
  }
  return onnx::import_model(bytes, options);
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

padlock_status padlock_onnx_import(padlock_context* context, const void* bytes, size_t size,
                                   const padlock_onnx_options* options, padlock_text** text, padlock_text** interface,
                                   padlock_error** error) {
  if (interface != nullptr) *interface = nullptr;
  return guarded_handle(context, "a context", text, error, [&]() -> padlock::Result<padlock_text*> {
    if (size > 0) PADLOCK_CHECK(require(bytes, "a model"));
    PADLOCK_TRY(const auto made, import_model({static_cast<const char*>(bytes), size}, options));
    Ref<padlock_text> program(make_text(context->allocator(), made.text));
    if (interface != nullptr) *interface = make_text(context->allocator(), made.interface());
    return program.take();
  });
}

}  // extern "C"
