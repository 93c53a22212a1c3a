#include "oas/estimation/error_bars/fisher_information.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/error_bars/score_filter.hpp"

namespace oas {

namespace {

// The scores of the rows of one run.
class Sensitivities {
 public:
  Sensitivities(const Pomdp& model, const TransitionModel& at, const detail::FreeCoordinates& free)
      : model_(model),
        filter_(model.num_states(), model.num_actions()),
        weights_(model.num_states()),
        score_(free.size()) {
    filter_.add(at, free);
    filter_.start(model.start());
  }

  // One row; ∂ log P(observation | before) goes to `score`.
  void step(Action action, Observation observation, Eigen::Ref<Eigen::RowVectorXd> score) {
    if (model_.timing() == Timing::after) filter_.move(0, action);
    see(action, observation);
    score = score_.transpose();
    if (model_.timing() == Timing::before) filter_.move(0, action);
  }

 private:
  void see(Action action, Observation observation) {
    if (observation == kMissing) {
      score_.setZero();
      return;
    }
    for (Eigen::Index s = 0; s < weights_.size(); ++s) {
      weights_(s) = model_.sensors()(action, State{static_cast<int>(s)}, observation);
    }
    const double probability = filter_.slopes(weights_, score_);
    OAS_REQUIRE(probability > 0.0, "observation {} under action {} cannot happen in this model",
                observation.value(), action.value());
    filter_.see(weights_, no_sensors_, score_, probability);
  }

  const Pomdp& model_;
  ScoreFilter filter_;
  Eigen::RowVectorXd weights_;
  Vector score_;
  Matrix no_sensors_;
};

}  // namespace

Matrix FisherInformation::expand(const Eigen::Ref<const Matrix>& columns) const {
  Matrix all = Matrix::Zero(static_cast<Eigen::Index>(num_entries), columns.cols());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    all.row(static_cast<Eigen::Index>(entries[i])) += columns.row(static_cast<Eigen::Index>(i));
    all.row(static_cast<Eigen::Index>(references[i])) -= columns.row(static_cast<Eigen::Index>(i));
  }
  return all;
}

FisherInformation fisher_information(const Pomdp& model, const TransitionModel& at,
                                     const Trajectory& rows, const FisherOptions& options) {
  OAS_REQUIRE(options.held.empty() || options.held.size() == at.values().size(),
              "{} entries to hold of {}", options.held.size(), at.values().size());
  const detail::FreeCoordinates free(at, options.held);
  FisherInformation information;
  information.matrix.setZero(free.size(), free.size());
  information.score.setZero(free.size());
  information.num_entries = at.values().size();
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    information.entries.push_back(free.entry(i));
    information.references.push_back(free.reference(i));
  }
  Sensitivities filter(model, at, free);
  constexpr Eigen::Index kBlock = 256;
  Matrix scores(kBlock, free.size());
  Eigen::RowVectorXd score(free.size());
  Eigen::Index filled = 0;
  const auto add_block = [&] {
    if (filled == 0) return;
    information.matrix.selfadjointView<Eigen::Lower>().rankUpdate(
        scores.topRows(filled).transpose());
    filled = 0;
  };
  for (std::size_t t = 0; t < rows.size(); ++t) {
    filter.step(rows.actions[t], rows.observations[t], score);
    if (t < options.skip) continue;
    information.score += score.transpose();
    scores.row(filled++) = score;
    if (filled == kBlock) add_block();
  }
  add_block();
  information.matrix.triangularView<Eigen::StrictlyUpper>() = information.matrix.transpose();
  information.steps = static_cast<double>(rows.size() - std::min(options.skip, rows.size()));
  return information;
}

}  // namespace oas
