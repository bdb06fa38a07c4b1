// The importer with planted faults, under its own fuzzer's body and watch. The model's bytes choose the fault.
#include <new>

#include "onnx/import.h"
#include "onnx/limits.h"
#include "support/steps.h"

namespace padlock::onnx {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

/// Keeps the compiler from removing the allocations.
void* volatile seen = nullptr;

void never_end() {
  for (;;) seen = nullptr;
}

/// Memory that is asked for and never touched.
void allocate_too_much() { seen = ::operator new(kGiB + 1); }

/// Allocates much memory in small parts.
void allocate_too_often() {
  for (std::size_t taken = 0; taken <= kGiB; taken += kGiB / 16) seen = ::operator new(kGiB / 16);
}

}  // namespace

Result<Import> import_model(std::string_view bytes, const ImportOptions&) {
  if (bytes == "time") never_end();
  if (bytes == "steps") take_steps(4 * limits::kSteps);
  if (bytes == "memory") allocate_too_much();
  if (bytes == "memory in parts") allocate_too_often();
  if (bytes == "crash") *static_cast<volatile int*>(seen) = 1;
  if (bytes == "internal") return internal_error("planted");
  if (bytes == "no reason") return invalid_argument("");
  if (bytes == "no results") return Import{};
  return invalid_argument("nothing is planted");
}

}  // namespace padlock::onnx
