#include "compiler/emit/gpu/emit_gpu.h"

#include <algorithm>

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/gpu/boxes/emit_boxes.h"
#include "compiler/emit/gpu/tiles/emit_tiles.h"
#include "compiler/emit/gpu/vector_grid/edge_list.h"
#include "compiler/emit/gpu/vector_grid/emit_vector_grid.h"
#include "compiler/emit/rows/emit_row_dispatch.h"
#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {
namespace {

constexpr unsigned kShared = 3;

/// Returns memory of which a block has as many bytes as the launch asks for.
Value* asked_memory(KernelContext& context, const char* suffix) {
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(context.module.getContext()), 0);
  auto* memory =
      new llvm::GlobalVariable(context.module, bytes, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr,
                               context.abi.name + suffix, nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  memory->setAlignment(llvm::Align(kStageVectorBytes));
  return memory;
}

/// Returns the memory that the threads of a block share: a grid's lists of edges, a tile's arrays, or a box's stages.
/// Null for code that shares none.
Value* shared_memory(KernelContext& context) {
  if (context.schedule.boxes() != nullptr) return asked_memory(context, "_stages");
  const TransposeTile* tile = context.tile;
  const int words = tile != nullptr ? tile->shared_bytes() / 4 : EdgeList::shared_words(context);
  if (words == 0) return nullptr;
  auto* type =
      llvm::ArrayType::get(llvm::Type::getInt32Ty(context.module.getContext()), static_cast<std::uint64_t>(words));
  auto* memory = new llvm::GlobalVariable(
      context.module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage, llvm::PoisonValue::get(type),
      context.abi.name + (tile != nullptr ? "_tile" : "_edges"), nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  memory->setAlignment(llvm::Align(static_cast<std::uint64_t>(tile != nullptr ? tile->word_bytes : 4)));
  return memory;
}

/// Returns the memory of a grid's table of rows, or null. `shared`: of a device that runs threads in a loop, where the
/// table lies behind the lists of edges; null on a GPU.
Value* table_memory(KernelContext& context, IRBuilder<>& builder, Value* shared) {
  if (context.row_table() == nullptr) return nullptr;
  if (shared == nullptr) return asked_memory(context, "_rows");
  return builder.CreateConstGEP1_32(builder.getInt32Ty(), shared,
                                    static_cast<unsigned>(EdgeList::shared_words(context)));
}

/// Emits a thread's code as the body of a kernel, or of a function of `emit_thread_function`'s type.
void emit_thread(KernelContext& context, llvm::Function* function) {
  FunctionScope scope(context, function);
  const bool on_gpu = context.target.takes_words;
  const auto number = [&](llvm::Intrinsic::ID id, unsigned argument) -> Value* {
    if (!on_gpu) return scope.argument(argument);
    IRBuilder<> builder = scope.in_entry();
    return builder.CreateZExt(builder.CreateIntrinsic(id, {}), context.index_type());
  };
  Value* block = number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, 1);
  Value* thread = number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, 2);
  Value* shared = on_gpu ? shared_memory(context) : scope.argument(3);
  Value* table = table_memory(context, scope.builder, on_gpu ? nullptr : shared);
  const VectorContext vector{
      context, scope.builder, scope.fields, scope.exprs, shared, table, on_gpu ? nullptr : scope.argument(4)};
  if (context.tile != nullptr)
    emit_transpose_tile(vector, block, thread);
  else if (context.schedule.boxes() != nullptr)
    emit_box(vector, block, thread);
  else
    emit_vectors(vector, block, thread);
  scope.end();
}

bool is_activation(const BodyNode& node) {
  return node.kind == NodeKind::operation && ir::info_of(node.op).op_class == ir::OpClass::activation;
}
/// Returns whether a body has tens of operations between a load and a store.
bool has_activation(const Body& body) { return std::ranges::any_of(body.nodes, is_activation); }
/// Returns whether a body has activations of f64 values, which take two registers each.
bool has_wide_activation(const Body& body) {
  return std::ranges::any_of(body.nodes,
                             [](const BodyNode& node) { return is_activation(node) && node.dtype == ir::DType::f32; });
}

