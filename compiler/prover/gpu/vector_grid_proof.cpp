#include "compiler/prover/gpu/vector_grid_proof.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {
namespace {

// Numbered after the variables of a loop (compiler/prover/core/loop_proof.cpp).
enum VariableOrder {
  kIndex = 1220,
  kVector,
  kOther,
  kLane,
  kNeeded,
  kThread,
  kOtherThread,
  kTurn,
  kOtherTurn,
  kColumns,
  kColumn,
  kAhead
};

class GridProof : private ScheduleProof {
 public:
  GridProof(ProofSession& session, const Schedule& schedule, Proof& proof)
      : ScheduleProof(session, schedule, proof),
        grid_(*schedule.grid()),
        zero_(exprs_.constant(0)),
        lanes_(exprs_.constant(grid_.lanes)),
        index_(exprs_.variable("index", kIndex)),
        columns_(exprs_.add(exprs_.variable("more_columns", kColumns), exprs_.constant(1))),
        column_(exprs_.variable("column", kColumn)),
        ahead_(exprs_.variable("rows_ahead", kAhead)) {}

  void prove() {
    prove_used();
    for (int used = 1; used <= grid_.vectors; ++used) prove_tiles(used);
    prove_alignment();
    prove_granules();
    if (grid_.by_element) prove_two_rows();
    if (grid_.uneven) prove_even();
    if (!grid_.table) return;
    for (int used = 1; used <= grid_.vectors; ++used) prove_table(*grid_.table, used);
    prove_table_words(*grid_.table);
  }

 private:
  /// A launch uses one of the vector counts for which blocks are proved.
  void prove_used() {
    const Expr used = schedule_.used_vectors();
    const auto describe = [=](const Evaluate& at) { return fmt::format("{} vectors are taken", at(used)); };
    decide(ObligationKind::cover, "vectors of a thread", {},
           {{{less(used, exprs_.constant(1))}, describe}, {{less(exprs_.constant(grid_.vectors), used)}, describe}});
  }

  void prove_tiles(int used) {
    const Expr slots = exprs_.constant(Int128{grid_.threads} * used);
    const auto at = [&](Expr e) { return at_launch(exprs_, grid_, e, grid_.elements, exprs_.constant(used)); };
    const Expr first = at(grid_.first);
    const Expr blocks = at(grid_.blocks);
    const std::string name = fmt::format("blocks of {} vectors", std::int64_t{grid_.threads} * used);
    // The witness: element e is in vector (e + phase) div lanes, which is in block (vector div slots).
    const Expr vector = exprs_.floordiv(exprs_.add(index_, grid_.phase), lanes_);
    const Expr block = exprs_.floordiv(vector, slots);
    const Expr its_first = place(first, block, exprs_.mod(vector, slots));
    const auto uncovered = [=, this](const Evaluate& point) {
      return fmt::format("element {} of {} is not in vector {}", point(index_), point(grid_.elements), point(vector));
    };
    std::vector<Goal> covered = outside(index_, its_first, exprs_.add(its_first, lanes_), uncovered);
    covered.push_back({{at_least(block, blocks)}, uncovered});
    decide(ObligationKind::cover, name, elements(), covered);
    record(decide_disjoint(name, first, slots, used));
    const solver::Region region =
        bounded({{grid_.phase, lanes_}, {grid_.block, blocks}, {grid_.slot, slots}});  // a launch's
    prove_width(name + " in 64 bits", region, exprs_.add(first, lanes_), Int128{1} << 62);
    if (schedule_.index32.bound == 0) return;
    const Expr few = at_least(exprs_.constant(Index32Variant::kMostElements), grid_.elements);
    prove_width(name + " in 32 bits", joined(region, {few}), exprs_.add(first, lanes_), Int128{1} << 31);
  }

  /// Proves that the vectors of a launch end before `bound`.
  void prove_width(std::string name, const solver::Region& region, Expr end, Int128 bound) {
    const auto describe = [=](const Evaluate& at) { return fmt::format("a vector ends at {}", at(end)); };
    decide(ObligationKind::width, std::move(name), region, {{{at_least(end, exprs_.constant(bound))}, describe}});
  }

