#include "oas/estimation/error_bars/score_filter.hpp"

#include <algorithm>

namespace oas {

ScoreFilter::ScoreFilter(int num_states, int num_actions)
    : num_actions_(static_cast<std::size_t>(num_actions)),
      belief_(Eigen::RowVectorXd::Zero(num_states)),
      derivatives_(0, num_states),
      moved_(derivatives_),
      weights_(num_states) {}

void ScoreFilter::add(const TransitionModel& transition, const detail::FreeCoordinates& free) {
  const auto n = static_cast<std::size_t>(belief_.size());
  const Eigen::Index first = derivatives_.rows();
  Moves moves{&transition, std::vector<std::vector<Coordinate>>(num_actions_)};
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    const std::size_t row = free.entry(i) / n;
    moves.by_action[row / n].push_back({first + i, static_cast<Eigen::Index>(row % n),
                                        static_cast<Eigen::Index>(free.entry(i) % n),
                                        static_cast<Eigen::Index>(free.reference(i) % n)});
  }
  moves_.push_back(std::move(moves));
  derivatives_.setZero(first + free.size(), belief_.size());
  moved_ = derivatives_;
}

void ScoreFilter::add_sensor_directions(Eigen::Index count) {
  directions_ = count;
  derivatives_.setZero(derivatives_.rows() + count, belief_.size());
  moved_ = derivatives_;
}

void ScoreFilter::start(std::span<const double> belief) {
  std::copy(belief.begin(), belief.end(), belief_.data());
  derivatives_.setZero();
}

void ScoreFilter::move(int which, Action action) {
  const Moves& moves = moves_[static_cast<std::size_t>(which)];
  const auto matrix = moves.transition->matrix(action);
  moved_.noalias() = derivatives_ * matrix;
  for (const Coordinate& one : moves.by_action[static_cast<std::size_t>(action)]) {
    moved_(one.index, one.next) += belief_(one.state);
    moved_(one.index, one.reference) -= belief_(one.state);
  }
  moved_.swap(derivatives_);
  weights_.noalias() = belief_ * matrix;
  belief_.swap(weights_);
}

double ScoreFilter::slopes(const Eigen::Ref<const Eigen::RowVectorXd>& likelihood,
                           Eigen::Ref<Vector> out) const {
  const double probability = belief_.dot(likelihood);
  if (!(probability > 0.0)) return 0.0;
  out.noalias() = derivatives_ * likelihood.transpose();
  out /= probability;
  return probability;
}

void ScoreFilter::see(const Eigen::RowVectorXd& likelihood, const Matrix& by_sensor,
                      const Vector& score, double probability) {
  weights_ = likelihood / probability;
  derivatives_.array().rowwise() *= weights_.array();
  if (directions_ > 0) {
    derivatives_.bottomRows(directions_).array() +=
        by_sensor.array().rowwise() * (belief_.array() / probability);
  }
  belief_ = belief_.cwiseProduct(likelihood) / probability;
  derivatives_.noalias() -= score * belief_;
}

}  // namespace oas