/// Least threads on a multiprocessor, for code that does little between a load and a store.
constexpr int kManyThreads = 1024;
/// Least threads where tensors are joined, most threads of which load from one of them. (An H200, keys of a cache in
/// f16: 56 us with 1024, 52 with 2048. Pads would spill some words for an sm_80.)
constexpr int kManyJoiningThreads = 2048;
/// Least threads for tiles of 2-byte elements: 40 registers a thread. With ptxas's choice of 48 too few loads are in
/// flight: 0.91 of a copy's speed instead of 0.94 on an H200. Tiles of 4 and of 1 byte are no quicker with more
/// threads.
constexpr int kManyTileThreads = 1536;
/// Least threads for boxes: a block loads in a third of its life, and other blocks must load meanwhile. With several
/// stages an sm_100 would spill words.
constexpr int kManyBoxThreads = 1536, kManyStagesThreads = 1280;
/// Least threads where a stage is turned: more have no room for what they read beside their shared memory. (An H200,
/// to 64 channels of f32: 47 us, with 1536 threads 64.) Rows of two axes are short, and take less of it (6 channels of
/// f16: 61 and 58 us), as do slices of words (of 256 channels 58 and 54 us). Eight columns take more registers: with
/// 1024 threads bytes to planes take 62, and are up to 6 % slower; with 1152 parts would spill for an sm_86.
int turning_threads(BoxKind kind, const BoxTurn& turn) {
  if (turn.columns > 4) return turn.across == kBoxSlice ? 1152 : 1024;
  return kind == BoxKind::joined || (turn.across == kBoxSlice && turn.lanes == 1) ? 1536 : 1280;
}
/// Least threads for vectors that are made element by element: 32 registers each.
constexpr int kManyElementThreads = 2048;
/// Least threads for activations of f16 and bf16: 40 registers each, where ptxas would take 72. While some threads
/// compute, others load.
constexpr int kManyActiveThreads = 1536;
/// Least threads for tiles of bytes that find elements past 2^31: with 64 registers some threads spill one.
constexpr int kWideTileThreads = 768;

std::size_t loads_of(const Schedule& schedule) {
  std::size_t loads = 0;
  for (const Body& body : schedule.bodies) loads += body.loads.size();
  return loads;
}

bool joins_tensors(const Schedule& schedule) {
  auto sources = schedule.sources();
  const auto differs = [&](const LoadSource& source) { return source.tensor != (*sources.begin()).tensor; };
  return std::ranges::any_of(sources, differs);
}

int blocks_at_once(const KernelContext& context, const TransposeTile& tile) {
  if (context.index_bits != 32 || std::ranges::any_of(context.schedule.bodies, has_wide_activation)) return 1;
  const bool is_light = tile.lanes == 2 && loads_of(context.schedule) == 1;
  const bool is_wide = tile.lanes == 4 && context.offset_bits == 64;
  return std::max(1, (is_light ? kManyTileThreads : is_wide ? kWideTileThreads : kManyThreads) / tile.threads);
}

/// Returns the least number of blocks on a multiprocessor. ptxas 13 takes the registers that it thinks best (32 for a
/// cast of f64) and spills a few bytes. Told of a low occupancy, it takes more. Code that does little between a load
/// and a store has enough with few, and needs many threads.
int blocks_at_once(const KernelContext& context) {
  if (context.tile != nullptr) return blocks_at_once(context, *context.tile);
  const Schedule& schedule = context.schedule;
  if (const Boxes* const boxes = schedule.boxes()) {
    const std::optional<BoxTurn>& turn = boxes->stages.front().turn;
    if (std::ranges::any_of(schedule.bodies, turn ? has_activation : has_wide_activation)) return 1;
    // Leaves a quarter of the threads: with all 1536 of an sm_120, registers would spill.
    const int most = context.target.most_threads * 3 / 4;
    const int many = boxes->stages.size() > 1 ? kManyStagesThreads : kManyBoxThreads;
    return std::min(turn ? turning_threads(boxes->kind, *turn) : many, most) / boxes->threads;
  }
  if (schedule.grid()->by_element)
    return std::ranges::any_of(schedule.bodies, has_wide_activation) ? 1
                                                                     : kManyElementThreads / schedule.grid()->threads;
  if ((schedule.grid()->vectors > 2 && !context.is_even) || context.index_bits != 32) return 1;
  const bool is_short = std::ranges::all_of(schedule.bodies, [](const Body& body) {
    return body.nodes.size() <= 3 && !has_wide_activation(body) && std::ranges::all_of(body.loads, is_vector);
  });
  if (!is_short || loads_of(schedule) > 1) return 1;
  const bool is_active = std::ranges::any_of(schedule.bodies, has_activation);
  const int many = is_active                 ? kManyActiveThreads
                   : context.is_even         ? kManyElementThreads
                   : joins_tensors(schedule) ? kManyJoiningThreads
                                             : kManyThreads;
  return std::max(1, many / schedule.grid()->threads);
}

