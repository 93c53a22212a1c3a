#include "oas/planning/evaluation/detail/final_classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace oas::detail {

FinalClasses::FinalClasses(const Pomdp& model, const CommunicationReport& report)
    : report_(report) {
  if (report.num_closed_classes() < 2) return;
  const auto classes = static_cast<std::size_t>(report.num_classes());
  const auto class_of = [&](State s) {
    return static_cast<std::size_t>(report.class_of[static_cast<std::size_t>(s.value())]);
  };
  start_.assign(classes, 0.0);
  leads_.resize(classes);
  least_.assign(classes, std::numeric_limits<double>::infinity());
  most_.assign(classes, -std::numeric_limits<double>::infinity());
  const Matrix rewards = model.expected_reward();
  for (State s{0}; s < model.num_states(); ++s) {
    const std::size_t own = class_of(s);
    start_[own] += model.start()[static_cast<std::size_t>(s.value())];
    for (Action a{0}; a < model.num_actions(); ++a) {
      least_[own] = std::min(least_[own], rewards(a.value(), s.value()));
      most_[own] = std::max(most_[own], rewards(a.value(), s.value()));
      model.transition().for_each_next(a, s, [&](State next, double probability) {
        const std::size_t to = class_of(next);
        if (probability > 0.0 && to != own) leads_[own].push_back(static_cast<int>(to));
      });
    }
  }
  for (std::vector<int>& to : leads_) {
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
  }
  std::vector<char> ends(classes, 0);
  for (std::size_t c = 0; c < classes; ++c) {
    if (!(start_[c] > 0.0)) continue;
    for (const int to : reached_from(static_cast<int>(c))) {
      ends[static_cast<std::size_t>(to)] = report.class_closed[static_cast<std::size_t>(to)];
    }
  }
  several_ = std::count(ends.begin(), ends.end(), 1) > 1;
}

// Itself among them.
std::vector<int> FinalClasses::reached_from(int class_of_start) const {
  std::vector<char> met(leads_.size(), 0);
  std::vector<int> reached = {class_of_start};
  met[static_cast<std::size_t>(class_of_start)] = 1;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const int to : leads_[static_cast<std::size_t>(reached[i])]) {
      if (std::exchange(met[static_cast<std::size_t>(to)], 1) == 0) reached.push_back(to);
    }
  }
  return reached;
}

// By class; the limits of those that were seen hold together.
std::vector<FinalClasses::Earned> FinalClasses::earned(std::span<const int> ended,
                                                       std::span<const double> batch_means,
                                                       int per_replication,
                                                       GainInterval& interval) const {
  const auto length = static_cast<std::size_t>(per_replication);
  std::vector<std::vector<double>> batches(leads_.size());
  for (std::size_t r = 0; r < ended.size(); ++r) {
    std::vector<double>& own = batches[static_cast<std::size_t>(ended[r])];
    const auto part = batch_means.subspan(r * length, length);
    own.insert(own.end(), part.begin(), part.end());
  }
  const auto seen = static_cast<double>(std::count_if(
      batches.begin(), batches.end(), [](const auto& own) { return own.size() > 1; }));
  std::vector<Earned> all;
  for (std::size_t c = 0; c < batches.size(); ++c) {
    const double least = least_[c];
    const double most = most_[c];
    all.push_back({false, least, most, 0.5 * (least + most), 0.5 * (most - least)});
    if (batches[c].size() < 2) continue;
    const GainInterval one =
        batch_means_interval(batches[c], per_replication, 1.0 - (1.0 - interval.level) / seen);
    all.back() = {true, std::clamp(one.lower_limit, least, most),
                  std::clamp(one.upper_limit, least, most), std::clamp(one.mean, least, most),
                  one.half_width};
    interval.by_replication = interval.by_replication || one.by_replication;
    interval.lag_correlation = std::max(interval.lag_correlation, one.lag_correlation);
  }
  return all;
}

// From a class where runs may start.
FinalClasses::Earned FinalClasses::earned_from(int class_of_start, const std::vector<Earned>& all,
                                               bool& known) const {
  Earned from{true, std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity(), 0.0, 0.0};
  double low = from.lower;
  double high = from.upper;
  int ends = 0;
  for (const int to : reached_from(class_of_start)) {
    const Earned& there = all[static_cast<std::size_t>(to)];
    if (!there.seen && !report_.class_closed[static_cast<std::size_t>(to)]) continue;
    from.seen = from.seen && there.seen;
    from.lower = std::min(from.lower, there.lower);
    from.upper = std::max(from.upper, there.upper);
    low = std::min(low, there.mean - there.half_width);
    high = std::max(high, there.mean + there.half_width);
    ++ends;
  }
  known = known && ends == 1;
  from.mean = 0.5 * (low + high);
  from.half_width = 0.5 * (high - low);
  return from;
}

void FinalClasses::set_limits(std::span<const int> ended, std::span<const double> batch_means,
                              int per_replication, GainInterval& interval) const {
  interval.by_replication = false;
  interval.lag_correlation = 0.0;
  const std::vector<Earned> all = earned(ended, batch_means, per_replication, interval);
  bool known = true;  // where a run ends, once it is known where it starts
  Earned sum{true, 0.0, 0.0, 0.0, 0.0};
  for (std::size_t c = 0; c < start_.size(); ++c) {
    if (!(start_[c] > 0.0)) continue;
    const Earned from = earned_from(static_cast<int>(c), all, known);
    sum.seen = sum.seen && from.seen;
    sum.lower += start_[c] * from.lower;
    sum.upper += start_[c] * from.upper;
    sum.mean += start_[c] * from.mean;
    sum.half_width += start_[c] * from.half_width;
  }
  interval.unseen = !sum.seen;
  interval.lower_limit = sum.lower;
  interval.upper_limit = sum.upper;
  // Else what the runs say, as far as it is within the limits.
  const double mean = std::clamp(known ? sum.mean : interval.mean, sum.lower, sum.upper);
  interval.half_width = sum.half_width + std::abs(mean - sum.mean);
  interval.mean = mean;
}

}  // namespace oas::detail
