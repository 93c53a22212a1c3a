#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/estimation/diagnosis/row_timing.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostContrasts = 64;  // actions times states

// Actions that occur, the most frequent first, as many as there is room for, and their shares.
struct Contrasts {
  std::vector<int> place;  // [action]; -1: not looked at
  std::vector<double> share;
};

Contrasts contrasts_of(const DiagnosedRows& rows, int actions, int states) {
  std::vector<double> counts(static_cast<std::size_t>(actions), 0.0);
  for (const Action a : rows.actions) counts[static_cast<std::size_t>(a)] += 1.0;
  std::vector<int> by_count(counts.size());
  std::iota(by_count.begin(), by_count.end(), 0);
  std::stable_sort(by_count.begin(), by_count.end(), [&](int x, int y) {
    return counts[static_cast<std::size_t>(x)] > counts[static_cast<std::size_t>(y)];
  });
  Contrasts out{std::vector<int>(counts.size(), -1), {}};
  for (const int a : by_count) {
    const auto i = static_cast<std::size_t>(a);
    if (counts[i] == 0.0 || (out.share.size() + 1) * static_cast<std::size_t>(states) >
                                std::max(kMostContrasts, 2 * static_cast<std::size_t>(states))) {
      continue;
    }
    out.place[i] = static_cast<int>(out.share.size());
    out.share.push_back(counts[i] / static_cast<double>(rows.size()));
  }
  return out;
}

std::string why_no_reaction(const AnyModel& model, const DiagnosedRows& rows,
                            const SensorDirections& sensors, const Contrasts& contrasts) {
  if (chain_of(model).timing() != Timing::before) return "the timing is not before";
  if (rows.known_states()) return "it does not know of rows in which the state is known";
  if (!sensors.can_draw()) return "the log does not say what else might have been read";
  if (contrasts.share.size() < 2) return "all rows have the same action";
  if (!sensors_ignore_actions(model)) return "the sensors depend on the action";
  return {};
}

}  // namespace

double ReactionTest::smallest(double level, double power) const {
  const double best = *std::max_element(unit_information.begin(), unit_information.end());
  return std::min(1.0, std::sqrt(test.noncentrality(test.dimensions, level, power) / best));
}

ReactionTest test_reaction(const AnyModel& model, const DiagnosedRows& rows,
                           const FittedDynamics& fitted, int replicates, std::uint64_t seed,
                           Parallelism parallelism) {
  const Pomdp& chain = chain_of(model);
  const Eigen::Index states = chain.num_states();
  const SensorDirections sensors(model, rows);
  const Contrasts contrasts = contrasts_of(rows, chain.num_actions(), chain.num_states());
  ReactionTest reaction;
  reaction.why_not = why_no_reaction(model, rows, sensors, contrasts);
  if (!reaction.why_not.empty()) return reaction;
  const auto actions = static_cast<Eigen::Index>(contrasts.share.size());
  const Eigen::Index size = actions * states;
  ScoreTally tally({{std::vector<int>(rows.size(), 0), 1}}, size, replicates, seed, parallelism);
  const StratifiedFit fit{{fitted}, {}};
  ScoreWalk walk(model, rows, fit, sensors);
  Vector score(size);
  Matrix others;
  // (1[a] - share) ⊗ (posterior - prior), the prior's part dropping out of the mean.
  const auto fill = [&](const ScoredRow& row, const auto& likelihood, auto&& out) {
    const double probability = row.emitter.dot(likelihood);
    for (Eigen::Index a = 0; a < actions; ++a) {
      const bool own = contrasts.place[static_cast<std::size_t>(rows.actions[row.row])] == a;
      const double weight = (own ? 1.0 : 0.0) - contrasts.share[static_cast<std::size_t>(a)];
      for (Eigen::Index s = 0; s < states; ++s) {
        out(a * states + s) =
            probability > 0.0 ? weight * row.emitter(s) * (likelihood(s) / probability - 1.0) : 0.0;
      }
    }
  };
  walk.run(seed, [&](const ScoredRow& row) {
    others.resize(row.others.rows(), size);
    fill(row, row.likelihood, score);
    for (Eigen::Index j = 0; j < others.rows(); ++j) {
      fill(row, row.readings.likelihoods.row(j), others.row(j));
    }
    if (!row.readings.all) center_draws(row.weights, others);
    tally.add({row.row, score, others, row.weights, row.readings, row.emitter, row.likelihood});
  });
  tally.finish();
  reaction.test = test_sum(tally);
  if (!reaction.test.tested()) {
    reaction.why_not = "the readings tell too little";
    return reaction;
  }
  const Matrix information = tally.information();
  for (Eigen::Index i = 0; i < size; ++i) {
    const double share = contrasts.share[static_cast<std::size_t>(i / states)];
    const double rows_of_action = share * (1.0 - share) * static_cast<double>(rows.size());
    const double variance = information(i, i);
    reaction.unit_information.push_back(variance > 1e-9 ? rows_of_action * rows_of_action / variance
                                                        : 0.0);
  }
  return reaction;
}

}  // namespace oas