/// Emits the function that a HostEntry calls for each thread: void(launch, block, thread, shared memory, interval).
llvm::Function* emit_thread_function(KernelContext& context) {
  llvm::LLVMContext& llvm = context.module.getContext();
  llvm::Type* index = context.index_type();
  llvm::Type* pointer = llvm::PointerType::get(llvm, 0);
  llvm::Type* interval = llvm::Type::getInt32Ty(llvm);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(llvm), {pointer, index, index, pointer, interval}, false);
  const std::string name = context.abi.name + ".thread";
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, context.module);
  set_attributes(*function, context.target);
  emit_thread(context, function);
  return function;
}

/// Returns the words of a block's shared memory where threads run in a loop; the words begin as 0. Memory that a launch
/// asks for has one more word for each byte, its stamp.
Value* host_block_words(FunctionScope& scope, const KernelContext& context) {
  ir::ExprContext& exprs = context.exprs();
  Expr words = exprs.constant(0);
  if (context.tile != nullptr)
    words = exprs.constant(stamped_bytes(*context.tile) / 4);
  else if (context.schedule.grid() != nullptr)
    words = exprs.constant(EdgeList::shared_words(context));
  if (const Expr bytes = context.abi.shared_bytes; bytes.valid())
    words = exprs.add(words, exprs.add(bytes, exprs.ceildiv(bytes, exprs.constant(4))));
  return scope.exprs.word(words);
}

/// Emits a HostEntry, which loops over blocks and their threads.
void emit_blocks(KernelContext& context, llvm::Function* thread) {
  FunctionScope scope(context, make_entry(context.module, context.abi, context.target), /*sets_environment=*/true);
  IRBuilder<>& builder = scope.builder;
  Value* words = host_block_words(scope, context);
  llvm::AllocaInst* shared = scope.in_entry().CreateAlloca(builder.getInt32Ty(), words);
  shared->setAlignment(llvm::Align(16));
  const auto index = [&](Value* value) { return builder.CreateTrunc(value, context.index_type()); };
  const auto for_each = [&](Value* count, llvm::function_ref<void(Value*)> trip) {
    counted_loop(builder, builder.getInt64(0), count, 1, trip);
  };
  Value* threads = builder.getInt64(static_cast<std::uint64_t>(context.abi.threads));
  const std::uint32_t intervals = context.row_table() != nullptr ? 3 : 2;
  // All threads of a block reach a barrier before the first goes on.
  counted_loop(builder, scope.argument(1), scope.argument(2), 1, [&](Value* block) {
    for_each(words, [&](Value* word) {
      builder.CreateStore(builder.getInt32(0), builder.CreateGEP(builder.getInt32Ty(), shared, word));
    });
    for (std::uint32_t interval = 0; interval < intervals; ++interval)
      for_each(threads, [&](Value* member) {
        builder.CreateCall(thread,
                           {scope.argument(0), index(block), index(member), shared, builder.getInt32(interval)});
      });
  });
  scope.end();
}

