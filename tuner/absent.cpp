// A build without the tuner reads no database and starts no worker, so it needs neither SQLite nor a worker. It still
// reads exports and uses their choices. Replaces database.cpp and everything that tries configs.

#include "tuner/cache/database.h"
#include "tuner/worker/worker.h"
#include "tuner/worker/worker_loop.h"

namespace padlock::tuner {
namespace {

std::unexpected<Error> absent() {
  return std::unexpected(Error{Code::unimplemented, Blame::user, "this build has no tuner (PADLOCK_TUNER is off)"});
}

}  // namespace

void Database::Close::operator()(sqlite3*) const {}
void Query::Finalize::operator()(sqlite3_stmt*) const {}
Result<Database> Database::open(const std::string&, Access) { return absent(); }
Result<Database> Database::in_memory() { return absent(); }
Status Database::execute(const char*) { return absent(); }
Result<Query> Database::prepare(std::string_view) { return absent(); }
Result<std::int64_t> Database::number(std::string_view) { return absent(); }
std::int64_t Database::changes() const { return 0; }
Status Database::use_log() { return absent(); }
Status Database::in_transaction(const std::function<Status()>&) { return absent(); }
void Query::bind(int, std::string_view) {}
void Query::bind(int, std::int64_t) {}
void Query::lend(int, std::string_view) {}
Result<bool> Query::next() { return absent(); }
std::string_view Query::text(int) const { return {}; }
std::int64_t Query::number(int) const { return 0; }

Result<std::string> find_worker(const std::string&) { return absent(); }
// NOLINTNEXTLINE(performance-unnecessary-value-param): as where there is a tuner
Result<Worker> Worker::start(Options) { return absent(); }
Result<TryResult> Worker::try_config(const TryRequest&) { return absent(); }
int run_worker() { return 1; }

}  // namespace padlock::tuner
