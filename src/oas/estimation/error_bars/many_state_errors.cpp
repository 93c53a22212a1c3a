#include "oas/estimation/error_bars/detail/many_state_errors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "oas/core/rng.hpp"
#include "oas/estimation/error_bars/detail/moderated_variances.hpp"
#include "oas/estimation/likelihood/detail/root_coordinates.hpp"

namespace oas::detail {

namespace {

constexpr std::uint64_t kSignSeed = 20'040'203;
constexpr int kSolves = 12;
constexpr int kErrorBatches = 512;
constexpr int kMostIterations = 25;       // of a solve
constexpr double kResidual = 0.02;        // of the right side, where a solve ends
constexpr double kLeastCurvature = 1e-3;  // of the information if all states had been seen
constexpr double kLeastDiagonal = 1e-3;
constexpr double kDifference = 3e-5;    // of roots, on average
constexpr double kSmall = 0.02;         // of a log-likelihood: nothing
constexpr double kLargestZero = 0.02;   // an entry at 0 is below this
constexpr double kLeastAtBound = 0.02;  // curvature
constexpr double kSafeError = 0.05;     // beyond, ridges are felt
constexpr double kRidge = 0.75;         // of D there; see likelihood_errors.cpp

// The summit with entries at 0 put there, and what is needed to solve around it.
class ManyStateErrors {
 public:
  ManyStateErrors(const Summit& summit, const LikelihoodFunction& spread,
                  const ErrorContext& context, int& passes)
      : summit_(summit),
        spread_(spread),
        context_(context),
        passes_(passes),
        n_(static_cast<std::size_t>(summit.at.num_states())) {}

  [[nodiscard]] JointErrors make() {
    look_around();
    solve_all();
    moderate_all();
    return collect();
  }

 private:
  void look_around();
  void find_zeros();
  void solve_all();
  void add_prior(const TransitionModel& at, Rng& rng, Vector& right) const;
  [[nodiscard]] Vector product(const Vector& way);
  [[nodiscard]] Vector solve(const Vector& right);
  void moderate_all();
  [[nodiscard]] JointErrors collect() const;
  [[nodiscard]] EntryEvidence evidence_of(std::size_t entry) const;
  [[nodiscard]] double push(std::size_t entry) const;
  [[nodiscard]] std::size_t only_rival(std::size_t entry) const;
  [[nodiscard]] bool is_free(std::size_t entry) const {
    return summit_.at.values()[entry] > 0.0 && at_zero_[entry] == 0;
  }
  // Of the sum of the row, [a][s]: an entry cannot vary where no other can.
  [[nodiscard]] int num_free(std::size_t row) const;
  [[nodiscard]] LikelihoodPass pass_of(const LikelihoodFunction& likelihood,
                                       const TransitionModel& at, int batches) const {
    PassOptions options;
    options.batches = batches;
    options.known_zeros = zeros_;
    ++passes_;
    return likelihood(at, options);
  }

