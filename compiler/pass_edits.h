#pragma once

#include <memory>
#include <vector>

#include "compiler/kernel/index_maps.h"
#include "compiler/kernel/kernel.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/model/schedule.h"

namespace llvm {
class Module;
}

namespace padlock::compiler {

/// Sees the result of each pass before the next pass takes it, and may change it. Tests seed bugs with it; the product
/// passes none. Const and thread-safe.
class PassEdits {
 public:
  virtual ~PassEdits() = default;

  /// The maps that lowering takes coordinates from.
  [[nodiscard]] virtual std::unique_ptr<IndexMaps> index_maps(ir::ExprContext& exprs, ir::Facts facts) const {
    return std::make_unique<IndexMaps>(exprs, std::move(facts));
  }
  virtual void gathered(Kernel&) const {}                            ///< before axes are merged
  virtual void split(const Kernel&, std::vector<RowCase>&) const {}  ///< before bodies are made
  virtual void covered(Schedule&) const {}                           ///< before index arithmetic is narrowed
  virtual void scheduled(Schedule&) const {}                         ///< before it is proved
  virtual void emitted(llvm::Module&) const {}                       ///< before LLVM simplifies it
};

}  // namespace padlock::compiler
