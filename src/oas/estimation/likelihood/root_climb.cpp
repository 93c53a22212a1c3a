#include "oas/estimation/likelihood/detail/root_climb.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/estimation/error_bars/detail/free_coordinates.hpp"

namespace oas::detail {

namespace {

constexpr int kBatches = 256;
constexpr std::size_t kMemory = 24;
constexpr int kUnitsAfter = 8;   // steps until units and spread are renewed first
constexpr int kUnitsEvery = 25;  // and then
constexpr double kLeastShare = 1e-3;
constexpr double kAsGoodAsZero = 1e-9;  // an entry below, that is pushed to 0
constexpr double kPush = 0.9;           // its derivative, as a share of the row's mean
constexpr int kDropEvery = 5;           // steps
constexpr double kDropBelow = 1.0;      // of a log-likelihood left to be won: the way is known
constexpr double kFirstBack = 1e-5;     // an entry that leaves 0
constexpr std::size_t kWindow = 5;      // gains of a stretch, for the series
constexpr double kSlowest = 0.98;       // ratio of neighbouring stretches
constexpr int kMostAttempts = 4;
constexpr int kMostRounds = 3;          // of entries that leave 0 at the end
constexpr double kNearlyZero = 1e-160;  // a root
constexpr int kFewStates = 10;
constexpr Eigen::Index kFewCoordinates = 600;
constexpr double kOneTolerance = 100.0;  // coordinates
constexpr double kEnough = 1e-4;         // of the gain promised

}  // namespace

bool has_many_coordinates(const TransitionModel& at) {
  return at.num_states() > kFewStates && FreeCoordinates(at).size() > kFewCoordinates;
}

LikelihoodEstimate RootClimb::run(const TransitionModel& start) {
  for (const double value : start.values()) known_.push_back(value == 0.0);
  dropped_ = known_;
  left_out_ = std::make_shared<const std::vector<char>>(known_);
  num_rows_ = std::ptrdiff_t{start.num_states()} * start.num_actions();
  tolerance_ = options_.tolerance *
               std::max(1.0, static_cast<double>(FreeCoordinates(start).size()) / kOneTolerance);
  coordinates_ = std::make_unique<RootCoordinates>(
      start, std::vector<double>(static_cast<std::size_t>(num_rows_), 1.0));
  Point best = visit(RootCoordinates::roots(start), kBatches);
  LikelihoodEstimate estimate;
  estimate.start_log_likelihood = best.pass.log_likelihood;
  estimate.status = LikelihoodStatus::impossible;
  if (best.pass.possible()) {
    start_over(best);
    estimate.status = climb(best, estimate.steps);
  }
  // No entry is said to be impossible: those left out are as close to 0 as can be.
  for (std::size_t i = 0; i < dropped_.size(); ++i) {
    if (dropped_[i] != known_[i]) best.roots(static_cast<Eigen::Index>(i)) = kNearlyZero;
  }
  estimate.passes = passes_;
  estimate.to_gain = left_;
  estimate.objective = best.objective;
  estimate.pass = std::move(best.pass);
  estimate.transition = coordinates_->model(best.roots);
  return estimate;
}

LikelihoodStatus RootClimb::climb(Point& best, int& steps) {
  int rounds = 0;  // of entries that leave 0
  while (true) {
    left_ = left_to_gain(best);
    bool over = left_ <= tolerance_;
    if (!over) {
      if (passes_ >= options_.max_passes) return LikelihoodStatus::pass_limit;
      if (is_spent()) return LikelihoodStatus::time_limit;
      ++steps;
      over = !step(best) && !expect(best);  // no step is better than rounding
    }
    if (over) {
      if (rounds++ == kMostRounds || !let_go(best)) return LikelihoodStatus::converged;
      continue;
    }
    if (steps % kDropEvery == 0 && left_ < kDropBelow) drop_zeros(best);
    if (steps % kUnitsEvery == kUnitsAfter) {
      best = visit(best.roots, kBatches);
      start_over(best);
    }
  }
}

RootClimb::Point RootClimb::visit(const Vector& roots, int batches) {
  ++passes_;
  Point point;
  point.roots = roots;
  point.transition = coordinates_->model(roots);
  PassOptions options;
  options.batches = batches;
  options.known_zeros = left_out_;
  point.pass = likelihood_(point.transition, options);
  point.objective = point.pass.log_likelihood;
  point.slopes = point.pass.score;
  point.counts = point.pass.counts;
  const auto values = point.transition.values();
  for (std::size_t i = 0; options_.prior > 0.0 && i < values.size(); ++i) {
    if (values[i] == 0.0) continue;  // it is part of a known structure
    point.objective += options_.prior * std::log(values[i]);
    point.counts[i] += options_.prior;
    point.slopes[i] += options_.prior / values[i];
  }
  point.slope = coordinates_->slope(roots, point.slopes.data());
  return point;
}

// Units and first guess of the information at a point whose pass has batches.
void RootClimb::start_over(Point& point) {
  coordinates_ = std::make_unique<RootCoordinates>(point.transition, visits_of(point.counts));
  spread_ = coordinates_->spread(point.roots, point.pass);
  point.slope = coordinates_->slope(point.roots, point.slopes.data());
  point.pass.batch_scores = {};
  point.pass.batch_steps = {};
  pairs_.clear();
}

std::vector<double> RootClimb::visits_of(const std::vector<double>& counts) const {
  const auto n = static_cast<std::ptrdiff_t>(counts.size()) / num_rows_;
  std::vector<double> visits;
  for (auto row = counts.begin(); row != counts.end(); row += n) {
    visits.push_back(std::accumulate(row, row + n, 0.0));
  }
  return visits;
}

// The two loops of L-BFGS.
Vector RootClimb::direction(const Point& point) const {
  Vector way = point.slope;
  std::vector<double> shares(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    shares[k] = pairs_[k].step.dot(way) / pairs_[k].product;
    way -= shares[k] * pairs_[k].fall;
  }
  coordinates_->project(point.roots, way);
  const Vector diagonal =
      coordinates_->diagonal(point.roots, point.slopes.data(), spread_, kLeastShare);
  double scale = 1.0;
  if (!pairs_.empty()) {
    const Pair& last = pairs_.back();
    scale = last.product / last.fall.dot(last.fall.cwiseQuotient(diagonal));
  }
  way = scale * way.cwiseQuotient(diagonal);
  coordinates_->project(point.roots, way);
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double share = pairs_[k].fall.dot(way) / pairs_[k].product;
    way += (shares[k] - share) * pairs_[k].step;
  }
  coordinates_->project(point.roots, way);
  return way;
}

