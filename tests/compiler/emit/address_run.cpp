#include "tests/compiler/emit/address_run.h"
#include "tests/compiler/seeded/seeded_bugs.h"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <set>

namespace padlock::compiler {
namespace {

using testing::Rng;

// First bytes of elements, by which the test tells them apart. AddressCase writes the fill as kFillByte.
constexpr std::uint8_t kFillByte = 0x7b;
constexpr std::uint8_t kPoisonByte = 0x7d;
constexpr std::uint64_t kInputBytes = 0x70;  // an input's are 1 to this

constexpr std::int64_t kVectorBytes = 16;  // of a GPU's

std::uint64_t input_bits(ElementSource source, int element_bytes) {
  std::uint64_t z =
      static_cast<std::uint64_t>(source.offset) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(source.input);
  z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9U;
  z ^= z >> 32;
  const std::uint64_t bits = (z & ~std::uint64_t{0xff}) | (1 + (z >> 8) % kInputBytes);
  return element_bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * element_bytes)) - 1);
}

std::uint64_t bits_of(ElementSource source, int element_bytes) {
  return source.input == ElementSource::kFill ? kFillByte : input_bits(source, element_bytes);
}

}  // namespace

Compilations::Compilations(bool for_gpu) {
  if (for_gpu) {
    auto made = TargetCompiler::create("sm_90");
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().to_string()));
    gpu_ = std::move(*made);
    return;
  }
  auto made = TargetCompiler::create("host");
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().to_string()));
  host_ = std::move(*made);
}

Result<abi::CompiledCode> Compilations::compile(const ir::Program& program, const Variant& variant) {
  if (gpu_ != nullptr) {
    PADLOCK_TRY(const Config config, gpu_->parse_config(variant.config));
    return gpu_->compile(program, {.config = config,
                                   .bounds_check = variant.bounds_check,
                                   .for_simt = true,
                                   .edits = edits_of(variant.mutation)});
  }
  PADLOCK_TRY(const Config config, host_->parse_config(variant.config));
  return host_->compile(program,
                        {.config = config, .bounds_check = variant.bounds_check, .edits = edits_of(variant.mutation)});
}

const Compiled& Compilations::of(const std::string& text, const Variant& variant) {
  auto& slot = all_[fmt::format("{}: {}", variant.name, text)];
  if (slot != nullptr) return *slot;
  auto program = ir::parse_program(text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  slot = std::make_unique<Compiled>(Compiled{std::move(*program), {}});
  auto code = compile(slot->program, variant);
  REQUIRE_MESSAGE(code.has_value(), (code ? "" : code.error().to_string()));
  auto image = runtime::load_image(*std::move(code));
  REQUIRE_MESSAGE(image.has_value(), (image ? "" : image.error().to_string()));
  REQUIRE(image->kernels.size() == 1);
  slot->image = *std::move(image);
  return *slot;
}

AddressRun::AddressRun(const AddressCase& c, const Compiled& compiled, std::size_t variant)
    : case_(c),
      compiled_(compiled),
      program_(compiled.program),
      kernel_(compiled.variants().at(variant)),
      extents_(c.result_extents()) {
  auto binding = ir::Binding::bind(program_, c.request());
  REQUIRE_MESSAGE(binding.has_value(), (binding ? "" : binding.error().to_string()));
  binding_ = std::move(*binding);
  plan_ = plan_of(variant);
  REQUIRE((variant == 0 || plan_.variant == 1));
  for (const Int128 n : extents_) total_ *= n;
  columns_ = plan_.columns;
  check_sizes();
  for (const int buffer : {0, 1, 2})
    storage_.push_back(std::make_unique<SparseStorage>(
        buffer == 1 && c.inputs() == 1 ? 1 : static_cast<std::int64_t>(c.storage_bytes(buffer))));
}

abi::LaunchPlan AddressRun::plan_of(std::size_t variant) const {
  std::vector<const abi::KernelAbi*> variants = {&compiled_.variants().front().abi};
  if (variant > 0) variants.push_back(&compiled_.variants().at(variant).abi);
  auto plan = abi::LaunchPlanner(program_, variants).plan(*binding_);
  REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : plan.error().to_string()));
  return *std::move(plan);
}

