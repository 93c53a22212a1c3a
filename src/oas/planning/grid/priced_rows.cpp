#include "oas/planning/grid/detail/priced_rows.hpp"

#include <algorithm>

namespace oas::detail {

PricedRows::PricedRows(const ConfidenceSet& set, const BeliefGrid& grid, const Matrix& rewards)
    : set_(set),
      model_(set.center),
      grid_(grid),
      rewards_(rewards),
      n_(static_cast<std::size_t>(model_.num_states())),
      prices_(grid) {}

void PricedRows::compile_block(std::size_t first, std::size_t points, std::span<const double> bias,
                               BeliefMdp::Block& block) const {
  Work work{prices_,
            std::vector<double>(n_),
            std::vector<double>(n_),
            std::vector<double>(n_),
            std::vector<double>(n_),
            std::vector<double>(n_, 0.0),
            std::vector<std::uint32_t>(n_),
            std::vector<double>(n_)};
  work.prices.set_bias(bias);
  RowWriter row(block, thread_slots(grid_.size()),
                2 * n_ * static_cast<std::size_t>(model_.num_observations() + 1));
  for (std::size_t i = first; i < first + points; ++i) {
    grid_.point(i, work.belief);
    for (Action a{0}; a < model_.num_actions(); ++a) {
      row.begin_row(rewards_.row(a.value()).dot(
          VectorView(work.belief.data(), static_cast<Eigen::Index>(n_)).transpose()));
      model_.timing() == Timing::before ? row_before(a, work, row) : row_after(a, work, row);
      row.end_row();
    }
  }
  row.finish();
}

double PricedRows::predict(Action a, std::span<const double> w, Work& work, double& t) const {
  double mass = 0.0;
  t = 0.0;
  std::fill(work.predicted.begin(), work.predicted.end(), 0.0);
  for (State s{0}; s < model_.num_states(); ++s) {
    if (!(w[s] > 0.0)) continue;
    mass += w[s];
    t += w[s] * set_.radius[a * model_.num_states() + s];
    const auto row = model_.transition().row(a, s);
    for (std::size_t next = 0; next < n_; ++next) work.predicted[next] += w[s] * row[next];
  }
  if (!(mass > 0.0)) return 0.0;
  for (double& p : work.predicted) p /= mass;
  t /= mass;
  return mass;
}

void PricedRows::add_cell(std::span<const double> belief, double mass, Work& work) const {
  const int count = grid_.interpolate(belief, work.indices.data(), work.shares.data());
  for (int k = 0; k < count; ++k) work.prices.add(work.indices[k], mass * work.shares[k]);
}

void PricedRows::write(const ShiftPrices::Move& move, double probability, RowWriter& row) {
  for (const ShiftPrices::Entry& entry : move.entries) {
    row.add(entry.point, probability * entry.mass);
  }
  row.add_reward(probability * move.reward);
}

void PricedRows::row_before(Action a, Work& work, RowWriter& row) const {
  for (Observation o{0}; o < model_.num_observations(); ++o) {
    for (State s{0}; s < model_.num_states(); ++s) {
      work.weights[s] = work.belief[s] * model_.sensors()(a, s, o);
    }
    double t = 0.0;
    const double probability = predict(a, work.weights, work, t);
    if (!(probability > 0.0)) continue;
    work.prices.begin();
    add_cell(work.predicted, 1.0, work);
    write(work.prices.move(work.predicted, t, work.arriving), probability, row);
  }
}

void PricedRows::row_after(Action a, Work& work, RowWriter& row) const {
  const bool rewarded = model_.reward().kind() == Reward::Kind::by_observation;
  double t = 0.0;
  predict(a, work.belief, work, t);
  work.prices.begin();
  std::fill(work.arriving.begin(), work.arriving.end(), 0.0);
  for (Observation o{0}; o < model_.num_observations(); ++o) {
    double probability = 0.0;
    for (State s{0}; s < model_.num_states(); ++s) {
      const double seen = model_.sensors()(a, s, o);
      if (rewarded) work.arriving[s] += seen * model_.reward().values()[o];
      work.next[s] = work.predicted[s] * seen;
      probability += work.next[s];
    }
    if (!(probability > 0.0)) continue;
    for (double& share : work.next) share /= probability;
    add_cell(work.next, probability, work);
  }
  write(work.prices.move(work.predicted, t, work.arriving), 1.0, row);
}

}  // namespace oas::detail
