#include "oas/live/detail/belief_window.hpp"

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas::detail {

namespace {

Belief doubted(std::vector<double> belief) {
  const double uniform = BeliefWindow::kDoubt / static_cast<double>(belief.size());
  for (double& p : belief) p = (1.0 - BeliefWindow::kDoubt) * p + uniform;
  return Belief(std::move(belief));
}

}  // namespace

void BeliefWindow::add(Row row, std::span<const double> belief) {
  rows_.push_back(row);
  if (belief.empty() || rows_.size() % kStretch != 0) return;
  if (rows_.size() == 2 * kStretch) {
    before_ = std::move(middle_);
    drop(kStretch);
  }
  middle_.assign(belief.begin(), belief.end());
}

void BeliefWindow::drop(std::size_t rows) {
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(rows));
}

void BeliefWindow::begin(BeliefFilter& filter, Observation first) const {
  if (!before_.empty()) {
    filter.reset(doubted(before_));
  } else if (first != kMissing) {
    filter.begin(first);
  } else {
    filter.reset();
  }
}

void BeliefWindow::bring(BeliefFilter& filter, Observation first) const {
  begin(filter, first);
  for (const Row& row : rows_) filter.update(row.action, row.observation);
}

void BeliefWindow::renew(BeliefFilter& filter, Observation first) {
  const std::size_t stretches = rows_.size() / kStretch;
  const std::size_t old_rows = stretches < 2 ? 0 : (stretches - 1) * kStretch;
  std::vector<double> before = before_;
  begin(filter, first);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    filter.update(rows_[i].action, rows_[i].observation);
    if (i + 1 == old_rows) before.assign(filter.belief().begin(), filter.belief().end());
    if (i + 1 == old_rows + kStretch)
      middle_.assign(filter.belief().begin(), filter.belief().end());
  }
  before_ = std::move(before);
  drop(old_rows);
}

void BeliefWindow::save(ByteWriter& out) const {
  out.put_all(rows_);
  out.put_all(before_);
  out.put_all(middle_);
}

BeliefWindow BeliefWindow::loaded(ByteReader& in, int num_states) {
  BeliefWindow window;
  window.rows_ = in.get_all<Row>();
  window.before_ = loaded_belief(in, num_states);
  window.middle_ = loaded_belief(in, num_states);
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
