#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/compiled_program.h"
#include "runtime/launch.h"
#include "runtime/parallel_for.h"

// What the handles of compiled_program.h hold. Private to this folder.
namespace padlock::api {

struct CompiledProgram::State {
  Program program;
  ir::Binder binder;  // of `program`
  Device device;
  std::string config = {};
  std::string target = {};
  bool runs_here = true;  // made for this machine's CPU
  std::int64_t task_bytes = 0;
  runtime::ParallelFor parallel_for = {};  // borrowed from the context (outlives this)
  std::vector<std::unique_ptr<ir::HostExecutable>> executables = {};
  std::vector<runtime::KernelLauncher> launchers = {};  // one an executable; not changed once bound
};

struct BoundProgram::State {
  std::shared_ptr<const CompiledProgram::State> compiled;
  ir::Binding binding;
  runtime::ArgumentSizes sizes;
  std::vector<runtime::BoundKernel> kernels;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> results;
};

}  // namespace padlock::api
