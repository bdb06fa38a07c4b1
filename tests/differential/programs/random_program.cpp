#include "tests/differential/programs/random_program.h"

#include <fmt/format.h>
#include <algorithm>

#include "tests/differential/programs/program_builder.h"

namespace padlock::differential {

using ir::DType;
using ir::Op;
using ir::OpClass;

namespace {

std::vector<DType> types_where(bool (*wanted)(DType)) {
  std::vector<DType> types;
  std::ranges::copy_if(ir::kAllDTypes, std::back_inserter(types), wanted);
  return types;
}

bool contains(const std::vector<DType>& types, DType t) { return std::ranges::find(types, t) != types.end(); }

std::vector<DType> common(const std::vector<DType>& a, const std::vector<DType>& b) {
  std::vector<DType> both;
  std::ranges::copy_if(a, std::back_inserter(both), [&](DType t) { return contains(b, t); });
  return both;
}

DType choose(const std::vector<DType>& types, DType preferred, testing::Rng& rng) {
  return contains(types, preferred) && rng.chance(80) ? preferred : rng.pick(types);
}

/// A statement of `producer`, then one of `consumer` on its result.
void emit_pair(ProgramBuilder& builder, OpPair pair, DType main_type) {
  testing::Rng& rng = builder.rng();
  const DType between = choose(common(result_types(pair.producer), operand_types(pair.consumer)), main_type, rng);
  const OpClass op_class = ir::info_of(pair.producer).op_class;
  const bool keeps_type = op_class != OpClass::comparison && op_class != OpClass::cast && pair.producer != Op::search;
  const DType from = keeps_type ? between : choose(operand_types(pair.producer), main_type, rng);
  const std::size_t x = builder.operand(from, pair.consumer == Op::concat ? 1 : 0);
  const std::size_t y = builder.emit(pair.producer, x, between);
  builder.emit(pair.consumer, y);
}

bool fits(const std::vector<Dim>& extents, const SymbolValues& values, std::int64_t limit) {
  Int128 elements = 1;
  for (const Dim& e : extents) elements *= evaluate(e, values).value_or(limit + 1);
  return elements <= limit;
}

bool storage_fits(const GeneratedTensor& tensor, const SymbolValues& values, std::int64_t limit) {
  if (!tensor.strides) return true;
  Int128 span = 1;
  for (std::size_t i = 0; i < tensor.extents.size(); ++i)
    span += (evaluate(tensor.extents[i], values).value_or(1) - 1) * evaluate((*tensor.strides)[i], values).value_or(0);
  return span <= limit;
}

}  // namespace

std::vector<DType> operand_types(Op op) {
  switch (ir::info_of(op).op_class) {
    case OpClass::unary:
    case OpClass::binary:
    case OpClass::with_scalars:
    case OpClass::adjoint:
      return types_where([](DType t) { return t != DType::boolean; });
    case OpClass::floating1:
    case OpClass::floating2:
      return types_where(ir::is_float);
    case OpClass::activation:
      return types_where([](DType t) { return ir::is_float(t) && t != DType::f64; });
    case OpClass::logical1:
    case OpClass::logical2:
      return {DType::boolean};
    case OpClass::coordinate:
      return {};
    case OpClass::by_data:
      if (op == Op::search) return {DType::i64, DType::i32};
      return {ir::kAllDTypes.begin(), ir::kAllDTypes.end()};
    default:
      return {ir::kAllDTypes.begin(), ir::kAllDTypes.end()};
  }
}

std::vector<DType> result_types(Op op) {
  if (op == Op::iota) return operand_types(Op::relu);
  if (op == Op::search) return {DType::i64};
  return ir::info_of(op).op_class == OpClass::comparison ? std::vector{DType::boolean} : operand_types(op);
}

std::vector<OpPair> legal_pairs() {
  std::vector<OpPair> pairs;
  for (const ir::OpInfo& a : ir::kOperations)
    for (const ir::OpInfo& b : ir::kOperations)
      if (!common(result_types(a.op), operand_types(b.op)).empty()) pairs.push_back({a.op, b.op});
  return pairs;
}

std::size_t ProgramBuilder::operand(DType type, int min_rank) {
  std::vector<std::size_t> fresh, all;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.dtype != type || v.rank() < min_rank || v.elements() > kMaxElements / 2) continue;
    all.push_back(i);
    if (!v.used) fresh.push_back(i);
  }
  if (!fresh.empty() && rng_.chance(65)) return rng_.pick(fresh);
  if (!all.empty() && rng_.chance(25)) return rng_.pick(all);
  return random_tensor(type, min_rank);
}

