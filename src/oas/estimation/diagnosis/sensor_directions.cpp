#include "oas/estimation/diagnosis/sensor_directions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "oas/core/sampling.hpp"

namespace oas {

namespace {

constexpr int kMomentPoints = 1024;

}  // namespace

struct SensorDirections::Finite {
  struct Direction {
    int action;     // -1: all
    Matrix change;  // [observation][state]
  };
  const Pomdp& model;
  std::vector<Direction> directions;

  // Of direction i, for an action and an observation; null: it does not concern them.
  [[nodiscard]] const double* slope(std::size_t i, Action action, Eigen::Index o) const {
    const Direction& one = directions[i];
    return one.action < 0 || one.action == action.value() ? one.change.row(o).data() : nullptr;
  }
};

struct SensorDirections::Real {
  struct Moments {
    double mean = 0.0;
    double sd = 0.0;
  };
  ReadingLikelihood likelihood;
  std::vector<Moments> moments;  // [action][state][component]
  std::vector<double> sds;       // [component]: mean over actions and states

  static Moments moments_of(const Density& density) {
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kMomentPoints; ++i) {
      const double x = density.from_uniform((i + 0.5) / kMomentPoints);
      sum += x;
      squares += x * x;
    }
    const double mean = sum / kMomentPoints;
    return {mean, std::sqrt(std::max(squares / kMomentPoints - mean * mean, 1e-300))};
  }

  // Derivatives of the logarithm of the likelihood of a reading, [direction], in one state.
  void tilt(Action action, Eigen::Index s, std::span<const double> reading, Vector& out) const {
    const auto states = static_cast<Eigen::Index>(likelihood.sensors().num_states());
    const auto d = static_cast<Eigen::Index>(sds.size());
    const Moments* const of = moments.data() + (action.value() * states + s) * d;
    std::vector<double> trust(sds.size());
    likelihood.trust(action, State{static_cast<int>(s)}, reading, trust);
    for (Eigen::Index i = 0; i < d; ++i) {
      const auto c = static_cast<std::size_t>(i);
      if (std::isnan(reading[c])) {  // what was not seen says nothing
        out(2 * i) = out(2 * i + 1) = 0.0;
        continue;
      }
      const double z = (reading[c] - of[i].mean) / of[i].sd;
      out(2 * i) = trust[c] * z * sds[c] / of[i].sd;
      out(2 * i + 1) = trust[c] * (z * z - 1.0);
    }
  }
};

SensorDirections::SensorDirections(const AnyModel& model, const DiagnosedRows& rows)
    : rows_(rows), num_states_(chain_of(model).num_states()) {
  const auto* const continuous = std::get_if<ContinuousPomdp>(&model);
  if (continuous == nullptr || rows.finite) {
    add_finite(rows.finite ? *rows.finite : chain_of(model));
  } else if (continuous->has_sensors() && !rows.readings.empty()) {
    add_real(continuous->sensors());
  }
}

void SensorDirections::add_finite(const Pomdp& model) {
  finite_ = std::make_unique<Finite>(Finite{model, {}});
  const ObservationModel& sensors = model.sensors();
  const bool shared = !sensors.action_that_differs();
  const int tables = shared ? 1 : sensors.num_actions();
  const auto name = [&](int a, const std::string& what) {
    return shared ? what : fmt::format("{} under {}", what, model.actions()[a]);
  };
  const auto add = [&](int a, State s, std::string what, const Vector& change) {
    Matrix table = Matrix::Zero(sensors.num_observations(), num_states_);
    table.col(s.value()) = change;
    finite_->directions.push_back({shared ? -1 : a, std::move(table)});
    names_.push_back(name(a, what));
    scales_.push_back(1.0);
  };
  const bool few =
      tables * num_states_ * (sensors.num_observations() - 1) <= SensorDirections::kMost;
  for (int a = 0; a < tables; ++a) {
    const auto matrix = sensors.matrix(Action{a});
    const Vector mean = matrix.rowwise().mean();
    for (State s{0}; s < static_cast<int>(num_states_); ++s) {
      const Vector own = matrix.col(s.value());
      if (!few) {
        if ((mean - own).norm() < 1e-9 || size() >= kMost) continue;
        add(a, s, fmt::format("the readings in {}", model.states()[s]), mean - own);
        continue;
      }
      Eigen::Index largest = 0;
      own.maxCoeff(&largest);
      for (Eigen::Index o = 0; o < own.size(); ++o) {
        if (o == largest || own(o) == 0.0) continue;
        Vector change = Vector::Zero(own.size());
        change(o) = 1.0;
        change(largest) = -1.0;
        add(a, s,
            fmt::format("P({} | {})", model.observations()[static_cast<int>(o)], model.states()[s]),
            change);
      }
    }
  }
}

