// Rows that ranks keep while they count them go to those who want them, and nobody reads them
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "estimation/evidence_support.hpp"
#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/rng.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/likelihood/detail/kept_rows.hpp"
#include "oas/estimation/likelihood/detail/likelihood_windows.hpp"
#include "support/thread_team.hpp"

namespace oas {
namespace {

using detail::CountedRows;
using detail::KeptRows;
using testing_support::run_team;
using testing_support::ThreadTeam;

struct Row {
  Action action{0};
  std::vector<double> likelihoods;  // of real-valued observations
  bool starts = false;
  RunStart start;
};

std::vector<Row> random_rows(std::size_t count, bool vectors, double start_rate, Rng& rng) {
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    row.action = Action{rng.uniform() < 0.5 ? 0 : 1};
    if (vectors) row.likelihoods = {rng.uniform() + 0.1, rng.uniform() < 0.3 ? 0.0 : 3.0};
    if (vectors && rng.uniform() < 0.2) row.likelihoods = {1.0, 1.0};
    row.starts = rng.uniform() < start_rate;
    if (rng.uniform() < 0.5) row.start = RunStart::unknown();
    if (rng.uniform() < 0.2) row.start = RunStart::known(State{1});
  }
  rows.front().starts = true;
  return rows;
}

TransitionLikelihood no_rows(bool vectors) {
  const Pomdp model = test::finite_model(Timing::before);
  return vectors ? TransitionLikelihood::with_vectors(model) : TransitionLikelihood(model);
}

// Rows first … end-1, as they are read: the first one starts a run there, whether or not it does.
TransitionLikelihood read_rows(const std::vector<Row>& rows, Stretch some) {
  TransitionLikelihood read = no_rows(!rows.front().likelihoods.empty());
  for (std::size_t t = some.first; t < some.end; ++t) {
    if (rows[t].starts) read.start_run(rows[t].start);
    if (rows[t].likelihoods.empty()) {
      read.append(rows[t].action, t % 4 == 3 ? kMissing : Observation{static_cast<int>(t % 4)});
    } else {
      read.append(rows[t].action, rows[t].likelihoods);
    }
  }
  return read;
}

std::string saved(const TransitionLikelihood& rows) {
  ByteWriter out;
  rows.save(out);
  return out.take();
}

// Consecutive stretches, some of them empty.
std::vector<Stretch> random_cuts(std::size_t rows, int pieces, Rng& rng) {
  std::vector<std::size_t> cuts = {0, rows};
  while (cuts.size() <= static_cast<std::size_t>(pieces)) {
    const auto cut = static_cast<std::size_t>(rng.uniform() * static_cast<double>(rows));
    cuts.push_back(rng.uniform() < 0.2 ? cuts.back() : cut);
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) stretches.push_back({cuts[i], cuts[i + 1]});
  return stretches;
}

// What ranks want overlaps, as windows do with the rows ahead of them; some want nothing.
void expect_handed_over(int ranks, bool vectors, double start_rate, Rng& rng) {
  const std::vector<Row> rows = random_rows(600, vectors, start_rate, rng);
  const std::vector<Stretch> kept = random_cuts(rows.size(), ranks, rng);
  std::vector<Stretch> wanted = random_cuts(rows.size(), ranks, rng);
  for (Stretch& some : wanted) {
    if (some.size() > 0) some.end = std::min(rows.size(), some.end + 40);
    if (rng.uniform() < 0.1) some = {};
  }
  const TransitionLikelihood like = no_rows(vectors);
  std::vector<std::string> found(wanted.size());
  std::vector<char> goes_on(wanted.size(), 0);
  EXPECT_TRUE(run_team(ranks, [&](ThreadTeam& team) {
    const auto me = static_cast<std::size_t>(team.rank());
    KeptRows own(like, 1 << 20);
    for (std::size_t t = kept[me].first; t < kept[me].end;) {  // blocks in parts of three
      KeptRows part = own.fresh(1);
      for (int block = 0; block < 3 && t < kept[me].end; ++block) {
        const Stretch some{t, std::min(kept[me].end, t + 1 + (t * 7) % 23)};
        part.add(read_rows(rows, some), !rows[t].starts);
        t = some.end;
      }
      own.append(std::move(part));
    }
    EXPECT_TRUE(own.all());
    TransitionLikelihood to = like;
    goes_on[me] = detail::hand_over(team, std::move(own), kept, wanted, to) ? 1 : 0;
    found[me] = saved(to);
    EXPECT_EQ(to.missing(), read_rows(rows, wanted[me]).missing());
  }));
  for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
    EXPECT_EQ(found[rank], saved(read_rows(rows, wanted[rank]))) << rank;
    const bool expected = wanted[rank].size() > 0 && !rows[wanted[rank].first].starts;
    EXPECT_EQ(goes_on[rank] != 0, expected) << rank;
  }
}