void ProgramBuilder::state_constraints() {
  static constexpr std::array kForms = {ir::Comparison::le, ir::Comparison::ge, ir::Comparison::lt, ir::Comparison::gt,
                                        ir::Comparison::eq};
  if (program_.symbols.empty() || sizes_ == Sizes::free) return;
  for (std::int64_t left = rng_.between(0, 3); left > 0; --left) {
    const GeneratedSymbol s = rng_.pick(program_.symbols);  // a copy: new symbols move the list
    if (s.kind == ir::SymbolKind::stride) continue;         // a stride may be bound to its dense value instead
    const std::int64_t value = program_.seed_values[s.name];
    const ir::Comparison comparison =
        rng_.chance(5) ? ir::Comparison::eq : kForms[static_cast<std::size_t>(rng_.between(0, 3))];
    const std::int64_t slack = rng_.between(1, 100);
    Dim bound = dim_integer(value);
    if (comparison == ir::Comparison::le || comparison == ir::Comparison::lt) bound = express(value + slack, 1);
    if (comparison == ir::Comparison::ge || comparison == ir::Comparison::gt) bound = express(value - slack, 1);
    program_.stated.push_back({dim_name(s.name), comparison, std::move(bound), "constraint"});
  }
}

GeneratedProgram ProgramBuilder::finish() && {
  for (const Value& v : values_) {
    const bool wanted = v.is_parameter ? rng_.chance(3) : !v.used || rng_.chance(5);
    if (wanted) program_.results.push_back(v.name);
  }
  if (program_.results.empty()) program_.results.push_back(values_.back().name);
  state_constraints();
  return std::move(program_);
}

GeneratedProgram random_program(std::uint64_t seed, std::uint64_t index, Sizes sizes) {
  static const std::vector<OpPair> kPairs = legal_pairs();
  testing::Rng rng = testing::Rng(seed).fork(index);
  const DType main_type = ir::kAllDTypes[index % ir::kAllDTypes.size()];
  const ir::PadMode main_mode = ir::kPadModes[index % ir::kPadModes.size()];
  ProgramBuilder builder(rng.fork(1), main_type, main_mode, sizes);
  if (index % 8 == 7) {  // a single operation, in its whole variety
    const Op op = ir::kOperations[(index / 8) % ir::kOperations.size()].op;
    const auto types = op == Op::iota ? result_types(op) : operand_types(op);
    const std::size_t x = builder.operand(choose(types, main_type, rng), 0);
    builder.emit(op, x, op == Op::iota ? std::optional(builder.type_of(x)) : std::nullopt);
    return std::move(builder).finish();
  }
  constexpr std::size_t kPairsEach = 5;
  const std::size_t stride = 97;  // prime, and no divisor of the count: neighbours in one program differ in kind
  const std::uint64_t ordinal = index - index / 8;  // among the programs made of pairs
  for (std::size_t k = 0; k < kPairsEach; ++k)
    emit_pair(builder, kPairs[(ordinal * kPairsEach + k) * stride % kPairs.size()], main_type);
  return std::move(builder).finish();
}

GeneratedProgram random_chain(std::uint64_t seed, std::uint64_t index) {
  static constexpr std::array kMoves = {Op::reshape, Op::reshape, Op::transpose,   Op::pad,
                                        Op::slice,   Op::concat,  Op::pad_adjoint, Op::take};
  testing::Rng rng = testing::Rng(seed).fork(index);
  const DType type = ir::kAllDTypes[index % ir::kAllDTypes.size()];
  ProgramBuilder builder(rng.fork(1), type, ir::kPadModes[index % ir::kPadModes.size()], Sizes::stated);
  std::size_t value = builder.operand(type, 1);
  for (std::int64_t left = rng.between(2, 5); left > 0; --left) {
    const Op op = rng.pick(kMoves);
    value = builder.emit(op == Op::pad_adjoint && type == DType::boolean ? Op::pad : op, value);
  }
  return std::move(builder).finish();
}