  /// Each block and slot has its own vector number; two vectors share no element.
  Obligation decide_disjoint(const std::string& name, Expr first, Expr slots, int used) {
    const Expr vector = exprs_.variable("vector", kVector);
    const Expr other = exprs_.variable("other_vector", kOther);
    const Expr number = exprs_.add(exprs_.mul(grid_.block, slots), grid_.slot);
    const auto describe = [=, this](const Evaluate& at) {
      return fmt::format("element {} is in the vectors {} and {}", at(index_), at(vector), at(other));
    };
    solver::Region region = elements();
    for (const Expr which : {vector, other}) {
      const Expr begin = place(first, zero_, which);
      region.nonnegative.push_back(at_least(index_, begin));
      region.nonnegative.push_back(less(index_, exprs_.add(begin, lanes_)));
    }
    Obligation made = session_.decide(ObligationKind::disjoint, name, region, {{{less(vector, other)}, describe}});
    const bool numbered = place(first, zero_, number) == first;
    const int count = grid_.threads * used;
    if (made.verdict != Verdict::proved || (numbered && is_dealt_once(count))) return made;
    made.verdict = Verdict::checked;
    made.reason = "that a vector is one thread's is not shown";
    return made;
  }

  /// Proves that giving number k to thread k mod count gives each number to exactly one thread.
  bool is_dealt_once(int count) {
    const Expr size = exprs_.constant(count);
    const Expr first = exprs_.variable("thread", kThread);
    const Expr second = exprs_.variable("other_thread", kOtherThread);
    const Expr number = exprs_.add(first, exprs_.mul(size, exprs_.variable("turn", kTurn)));
    const Expr other = exprs_.add(second, exprs_.mul(size, exprs_.variable("other_turn", kOtherTurn)));
    const solver::Region region{.nonnegative = {less(first, size), less(second, size)},
                                .zero = {exprs_.sub(number, other)},
                                .alternatives = {}};
    return session_.excludes(region, {less(first, second)});
  }

  /// Proves that lanes * v - phase plus the phase of the first result's address is a multiple of a vector.
  void prove_alignment() {
    const Expr first = at_launch(exprs_, grid_, grid_.first, grid_.elements, exprs_.constant(1));
    const Expr past = exprs_.mod(exprs_.add(first, grid_.phase), lanes_);
    const auto describe = [=](const Evaluate& at) {
      return fmt::format("a vector begins {} elements past a multiple of its size", at(past));
    };
    decide(ObligationKind::align, fmt::format("vectors of {} lanes", grid_.lanes), bounded({{grid_.phase, lanes_}}),
           {{{less(zero_, past)}, describe}});
  }

  /// Proves that, if the tests hold, a vector's granules lie in the storage and contain the lanes it needs.
  void prove_granules() {
    const Granules& granules = grid_.granules;
    const Expr lane = exprs_.variable("lane_of_vector", kLane);
    const Expr element = exprs_.variable("needed", kNeeded);  // the element of lane 0
    const Expr first = exprs_.add(element, granules.offset);
    const Expr end = exprs_.add(first, exprs_.constant(2 * Int128{grid_.lanes}));
    solver::Region region;
    region.nonnegative = {granules.shift, less(granules.shift, lanes_)};
    solver::Region tested = region;
    for (const ir::Constraint& test : granules.tests)
      tested.nonnegative.push_back(replaced(exprs_, ir::as_expression(exprs_, test).first, granules.first, first));
    const auto beyond = [=](const Evaluate& at) {
      return fmt::format("elements from {} to {} are loaded of a tensor that has those from {} to {}", at(first),
                         at(end), at(granules.least), at(granules.end));
    };
    decide(ObligationKind::load, "granules of a vector", tested,
           {{{less(first, granules.least)}, beyond}, {{less(granules.end, end)}, beyond}});
    const Expr loaded = exprs_.add(element, lane);
    const auto missing = [=](const Evaluate& at) {
      return fmt::format("element {} of lane {} is in no granule", at(loaded), at(lane));
    };
    decide(ObligationKind::cover, "lanes of a vector by granules", joined(region, {lane, less(lane, lanes_)}),
           outside(loaded, first, end, missing));
  }

  /// Proves that a vector which begins in a row ends in that row or the next, for sizes that the schedule serves.
  void prove_two_rows() {
    const Expr lane = exprs_.variable("lane_of_vector", kLane);
    solver::Region vectors = joined({}, {column_, less(column_, schedule_.columns), lane, less(lane, lanes_)});
    for (const abi::Guard& guard : schedule_.serves)
      vectors.nonnegative.push_back(ir::as_expression(exprs_, guard.holds).first);
    const Expr column = exprs_.add(column_, lane);
    const auto beyond = [=, this](const Evaluate& at) {
      return fmt::format("lane {} is at column {} of rows of {}", at(lane), at(column), at(schedule_.columns));
    };
    decide(ObligationKind::cover, "lanes of two rows", vectors,
           {{{at_least(column, exprs_.mul(exprs_.constant(2), schedule_.columns))}, beyond}});
  }