void SensorDirections::add_real(const DensitySensors& sensors) {
  real_ = std::make_unique<Real>(
      Real{ReadingLikelihood(sensors, rows_.outlier_share),
           {},
           std::vector<double>(static_cast<std::size_t>(sensors.dimension()))});
  const double pairs = sensors.num_actions() * sensors.num_states();
  for (Action a{0}; a < sensors.num_actions(); ++a) {
    for (State s{0}; s < sensors.num_states(); ++s) {
      for (std::size_t i = 0; i < real_->sds.size(); ++i) {
        real_->moments.push_back(Real::moments_of(sensors(a, s).marginals()[i]));
        real_->sds[i] += real_->moments.back().sd / pairs;
      }
    }
  }
  for (std::size_t i = 0; i < real_->sds.size(); ++i) {
    const std::string which = real_->sds.size() == 1 ? "" : fmt::format(" {}", i + 1);
    names_.push_back(fmt::format("mean of reading{}", which));
    names_.push_back(fmt::format("spread of reading{}", which));
    scales_.push_back(real_->sds[i]);
    scales_.push_back(1.0);
  }
}

SensorDirections::~SensorDirections() = default;

const ReadingLikelihood* SensorDirections::reading_likelihood() const {
  return real_ && rows_.notes.empty() ? &real_->likelihood : nullptr;
}

bool SensorDirections::allows(std::size_t row, Eigen::Index state) const {
  const State note = rows_.notes.empty() ? DiagnosedRows::kNobodyLooked : rows_.notes[row];
  if (note >= 0) return note.value() == state;
  return note != DiagnosedRows::kNoneNoticed || rows_.noticed[static_cast<std::size_t>(state)] == 0;
}

bool SensorDirections::seen(std::size_t row, Eigen::RowVectorXd& likelihood, Matrix& slopes) const {
  const Action action = rows_.actions[row];
  const Observation o = rows_.observations[row];
  const bool looked = !rows_.notes.empty() && rows_.notes[row] != DiagnosedRows::kNobodyLooked;
  if (can_draw() && o == kMissing && !looked) return false;
  if (finite_ && rows_.notes.empty()) {
    likelihood = finite_->model.sensors().matrix(action).row(o.value());
  } else {
    const double* const given =
        rows_.likelihoods.data() + row * static_cast<std::size_t>(num_states_);
    likelihood = Eigen::Map<const Eigen::RowVectorXd>(given, num_states_);
    if (!can_draw()) return (likelihood.array() != likelihood(0)).any() || num_states_ == 1;
  }
  if (o == kMissing) {
    slopes.setZero();
  } else if (finite_) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double* const slope = finite_->slope(i, action, o.value());
      for (Eigen::Index s = 0; s < num_states_; ++s) {
        slopes(static_cast<Eigen::Index>(i), s) =
            slope != nullptr && allows(row, s) ? slope[s] : 0.0;
      }
    }
  } else {
    Vector tilt(size());
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      real_->tilt(action, s, reading_of(row), tilt);
      slopes.col(s) = tilt * likelihood(s);
    }
  }
  return true;
}

std::span<const double> SensorDirections::reading_of(std::size_t row) const {
  const std::size_t width = real_->sds.size();
  return std::span(rows_.readings).subspan(row * width, width);
}

