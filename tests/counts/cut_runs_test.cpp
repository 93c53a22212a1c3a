#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/counts/pair_folder.hpp"
#include "support/property.hpp"

/// Rows that come in parts, cut within runs too: to the bit what one folder makes of all of them.
namespace oas {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Where a part begins: in a run, behind so many of its rows; 0: with it.
struct Cut {
  std::size_t run = 0;
  std::size_t row = 0;

  friend auto operator<=>(const Cut&, const Cut&) = default;
};

struct CutLog {
  Timing timing = test::any_timing();
  Pomdp model = make_model(timing);
  LeftInverses inverses{model};
  FoldOptions options;
  std::int64_t first_run = *rc::gen::element<std::int64_t>(0, 1, 127, 700).as("first run");
  std::vector<Trajectory> runs;
  std::vector<Cut> cuts;  // where parts begin, the first one left out

  CutLog() {
    options.pairing =
        *rc::gen::arbitrary<bool>().as("disjoint") ? Pairing::disjoint : Pairing::overlapping;
    options.inverse_propensity = *rc::gen::arbitrary<bool>().as("weighted");
    options.max_dense_cells = *rc::gen::element(0, 1 << 16).as("dense cells");
    const auto lengths =
        *rc::gen::nonEmpty(
             rc::gen::container<std::vector<std::size_t>>(rc::gen::oneOf(
                 rc::gen::inRange<std::size_t>(1, 40), rc::gen::inRange<std::size_t>(1, 9000))))
             .as("lengths of the runs");
    const double missing = *rc::gen::element(0.0, 0.2, 0.97).as("missing");
    std::uint64_t seed = test::any_seed();
    for (const std::size_t length : lengths) {
      runs.push_back(test::random_rows_of_log(2, 4, length, missing, seed++));
    }
    Rng rng({test::any_seed(), 0, Role::test});
    std::set<Cut> places;
    for (std::uint64_t left = rng.below(9); left > 0; --left) places.insert(any_place(rng));
    places.erase({0, 0});
    cuts.assign(places.begin(), places.end());
  }

  static Pomdp make_model(Timing timing) {
    test::RandomModelOptions options;
    options.timing = timing;
    options.min_alpha = 0.1;
    return test::random_model(options, 3);
  }

  Cut any_place(Rng& rng) const {
    const std::size_t run = rng.below(runs.size());
    const std::size_t length = runs[run].size();
    const std::size_t row = rng.below(length);
    if (row == 0) return {run, 0};
    const std::int64_t behind =
        PairFolder::cut_behind(options.pairing, first_run + static_cast<std::int64_t>(run),
                               static_cast<std::int64_t>(row));
    RC_ASSERT(behind >= static_cast<std::int64_t>(row));
    if (behind >= static_cast<std::int64_t>(length)) return {run, 0};
    return {run, static_cast<std::size_t>(behind)};
  }

  PairFolder folder(std::size_t run) const {
    return {inverses, timing, options, first_run + static_cast<std::int64_t>(run)};
  }

  // One that has still to see its rows.
  PairFolder begin(Cut from) const {
    PairFolder made = folder(from.run);
    if (from.row > 0) {
      const Trajectory& rows = runs[from.run];
      made.go_on(static_cast<std::int64_t>(from.row),
                 {rows.actions[from.row - 1], rows.observations[from.row - 1]});
    }
    return made;
  }

  PairFolder fed(Cut from, Cut until) const {
    PairFolder made = begin(from);
    for (std::size_t run = from.run; run <= until.run && run < runs.size(); ++run) {
      const std::size_t first = run == from.run ? from.row : 0;
      const std::size_t end = run == until.run ? until.row : runs[run].size();
      if (first == 0 && end > 0) made.start_run();
      if (first == end) continue;
      const auto part = [&](const auto& column) {
        return std::span(column).subspan(first, end - first);
      };
      made.add(part(runs[run].actions), part(runs[run].observations), part(runs[run].propensities));
    }
    return made;
  }
};

void expect_same(const MomentSeries& found, const MomentSeries& expected) {
  RC_ASSERT(found.batches == expected.batches);
  RC_ASSERT(found.rows == expected.rows && found.runs == expected.runs);
  RC_ASSERT(found.missing == expected.missing);
  RC_ASSERT(found.smallest_propensity == expected.smallest_propensity);
}

PairFolder loaded_again(const PairFolder& folder, PairFolder empty) {
  ByteWriter out;
  folder.save(out);
  const std::string bytes = out.take();
  ByteReader in(bytes);
  empty.load(in);
  return empty;
}

RC_GTEST_PROP(CutRuns, PartsAreThatOneFolder, ()) {
  const CutLog log;
  std::vector<Cut> borders{{0, 0}};
  borders.insert(borders.end(), log.cuts.begin(), log.cuts.end());
  borders.push_back({log.runs.size(), 0});
  const MomentSeries whole = log.fed(borders.front(), borders.back()).finish();
  // Parts are put together in groups first, as ranks do, and travel as bytes.
  Rng rng({test::any_seed(), 1, Role::test});
  PairFolder all = log.folder(0);
  for (std::size_t part = 0; part + 1 < borders.size();) {
    const std::size_t end = std::min(borders.size() - 1, part + 1 + rng.below(3));
    PairFolder group = log.begin(borders[part]);
    for (; part < end; ++part) group.merge(log.fed(borders[part], borders[part + 1]));
    all.merge(loaded_again(group, log.folder(0)));
  }
  expect_same(all.finish(), whole);
}

// More runs may follow, and rows without a start begin one.
RC_GTEST_PROP(CutRuns, TheNextRowStartsARun, ()) {
  const CutLog log;
  RC_PRE(!log.cuts.empty());
  const Cut end{log.runs.size(), 0};
  PairFolder one = log.fed({0, 0}, end);
  PairFolder parts = log.fed({0, 0}, log.cuts.front());
  parts.merge(log.fed(log.cuts.front(), end));
  const Trajectory& more = log.runs.front();
  one.start_run();
  one.add(more.actions, more.observations, more.propensities);
  parts.add(more.actions, more.observations, more.propensities);
  expect_same(parts.finish(), one.finish());
}

TEST(CutRuns, WhatDoesNotFitIsRefused) {
  test::RandomModelOptions model;
  model.min_alpha = 0.1;
  const LeftInverses inverses(test::random_model(model, 3));
  const Trajectory rows = test::random_rows_of_log(2, 4, 100, 0.0, 1);
  const PairRow before{rows.actions[8], rows.observations[8]};
  PairFolder rest(inverses, Timing::before, {});
  EXPECT_THAT([&] { rest.go_on(12, before); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no batch of run 0 ends at place 11")));
  rest = PairFolder(inverses, Timing::before, {});
  rest.go_on(9, before);
  PairFolder none(inverses, Timing::before, {});
  EXPECT_THAT([&] { none.merge(rest); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no run that could go on")));
  PairFolder shorter(inverses, Timing::before, {});
  shorter.add(std::span(rows.actions).first(6), std::span(rows.observations).first(6), {});
  EXPECT_THAT([&] { shorter.merge(rest); },
              ThrowsMessage<InvalidArgument>(HasSubstr("no run that could go on")));
  PairFolder second = shorter;
  EXPECT_THAT([&] { second.go_on(9, before); },
              ThrowsMessage<InvalidArgument>(HasSubstr("nothing has been seen")));
}

}  // namespace
}  // namespace oas
