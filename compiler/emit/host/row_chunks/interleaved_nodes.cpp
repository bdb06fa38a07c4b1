#include "compiler/emit/host/row_chunks/interleaved_nodes.h"

namespace padlock::compiler {

InterleavedNodes::InterleavedNodes(const RowChunks& rows) : within_(rows.body.nodes.size()) {
  for (const InterleavedColumns& all : rows.interleaved) {
    columns_[static_cast<std::size_t>(all.node)] = &all;
    for (std::vector<int> left = rows.body.nodes[static_cast<std::size_t>(all.node)].operands; !left.empty();) {
      const auto node = static_cast<std::size_t>(left.back());
      left.pop_back();
      within_[node] = true;
      const std::vector<int>& operands = rows.body.nodes[node].operands;
      left.insert(left.end(), operands.begin(), operands.end());
    }
  }
}

const InterleavedColumns* InterleavedNodes::find(std::size_t node) const {
  const auto found = columns_.find(node);
  return found == columns_.end() ? nullptr : found->second;
}

std::vector<llvm::Value*> interleave(llvm::IRBuilder<>& builder, const InterleavedColumns& columns,
                                     std::vector<llvm::Value*> loaded, int vectors) {
  for (const Shuffle& shuffle : columns.shuffles)
    loaded.push_back(builder.CreateShuffleVector(loaded[static_cast<std::size_t>(shuffle.first)],
                                                 loaded[static_cast<std::size_t>(shuffle.second)], shuffle.lanes));
  loaded.erase(loaded.begin(), loaded.end() - vectors);
  return loaded;
}

}  // namespace padlock::compiler
