#include "oas/estimation/sensors/detail/fit_in_parts.hpp"

#include <algorithm>
#include <iterator>

namespace oas::detail {

namespace {

constexpr std::size_t kPartRows = std::size_t{1} << 15;
constexpr std::size_t kBurnInRows = std::size_t{1} << 11;
constexpr std::size_t kMostParts = 16;
constexpr double kMostNumbersKept = 1e7;  // of the tests of all parts
constexpr double kSameBelief = 1e-13;

}  // namespace

FitInParts::FitInParts(const Pomdp& model, Parallelism parallelism)
    : parallelism_(parallelism), total_(model), fresh_(model) {
  const double codes = static_cast<double>(model.num_actions()) * model.num_observations();
  const double numbers = codes * codes * model.num_observations() + 1.0;
  most_parts_ = static_cast<std::size_t>(
      std::clamp(kMostNumbersKept / numbers, 2.0, static_cast<double>(kMostParts)));
}

void FitInParts::add(Action action, Observation observation, const RunStart* start) {
  if (rows_.actions.size() == most_parts_ * kPartRows) test_all();
  if (start != nullptr) rows_.starts.emplace_back(rows_.actions.size(), *start);
  rows_.actions.push_back(action);
  rows_.observations.push_back(observation);
}

SensorFit FitInParts::finish() {
  test_all();
  return total_.finish();
}

void FitInParts::test_all() {
  const std::size_t rows = rows_.actions.size();
  const std::size_t parts = (rows + kPartRows - 1) / kPartRows;
  if (parts <= 1) {
    show(0, rows, true, total_);
    rows_ = {};
    return;
  }
  std::vector<SensorFitTest> tests(parts, fresh_);
  std::vector<SensorFitTest> starts(parts, fresh_);
  parallel_for(parts, parallelism_, [&](std::size_t part) {
    const std::size_t first = part * kPartRows;
    if (part == 0) {
      starts[part].continue_from(total_);
    } else {
      show(first - kBurnInRows, first, false, starts[part]);
    }
    tests[part].continue_from(starts[part]);
    show(first, std::min(first + kPartRows, rows), true, tests[part]);
  });
  for (std::size_t part = 0; part < parts; ++part) {
    const SensorFitTest& before = part == 0 ? total_ : tests[part - 1];
    if (part > 0 && !(before.distance(starts[part]) <= kSameBelief)) {
      tests[part] = fresh_;
      tests[part].continue_from(before);
      show(part * kPartRows, std::min((part + 1) * kPartRows, rows), true, tests[part]);
    }
  }
  for (const SensorFitTest& test : tests) total_.merge(test);
  total_.continue_from(tests.back());
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