// False when no step along the direction is better.
bool RootClimb::step(Point& point) {
  Vector way = direction(point);
  double promised = way.dot(point.slope);
  if (!(promised > 0.0)) {
    pairs_.clear();
    way = direction(point);
    promised = way.dot(point.slope);
  }
  promised_ = 0.5 * promised;
  for (int attempt = 0; attempt < kMostAttempts && !is_spent(); ++attempt) {
    Point to = visit(coordinates_->moved(point.roots, way), 0);
    if (to.pass.possible() && to.objective >= point.objective + kEnough * promised) {
      remember(point, to);
      gains_.push_back(to.objective - point.objective);
      point = std::move(to);
      return true;
    }
    way *= 0.25;
    promised *= 0.25;
  }
  return false;
}

// A step of expectation-maximisation. False when the objective does not rise.
bool RootClimb::expect(Point& point) {
  pairs_.clear();
  if (is_spent()) return true;
  Vector roots(point.roots.size());
  const auto n = static_cast<Eigen::Index>(point.transition.num_states());
  for (Eigen::Index first = 0; first < roots.size(); first += n) {
    const VectorView counts(point.counts.data() + first, n);
    const double total = counts.sum();
    const auto here = point.roots.segment(first, n);
    roots.segment(first, n) = here;
    if (!(total > 0.0)) continue;
    const Vector next = (counts / total).cwiseMax(0.0).cwiseSqrt();
    roots.segment(first, n) =
        (here.array() > 0.0).select(next.array().max(kAsGoodAsZero * here.array()), 0.0).matrix();
  }
  Point to = visit(roots, 0);
  if (!(to.objective > point.objective)) return false;
  gains_.push_back(to.objective - point.objective);
  point = std::move(to);
  return true;
}

