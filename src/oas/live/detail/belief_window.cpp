#include "oas/live/detail/belief_window.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

std::vector<double> doubted(std::vector<double> belief, double doubt) {
  const double uniform = doubt / static_cast<double>(belief.size());
  for (double& p : belief) p = (1.0 - doubt) * p + uniform;
  return belief;
}

}  // namespace

void BeliefWindow::add(const SeenRow& row, std::span<const double> belief) {
  rows_.push_back({row.action, row.observation, row.likelihoods.empty() ? 0 : 1});
  likelihoods_.insert(likelihoods_.end(), row.likelihoods.begin(), row.likelihoods.end());
  states_ = std::max(states_, row.likelihoods.size());
  if (belief.empty() || rows_.size() % kStretch != 0) return;
  if (rows_.size() == 2 * kStretch) {
    before_ = std::move(middle_);
    drop(kStretch);
  }
  middle_.assign(belief.begin(), belief.end());
}

void BeliefWindow::drop(std::size_t rows) {
  const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(rows);
  const auto bringing =
      std::count_if(rows_.begin(), end, [](const Row& row) { return row.brings; });
  likelihoods_.erase(likelihoods_.begin(),
                     likelihoods_.begin() + bringing * static_cast<std::ptrdiff_t>(states_));
  rows_.erase(rows_.begin(), end);
}

void BeliefWindow::begin(RowFilter& filter, const SeenRow& first, double doubt) const {
  before_.empty() ? filter.begin(first) : filter.reset(doubted(before_, doubt));
}

template <class Visitor>
void BeliefWindow::follow(RowFilter& filter, const Visitor& visitor) const {
  std::span<const double> left = likelihoods_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t brings = rows_[i].brings != 0 ? states_ : 0;
    filter.update(rows_[i].action, rows_[i].observation, left.first(brings));
    left = left.subspan(brings);
    visitor(i + 1);
  }
}

void BeliefWindow::bring(RowFilter& filter, const SeenRow& first, double doubt) const {
  begin(filter, first, doubt);
  follow(filter, [](std::size_t) {});
}

void BeliefWindow::renew(RowFilter& filter, const SeenRow& first, double doubt) {
  const std::size_t stretches = rows_.size() / kStretch;
  const std::size_t old_rows = stretches < 2 ? 0 : (stretches - 1) * kStretch;
  std::vector<double> before = before_;
  begin(filter, first, doubt);
  follow(filter, [&](std::size_t done) {
    if (done == old_rows) before = filter.copied();
    if (done == old_rows + kStretch) middle_ = filter.copied();
  });
  before_ = std::move(before);
  drop(old_rows);
}

void BeliefWindow::save(ByteWriter& out) const {
  out.put_all(rows_);
  out.put_all(likelihoods_);
  out.put_all(before_);
  out.put_all(middle_);
}

BeliefWindow BeliefWindow::loaded(ByteReader& in, int num_states) {
  BeliefWindow window;
  window.rows_ = in.get_all<Row>();
  window.likelihoods_ = in.get_all<double>();
  window.before_ = loaded_belief(in, num_states);
  window.middle_ = loaded_belief(in, num_states);
  window.states_ = window.likelihoods_.empty() ? 0 : static_cast<std::size_t>(num_states);
  const auto bringing = std::count_if(window.rows_.begin(), window.rows_.end(),
                                      [](const Row& row) { return row.brings != 0; });
  OAS_REQUIRE(window.likelihoods_.size() ==
                  static_cast<std::size_t>(bringing) * static_cast<std::size_t>(num_states),
              "saved bytes are damaged: {} likelihoods of {} rows", window.likelihoods_.size(),
              bringing);
  OAS_REQUIRE(window.middle_.empty() || window.rows_.size() >= kStretch,
              "saved bytes are damaged: a belief after {} of {} rows", kStretch,
              window.rows_.size());
  return window;
}

std::vector<double> loaded_belief(ByteReader& in, int num_states) {
  std::vector<double> belief = in.get_all<double>();
  if (belief.empty()) return belief;
  OAS_REQUIRE(belief.size() == static_cast<std::size_t>(num_states),
              "saved bytes are damaged: a belief of {} states", belief.size());
  check_simplex(belief, "belief");
  return belief;
}

}  // namespace oas::detail
