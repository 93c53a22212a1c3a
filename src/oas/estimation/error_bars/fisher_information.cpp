#include "oas/estimation/error_bars/fisher_information.hpp"

#include <algorithm>

#include "oas/core/contracts.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

namespace oas {

namespace {

// The belief and its derivatives by all coordinates.
class Sensitivities {
 public:
  Sensitivities(const Pomdp& model, const TransitionModel& at, const detail::FreeCoordinates& free)
      : model_(model),
        at_(at),
        belief_(Eigen::Map<const Eigen::RowVectorXd>(model.start().data(), model.num_states())),
        derivatives_(Matrix::Zero(free.size(), model.num_states())),
        moved_(derivatives_),
        weights_(model.num_states()),
        slope_(free.size()) {
    const auto n = static_cast<std::size_t>(model.num_states());
    by_action_.resize(static_cast<std::size_t>(model.num_actions()));
    for (Eigen::Index i = 0; i < free.size(); ++i) {
      const std::size_t row = free.entry(i) / n;
      by_action_[row / n].push_back({i, static_cast<Eigen::Index>(row % n),
                                     static_cast<Eigen::Index>(free.entry(i) % n),
                                     static_cast<Eigen::Index>(free.reference(i) % n)});
    }
  }

  // One row; ∂ log P(observation | before) goes to `score`.
  void step(Action action, Observation observation, Eigen::Ref<Eigen::RowVectorXd> score) {
    if (model_.timing() == Timing::before) {
      see(action, observation, score);
      move(action);
    } else {
      move(action);
      see(action, observation, score);
    }
  }

 private:
  struct Coordinate {
    Eigen::Index index;
    Eigen::Index state;
    Eigen::Index next;
    Eigen::Index reference;
  };

  void see(Action action, Observation observation, Eigen::Ref<Eigen::RowVectorXd> score) {
    if (observation == kMissing) {
      score.setZero();
      return;
    }
    for (Eigen::Index s = 0; s < belief_.size(); ++s) {
      weights_(s) = model_.sensors()(action, State{static_cast<int>(s)}, observation);
    }
    const double probability = belief_.dot(weights_);
    OAS_REQUIRE(probability > 0.0, "observation {} under action {} cannot happen in this model",
                observation.value(), action.value());
    slope_.noalias() = derivatives_ * weights_.transpose();
    slope_ /= probability;
    score = slope_.transpose();
    belief_ = belief_.cwiseProduct(weights_) / probability;
    weights_ /= probability;
    derivatives_.array().rowwise() *= weights_.array();
    derivatives_.noalias() -= slope_ * belief_;
  }

  void move(Action action) {
    const auto matrix = at_.matrix(action);
    moved_.noalias() = derivatives_ * matrix;
    for (const Coordinate& one : by_action_[static_cast<std::size_t>(action)]) {
      moved_(one.index, one.next) += belief_(one.state);
      moved_(one.index, one.reference) -= belief_(one.state);
    }
    moved_.swap(derivatives_);
    weights_.noalias() = belief_ * matrix;
    belief_.swap(weights_);
  }

  const Pomdp& model_;
  const TransitionModel& at_;
  Eigen::RowVectorXd belief_;
  Matrix derivatives_;  // coordinate × state
  Matrix moved_;
  Eigen::RowVectorXd weights_;
  Vector slope_;
  std::vector<std::vector<Coordinate>> by_action_;
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