/// The launch that writes an element.
AddressRun::Launch AddressRun::launch_of(Int128 element) const {
  const auto total = static_cast<std::int64_t>(total_);
  if (plan_.parts.empty()) return {plan_.sizes, 0, total, std::vector<std::int64_t>(kernel_.abi.inputs.size())};
  const auto after = std::ranges::find_if(
      plan_.parts, [&](std::int64_t first) { return first > element; }, &abi::LaunchPart::first_element);
  const abi::LaunchPart& part = *std::prev(after);
  const std::int64_t end = after == plan_.parts.end() ? total : after->first_element;
  return {part.sizes, part.first_element, end - part.first_element, part.origins};
}

void AddressRun::takes_tiles() {
  block_elements_ = plan_.row_bytes / case_.element_bytes;
  columns_ = static_cast<std::int64_t>(total_);
}

void AddressRun::takes_transposes(const TransposeShape& shape) {
  shape_ = shape;
  columns_ = static_cast<std::int64_t>(extents_[1]);
}

std::string AddressRun::run(Rng& rng) {
  for (const Int128 at : places(rng)) {
    std::string failure = shape_ ? check_transpose(at) : block_elements_ > 0 ? check_tile(at) : check_near(at, rng);
    if (!failure.empty()) return failure;
  }
  return {};
}

void AddressRun::check_sizes() const {
  if (kernel_.abi.threads == 0) CHECK(Int128{plan_.rows} * plan_.columns == total_);
  const auto check = [&](ir::ValueId id, int buffer) {
    CHECK(Int128{binding_->storage_bytes(program_.value(id))} == case_.storage_bytes(buffer));
  };
  check(program_.results()[0], 2);
  for (int i = 0; i < case_.inputs(); ++i) check(program_.tensor_parameters()[static_cast<std::size_t>(i)], i);
}

Int128 AddressRun::flat(const Wide& at) const {
  Int128 index = 0;
  for (std::size_t i = 0; i < at.size(); ++i) index = index * extents_[i] + at[i];
  return index;
}

Wide AddressRun::coordinates(Int128 index) const {
  Wide at(extents_.size());
  for (std::size_t i = extents_.size(); i-- > 0; index /= extents_[i]) at[i] = index % extents_[i];
  return at;
}

Wide AddressRun::random_coordinates(Rng& rng) const {
  Wide at;
  for (const Int128 n : extents_) at.push_back(rng.between(0, static_cast<std::int64_t>(n - 1)));
  return at;
}

/// Returns elements of the result around which something could go wrong: its ends, powers of two as offsets of the
/// result and of x, in elements and in bytes, the beginnings of pads and operands, and some others.
std::vector<Int128> AddressRun::places(Rng& rng) const {
  std::set<Int128> all = {0, total_ - 1};
  for (int power = 31; power <= 46; ++power)
    for (const Int128 offset : {Int128{1} << power, (Int128{1} << power) / case_.element_bytes}) {
      if (offset < total_) all.insert(offset);
      if (offset * case_.element_bytes >= case_.storage_bytes(0)) continue;
      if (const auto at = case_.result_of(offset)) all.insert(flat(*at));
    }
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    for (const Int128 cut : case_.cuts(axis)) {
      Wide at = random_coordinates(rng);
      at[axis] = cut;
      all.insert(flat(at));
    }
  for (int i = 0; i < 8; ++i) all.insert(flat(random_coordinates(rng)));
  for (std::size_t i = 1; i < std::min<std::size_t>(9, plan_.parts.size()); ++i)
    for (const std::int64_t before : {0, 1}) all.insert(plan_.parts[i].first_element - before);
  return {all.begin(), all.end()};
}

