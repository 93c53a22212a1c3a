#include "oas/estimation/sensors/sensor_fit.hpp"

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <span>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

constexpr double kFewestExpected = 5.0;
constexpr std::int64_t kMostNumbers = 1 << 22;  // of all covariances together
constexpr std::size_t kWorst = 5;

template <class Table>
void save_table(const Table& table, ByteWriter& out) {
  out.put_all(std::span(table.data(), static_cast<std::size_t>(table.size())));
}

template <class Table>
void load_table(Table& table, ByteReader& in) {
  const auto values = in.get_all<double>(static_cast<std::size_t>(table.size()));
  std::copy(values.begin(), values.end(), table.data());
}

}  // namespace

std::string SensorFit::brief(const Pomdp& model) const {
  if (std::isnan(p_value)) return "the fit of the sensors cannot be tested";
  std::string text = fmt::format(
      "fit of the sensors: chi-square {:.1f} with {:.0f} degrees of "
      "freedom, p = {:.2g}",
      statistic, degrees, p_value);
  if (!worst.empty()) {
    const Cell& cell = worst.front();
    const std::string before =
        cell.previous_action
            ? fmt::format(" after ({}, {})", model.actions()[*cell.previous_action],
                          model.observations()[cell.previous_observation])
            : "";
    text += fmt::format("; worst: ({}, {}){} seen {:.0f} times, expected {:.1f}",
                        model.actions()[cell.action], model.observations()[cell.observation],
                        before, cell.observed, cell.expected);
  }
  return text;
}

SensorFitTest::SensorFitTest(const Pomdp& model)
    : model_(model),
      belief_(Vector::Zero(model.num_states())),
      emitter_(belief_),
      predicted_(Vector::Zero(model.num_observations())) {
  static_cast<void>(model.transition());  // throws when unknown
  const std::int64_t actions = model.num_actions();
  const std::int64_t observations = model.num_observations();
  enabled_ = actions * observations * observations <= kMostNumbers;
  by_previous_ = enabled_ && (actions * observations + 1) * actions * observations <=
                                 kMostNumbers / observations;
  const std::int64_t previous = by_previous_ ? actions * observations + 1 : 1;
  if (enabled_) groups_.resize(static_cast<std::size_t>(previous * actions));
}

SensorFitTest::Group& SensorFitTest::group_at(std::size_t index) {
  Group& group = groups_[index];
  if (group.observed.size() == 0) {
    group.observed = Vector::Zero(predicted_.size());
    group.expected = group.observed;
    group.covariance = Matrix::Zero(predicted_.size(), predicted_.size());
  }
  return group;
}

SensorFitTest::Group& SensorFitTest::group_of(Action action) {
  return group_at((by_previous_ ? previous_ : 0) * static_cast<std::size_t>(model_.num_actions()) +
                  static_cast<std::size_t>(action));
}

void SensorFitTest::add(Action action, Observation observation, const RunStart* start) {
  step(action, observation, start, true);
}

void SensorFitTest::follow(Action action, Observation observation, const RunStart* start) {
  if (start == nullptr && belief_.sum() == 0.0) {
    belief_.setConstant(1.0 / static_cast<double>(belief_.size()));
  }
  step(action, observation, start, false);
}

void SensorFitTest::continue_from(const SensorFitTest& other) {
  belief_ = other.belief_;
  previous_ = other.previous_;
}

double SensorFitTest::distance(const SensorFitTest& other) const {
  if (previous_ != other.previous_) return 1.0;
  return 0.5 * (belief_ - other.belief_).cwiseAbs().sum();
}

void SensorFitTest::merge(const SensorFitTest& other) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    const Group& more = other.groups_[i];
    if (more.observed.size() == 0) continue;
    if (group.observed.size() == 0) {
      group = more;
      continue;
    }
    group.observed += more.observed;
    group.expected += more.expected;
    group.covariance += more.covariance;
  }
}

void SensorFitTest::save(ByteWriter& out) const {
  std::vector<std::size_t> met;
  for (std::size_t index = 0; index < groups_.size(); ++index) {
    if (groups_[index].observed.size() > 0) met.push_back(index);
  }
  out.put_all(met);
  for (const std::size_t index : met) {
    save_table(groups_[index].observed, out);
    save_table(groups_[index].expected, out);
    save_table(groups_[index].covariance, out);
  }
}

void SensorFitTest::load(ByteReader& in) {
  groups_.assign(groups_.size(), {});
  for (const std::size_t index : in.get_all<std::size_t>()) {
    OAS_REQUIRE(index < groups_.size(), "saved bytes are damaged: group {} of {}", index,
                groups_.size());
    Group& group = group_at(index);
    load_table(group.observed, in);
    load_table(group.expected, in);
    load_table(group.covariance, in);
  }
}