  // --- vectors in one segment each ----------------------------------------------------------------------------------

  /// Proves for sizes of even segments that a vector at a multiple of its size lies in the segment of its lane 0. Rows
  /// are whole vectors, since the last segment ends where the row does.
  void prove_even() {
    const Expr vector = exprs_.variable("vector", kVector), row = exprs_.variable("other_vector", kOther);
    const Expr columns = exprs_.mul(lanes_, columns_);
    const Expr begin = exprs_.sub(exprs_.mul(lanes_, vector), exprs_.mul(columns, row));
    const auto odd = [=](const Evaluate& at) { return fmt::format("a vector begins at column {}", at(begin)); };
    decide(ObligationKind::align, "vectors of even rows", joined({}, {begin}),
           {{{less(zero_, exprs_.mod(begin, lanes_))}, odd}});
    // All ends that the launch tests are multiples, whatever they are.
    prove_even_until(columns, exprs_.mul(lanes_, vector));
    std::vector<Expr> ends;
    for (const SegmentCall& call : schedule_.calls())
      if (!is_tested(call.end) && std::ranges::find(ends, call.end) == ends.end()) ends.push_back(call.end);
    for (const Expr end : ends) prove_even_until(end, exprs_.mul(lanes_, vector));
  }

  /// Returns whether sizes of even segments make it a multiple of a vector.
  [[nodiscard]] bool is_tested(Expr end) {
    return std::ranges::any_of(std::array{end, exprs_.neg(end)}, [&](Expr either) {
      const Expr past = exprs_.mod(either, lanes_);
      return past.is_constant(0) || std::ranges::find(*grid_.uneven, past) != grid_.uneven->end();
    });
  }

  void prove_even_until(Expr end, Expr column) {
    const Expr lane = exprs_.variable("lane_of_vector", kLane);
    solver::Region vectors = joined({}, {less(column, end), lane, less(lane, lanes_)});
    for (const Expr past : *grid_.uneven) vectors.nonnegative.push_back(exprs_.neg(past));
    const auto beyond = [=](const Evaluate& at) {
      return fmt::format("lane {} of a vector from column {} on is past its segment, which ends at {}", at(lane),
                         at(column), at(end));
    };
    decide(ObligationKind::cover, "vectors of even segments", vectors,
           {{{at_least(exprs_.add(column, lane), end)}, beyond}});
  }

  // --- a table of rows ----------------------------------------------------------------------------------------------

  void prove_table(const RowTable& table, int used) {
    const auto at = [&](Expr e) { return at_launch(exprs_, grid_, e, grid_.elements, exprs_.constant(used)); };
    const std::string name = fmt::format("table of {} vectors", std::int64_t{grid_.threads} * used);
    prove_places(table, name, at(table.capacity), at(table.bytes));
    prove_block(name, at(table.first), at(table.last), used);
    prove_capacity(table, name, used);
  }

  /// Proves that the memory of a launch has a place for each row of a table: from the block's first,
  /// as many as the capacity.
  void prove_places(const RowTable& table, const std::string& name, Expr capacity, Expr bytes) {
    const Expr end = exprs_.add(table.place, exprs_.constant(table.row_bytes()));
    const auto beyond = [=, this](const Evaluate& at) {
      return fmt::format("a row is at byte {} of {}", at(table.place), at(bytes));
    };
    solver::Region rows;
    rows.nonnegative = {at_least(table.row, table.first_row), less(table.row, exprs_.add(table.first_row, capacity)),
                        less(zero_, schedule_.columns)};
    decide(ObligationKind::store, "places in the " + name, rows,
           {{{less(table.place, zero_)}, beyond}, {{less(bytes, end)}, beyond}});
  }