void SensorDirections::others(std::size_t row, const Eigen::RowVectorXd& emitter, Rng& rng,
                              OtherReadings& out) const {
  if (!rows_.notes.empty()) {
    others_with_notes(row, emitter, rng, out);
  } else if (finite_) {
    others_finite(rows_.actions[row], emitter, rng, out);
  } else {
    others_real(row, emitter, rng, out);
  }
}

void SensorDirections::others_finite(Action action, const Eigen::RowVectorXd& emitter, Rng& rng,
                                     OtherReadings& out) const {
  const auto matrix = finite_->model.sensors().matrix(action);
  out.all = matrix.rows() <= kDraws;
  out.count = out.all ? matrix.rows() : kDraws;
  out.likelihoods.resize(out.count, num_states_);
  out.sensor_slopes.resize(out.count, size());
  out.weights.resize(out.count);
  const Vector predicted = matrix * emitter.transpose();
  for (Eigen::Index j = 0; j < out.count; ++j) {
    const Eigen::Index o =
        out.all
            ? j
            : sample_categorical({predicted.data(), static_cast<std::size_t>(matrix.rows())}, rng);
    out.likelihoods.row(j) = matrix.row(o);
    out.weights(j) = out.all ? predicted(o) : 1.0 / static_cast<double>(kDraws);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double* const slope = finite_->slope(i, action, o);
      double sum = 0.0;
      for (Eigen::Index s = 0; slope != nullptr && s < num_states_; ++s) {
        sum += emitter(s) * slope[s];
      }
      out.sensor_slopes(j, static_cast<Eigen::Index>(i)) = sum;
    }
  }
}

void SensorDirections::others_real(std::size_t row, const Eigen::RowVectorXd& emitter, Rng& rng,
                                   OtherReadings& out) const {
  const Action action = rows_.actions[row];
  const std::span<const double> own = reading_of(row);
  const auto d = static_cast<Eigen::Index>(real_->sds.size());
  out.all = false;
  out.count = kDraws;
  out.likelihoods.resize(kDraws, num_states_);
  out.sensor_slopes.setZero(kDraws, size());
  out.weights.setConstant(kDraws, 1.0 / static_cast<double>(kDraws));
  out.readings.resize(kDraws, d);
  Vector tilt(size());
  for (Eigen::Index j = 0; j < kDraws; ++j) {
    const State from{
        sample_categorical({emitter.data(), static_cast<std::size_t>(num_states_)}, rng)};
    const std::span<double> reading(out.readings.row(j).data(), static_cast<std::size_t>(d));
    real_->likelihood.sample(action, from, reading, rng);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (std::isnan(own[i])) reading[i] = own[i];
    }
    real_->likelihood(action, reading,
                      {out.likelihoods.row(j).data(), static_cast<std::size_t>(num_states_)});
    for (Eigen::Index s = 0; s < num_states_; ++s) {
      real_->tilt(action, s, reading, tilt);
      out.sensor_slopes.row(j) += emitter(s) * out.likelihoods(j, s) * tilt.transpose();
    }
  }
}

SensorDirections::Groups SensorDirections::groups_of(std::size_t row) const {
  const State note = rows_.notes[row];
  const auto is_noticed = [&](Eigen::Index s) {
    return !rows_.noticed.empty() && rows_.noticed[static_cast<std::size_t>(s)] != 0;
  };
  const bool noticed = note >= 0 ? is_noticed(note.value()) : note == DiagnosedRows::kNoneNoticed;
  const bool inspected = note >= 0 && !noticed;
  Groups groups;
  std::vector<Eigen::Index> rest;
  for (Eigen::Index s = 0; s < num_states_; ++s) {
    if (inspected || (noticed && is_noticed(s))) {
      groups.push_back({s});
    } else {
      rest.push_back(s);
    }
  }
  if (!rest.empty()) groups.push_back(std::move(rest));
  return groups;
}

