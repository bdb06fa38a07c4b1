#include "tools/run_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/file.h"
#include "tools/npy_header.h"

namespace padlock::tools {
namespace {

Outcome<std::size_t> find_result(const ir::Program& program, const char* option, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.results().size(); ++i) {
    names.push_back(program.value(program.results()[i]).name);
    if (names.back() == name) return i;
  }
  return fail(ExitCode::usage, fmt::format("--{} names '{}', which the program does not return (it returns: {})",
                                           option, name, fmt::join(names, ", ")));
}

std::span<const std::byte> bytes_of(const api::UserBuffer& buffer) {
  return {static_cast<const std::byte*>(buffer.data()), static_cast<std::size_t>(buffer.bytes())};
}

Outcome<AtomicFile> write_file(OutputFiles& files, const OutputArgument& argument, const api::TensorInfo& result,
                               std::span<const std::byte> data) {
  auto file = files.create(argument.path);
  if (!file) return fail(ExitCode::file, file.error());
  Status written;
  if (argument.format == OutputArgument::Format::npy)
    written = file->write(format_npy_header(result.dtype, result.extents));
  if (written) written = file->write(data);
  if (!written) return fail(ExitCode::file, written.error());
  return *std::move(file);
}

}  // namespace

Outcome<RunOutputs> RunOutputs::open(const ir::Program& program, const std::vector<OutputArgument>& outputs,
                                     const std::vector<ExpectArgument>& expects) {
  RunOutputs run;
  for (const OutputArgument& output : outputs) {
    const auto result = find_result(program, "output", output.name);
    if (!result) return std::unexpected(result.error());
    const bool is_bf16 = program.value(program.results()[*result]).dtype == ir::DType::bf16;
    if (is_bf16 && output.format == OutputArgument::Format::npy)
      return fail(ExitCode::usage,
                  fmt::format("{} is bf16, which .npy lacks: give a file that ends in .bin", output.name));
    run.targets_.push_back({*result, output});
  }
  for (const ExpectArgument& expect : expects) {
    const auto result = find_result(program, "expect", expect.name);
    if (!result) return std::unexpected(result.error());
    auto file = ArrayFile::open(expect.file);
    if (!file) return std::unexpected(std::move(file).error());
    run.expectations_.push_back({*result, *std::move(file)});
  }
  return run;
}

Outcome<void> RunOutputs::allocate(const api::BoundProgram& bound, api::MemoryBudget& memory) {
  for (const api::TensorInfo& result : bound.results()) {
    auto allocation = memory.allocate(result.storage_bytes, "result " + result.name);
    if (!allocation) return fail(ExitCode::mismatch, allocation.error());
    buffers_.push_back(allocation->user_buffer());
    allocations_.push_back(*std::move(allocation));
  }
  return {};
}

Outcome<void> RunOutputs::write_files(const api::BoundProgram& bound, OutputFiles& files) const {
  std::vector<AtomicFile> written;
  for (const Target& target : targets_) {
    auto file = write_file(files, target.argument, bound.results()[target.result], bytes_of(buffers_[target.result]));
    if (!file) return std::unexpected(std::move(file).error());
    written.push_back(*std::move(file));
  }
  for (AtomicFile& file : written)
    if (auto committed = file.commit(); !committed) return fail(ExitCode::file, committed.error());
  return {};
}

Outcome<std::vector<ExpectReport>> RunOutputs::compare(const api::BoundProgram& bound,
                                                       const api::LaunchArguments& arguments, std::uint64_t ulp) const {
  std::vector<ExpectReport> reports;
  for (const Expectation& expectation : expectations_) {
    const std::size_t index = expectation.result;
    const NanIsOpen nan_is_open = [&](std::span<const std::int64_t> coordinates) {
      return bound.nan_is_open(index, coordinates, arguments);
    };
    const api::TensorInfo& result = bound.results()[index];
    auto comparison = compare_with_file(expectation.file, result, bytes_of(buffers_[index]), ulp, nan_is_open);
    if (!comparison) return std::unexpected(std::move(comparison).error());
    reports.push_back({result.name, *std::move(comparison)});
  }
  return reports;
}

}  // namespace padlock::tools