  /// The elements of a block's vectors, as far as they exist, lie between the table's first and last, which exist, too.
  void prove_block(const std::string& name, Expr first, Expr last, int used) {
    const Expr slots = exprs_.constant(Int128{grid_.threads} * used);
    const Expr vector = at_launch(exprs_, grid_, grid_.first, grid_.elements, exprs_.constant(used));
    const solver::Region read = joined(bounded({{grid_.phase, lanes_}, {grid_.slot, slots}, {index_, grid_.elements}}),
                                       {at_least(index_, vector), less(index_, exprs_.add(vector, lanes_))});
    const auto missing = [=, this](const Evaluate& at) {
      return fmt::format("element {} is read, the block has those from {} to {}", at(index_), at(first), at(last));
    };
    decide(ObligationKind::load, "elements of the " + name, read,
           {{{less(index_, first)}, missing}, {{less(last, index_)}, missing}});
    const Expr most = exprs_.mul(slots, lanes_);
    const auto many = [=, this](const Evaluate& at) {
      return fmt::format("the block has elements {} to {} of {}", at(first), at(last), at(grid_.elements));
    };
    decide(ObligationKind::load, "ends of the " + name, bounded({{grid_.phase, lanes_}}),
           {{{less(first, zero_)}, many},
            {{at_least(last, grid_.elements)}, many},
            {{at_least(exprs_.sub(last, first), most)}, many}});
  }

  /// Shows for rows of any length that a row past the capacity begins after as many elements as a block has.
  void prove_capacity(const RowTable& table, const std::string& name, int used) {
    const auto capacity = [&](Expr columns) {
      const Expr made = make_row_table(exprs_, grid_, columns, table.values).capacity;
      return at_launch(exprs_, grid_, made, grid_.elements, exprs_.constant(used));
    };
    const bool same = make_row_table(exprs_, grid_, schedule_.columns, table.values).capacity == table.capacity;
    const Expr rows = capacity(columns_), most = exprs_.constant(Int128{grid_.threads} * used * grid_.lanes);
    const Expr first = exprs_.add(exprs_.mul(columns_, table.first_row), column_);
    const Expr past = exprs_.add(exprs_.add(table.first_row, rows), ahead_);
    const auto beyond = [=, this](const Evaluate& at) {
      return fmt::format("a block has elements of more than {} rows of {}", at(rows), at(columns_));
    };
    Obligation made =
        session_.decide(ObligationKind::store, "rows of the " + name, joined({}, {less(column_, columns_)}),
                        {{{less(exprs_.mul(columns_, past), exprs_.add(first, most))}, beyond}});
    if (!same)
      made = {.kind = made.kind, .access = made.access, .verdict = Verdict::checked, .reason = "it is another"};
    record(std::move(made));
  }

  /// Each row's values are one thread's, and have the data's extents at most: words of 32 bits where code has a table.
  /// A row between two others is theirs that has an element between theirs: an earlier row has earlier elements.
  void prove_table_words(const RowTable& table) {
    Obligation once{.kind = ObligationKind::disjoint, .access = "rows of a table"};
    if (!is_dealt_once(grid_.threads)) {
      once.verdict = Verdict::checked;
      once.reason = "that a row is one thread's is not shown";
    }
    record(std::move(once));
    const Expr later = exprs_.add(exprs_.add(table.row, ahead_), exprs_.constant(1));
    const Expr element = exprs_.add(exprs_.mul(columns_, table.row), column_);
    const auto before = [=](const Evaluate& at) {
      return fmt::format("row {} is before row {}", at(later), at(table.row));
    };
    decide(ObligationKind::load, "order of rows", joined({}, {less(column_, columns_)}),
           {{{at_least(element, exprs_.mul(columns_, later))}, before}});
    if (schedule_.index32.bound > 0) prove_widths(table);
  }

  void prove_widths(const RowTable& table) {
    solver::Region narrow;
    for (const abi::Guard& guard : schedule_.index32.guards)
      narrow.nonnegative.push_back(ir::as_expression(exprs_, guard.holds).first);
    for (const Kernel::WalkVariable& data : kernel_.row_variables) {
      if (std::ranges::find(table.values, data.variable) == table.values.end()) continue;
      const auto describe = [=](const Evaluate& at) { return fmt::format("an extent of {}", at(data.extent)); };
      decide(ObligationKind::width, "values of rows in 32 bits", narrow,
             {{{at_least(data.extent, exprs_.constant(Int128{1} << 31))}, describe}});
    }
  }

  [[nodiscard]] solver::Region elements() { return bounded({{grid_.phase, lanes_}, {index_, grid_.elements}}); }
  [[nodiscard]] Expr place(Expr e, Expr block, Expr slot) {
    return replaced(exprs_, replaced(exprs_, e, grid_.block, block), grid_.slot, slot);
  }
  const VectorGrid& grid_;
  Expr zero_, lanes_;
  Expr index_;             // number of an output element
  Expr columns_, column_;  // of rows of any length
  Expr ahead_;             // rows
};

}  // namespace

void prove_grid(ProofSession& session, const Schedule& schedule, Proof& proof) {
  GridProof(session, schedule, proof).prove();
}

}  // namespace padlock::compiler
