#include "compiler/emit/rows/body_values.h"

#include <algorithm>

#include "compiler/emit/scalar/emit_ops.h"
#include "compiler/emit/scalar/emit_search.h"
#include "compiler/emit/scalar/emit_sum.h"
#include "ir/expr/affine.h"

namespace padlock::compiler {
namespace {

std::vector<Value*> operands_of(const BodyNode& node, const BodyValues::Values& values) {
  std::vector<Value*> operands;
  for (const int operand : node.operands) operands.push_back(values[static_cast<std::size_t>(operand)]);
  return operands;
}

}  // namespace

SearchMemos remember_searches(llvm::IRBuilder<>& builder, const Body& body) {
  SearchMemos memos;
  for (const BodyNode& node : body.nodes)
    if (node.kind == NodeKind::search && node.scope < 0) memos.emplace(&node, SearchMemo::make(builder));
  return memos;
}

BodyValues::BodyValues(const KernelContext& context, const Body& body, llvm::IRBuilder<>& builder,
                       const LaunchFields& fields, ExprEmitter& exprs)
    : context_(context), body_(body), builder_(builder), exprs_(exprs) {
  llvm::Type* word = builder_.getInt64Ty();
  for (const BodyNode& node : body_.nodes) {
    invariant_.push_back(is_invariant(node));
    if (node.kind != NodeKind::scalar || scalars_.contains(node.scalar)) continue;
    Value* slot = builder_.CreateConstGEP1_64(word, fields.scalars, context_.index_of_scalar(node.scalar));
    scalars_[node.scalar] = builder_.CreateLoad(word, slot, "scalar");
  }
}

bool BodyValues::is_invariant(const BodyNode& node) const {
  if (node.scope >= 0) return false;
  switch (node.kind) {
    case NodeKind::constant:
    case NodeKind::scalar:
      return true;
    case NodeKind::load:
      return body_.loads[static_cast<std::size_t>(node.load)].kind == LoadKind::invariant;
    case NodeKind::operation:
      return std::ranges::all_of(node.operands, [&](int o) { return invariant_[static_cast<std::size_t>(o)]; });
    case NodeKind::index:
      return !mentions(node.index, kernel().column()) && !kernel().graph.has_column_data(node.index);
    case NodeKind::when:
    case NodeKind::sum:
    case NodeKind::data:
    case NodeKind::search:
      return false;
  }
  return false;
}

BodyValues::Invariants BodyValues::invariants(int lanes, const Source& source) {
  Invariants same{.scalars = Values(body_.nodes.size()), .vectors = Values(body_.nodes.size())};
  for (std::size_t i = 0; i < body_.nodes.size(); ++i) {
    if (!invariant_[i]) continue;
    same.scalars[i] = emit_node(body_.nodes[i], 1, source, same.scalars);
    same.vectors[i] = spread(same.scalars[i], lanes);
  }
  return same;
}

/// Emits the nodes in the walks of one sum or, for -1, the nodes outside of sums. A sum's nodes are emitted once for
/// each of its loops.
void BodyValues::emit_scope(int scope, int lanes, const Source& source, Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BodyNode& node = body_.nodes[i];
    if (node.scope == scope && (scope >= 0 || values[i] == nullptr)) values[i] = emit_node(node, lanes, source, values);
  }
}

Value* BodyValues::emit_node(const BodyNode& node, int lanes, const Source& source, Values& values) {
  OpEmitter ops(builder_, lanes, context_.target);
  switch (node.kind) {
    case NodeKind::constant:
      return ops.bits(node.dtype, node.bits);
    case NodeKind::scalar: {
      llvm::Type* element = ops.storage_type(node.dtype)->getScalarType();
      return spread(builder_.CreateTrunc(scalars_.at(node.scalar), element), lanes);
    }
    case NodeKind::load:
      return spread(source.load(node), lanes);
    case NodeKind::when: {
      const std::vector<Value*> operands = operands_of(node, values);
      if (source.choose) return source.choose(node, operands[0], operands[1]);
      Value* holds = emit_predicate(builder_, exprs_, kernel().graph, node.guard);
      return builder_.CreateSelect(holds, operands[0], operands[1]);
    }
    case NodeKind::operation:
      return ops.emit(node.op, node.dtype, body_.operand_type(node), operands_of(node, values));
    case NodeKind::index:
      return spread_index(node, source.index ? source.index(node) : emit_index(builder_, exprs_, node), lanes);
    case NodeKind::sum:
      return emit_sum(builder_, exprs_, context_.target, node.dtype, lanes, node.walks, [&] {
        emit_scope(static_cast<int>(&node - body_.nodes.data()), lanes, source, values);
        return operands_of(node, values);
      });
    case NodeKind::data:
      return emit_data(node, values);
    case NodeKind::search:
      return emit_search(
          builder_, exprs_, search_of(node.terms), as_i64(operands_of(node, values)[1]),
          [&] {
            emit_scope(static_cast<int>(&node - body_.nodes.data()), lanes, source, values);
            return as_i64(operands_of(node, values)[0]);
          },
          memo_of(node));
  }
  return nullptr;
}

const SearchMemo* BodyValues::memo_of(const BodyNode& node) const {
  const auto found = memos_ == nullptr ? SearchMemos::const_iterator() : memos_->find(&node);
  return memos_ == nullptr || found == memos_->end() ? nullptr : &found->second;
}

Value* BodyValues::as_i64(Value* index) { return builder_.CreateSExt(index, builder_.getInt64Ty()); }

/// Compares an index as an unsigned 64-bit number: below 0 it is then no smaller than any extent.
Value* BodyValues::emit_data(const BodyNode& node, const Values& values) {
  const Data data = data_of(node.terms);
  Value* index = as_i64(operands_of(node, values)[0]);
  Value* inside = builder_.CreateICmpULT(index, exprs_.word(data.extent));
  Value* number =
      builder_.CreateSelect(inside, builder_.CreateAdd(index, builder_.getInt64(1)), builder_.getInt64(0), "data");
  exprs_.set_coordinate(data.variable, number);
  return number;
}

Value* BodyValues::spread(Value* value, int lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

/// Returns the values of neighbouring columns from that of the first: a vector's index is linear in its columns.
Value* BodyValues::spread_index(const BodyNode& node, Value* first, int lanes) {
  if (lanes == 1) return first;
  const auto form = ir::linear_in(context_.exprs(), node.index, kernel().column());
  const auto slope = static_cast<std::uint64_t>(static_cast<UInt128>(form->slope));
  std::vector<std::uint64_t> steps;
  for (int lane = 0; lane < lanes; ++lane) steps.push_back(slope * static_cast<std::uint64_t>(lane));
  return builder_.CreateAdd(spread(first, lanes), llvm::ConstantDataVector::get(builder_.getContext(), steps));
}

/// Modulo 2^64 the sum is right, whatever its terms are.
Value* emit_index(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const BodyNode& node) {
  return exprs.address(builder, node.index, builder.getInt64Ty());
}

}  // namespace padlock::compiler
