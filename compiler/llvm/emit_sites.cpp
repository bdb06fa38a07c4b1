#include "compiler/llvm/emit_sites.h"

#include <utility>
#include <vector>

#include "compiler/llvm/emit_loop.h"
#include "compiler/llvm/emit_team.h"

namespace padlock::compiler {

using llvm::BasicBlock;
using llvm::IRBuilder;
using llvm::Value;

namespace {

/// The place of one body.
struct Site {
  /// Those of [first, last) belong to the row's case.
  struct Way {
    BasicBlock* from;
    std::size_t first, last;
  };
  std::vector<const SegmentCall*> calls;  // of all cases
  std::vector<Way> ways;
};

class SiteEmitter {
 public:
  SiteEmitter(KernelContext& context, IRBuilder<>& builder, const LaunchFields& fields, ExprEmitter& exprs,
              RowEmitter& rows, Value* thread)
      : context_(context), builder_(builder), fields_(fields), exprs_(exprs), rows_(rows), thread_(thread) {}

  void emit() {
    std::vector<Site> sites(context_.schedule.bodies.size());
    rows_.emit_row([&](const ScheduledCase& row) {
      for (std::size_t body = 0; body < sites.size(); ++body) {
        Site& site = sites[body];
        const std::size_t first = site.calls.size();
        for (const SegmentCall& call : row.calls)
          if (std::cmp_equal(call.body, body)) site.calls.push_back(&call);
        site.ways.push_back({builder_.GetInsertBlock(), first, site.calls.size()});
      }
    });
    // Here the ways of all cases meet.
    std::vector<std::pair<Value*, Value*>> ranges;
    for (const Site& site : sites) ranges.emplace_back(number(site, &Site::Way::first), number(site, &Site::Way::last));
    for (std::size_t body = 0; body < sites.size(); ++body) emit_site(body, sites[body], ranges[body]);
  }

 private:
  Value* number(const Site& site, std::size_t Site::Way::* which) {
    if (site.ways.size() == 1) return builder_.getInt32(static_cast<std::uint32_t>(site.ways[0].*which));
    llvm::PHINode* phi = builder_.CreatePHI(builder_.getInt32Ty(), static_cast<unsigned>(site.ways.size()));
    for (const Site::Way& way : site.ways)
      phi->addIncoming(builder_.getInt32(static_cast<std::uint32_t>(way.*which)), way.from);
    return phi;
  }

  void emit_site(std::size_t body, const Site& site, std::pair<Value*, Value*> range) {
    if (site.calls.empty()) return;
    if (site.calls.size() == 1) return emit_only_run(body, site, range);
    counted_loop(builder_, range.first, range.second, 1,
                 [&](Value* number) { emit_run(body, look_up(body, site, number)); });
  }

  void emit_only_run(std::size_t body, const Site& site, std::pair<Value*, Value*> range) {
    if (site.ways.size() == 1) return emit_run(body, rows_.arguments_of(*site.calls[0]));
    BasicBlock* once = rows_.block("once");
    BasicBlock* never = rows_.block("never");
    builder_.CreateCondBr(builder_.CreateICmpSLT(range.first, range.second), once, never);
    builder_.SetInsertPoint(once);
    emit_run(body, rows_.arguments_of(*site.calls[0]));
    builder_.CreateBr(never);
    builder_.SetInsertPoint(never);
  }

  /// What the body is told of run `number`.
  BodyArguments look_up(std::size_t body, const Site& site, Value* number) {
    BasicBlock* found = rows_.block("found");
    BasicBlock* none = rows_.block("none");
    llvm::SwitchInst* choice = builder_.CreateSwitch(number, none, static_cast<unsigned>(site.calls.size()));
    builder_.SetInsertPoint(none);
    builder_.CreateUnreachable();
    std::vector<std::pair<BasicBlock*, BodyArguments>> all;
    for (std::size_t i = 0; i < site.calls.size(); ++i) {
      BasicBlock* place = rows_.block("run");
      choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(i)), place);
      builder_.SetInsertPoint(place);
      all.emplace_back(place, rows_.arguments_of(*site.calls[i]));
      builder_.CreateBr(found);
    }
    builder_.SetInsertPoint(found);
    BodyArguments chosen(context_, body);
    for (std::size_t value = 0; value < all[0].second.values.size(); ++value)
      chosen.values.push_back(merge(all, value));
    return chosen;
  }

  Value* merge(const std::vector<std::pair<BasicBlock*, BodyArguments>>& all, std::size_t value) {
    Value* first = all[0].second.values[value];
    bool same = true;
    for (const auto& [from, arguments] : all) same &= arguments.values[value] == first;
    if (same) return first;
    llvm::PHINode* phi = builder_.CreatePHI(first->getType(), static_cast<unsigned>(all.size()));
    for (const auto& [from, arguments] : all) phi->addIncoming(arguments.values[value], from);
    return phi;
  }

  void emit_run(std::size_t body, BodyArguments arguments) {
    BasicBlock* work = rows_.block("segment");
    BasicBlock* after = rows_.block("after");
    builder_.CreateCondBr(builder_.CreateICmpSLT(arguments.begin(), arguments.end()), work, after);
    builder_.SetInsertPoint(work);
    emit_team_body(context_, body, builder_, fields_, exprs_, std::move(arguments), thread_);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  KernelContext& context_;
  IRBuilder<>& builder_;
  const LaunchFields& fields_;
  ExprEmitter& exprs_;
  RowEmitter& rows_;
  Value* thread_;
};

}  // namespace

void emit_sites(KernelContext& context, IRBuilder<>& builder, const LaunchFields& fields, ExprEmitter& exprs,
                RowEmitter& rows, Value* thread) {
  SiteEmitter(context, builder, fields, exprs, rows, thread).emit();
}

}  // namespace padlock::compiler
