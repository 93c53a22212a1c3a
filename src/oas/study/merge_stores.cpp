#include "oas/study/merge_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/study/detail/result_file.hpp"

namespace oas {

namespace {

ResultStore open_part(const std::string& folder, const ResultStore& whole) {
  ResultStore part = ResultStore::open_existing(folder);
  std::error_code error;
  OAS_REQUIRE(!std::filesystem::equivalent(folder, whole.folder(), error),
              "{}: is where the parts are to be merged, and cannot be one of them", folder);
  const detail::Database database(detail::results_path(folder), detail::Database::Mode::read);
  detail::check_same_study(database, whole.study());
  return part;
}

class StoreMerger {
 public:
  explicit StoreMerger(ResultStore& whole) : whole_(whole) {
    for (const std::int64_t number : whole.finished()) finished_.insert(number);
    for (const UnitResult& unit : whole.failures()) failed_.insert(unit.number);
    for (const Session& session : whole.sessions()) sessions_.insert(key(session));
  }

  void add(const ResultStore& part) {
    for (const std::int64_t number : part.finished()) add(part, number);
    for (const UnitResult& unit : part.failures()) {
      if (finished_.contains(unit.number) || !failed_.insert(unit.number).second) continue;
      whole_.record(unit);
    }
    for (Session session : part.sessions()) {
      if (!sessions_.insert(key(session)).second) continue;
      session.number = 0;
      whole_.record(session);
    }
  }

  [[nodiscard]] StoreMerge result() const {
    StoreMerge merge = merge_;
    merge.missing = whole_.study().num_units() - static_cast<std::int64_t>(finished_.size());
    return merge;
  }

 private:
  using SessionKey = std::tuple<std::string, std::string, double, std::int64_t>;

  static SessionKey key(const Session& session) {
    return {session.started, session.machine, session.seconds, session.units};
  }

  void add(const ResultStore& part, std::int64_t number) {
    const UnitResult unit = part.unit(number);
    if (finished_.insert(number).second) {
      whole_.record(unit);
      ++merge_.added;
      return;
    }
    OAS_REQUIRE(
        detail::checksum_of(unit.rows) == detail::checksum_of(whole_.unit(number).rows),
        "{}: task {} has other rows there than in {}; oas study replay says which are right",
        part.folder(), number, whole_.folder());
    ++merge_.there;
  }

  ResultStore& whole_;
  std::set<std::int64_t> finished_;
  std::set<std::int64_t> failed_;
  std::set<SessionKey> sessions_;
  StoreMerge merge_;
};

}  // namespace

StoreMerge merge_stores(ResultStore& whole, std::span<const std::string> parts) {
  std::vector<ResultStore> stores;
  for (const std::string& part : parts) stores.push_back(open_part(part, whole));
  StoreMerger merger(whole);
  for (const ResultStore& store : stores) merger.add(store);
  return merger.result();
}

}  // namespace oas