std::string AddressRun::check_near(Int128 at, Rng& rng) {
  constexpr std::array<std::int64_t, 5> kReach = {0, 1, 3, 17, 70};
  constexpr std::array<std::int64_t, 3> kRows = {0, 0, 1};
  const auto row = static_cast<std::int64_t>(at / plan_.columns);
  const auto column = static_cast<std::int64_t>(at % plan_.columns);
  const Range range = {
      std::max<std::int64_t>(0, row - rng.pick(kRows)), std::min(plan_.rows, row + 1 + rng.pick(kRows)),
      std::max<std::int64_t>(0, column - rng.pick(kReach)), std::min(plan_.columns, column + 1 + rng.pick(kReach))};
  if (place(range)) return call_and_compare(range);
  // If the elements lie too far apart for the address space, takes only this one.
  const Range one = {row, row + 1, column, column + 1};
  return place(one) ? call_and_compare(one) : "there is no address space for a single element";
}

/// Checks the tile with this element, in storage that begins at a multiple of a vector. Skips a tile whose reads lie
/// too far apart for the address space.
std::string AddressRun::check_tile(Int128 at) {
  const Launch launch = launch_of(at);
  const std::int64_t phase = launch.first_element % (kVectorBytes / case_.element_bytes);
  const std::int64_t tile = (static_cast<std::int64_t>(at) - launch.first_element + phase) / block_elements_;
  const std::int64_t first = tile * block_elements_ - phase;
  const Range range = {0, 1, launch.first_element + std::max<std::int64_t>(0, first),
                       launch.first_element + std::min(launch.elements, first + block_elements_)};
  return place(range) ? call_and_compare(range, {tile, tile + 1, 0, 0}, launch) : std::string();
}

/// The elements that are certainly of the tile that has one.
std::string AddressRun::check_transpose(Int128 at) {
  const auto row = static_cast<std::int64_t>(at / columns_) / shape_->rows;
  const auto column = static_cast<std::int64_t>(at % columns_) / shape_->columns;
  const auto rows = static_cast<std::int64_t>(extents_[0]);
  const std::int64_t first = column * shape_->columns;
  const Range range = {row * shape_->rows, std::min(rows, (row + 1) * shape_->rows), first,
                       std::min(columns_, first + shape_->columns - shape_->halo)};
  const std::int64_t tiles = (columns_ + shape_->halo - 1 + shape_->columns - 1) / shape_->columns;  // of a row
  if (!place(range)) return {};
  const std::int64_t block = plan_.rows - 1 - (row * tiles + column);  // the last tile is the first that is taken
  return call_and_compare(range, {block, block + 1, 0, 0}, launch_of(0));
}

/// Puts data where the call should read it, and nothing elsewhere. Returns false if the address space does not suffice.
bool AddressRun::place(const Range& range) {
  collect(range);
  const std::array<ByteSpan, 3> needed = spans();
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (!storage_[i]->reset(needed[i])) return false;
  for (const auto& [element, source] : expected_) {
    if (source.input != ElementSource::kFill) put(source.input, source.offset, input_bits(source, case_.element_bytes));
    put(2, element, kPoisonByte);
  }
  for (const Int128 element : neighbours_) put(2, element, kPoisonByte);
  return true;
}

void AddressRun::collect(const Range& range) {
  expected_.clear();
  for (std::int64_t r = range.row_first; r < range.row_last; ++r)
    for (std::int64_t k = range.column_first; k < range.column_last; ++k) {
      const Int128 element = Int128{r} * columns_ + k;
      expected_.push_back({element, case_.source(coordinates(element))});
    }
  neighbours_ = neighbours(range);
}