std::vector<bool> GeneratedProgram::live_statements(const std::vector<std::string>& wanted) const {
  std::vector<std::string> needed = wanted;
  std::vector<bool> live(statements.size());
  for (std::size_t i = statements.size(); i-- > 0;) {
    live[i] = std::ranges::find(needed, statements[i].name) != needed.end();
    if (live[i]) needed.insert(needed.end(), statements[i].operands.begin(), statements[i].operands.end());
  }
  return live;
}

std::string GeneratedProgram::text_of(const std::vector<std::string>& wanted, bool drop_unused) const {
  static constexpr std::array kSigns = {"<=", "<", "==", ">=", ">"};
  std::string text = fmt::format("program p({})\n", fmt::join(parameters, ",\n          "));
  for (const Condition& c : stated)
    text += fmt::format("{} {} {} {}\n", &c == &stated.front() ? "where" : "     ,", to_text(c.lhs),
                        kSigns[static_cast<std::size_t>(c.comparison)], to_text(c.rhs));
  text += "{\n";
  const std::vector<bool> live = live_statements(wanted);
  for (std::size_t i = 0; i < statements.size(); ++i)
    if (live[i] || !drop_unused) text += "  " + statements[i].text + "\n";
  return text + fmt::format("  return {}\n}}\n", fmt::join(wanted, ", "));
}

bool GeneratedProgram::legal(const SymbolValues& values) const {
  const auto holds = [&](const Condition& c) { return satisfied(c, values); };
  const bool extents = std::ranges::all_of(
      symbols, [&](const GeneratedSymbol& s) { return s.kind == ir::SymbolKind::dim || values.at(s.name) >= 0; });
  return extents && std::ranges::all_of(stated, holds) && std::ranges::all_of(implied, holds);
}

bool GeneratedProgram::within(const SymbolValues& values, std::int64_t limit) const {
  return std::ranges::all_of(statements, [&](const auto& s) { return fits(s.extents, values, limit); }) &&
         std::ranges::all_of(tensors, [&](const GeneratedTensor& t) {
           return fits(t.extents, values, limit) && storage_fits(t, values, 16 * limit);
         });
}

SymbolValues GeneratedProgram::vary(testing::Rng& rng) const {
  SymbolValues values = seed_values;
  if (symbols.empty()) return values;
  for (std::int64_t left = rng.between(1, 3); left > 0; --left) {
    const GeneratedSymbol& s = rng.pick(symbols);
    std::int64_t& v = values[s.name];
    if (s.kind == ir::SymbolKind::stride) v = std::max<std::int64_t>(0, v + rng.between(-1, 4));
    if (s.kind == ir::SymbolKind::dim) v = rng.chance(70) ? v + rng.between(-3, 3) : rng.between(-12, 20);
    if (s.kind == ir::SymbolKind::extent)
      v = rng.chance(60) ? awkward_extent(std::max<std::int64_t>(2 * v, 9), rng) : v + rng.between(-1, 1);
  }
  return values;
}

ir::BindRequest GeneratedProgram::request(const SymbolValues& values, testing::Rng& rng) const {
  ir::BindRequest request;
  const bool by_name = rng.chance(10);
  for (const GeneratedSymbol& s : symbols)
    if (by_name || s.kind == ir::SymbolKind::dim) request.symbols[s.name] = values.at(s.name);
  for (const GeneratedTensor& t : tensors) {
    request.tensors.emplace_back();
    if (by_name) continue;
    ir::ArgumentShape& shape = request.tensors.back().emplace();
    for (const Dim& e : t.extents) shape.extents.push_back(static_cast<std::int64_t>(evaluate(e, values).value_or(-1)));
    if (!t.strides) continue;
    const bool empty = std::ranges::find(shape.extents, 0) != shape.extents.end();
    for (std::size_t i = 0; i < t.strides->size(); ++i) {
      const auto stride = static_cast<std::int64_t>(evaluate((*t.strides)[i], values).value_or(0));
      const bool insignificant = empty || shape.extents[i] <= 1;
      if (i == 0) shape.strides.emplace();
      shape.strides->push_back(insignificant && rng.chance(30) ? rng.between(0, 99) : stride);
    }
  }
  return request;
}

}  // namespace padlock::differential