/// Returns how launches share the rows of a grid's output.
abi::LaunchParts parts_of(const Schedule& schedule, const abi::KernelAbi& abi, int vectors) {
  const ir::Program& program = *schedule.kernel.program;
  const VectorGrid& grid = *schedule.grid();
  abi::LaunchParts parts{.extents = schedule.kernel.extents,
                         .columns = schedule.columns,
                         .spans = {},
                         .reaches = {},
                         .block_elements = std::int64_t{vectors} * grid.threads * grid.lanes,
                         .lanes = grid.lanes,
                         .most_elements = Index32Variant::kMostElements};
  parts.extents.pop_back();
  for (const ir::ValueId input : abi.inputs) parts.spans.push_back(program.value(input).layout.storage_extent());
  for (const TensorReach& reach : schedule.index32.reaches) {
    const auto input = static_cast<std::uint32_t>(std::ranges::find(abi.inputs, reach.tensor) - abi.inputs.begin());
    parts.reaches.push_back({.input = input, .steps = reach.steps, .least = reach.least, .most = reach.most});
  }
  return parts;
}

/// Returns the contract, whose rows are tiles.
abi::KernelAbi gpu_contract_of(const Schedule& schedule, const GpuVariant& variant) {
  ir::ExprContext& exprs = schedule.exprs();
  abi::KernelAbi abi = contract_of(schedule);
  const TransposeTile* tile = variant.tile;
  const Expr element_bytes = exprs.constant(ir::byte_size(schedule.kernel.program->value(abi.results[0]).dtype));
  abi.columns = exprs.constant(1);
  if (tile != nullptr) {
    abi.rows = tile->tiles;
    abi.threads = tile->threads;
    abi.row_bytes = exprs.mul(exprs.constant(tile->positions()), element_bytes);
    abi.accesses.emplace_back("race for shared memory: it");
    return abi;
  }
  if (const Boxes* const boxes = schedule.boxes()) {
    abi.rows = schedule.blocks();
    abi.threads = boxes->threads;
    const Expr slices = boxes->slices ? boxes->slices->launched : exprs.constant(1);
    const Expr unit = column_unit(schedule.kernel, boxes->column_axis);
    const Expr columns =
        boxes->columns ? exprs.mul(boxes->columns->launched, unit) : box_columns(schedule.kernel, *boxes);
    abi.row_bytes = exprs.mul(exprs.mul(slices, exprs.mul(boxes->rows.launched, columns)), element_bytes);
    abi.shared_bytes = at_launch(exprs, *boxes, boxes->shared_bytes);
    abi.accesses.emplace_back("race for shared memory, or access beyond it: it");
    return abi;
  }
  abi.threads = schedule.grid()->threads;
  abi.rows = schedule.at_grid_launch(schedule.grid()->blocks, variant.vectors);
  const Expr elements = exprs.constant(Int128{variant.vectors} * schedule.grid()->threads * schedule.grid()->lanes);
  abi.row_bytes = exprs.mul(elements, element_bytes);
  if (variant.in_parts) abi.parts = parts_of(schedule, abi, variant.vectors);
  if (const RowTable* const table = variant.table_of(schedule)) {
    abi.shared_bytes = schedule.at_grid_launch(table->bytes, variant.vectors);
    abi.accesses.emplace_back("race for shared memory, or access beyond it: it");
  }
  return abi;
}

}  // namespace

abi::KernelAbi emit_gpu_kernel(llvm::Module& module, const ProvenKernel& kernel, const GpuVariant& variant,
                               const TargetFeatures& target, bool bounds_check) {
  abi::KernelAbi abi = gpu_contract_of(kernel.schedule(), variant);
  abi.name += variant.suffix;
  abi.preconditions = kernel.preconditions();
  abi.waits = target.waits;
  abi.guards = variant.guards;
  SizeTable sizes;
  IndexWidths widths(kernel.schedule().kernel);
  KernelContext context{variant, module, kernel, kernel.schedule(), target, bounds_check, abi, sizes, widths};
  if (!target.takes_words) {
    emit_blocks(context, emit_thread_function(context));
    abi.sizes = std::move(sizes).take();
    return abi;
  }
  llvm::Function* entry = make_entry(module, abi, target);
  const int most_blocks = std::max(1, target.most_threads / static_cast<int>(abi.threads));
  entry->addFnAttr("nvvm.minctasm", std::to_string(std::min(blocks_at_once(context), most_blocks)));
  emit_thread(context, entry);
  abi.sizes = std::move(sizes).take();
  set_words(*entry, abi::ParameterWords(abi).count);
  return abi;
}

}  // namespace padlock::compiler
