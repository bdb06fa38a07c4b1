#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "session/compile/context.h"
#include "session/launch/program.h"
#include "support/error.h"

namespace padlock::session {

/// An expression as text, and its value under a binding where there is one.
struct Quantity {
  std::string expression;
  std::optional<std::int64_t> value;
};

struct TensorExplanation {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  std::vector<Quantity> extents;
  std::vector<Quantity> strides;
  Quantity storage_bytes;
};

/// A condition on the sizes of a launch, and under a binding whether it holds.
struct GuardExplanation {
  std::string assumption;  ///< "index32"
  std::string constraint;  ///< "S <= 1073741824"
  std::optional<bool> holds;
};

/// Code for the sizes that its guards admit.
struct VariantExplanation {
  std::string name;
  std::vector<GuardExplanation> guards;
  std::optional<bool> selected;  ///< under a binding
};

struct KernelExplanation {
  std::string name;
  std::vector<std::string> results;
  Quantity rows;
  Quantity columns;
  std::vector<VariantExplanation> variants = {};  ///< besides the one that assumes nothing
};

struct RequirementExplanation {
  std::string constraint;  ///< "0 <= S"
  std::string what;        ///< for people
  bool is_bound = false;   ///< of one symbol, stated or the language's default
};

/// Explanation of a program: what it needs and what is made of it.
struct Explanation {
  std::string program;
  std::string target;  ///< CPU and features
  std::string config;
  std::string reason;  ///< why this config
  std::vector<TensorExplanation> inputs;
  std::vector<TensorExplanation> results;
  std::vector<KernelExplanation> kernels;
  std::vector<RequirementExplanation> requirements;
};

/// Compiles the program for the options' target and tells what came out; with `request`, as numbers too. Texts are
/// cut at 200 characters. Errors: as Context::compile, and with a request as ir::Binding::bind.
[[nodiscard]] Result<Explanation> explain(Context& context, const Program& program, const CompileOptions& options,
                                          const std::optional<ir::BindRequest>& request);

}  // namespace padlock::session