TEST(KeptRowsOfATeam, AreThoseThatWereRead) {
  Rng rng({5, 0, Role::estimation});
  for (const int ranks : {1, 2, 3, 7}) {
    for (const bool vectors : {false, true}) {
      for (const double start_rate : {0.0, 0.01, 0.5}) {
        for (int round = 0; round < 8; ++round) {
          expect_handed_over(ranks, vectors, start_rate, rng);
        }
      }
    }
  }
}

TEST(KeptRowsOfATeam, AreForgottenBeyondTheLimit) {
  Rng rng({6, 0, Role::estimation});
  const std::vector<Row> rows = random_rows(300, false, 0.1, rng);
  const TransitionLikelihood read = read_rows(rows, {0, 300});
  KeptRows enough(read_rows(rows, {0, 0}), 600);
  enough.add(read, false);
  KeptRows more = enough.fresh(1);
  more.add(read, true);
  EXPECT_TRUE(more.all());
  enough.append(std::move(more));
  EXPECT_TRUE(enough.all());
  EXPECT_FALSE(enough.take().empty());
  KeptRows few(read_rows(rows, {0, 0}), 599);
  few.add(read, false);
  EXPECT_TRUE(few.all());
  few.add(read, true);
  EXPECT_FALSE(few.all());
  EXPECT_TRUE(few.take().empty());
  KeptRows nothing = few.fresh(1);
  nothing.add(read, false);
  EXPECT_FALSE(nothing.all());
}

// Memory is to hold a share of the log: not all of one large file that only one rank can read.
TEST(KeptRowsOfATeam, AreFewWhereOneRankHasFarMoreThanItsShare) {
  Rng rng({7, 0, Role::estimation});
  const TransitionLikelihood million =
      read_rows(random_rows(1'000'000, true, 0.0, rng), {0, 1'000'000});
  const auto keeps = [&](const std::vector<std::int64_t>& sizes) {
    std::vector<RowPart> parts(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) parts[i].size = sizes[i];
    bool all = true;
    run_team(2, [&](ThreadTeam& team) {
      CountedRows counted(parts, team, no_rows(true), std::size_t{1} << 30);
      if (!team.leads()) return;
      counted.own.add(million, false);
      all = counted.own.all();
    });
    return all;
  };
  EXPECT_TRUE(keeps({10, 10}));
  EXPECT_TRUE(keeps({14, 10}));
  EXPECT_FALSE(keeps({90, 10}));
  EXPECT_FALSE(keeps({}));
}

// Parts of one run each; counts the rows that it has given.
class CountedParts final : public RowSource {
 public:
  CountedParts(std::size_t parts, std::size_t rows, std::atomic<std::size_t>& given)
      : parts_(parts), rows_(rows), given_(given) {
    for (std::size_t t = 0; t < 1000; ++t) {
      block_.actions.push_back(Action{t % 3 == 0 ? 1 : 0});
      block_.observations.push_back(Observation{static_cast<int>((t * 7 + t / 11) % 3)});
      block_.propensities.push_back(0.5);
    }
  }
  [[nodiscard]] bool next(RowBlock& block) override {
    if (place_ == parts_ * rows_) return false;
    block = RowBlock(block_);
    if (place_ % rows_ == 0) block.run_starts = {&start_, 1};
    place_ += block_.size();
    given_ += block_.size();
    return true;
  }
  void rewind() override { place_ = 0; }
  [[noreturn]] void fail(std::size_t /*row*/, const std::string& message) const override {
    throw InvalidArgument(message);
  }
  [[noreturn]] void fail_at(std::int64_t /*index*/, const std::string& message) override {
    throw InvalidArgument(message);
  }
  [[nodiscard]] std::vector<RowPart> parts(Parallelism /*parallelism*/,
                                           const RunCut& /*cut*/) const override {
    std::vector<RowPart> parts(parts_);
    for (std::size_t i = 0; i < parts_; ++i) {
      parts[i].rows = std::make_unique<CountedParts>(1, rows_, given_);
      parts[i].first_run = static_cast<std::int64_t>(i);
      parts[i].size = static_cast<std::int64_t>(rows_);
    }
    return parts;
  }

 private:
  std::size_t parts_;
  std::size_t rows_;
  std::atomic<std::size_t>& given_;
  std::size_t place_ = 0;
  std::size_t start_ = 0;
  Trajectory block_;
};

TEST(RowsOfATeam, AreReadOnce) {
  const Evidence empty = make_evidence("oas-ml", test::finite_model(Timing::before));
  for (const int ranks : {2, 3, 5}) {
    std::atomic<std::size_t> given = 0;
    EXPECT_TRUE(run_team(ranks, [&](ThreadTeam& team) {
      Evidence evidence = empty;
      CountedParts source(6, 200'000, given);
      evidence.read(source, {1, &team});
      if (team.leads()) Evidence::release(team);
      if (!team.leads()) evidence.help({1, &team});
    }));
    EXPECT_EQ(given, 1'200'000U) << ranks;
  }
}

}  // namespace
}  // namespace oas