std::array<ByteSpan, 3> AddressRun::spans() const {
  std::array<ByteSpan, 3> spans;
  const auto reach = [&](int buffer, Int128 element) {
    ByteSpan& s = spans[static_cast<std::size_t>(buffer)];
    const auto first = static_cast<std::int64_t>(element * case_.element_bytes);
    const std::int64_t last = first + case_.element_bytes;
    s = s.last == 0 ? ByteSpan{first, last} : ByteSpan{std::min(s.first, first), std::max(s.last, last)};
  };
  for (const auto& [element, source] : expected_) {
    reach(2, element);
    if (source.input != ElementSource::kFill) reach(source.input, source.offset);
  }
  for (const Int128 element : neighbours_) reach(2, element);
  return spans;
}

/// Returns the elements before and after those that each row of the range writes.
std::vector<Int128> AddressRun::neighbours(const Range& range) const {
  std::vector<Int128> list;
  if (shape_) return list;
  for (std::int64_t r = range.row_first; r < range.row_last; ++r) {
    if (range.column_first > 0) list.push_back(Int128{r} * columns_ + range.column_first - 1);
    if (range.column_last < columns_) list.push_back(Int128{r} * columns_ + range.column_last);
  }
  if (range.column_first == 0 && range.row_first > 0) list.push_back(Int128{range.row_first} * columns_ - 1);
  if (range.column_last == columns_ && Int128{range.row_last} * columns_ < total_)
    list.push_back(Int128{range.row_last} * columns_);
  return list;
}

std::string AddressRun::call_and_compare(const Range& range) { return call_and_compare(range, range, launch_of(0)); }

std::string AddressRun::call_and_compare(const Range& range, const Range& arguments, const Launch& part) {
  std::vector<void*> buffers;
  for (std::size_t i = 0; i < kernel_.abi.inputs.size(); ++i)
    buffers.push_back(address(kernel_.abi.inputs[i] == program_.tensor_parameters()[0] ? 0 : 1, part.origins[i]));
  buffers.push_back(address(2, part.first_element));
  abi::AccessFault fault;
  const abi::HostLaunch launch{buffers.data(), part.sizes.data(), nullptr, &fault};
  kernel_.entry(&launch, arguments.row_first, arguments.row_last, arguments.column_first, arguments.column_last);
  std::string failure = compare();
  if (fault.claimed != 0)
    failure =
        fmt::format("bounds check: {} at {} of {}", kernel_.abi.accesses.at(static_cast<std::size_t>(fault.access)),
                    fault.coordinate, fault.extent);
  elements_checked_ += static_cast<std::int64_t>(expected_.size());
  if (failure.empty()) return {};
  return fmt::format("rows {} to {}, columns {} to {}: {}", range.row_first, range.row_last, range.column_first,
                     range.column_last, failure);
}

std::string AddressRun::compare() const {
  for (const auto& [element, source] : expected_) {
    const std::uint64_t expected = bits_of(source, case_.element_bytes), found = result_bits(element);
    if (found != expected)
      return fmt::format("element {}: expected {:#x} (input {}, offset {}), found {:#x}",
                         static_cast<std::int64_t>(element), expected, source.input,
                         static_cast<std::int64_t>(source.offset), found);
  }
  for (const Int128 element : neighbours_)
    if (result_bits(element) != kPoisonByte)
      return fmt::format("element {}: written, but outside the range of the call", static_cast<std::int64_t>(element));
  return {};
}

std::byte* AddressRun::address(int buffer, Int128 element) const {
  return storage_[static_cast<std::size_t>(buffer)]->at(static_cast<std::int64_t>(element) * case_.element_bytes);
}

void AddressRun::put(int buffer, Int128 element, std::uint64_t bits) {
  std::memcpy(address(buffer, element), &bits, static_cast<std::size_t>(case_.element_bytes));
}

std::uint64_t AddressRun::result_bits(Int128 element) const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, address(2, element), static_cast<std::size_t>(case_.element_bytes));
  return bits;
}

}  // namespace padlock::compiler
