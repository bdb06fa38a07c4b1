#include "python/core/pack.h"

#include "python/core/failure.h"
#include "python/core/process.h"

namespace padlock::python {

nb::bytes make_pack(const std::vector<std::string>& texts, const std::vector<std::string>& targets) {
  std::vector<Program> programs;
  for (const std::string& text : texts) programs.push_back(value_of(process_context().parse(text)));
  auto made = [&] {
    const nb::gil_scoped_release released;
    return Pack::make(programs, targets);
  }();
  const Pack pack = value_of(std::move(made));
  return nb::bytes(pack.bytes().data(), pack.bytes().size());
}

PackObject::PackObject(const nb::bytes& bytes)
    : bytes_(bytes.c_str(), bytes.size()),
      generation_(process_generation()),
      pack_(value_of(process_context().read_pack(bytes_.data(), bytes_.size()))) {}

const Pack& PackObject::pack() {
  if (generation_ != process_generation()) {
    pack_ = value_of(process_context().read_pack(bytes_.data(), bytes_.size()));
    generation_ = process_generation();
  }
  return pack_;
}

std::vector<std::string> PackObject::names() {
  std::vector<std::string> all;
  for (const std::string_view name : pack().programs()) all.emplace_back(name);
  return all;
}

nb::str PackObject::describe() {
  const Text json = value_of(pack().describe());
  return nb::str(json.view().data(), json.view().size());
}

}  // namespace padlock::python