  const Summit& summit_;
  const LikelihoodFunction& spread_;
  const ErrorContext& context_;
  int& passes_;
  std::size_t n_;
  std::vector<char> at_zero_;
  std::vector<double> means_;  // [a][s]: of the row's slopes
  std::shared_ptr<const std::vector<char>> zeros_;
  std::unique_ptr<RootCoordinates> coordinates_;
  Vector roots_;
  Vector alone_;  // [a][s][s']: information of the entry alone, its row's others giving way
  Vector slope_;  // where the differences start
  Vector diagonal_;
  Vector squares_;  // [a][s][s']: mean square of the solves
  ModeratedVariances moderated_;
};

int ManyStateErrors::num_free(std::size_t row) const {
  int free = 0;
  for (std::size_t i = row * n_; i < (row + 1) * n_; ++i) free += is_free(i) ? 1 : 0;
  return free;
}

// An entry is at 0 when it can go there at next to no loss.
void ManyStateErrors::find_zeros() {
  const auto values = summit_.at.values();
  at_zero_.assign(values.size(), 0);
  std::vector<std::size_t> order(n_);
  for (std::size_t first = 0; first < values.size(); first += n_) {
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    double mean = 0.0;
    for (std::size_t i = first; i < first + n_; ++i) mean += values[i] * summit_.slopes[i];
    means_.push_back(mean);
    double mass = 0.0;
    for (std::size_t k = 0; k + 1 < n_; ++k) {
      const std::size_t i = order[k];
      const double value = values[i];
      const bool zero = value > 0.0 && mass + value < kLargestZero &&
                        value * std::abs(summit_.slopes[i] - mean) < kSmall &&
                        value * value * alone_(static_cast<Eigen::Index>(i)) < kSmall;
      if (zero) mass += value;
      at_zero_[i] = zero ? 1 : 0;
    }
  }
}

void ManyStateErrors::look_around() {
  coordinates_ = std::make_unique<RootCoordinates>(summit_.at, context_.visits);
  const LikelihoodPass whole = pass_of(summit_.objective, summit_.at, kErrorBatches);
  const Vector there = RootCoordinates::roots(summit_.at);
  alone_ = coordinates_->spread(there, whole);
  for (Eigen::Index i = 0; i < alone_.size(); ++i) {
    const double value = summit_.at.values()[static_cast<std::size_t>(i)];
    if (value > 0.0 && context_.prior > 0.0) alone_(i) += context_.prior / (value * value);
  }
  find_zeros();
  Vector roots = there;
  std::vector<char> zeros;
  for (std::size_t i = 0; i < at_zero_.size(); ++i) {
    if (at_zero_[i] != 0) roots(static_cast<Eigen::Index>(i)) = 0.0;
    zeros.push_back(!(roots(static_cast<Eigen::Index>(i)) > 0.0));
  }
  zeros_ = std::make_shared<const std::vector<char>>(std::move(zeros));
  roots_ = RootCoordinates::roots(coordinates_->model(roots));
}

// The information times a tangent vector, by a difference of scores.
Vector ManyStateErrors::product(const Vector& way) {
  const double step = kDifference / coordinates_->turn(way);
  const Vector to = coordinates_->moved(roots_, step * way);
  const LikelihoodPass pass = pass_of(summit_.objective, coordinates_->model(to), 0);
  Vector fall = (slope_ - coordinates_->slope(to, pass.score.data())) / step;
  coordinates_->project(roots_, fall);
  return fall;
}

// By conjugate gradients. A direction of next to no curvature gets the least there is, and ends it.
Vector ManyStateErrors::solve(const Vector& right) {
  const auto guided = [&](const Vector& vector) {
    Vector way = vector.cwiseQuotient(diagonal_);
    coordinates_->project(roots_, way);
    return way;
  };
  Vector solution = Vector::Zero(right.size());
  Vector residual = right;
  Vector guide = guided(residual);
  Vector way = guide;
  double square = residual.dot(guide);
  const double enough = kResidual * right.norm();
  for (int i = 0; i < kMostIterations && residual.norm() > enough; ++i) {
    const Vector image = product(way);
    const double least = kLeastCurvature * way.squaredNorm();
    const double curvature = way.dot(image);
    const double length = square / std::max(curvature, least);
    solution += length * way;
    if (!(curvature > least)) break;
    residual -= length * image;
    guide = guided(residual);
    const double before = square;
    square = residual.dot(guide);
    way = guide + (square / before) * way;
  }
  return solution;
}

// Imaginary transitions are as uncertain as real ones.
void ManyStateErrors::add_prior(const TransitionModel& at, Rng& rng, Vector& right) const {
  std::vector<double> derivatives;
  for (const double value : at.values()) {
    const double size = value > 0.0 ? std::sqrt(context_.prior) / value : 0.0;
    derivatives.push_back(rng.below(2) == 0 ? size : -size);
  }
  right += coordinates_->slope(roots_, derivatives.data());
}

void ManyStateErrors::solve_all() {
  const TransitionModel at = coordinates_->model(roots_);
  const LikelihoodPass many = pass_of(summit_.objective, at, kErrorBatches);
  coordinates_ = std::make_unique<RootCoordinates>(at, context_.visits);
  slope_ = coordinates_->slope(roots_, many.score.data());
  diagonal_ = coordinates_->diagonal(roots_, many.score.data(), coordinates_->spread(roots_, many),
                                     kLeastDiagonal);
  const LikelihoodPass weighted = spread_ ? pass_of(spread_, at, kErrorBatches) : LikelihoodPass();
  const LikelihoodPass& batches = spread_ ? weighted : many;
  const auto steps = static_cast<double>(
      std::accumulate(batches.batch_steps.begin(), batches.batch_steps.end(), std::int64_t{0}));
  const Vector mean = coordinates_->slope(roots_, batches.score.data()) / steps;
  std::vector<Vector> right(kSolves, Vector::Zero(roots_.size()));
  Rng rng({kSignSeed, 0, Role::bootstrap});
  for (std::size_t b = 0; b < batches.batch_steps.size(); ++b) {
    const Vector own =
        coordinates_->slope(roots_, batches.batch_scores.data() + b * batches.score.size()) -
        static_cast<double>(batches.batch_steps[b]) * mean;
    for (Vector& one : right) one += rng.below(2) == 0 ? own : -own;
  }
  if (context_.prior > 0.0) {
    for (Vector& one : right) add_prior(at, rng, one);
  }
  squares_ = Vector::Zero(roots_.size());
  for (Vector& one : right) {
    coordinates_->project(roots_, one);
    squares_ += coordinates_->entries(roots_, solve(one)).cwiseAbs2() / double{kSolves};
  }
}

// What the solves say together.
void ManyStateErrors::moderate_all() {
  MeasuredVariances measured;
  measured.row_length = static_cast<int>(n_);
  measured.degrees = kSolves;
  measured.squares = squares_;
  measured.guess = Vector::Zero(squares_.size());
  for (std::size_t i = 0; i < at_zero_.size(); ++i) {
    const auto e = static_cast<Eigen::Index>(i);
    // The entry gives what the others of its row take.
    const double left = 1.0 - roots_(e) * roots_(e);
    measured.guess(e) = left * left / std::max(alone_(e), kLeastAtBound);
    const bool used = is_free(i) && num_free(i / n_) > 1 && squares_(e) > 0.0;
    measured.is_used.push_back(used && measured.guess(e) > 0.0 ? 1 : 0);
  }
  moderated_ = moderate(measured);
}

// How hard an entry at 0 is held there.
double ManyStateErrors::push(std::size_t entry) const {
  return std::max(means_[entry / n_] - summit_.slopes[entry], 0.0);
}

// The entry that would take mass first when this one is 1 and all others are at 0; else itself.
std::size_t ManyStateErrors::only_rival(std::size_t entry) const {
  if (num_free(entry / n_) > 1) return entry;
  std::size_t rival = entry;
  for (std::size_t i = entry / n_ * n_; i < (entry / n_ + 1) * n_; ++i) {
    if (i == entry || summit_.at.values()[i] == 0.0) continue;
    if (rival == entry || push(i) < push(rival)) rival = i;
  }
  return rival;
}

EntryEvidence ManyStateErrors::evidence_of(std::size_t entry) const {
  const auto e = static_cast<Eigen::Index>(entry);
  const double visits = context_.visits[entry / n_];
  const auto curvature = [&](std::size_t i) {
    const auto at = static_cast<Eigen::Index>(i);
    return std::max(alone_(at) / moderated_.factors(at), kLeastAtBound);
  };
  EntryEvidence evidence;
  if (at_zero_[entry] != 0) {
    evidence = EntryEvidence::at_bound(0.0, push(entry), curvature(entry));
  } else if (const std::size_t rival = only_rival(entry); rival != entry) {
    evidence = EntryEvidence::at_bound(1.0, push(rival), curvature(rival));
  } else {
    const double value = roots_(e) * roots_(e);
    evidence = EntryEvidence::from_counts(value, moderated_.variances(e), visits, true);
    if (!context_.revealing && std::sqrt(moderated_.variances(e)) > kSafeError) {
      evidence.scale(kRidge);
    }
  }
  evidence.scale_to_visits(visits);
  evidence.set_degrees(moderated_.degrees);
  const auto row = summit_.at.values().subspan(entry / n_ * n_, n_);
  evidence.set_rivals(
      static_cast<int>(std::count_if(row.begin(), row.end(), [](double t) { return t > 0.0; })) -
      1);
  return evidence;
}

JointErrors ManyStateErrors::collect() const {
  JointErrors errors;
  errors.alone = true;
  errors.factor = moderated_.variances.cwiseSqrt();
  for (std::size_t row = 0; row < means_.size(); ++row) {
    const bool made_up = !context_.made_up.empty() && context_.made_up[row] != 0;
    errors.determined.push_back(made_up ? 0 : 1);
  }
  const auto values = summit_.at.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto row = values.subspan(i / n_ * n_, n_);
    const auto open = std::count_if(row.begin(), row.end(), [](double t) { return t > 0.0; });
    const bool free = values[i] > 0.0 && open > 1;
    errors.evidence.push_back(free ? evidence_of(i) : EntryEvidence::certain(values[i]));
    if (!is_free(i)) errors.factor(static_cast<Eigen::Index>(i), 0) = 0.0;
  }
  return errors;
}

}  // namespace

JointErrors many_state_errors(const Summit& summit, const LikelihoodFunction& spread,
                              const ErrorContext& context, int& passes) {
  return ManyStateErrors(summit, spread, context, passes).make();
}

}  // namespace oas::detail
