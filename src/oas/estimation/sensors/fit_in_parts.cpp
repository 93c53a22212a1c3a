#include "oas/estimation/sensors/detail/fit_in_parts.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kPartRows = std::size_t{1} << 15;
constexpr std::size_t kMostParts = 16;    // of a piece; then it is a likelihood window
constexpr double kMostNumbersKept = 1e7;  // of the tests of all parts
constexpr double kSameBelief = 1e-13;

}  // namespace

void FitSums::add(Sum sum) {
  while (!sums_.empty() && sums_.back().pieces == sum.pieces &&
         sums_.back().first + sums_.back().pieces == sum.first &&
         sums_.back().first % (2 * sum.pieces) == 0) {
    sums_.back().test.merge(sum.test);
    sums_.back().pieces *= 2;
    sum = std::move(sums_.back());
    sums_.pop_back();
  }
  sums_.push_back(std::move(sum));
}

void FitSums::append(const FitSums& behind) {
  for (const Sum& sum : behind.sums_) add(sum);
}

SensorFitTest FitSums::total() const {
  SensorFitTest total = fresh_;
  for (const Sum& sum : sums_) total.merge(sum.test);
  return total;
}

void FitSums::save(ByteWriter& out) const {
  out.put(sums_.size());
  for (const Sum& sum : sums_) {
    out.put(sum.first);
    out.put(sum.pieces);
    sum.test.save(out);
  }
}

void FitSums::load(ByteReader& in) {
  sums_.clear();
  for (auto left = in.get<std::size_t>(); left > 0; --left) {
    const auto first = in.get<std::int64_t>();
    const auto pieces = in.get<std::int64_t>();
    sums_.push_back({first, pieces, fresh_});
    sums_.back().test.load(in);
  }
}

FitInParts::FitInParts(const Pomdp& model, Parallelism parallelism)
    : parallelism_(parallelism), fresh_(model), guess_(fresh_), last_(fresh_), sums_(fresh_) {
  const double codes = static_cast<double>(model.num_actions()) * model.num_observations();
  const double numbers = codes * codes * model.num_observations() + 1.0;
  parts_of_piece_ = std::bit_floor(static_cast<std::size_t>(
      std::clamp(kMostNumbersKept / numbers, 2.0, static_cast<double>(kMostParts))));
}

void FitInParts::go_on(std::int64_t first_row, const SensorFitTest& guess,
                       const SensorFitTest& before) {
  const auto rows_of_piece = static_cast<std::int64_t>(parts_of_piece_ * kPartRows);
  OAS_ASSERT(rows_.actions.empty() && first_row % rows_of_piece == 0);
  piece_ = first_row / rows_of_piece;
  guess_ = guess;
  last_ = before;
}

bool FitInParts::same(const SensorFitTest& guess, const SensorFitTest& before) {
  return before.distance(guess) <= kSameBelief;
}

void FitInParts::add(Action action, Observation observation, const RunStart* start) {
  if (start != nullptr) rows_.starts.emplace_back(rows_.actions.size(), *start);
  rows_.actions.push_back(action);
  rows_.observations.push_back(observation);
  if (rows_.actions.size() == parts_of_piece_ * kPartRows) test_all();
}

SensorFit FitInParts::finish() {
  test_all();
  return sums_.total().finish();
}

void FitInParts::test_all() {
  const std::size_t rows = rows_.actions.size();
  if (rows == 0) return;
  const std::size_t parts = (rows + kPartRows - 1) / kPartRows;
  std::vector<SensorFitTest> tests(parts, fresh_);
  std::vector<SensorFitTest> starts(parts + 1, fresh_);  // the last is of the next piece
  starts[0].continue_from(guess_);
  parallel_for(parts + 1, parallelism_, [&](std::size_t part) {
    const std::size_t first = part * kPartRows;
    if (first > rows) return;  // there is no next piece
    if (part > 0) show(first - kFitBurnIn, first, false, starts[part]);
    if (part == parts) return;
    tests[part].continue_from(starts[part]);
    show(first, std::min(first + kPartRows, rows), true, tests[part]);
  });
  SensorFitTest sum = fresh_;
  for (std::size_t part = 0; part < parts; ++part) {
    const SensorFitTest& before = part == 0 ? last_ : tests[part - 1];
    if (!same(starts[part], before)) {
      tests[part] = fresh_;
      tests[part].continue_from(before);
      show(part * kPartRows, std::min((part + 1) * kPartRows, rows), true, tests[part]);
    }
    sum.merge(tests[part]);
  }
  sums_.add(piece_++, std::move(sum));
  last_.continue_from(tests.back());
  guess_.continue_from(starts.back());
  rows_ = {};
}

void FitInParts::show(std::size_t first, std::size_t end, bool counts, SensorFitTest& test) const {
  auto start = std::lower_bound(rows_.starts.begin(), rows_.starts.end(), first,
                                [](const auto& one, std::size_t row) { return one.first < row; });
  for (std::size_t row = first; row < end; ++row) {
    const bool starts = start != rows_.starts.end() && start->first == row;
    const RunStart* const how = starts ? &start->second : nullptr;
    if (starts) ++start;
    if (counts) {
      test.add(rows_.actions[row], rows_.observations[row], how);
    } else {
      test.follow(rows_.actions[row], rows_.observations[row], how);
    }
  }
}

}  // namespace oas::detail
