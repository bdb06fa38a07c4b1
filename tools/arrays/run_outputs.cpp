#include "tools/arrays/run_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/file.h"
#include "support/messages/suggestion.h"
#include "tools/arrays/npy_header.h"

namespace padlock::tools {
namespace {

using Results = std::vector<padlock_parameter_info>;

Outcome<std::size_t> find_result(const Results& results, const char* option, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < results.size(); ++i) {
    names.emplace_back(results[i].name);
    if (names.back() == name) return i;
  }
  return fail(ExitCode::usage, fmt::format("--{} names '{}', which the program does not return (it returns: {}){}",
                                           option, name, fmt::join(names, ", "), did_you_mean(name, names)));
}

Outcome<AtomicFile> write_file(OutputFiles& files, const OutputArgument& argument, const lib::TensorInfo& result,
                               std::span<const std::byte> data) {
  PADLOCK_TRY(auto file, or_fail(ExitCode::file, files.create(argument.path)));
  Status written;
  if (argument.format == OutputArgument::Format::npy)
    written = file.write(format_npy_header(result.type, result.extents));
  if (written) written = file.write(data);
  if (!written) return fail(ExitCode::file, written.error());
  return file;
}

}  // namespace

Outcome<RunOutputs> RunOutputs::open(const lib::Program& program, const std::vector<OutputArgument>& outputs,
                                     const std::vector<ExpectArgument>& expects, const ShownNames& names) {
  RunOutputs run;
  run.names_ = names;
  Results results = program.results();
  show_names(results, run.names_.results);
  for (const OutputArgument& output : outputs) {
    PADLOCK_TRY(const auto result, find_result(results, "output", output.name));
    const bool is_bf16 = results[result].dtype.code == kDLBfloat;
    if (is_bf16 && output.format == OutputArgument::Format::npy)
      return fail(ExitCode::usage,
                  fmt::format("{} is bf16, which .npy lacks: give a file that ends in .bin", output.name));
    run.targets_.push_back({result, output});
  }
  for (const ExpectArgument& expect : expects) {
    PADLOCK_TRY(const auto result, find_result(results, "expect", expect.name));
    PADLOCK_TRY(auto file, ArrayFile::open(expect.file));
    run.expectations_.push_back({result, std::move(file)});
  }
  return run;
}

Outcome<void> RunOutputs::allocate(const lib::Context& context, const lib::Call& call) {
  results_ = call.results();
  for (lib::TensorInfo& result : results_) {
    if (const auto found = names_.results.find(std::string(result.name)); found != names_.results.end())
      result.name = found->second;
    PADLOCK_TRY(auto memory, or_fail(ExitCode::mismatch,
                                     context.allocate(result.storage_bytes, "result " + std::string(result.name))));
    memory_.push_back(std::move(memory));
  }
  return {};
}

std::span<const std::byte> RunOutputs::bytes(std::size_t result) const {
  const lib::Memory& memory = memory_[result];
  return {static_cast<const std::byte*>(memory.data()), static_cast<std::size_t>(memory.bytes())};
}

Outcome<void> RunOutputs::write_files(OutputFiles& files) const {
  std::vector<AtomicFile> written;
  for (const Target& target : targets_) {
    PADLOCK_TRY(auto file, write_file(files, target.argument, results_[target.result], bytes(target.result)));
    written.push_back(std::move(file));
  }
  for (AtomicFile& file : written) PADLOCK_CHECK(or_fail(ExitCode::file, file.commit()));
  return {};
}

Outcome<std::vector<ExpectReport>> RunOutputs::compare(const lib::Call& call, const std::vector<const void*>& inputs,
                                                       std::uint64_t ulp) const {
  std::vector<ExpectReport> reports;
  for (const Expectation& expectation : expectations_) {
    const std::size_t index = expectation.result;
    const Matches matches = [&](const auto& coordinates, std::uint64_t expected, std::uint64_t actual) {
      return call.matches(index, coordinates, expected, actual, ulp, inputs);
    };
    PADLOCK_TRY(auto comparison, compare_with_file(expectation.file, results_[index], bytes(index), matches));
    reports.push_back({std::string(results_[index].name), std::move(comparison)});
  }
  return reports;
}

}  // namespace padlock::tools
