#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/emit_loop.h"

// Emits a grid body's loads of neighbouring elements. A load is a vector if its address is a multiple of its size.
// Other loads go element by element, or by the words of its two granules.
namespace padlock::compiler {

namespace {

constexpr unsigned kWordBytes = 4;

}  // namespace

/// A vector that does not begin with a word lies in one more.
std::size_t ThreadValues::words_around(std::size_t load) const { return vector_bytes(load) / kWordBytes + 1; }

unsigned ThreadValues::vector_bytes(std::size_t load) const {
  return static_cast<unsigned>(vector_.lanes() * ir::byte_size(load_at(load).dtype));
}

/// Elements narrower than a word come in words. Where vectors were cut into such elements as they came, a thread would
/// wait for each before it asks for the next.
bool ThreadValues::takes_granules(std::size_t load) const {
  return is_vector(load_at(load)) && ir::byte_size(load_at(load).dtype) < static_cast<int>(kWordBytes) &&
         vector_bytes(load) % kWordBytes == 0;
}

/// Returns the words of a granule; if it has none, its bits.
llvm::Type* ThreadValues::granule_type(std::size_t load) const {
  const unsigned bytes = vector_bytes(load);
  if (bytes < kWordBytes) return builder_.getIntNTy(8 * bytes);
  return llvm::FixedVectorType::get(builder_.getInt32Ty(), bytes / kWordBytes);
}

/// The first in memory is the last lane of a reversed load.
Value* ThreadValues::first_in_memory(std::size_t load) {
  Value* element = element_of(load, column_);
  if (!reversed(load)) return element;
  return builder_.CreateSub(element, vector_.context.offset(vector_.lanes() - 1));
}

/// Emits the bytes that an element is past a multiple of the vector's size, i32.
Value* ThreadValues::past_vector(std::size_t load, Value* element) {
  Value* address = builder_.CreatePtrToInt(accesses_.address(access_of(load, element)), builder_.getInt64Ty());
  const auto size = static_cast<std::uint32_t>(ir::byte_size(load_at(load).dtype));
  return builder_.CreateAnd(builder_.CreateTrunc(address, builder_.getInt32Ty()),
                            builder_.getInt32(vector_bytes(load) - size));
}

Value* LaneRuns::any(llvm::IRBuilder<>& builder) const {
  Value* found = builder.getFalse();
  for (const auto& [first, end] : runs) found = builder.CreateOr(found, builder.CreateICmpSLT(first, end));
  return found;
}

Value* LaneRuns::all(llvm::IRBuilder<>& builder, int lanes) const {
  Value* missing = builder.getInt32(static_cast<std::uint32_t>(lanes));
  for (const auto& [first, end] : runs) missing = builder.CreateSub(missing, builder.CreateSub(end, first));
  return builder.CreateICmpEQ(missing, builder.getInt32(0));
}

/// Goes on where the condition holds; elsewhere emits `outside`, which branches away.
void ThreadValues::leave_unless(Value* condition, llvm::function_ref<void()> outside) {
  BasicBlock *inside = vector_.block("inside"), *elsewhere = vector_.block("outside");
  builder_.CreateCondBr(condition, inside, elsewhere);
  builder_.SetInsertPoint(elsewhere);
  outside();
  builder_.SetInsertPoint(inside);
}

/// Emits a load for each lane, from the first in memory on.
std::vector<Value*> ThreadValues::load_apart(std::size_t load, Value* element) {
  Access access = access_of(load, element);
  std::vector<Value*> lanes;
  for (; access.displacement < vector_.lanes(); ++access.displacement)
    lanes.push_back(accesses_.load(access, type_of(load, 1)));
  return lanes;
}

/// Makes a vector of a load's lanes.
Value* ThreadValues::joined(std::size_t load, llvm::ArrayRef<Value*> lanes) {
  Value* vector = llvm::PoisonValue::get(type_of(load, vector_.lanes()));
  for (std::size_t i = 0; i < lanes.size(); ++i) vector = builder_.CreateInsertElement(vector, lanes[i], i);
  return vector;
}

/// Emits one load if the address is a multiple of the vector's size: usually all addresses of a launch are, or none. A
/// lane that is not needed may lie outside the tensor's storage: then nothing is loaded.
std::vector<Value*> ThreadValues::load_elements(std::size_t load, Value* element, Value* past, const LaneRuns* needed,
                                                llvm::function_ref<void()> outside) {
  if (needed != nullptr) {
    const BodyArguments::Load& from = arguments_.loads[load];
    Value* last = builder_.CreateSub(from.end, vector_.context.offset(vector_.lanes()));
    Value* inside =
        builder_.CreateAnd(builder_.CreateICmpSGE(element, from.least), builder_.CreateICmpSLE(element, last));
    leave_unless(builder_.CreateOr(needed->all(builder_, vector_.lanes()), inside), outside);
  }
  BasicBlock* aligned = vector_.block("aligned");
  BasicBlock* misaligned = vector_.block("misaligned");
  BasicBlock* loaded = vector_.block("loaded");
  Value* together = builder_.CreateICmpEQ(past, builder_.getInt32(0));
  builder_.CreateCondBr(together, aligned, misaligned);
  builder_.SetInsertPoint(aligned);
  Value* vector = accesses_.load(access_of(load, element, vector_.lanes()), granule_type(load));
  vector = builder_.CreateBitCast(vector, type_of(load, vector_.lanes()));
  std::vector<llvm::PHINode*> phis;
  for (int i = 0; i < vector_.lanes(); ++i) {
    phis.push_back(llvm::PHINode::Create(type_of(load, 1), 2, "", loaded));
    Value* lane = builder_.CreateExtractElement(vector, static_cast<std::uint64_t>(i));
    phis.back()->addIncoming(lane, builder_.GetInsertBlock());
  }
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(misaligned);
  const std::vector<Value*> lanes = load_apart(load, element);
  for (std::size_t i = 0; i < lanes.size(); ++i) phis[i]->addIncoming(lanes[i], builder_.GetInsertBlock());
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  return {phis.begin(), phis.end()};
}

/// Loads a vector that is itself a granule, or the words of two granules that have its elements. (Two loads of granules
/// take 14 instructions to choose and shift words, five loads of words 4.) If all lanes of a granule are needed it is
/// inside the tensor, and nothing is tested.
std::vector<Value*> ThreadValues::load_granules(std::size_t load, Value* element, Value* past, const LaneRuns* needed,
                                                llvm::function_ref<void()> outside) {
  const Granules& granules = vector_.grid().granules;
  ExprEmitter& exprs = vector_.exprs;
  const auto size = static_cast<unsigned>(ir::byte_size(load_at(load).dtype));
  const int in_word = static_cast<int>(kWordBytes / size);
  exprs.set_coordinate(granules.shift, builder_.CreateUDiv(past, builder_.getInt32(size)));
  Value* first = builder_.CreateAdd(element, exprs.exact_offset(builder_, granules.offset));
  exprs.set_coordinate(granules.first, first);
  exprs.set_coordinate(granules.least, arguments_.loads[load].least);
  exprs.set_coordinate(granules.end, arguments_.loads[load].end);
  Value* is_granule = builder_.CreateICmpEQ(past, builder_.getInt32(0));
  Value* is_inside =
      needed == nullptr ? is_granule : builder_.CreateAnd(is_granule, needed->all(builder_, vector_.lanes()));
  leave_unless(builder_.CreateOr(is_inside, holds_of_offsets(builder_, exprs, granules.tests)), outside);
  BasicBlock *whole = vector_.block("granule"), *words = vector_.block("words"), *loaded = vector_.block("loaded");
  builder_.CreateCondBr(is_granule, whole, words);
  Ways ways;
  builder_.SetInsertPoint(whole);
  Value* granule = accesses_.load(access_of(load, first, vector_.lanes()), granule_type(load));
  std::vector<Value*> of_granule;
  for (std::uint64_t i = 0; i < vector_bytes(load) / kWordBytes; ++i)
    of_granule.push_back(builder_.CreateExtractElement(granule, i));
  of_granule.resize(words_around(load), of_granule.back());  // a word that no shift by 0 takes
  ways.emplace_back(builder_.GetInsertBlock(), std::move(of_granule));
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(words);
  Value* in_first = builder_.CreateAnd(past, builder_.getInt32(kWordBytes - size));
  in_first = builder_.CreateUDiv(in_first, builder_.getInt32(size));
  Access access =
      access_of(load, builder_.CreateSub(element, builder_.CreateZExt(in_first, element->getType())), in_word);
  std::vector<Value*> of_words;
  for (std::size_t i = 0; i < words_around(load); ++i, access.displacement += in_word)
    of_words.push_back(accesses_.load(access, builder_.getInt32Ty()));
  ways.emplace_back(builder_.GetInsertBlock(), std::move(of_words));
  builder_.CreateBr(loaded);
  builder_.SetInsertPoint(loaded);
  std::vector<Value*> values = join(builder_, ways);
  values.push_back(past);
  return values;
}

std::vector<Value*> ThreadValues::load_lanes(std::size_t load, llvm::function_ref<void()> outside,
                                             const LaneRuns* needed) {
  if (!is_vector(load_at(load))) return {load_at(load).kind == LoadKind::invariant ? load_here(load) : gather(load)};
  Value* element = first_in_memory(load);
  Value* past = past_vector(load, element);
  return takes_granules(load) ? load_granules(load, element, past, needed, outside)
                              : load_elements(load, element, past, needed, outside);
}

std::size_t ThreadValues::loaded_values(std::size_t load) const {
  if (!is_vector(load_at(load))) return 1;
  return takes_granules(load) ? words_around(load) + 1 : static_cast<std::size_t>(vector_.lanes());
}

/// Funnel shifts take the amount modulo 32.
Value* ThreadValues::from_words(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  Value* bits = builder_.CreateShl(loaded.back(), 3);
  Value* made = llvm::PoisonValue::get(granule_type(load));
  for (unsigned i = 0; i < vector_bytes(load) / kWordBytes; ++i) {
    Value* word =
        builder_.CreateIntrinsic(llvm::Intrinsic::fshr, {builder_.getInt32Ty()}, {loaded[i + 1], loaded[i], bits});
    made = builder_.CreateInsertElement(made, word, std::uint64_t{i});
  }
  return made;
}

Value* ThreadValues::vector_from(std::size_t load, llvm::ArrayRef<Value*> loaded) {
  if (!is_vector(load_at(load))) return loaded.front();
  llvm::Type* type = type_of(load, vector_.lanes());
  Value* vector = takes_granules(load) ? builder_.CreateBitCast(from_words(load, loaded), type) : joined(load, loaded);
  return reversed(load) ? builder_.CreateVectorReverse(vector) : vector;
}

}  // namespace padlock::compiler