void SensorFitTest::save_place(ByteWriter& out) const {
  save_table(belief_, out);
  out.put(previous_);
}

void SensorFitTest::load_place(ByteReader& in) {
  load_table(belief_, in);
  previous_ = in.get<std::size_t>();
}

void SensorFitTest::step(Action action, Observation observation, const RunStart* start,
                         bool counts) {
  if (!enabled_) return;
  if (start != nullptr) {
    belief_.resize(model_.num_states());
    start->belief(model_.start(), {belief_.data(), static_cast<std::size_t>(belief_.size())});
    previous_ = 0;
  }
  const MatrixView transition = model_.transition().matrix(action);
  const bool before = model_.timing() == Timing::before;
  if (before) {
    emitter_ = belief_;
  } else {
    emitter_.noalias() = transition.transpose() * belief_;
  }
  if (observation == kMissing) {
    previous_ = 0;
  } else {
    const auto sensor = model_.sensors().matrix(action);
    predicted_.noalias() = sensor * emitter_;
    if (counts) {
      Group& group = group_of(action);
      group.observed(observation.value()) += 1.0;
      group.expected += predicted_;
      group.covariance.noalias() -= predicted_ * predicted_.transpose();
      group.covariance.diagonal() += predicted_;
    }
    const double probability = predicted_(observation.value());
    if (probability > 0.0) {
      emitter_ = emitter_.cwiseProduct(sensor.row(observation.value()).transpose()) / probability;
    }
    previous_ =
        1 + static_cast<std::size_t>(action) * static_cast<std::size_t>(model_.num_observations()) +
        static_cast<std::size_t>(observation);
  }
  if (before) {
    belief_.noalias() = transition.transpose() * emitter_;
  } else {
    belief_ = emitter_;
  }
  belief_ /= belief_.sum();
}

void SensorFitTest::add_cells(std::size_t index, SensorFit& fit) const {
  const Group& group = groups_[index];
  std::vector<Eigen::Index> kept;
  for (Eigen::Index o = 0; o < group.expected.size(); ++o) {
    if (group.expected(o) >= kFewestExpected) kept.push_back(o);
  }
  if (kept.empty()) return;
  const auto size = static_cast<Eigen::Index>(kept.size());
  Vector residual(size);
  Vector departure(size);
  Matrix covariance(size, size);
  const double even = group.observed.sum() / static_cast<double>(group.observed.size());
  for (Eigen::Index i = 0; i < size; ++i) {
    const Eigen::Index o = kept[static_cast<std::size_t>(i)];
    residual(i) = group.observed(o) - group.expected(o);
    departure(i) = even - group.expected(o);
    for (Eigen::Index j = 0; j < size; ++j) {
      covariance(i, j) = group.covariance(o, kept[static_cast<std::size_t>(j)]);
    }
    if (covariance(i, i) <= 1e-9 * group.expected(o)) continue;
    SensorFit::Cell cell;
    const auto actions = static_cast<std::size_t>(model_.num_actions());
    const auto observations = static_cast<std::size_t>(model_.num_observations());
    if (index / actions > 0) {
      cell.previous_action = Action{(index / actions - 1) / observations};
      cell.previous_observation = Observation{(index / actions - 1) % observations};
    }
    cell.action = Action{index % actions};
    cell.observation = Observation{o};
    cell.observed = group.observed(o);
    cell.expected = group.expected(o);
    cell.z = residual(i) / std::sqrt(covariance(i, i));
    fit.worst.push_back(cell);
  }
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  for (Eigen::Index i = 0; i < size; ++i) {
    const double variance = eigen.values(i);
    if (variance <= 1e-9 * eigen.values(size - 1)) continue;
    const double along = eigen.vectors.col(i).dot(residual);
    fit.statistic += along * along / variance;
    const double towards = eigen.vectors.col(i).dot(departure);
    fit.if_even += towards * towards / variance;
    fit.degrees += 1.0;
  }
}

SensorFit SensorFitTest::finish() const {
  SensorFit fit;
  for (std::size_t index = 0; index < groups_.size(); ++index) {
    if (groups_[index].observed.size() > 0) add_cells(index, fit);
  }
  std::stable_sort(fit.worst.begin(), fit.worst.end(),
                   [](const auto& x, const auto& y) { return std::abs(x.z) > std::abs(y.z); });
  if (fit.worst.size() > kWorst) fit.worst.resize(kWorst);
  if (fit.degrees > 0.0) {
    const boost::math::chi_squared distribution(fit.degrees);
    fit.p_value = boost::math::cdf(boost::math::complement(distribution, fit.statistic));
  }
  return fit;
}

}  // namespace oas
