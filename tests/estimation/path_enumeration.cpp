#include "path_enumeration.hpp"

#include <algorithm>
#include <cmath>

namespace oas::test {

PathEnumeration::PathEnumeration(const Pomdp& model, const std::vector<Trajectory>& runs,
                                 const TransitionStructure& structure, double concentration,
                                 double hit, double miss)
    : model_(model),
      runs_(runs),
      structure_(structure),
      concentration_(concentration),
      hit_(hit),
      miss_(miss),
      states_(static_cast<std::size_t>(model.num_states())) {
  counts_.assign(states_ * states_ * static_cast<std::size_t>(model.num_actions()), 0);
  mean.assign(counts_.size(), 0.0);
  centre = second = mean;
  start(0, 1.0);
  for (auto* values : {&mean, &centre, &second}) {
    for (double& value : *values) value /= sum_;
  }
}

double PathEnumeration::deviation(std::size_t entry) const {
  return std::sqrt(std::max(0.0, second[entry] - centre[entry] * centre[entry]));
}

double PathEnumeration::seen(std::size_t run, std::size_t t, std::size_t s) const {
  const Observation o = runs_[run].observations[t];
  if (o == kMissing) return 1.0;
  return model_.sensors()(runs_[run].actions[t], State{static_cast<int>(s)}, o);
}

bool PathEnumeration::is_free(std::size_t entry) const {
  return structure_.empty() || structure_.is_free(entry);
}

double PathEnumeration::known(std::size_t entry) const { return structure_.fixed_value(entry); }

double PathEnumeration::mass(std::size_t row) const {
  return structure_.empty() ? 1.0 : structure_.mass_left(row);
}

std::size_t PathEnumeration::leader(std::size_t row) const {
  return structure_.empty() ? row : structure_.leader(row);
}

void PathEnumeration::start(std::size_t run, double weight) {
  if (run == runs_.size()) {
    finish(weight);
    return;
  }
  for (std::size_t s = 0; s < states_; ++s) {
    const double first = model_.timing() == Timing::before ? seen(run, 0, s) : 1.0;
    go(run, 0, s, weight * model_.start()[s] * first);
  }
}

void PathEnumeration::go(std::size_t run, std::size_t t, std::size_t s, double weight) {
  if (weight == 0.0) return;
  const bool before = model_.timing() == Timing::before;
  const std::size_t rows = runs_[run].size();
  if (t == rows || (before && t + 1 == rows)) {
    start(run + 1, weight);
    return;
  }
  const auto action = static_cast<std::size_t>(runs_[run].actions[t]);
  for (std::size_t next = 0; next < states_; ++next) {
    const std::size_t entry = (action * states_ + s) * states_ + next;
    const double shown = before ? seen(run, t + 1, next) : seen(run, t, next);
    ++counts_[entry];
    go(run, t + 1, next, weight * shown * (is_free(entry) ? mass(entry / states_) : known(entry)));
    --counts_[entry];
  }
}

void PathEnumeration::finish(double weight) {
  std::vector<double> pooled(counts_.size(), 0.0);
  for (std::size_t e = 0; e < counts_.size(); ++e) {
    if (is_free(e)) pooled[leader(e / states_) * states_ + e % states_] += counts_[e];
  }
  const std::size_t rows = counts_.size() / states_;
  std::vector<double> visits(rows, 0.0);
  std::vector<double> prior(rows, 0.0);  // of each free entry
  std::vector<double> all(rows, 0.0);
  double log_weight = std::log(weight);
  for (std::size_t row = 0; row < rows; ++row) {
    double left = 0.0;
    for (std::size_t e = row * states_; e < (row + 1) * states_; ++e) {
      left += is_free(e);
      visits[row] += pooled[e];
    }
    if (left == 0.0) continue;
    prior[row] = concentration_ > 0.0 ? concentration_ : 1.0 / left;
    all[row] = prior[row] * left + visits[row];
    if (leader(row) != row) continue;
    for (std::size_t e = row * states_; e < (row + 1) * states_; ++e) {
      if (is_free(e)) log_weight += std::lgamma(prior[row] + pooled[e]);
    }
    log_weight -= std::lgamma(all[row]);
  }
  const double share = std::exp(log_weight);
  sum_ += share;
  for (std::size_t e = 0; e < counts_.size(); ++e) {
    const std::size_t row = leader(e / states_);
    if (!is_free(e)) {
      mean[e] += share * known(e);
      centre[e] += share * known(e);
      second[e] += share * known(e) * known(e);
      continue;
    }
    const double left = mass(e / states_);
    const double count = pooled[row * states_ + e % states_];
    mean[e] += share * left * (prior[row] + count) / all[row];
    const double hits = hit_ + count;
    const double tries = hit_ + miss_ + visits[row];
    centre[e] += share * left * hits / tries;
    second[e] += share * left * left * hits * (hits + 1.0) / (tries * (tries + 1.0));
  }
}

}  // namespace oas::test