// Rare notes, as of a failure, would hardly be drawn: all of them take part, with their weights.
void SensorDirections::others_with_notes(std::size_t row, const Eigen::RowVectorXd& emitter,
                                         Rng& rng, OtherReadings& out) const {
  const Groups groups = groups_of(row);
  const auto count = static_cast<Eigen::Index>(groups.size());
  const bool missing = rows_.observations[row] == kMissing;
  const Action action = rows_.actions[row];
  const Eigen::Index observations = missing   ? 1
                                    : finite_ ? finite_->model.num_observations()
                                              : kDraws + 1;
  out.all = observations * count <= kDraws;
  const Eigen::Index each = out.all ? observations : std::max<Eigen::Index>(1, kDraws / count);
  out.count = count * each;
  out.likelihoods.setZero(out.count, num_states_);
  out.sensor_slopes.setZero(out.count, size());
  out.weights.setZero(out.count);
  out.readings.resize(out.count, real_ ? static_cast<Eigen::Index>(real_->sds.size()) : 0);
  for (Eigen::Index j = 0; j < out.count; ++j) {
    const std::vector<Eigen::Index>& group = groups[static_cast<std::size_t>(j / each)];
    if (!out.all) {
      draw_within(group, row, emitter, rng, j, out);
      out.weights(j) /= static_cast<double>(each);
      continue;
    }
    const Eigen::Index o = j % each;
    for (const Eigen::Index s : group) {
      out.likelihoods(j, s) = missing ? 1.0 : finite_->model.sensors().matrix(action)(o, s);
      out.weights(j) += emitter(s) * out.likelihoods(j, s);
    }
    for (std::size_t i = 0; !missing && i < names_.size(); ++i) {
      const double* const slope = finite_->slope(i, action, o);
      if (slope == nullptr) continue;
      for (const Eigen::Index s : group) {
        out.sensor_slopes(j, static_cast<Eigen::Index>(i)) += emitter(s) * slope[s];
      }
    }
  }
}

// A reading in one of these states, as number j, with their weight together.
void SensorDirections::draw_within(std::span<const Eigen::Index> group, std::size_t row,
                                   const Eigen::RowVectorXd& emitter, Rng& rng, Eigen::Index j,
                                   OtherReadings& out) const {
  const Action action = rows_.actions[row];
  std::vector<double> weights(static_cast<std::size_t>(num_states_), 0.0);
  for (const Eigen::Index s : group) {
    weights[static_cast<std::size_t>(s)] = emitter(s);
    out.weights(j) += emitter(s);
  }
  if (!(out.weights(j) > 0.0)) return;
  const State from{sample_categorical(weights, rng)};
  if (finite_) {
    const auto matrix = finite_->model.sensors().matrix(action);
    const Vector law = matrix.col(from.value());
    const Eigen::Index o =
        sample_categorical({law.data(), static_cast<std::size_t>(law.size())}, rng);
    for (const Eigen::Index s : group) out.likelihoods(j, s) = matrix(o, s);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double* const slope = finite_->slope(i, action, o);
      if (slope == nullptr) continue;
      for (const Eigen::Index s : group) {
        out.sensor_slopes(j, static_cast<Eigen::Index>(i)) += emitter(s) * slope[s];
      }
    }
    return;
  }
  const std::span<double> reading(out.readings.row(j).data(), real_->sds.size());
  const std::span<const double> own = reading_of(row);
  real_->likelihood.sample(action, from, reading, rng);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (std::isnan(own[i])) reading[i] = own[i];
  }
  std::vector<double> likelihood(static_cast<std::size_t>(num_states_));
  real_->likelihood(action, reading, likelihood);
  Vector tilt(size());
  for (const Eigen::Index s : group) {
    out.likelihoods(j, s) = likelihood[static_cast<std::size_t>(s)];
    real_->tilt(action, s, reading, tilt);
    out.sensor_slopes.row(j) += emitter(s) * out.likelihoods(j, s) * tilt.transpose();
  }
}

}  // namespace oas