void RootClimb::remember(const Point& from, const Point& to) {
  Pair pair{coordinates_->between(from.roots, to.roots), from.slope - to.slope, 0.0};
  coordinates_->project(to.roots, pair.fall);
  pair.product = pair.step.dot(pair.fall);
  if (!(pair.product > 1e-8 * pair.step.norm() * pair.fall.norm())) return;
  if (pairs_.size() == kMemory) pairs_.pop_front();
  pairs_.push_back(std::move(pair));
}

// By expectation-maximisation.
double RootClimb::sure_gain(const Point& point) const {
  const auto values = point.transition.values();
  const auto n = static_cast<std::size_t>(point.transition.num_states());
  double gain = 0.0;
  for (std::size_t first = 0; first < values.size(); first += n) {
    const auto row = point.counts.begin() + static_cast<std::ptrdiff_t>(first);
    const double total = std::accumulate(row, row + static_cast<std::ptrdiff_t>(n), 0.0);
    for (std::size_t i = first; total > 0.0 && i < first + n; ++i) {
      if (values[i] == 0.0 || !(point.counts[i] > 0.0)) continue;
      gain += point.counts[i] * std::log(point.counts[i] / total / values[i]);
    }
  }
  return gain;
}

double RootClimb::left_to_gain(const Point& point) const {
  const double sure = std::max(sure_gain(point), promised_);
  if (gains_.size() < 2 * kWindow) return std::max(sure, 2.0 * tolerance_);
  const auto last = gains_.end() - static_cast<std::ptrdiff_t>(kWindow);
  const double late = std::accumulate(last, gains_.end(), 0.0);
  const double early = std::accumulate(last - static_cast<std::ptrdiff_t>(kWindow), last, 0.0);
  const double ratio = std::min(early > 0.0 ? late / early : 0.0, kSlowest);
  return std::max(sure, late * ratio / (1.0 - ratio));
}

// Entries as good as 0 that are pushed there are put to 0 and cost no more work.
void RootClimb::drop_zeros(Point& point) {
  const auto values = point.transition.values();
  const auto n = static_cast<std::size_t>(point.transition.num_states());
  std::size_t more = 0;
  for (std::size_t first = 0; first < values.size(); first += n) {
    double mean = 0.0;
    for (std::size_t i = first; i < first + n; ++i) mean += point.counts[i];
    for (std::size_t i = first; i < first + n; ++i) {
      if (dropped_[i] != 0 || values[i] > kAsGoodAsZero || point.slopes[i] > kPush * mean) continue;
      dropped_[i] = 1;
      ++more;
      point.roots(static_cast<Eigen::Index>(i)) = 0.0;
    }
  }
  if (more == 0) return;
  left_out_ = std::make_shared<const std::vector<char>>(dropped_);
  for (Pair& pair : pairs_) {
    coordinates_->project(point.roots, pair.step);
    coordinates_->project(point.roots, pair.fall);
  }
  coordinates_->project(point.roots, point.slope);
}

// At the end: with all entries in the pass again, those that want to leave 0. False when none does.
bool RootClimb::let_go(Point& point) {
  if (dropped_ == known_) return false;
  left_out_ = std::make_shared<const std::vector<char>>(known_);
  Point whole = visit(point.roots, 0);
  const auto n = static_cast<std::size_t>(whole.transition.num_states());
  bool any = false;
  for (std::size_t first = 0; first < dropped_.size(); first += n) {
    double mean = 0.0;
    for (std::size_t i = first; i < first + n; ++i) mean += whole.counts[i];
    for (std::size_t i = first; i < first + n; ++i) {
      if (dropped_[i] == 0 || known_[i] != 0) continue;
      const bool leaves = whole.slopes[i] > mean;
      any = any || (leaves && !is_spent());
      dropped_[i] = leaves ? 0 : 1;
      whole.roots(static_cast<Eigen::Index>(i)) = std::sqrt(leaves ? kFirstBack : 0.0);
    }
  }
  if (any) {
    left_out_ = std::make_shared<const std::vector<char>>(dropped_);
    Point again = visit(coordinates_->moved(whole.roots, Vector::Zero(whole.roots.size())), 0);
    pairs_.clear();
    gains_.clear();
    point = std::move(again);
    return true;
  }
  point = std::move(whole);
  return false;
}

bool RootClimb::is_spent() const {
  if (passes_ >= options_.max_passes) return true;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
  return spent.count() >= options_.max_seconds;
}

}  // namespace oas::detail
