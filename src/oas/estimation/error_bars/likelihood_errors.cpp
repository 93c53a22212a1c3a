#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/linear_algebra.hpp"
#include "oas/estimation/error_bars/detail/cone_ratio.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/error_bars/detail/penalised_fit.hpp"

namespace oas::detail {

namespace {

constexpr double kLeastInformation = 0.25;    // standard error 2: says nothing about a probability
constexpr double kNothing = 2.0;              // that standard error
constexpr double kNoInformation = 1e-9;       // not even by rounding
constexpr double kHardPush = 1.0;             // slope that closes a direction at a bound
constexpr double kLoading = 0.01;             // square of an undetermined direction's entry
constexpr double kLeastCurvature = 0.02;      // flat, but not so flat that a profile cannot tell
constexpr double kSmall = 0.02;               // of a log-likelihood: nothing
constexpr double kLargestZero = 0.02;         // an entry at 0 is below this
constexpr double kSafeDistance = 5.0;         // from a bound, in standard errors
constexpr double kSafeError = 0.05;           // a standard error that needs no profile
constexpr double kNearFall = 2.0;             // about the end of a 95 % interval
constexpr double kFarFall = 5.5;              // about that of simultaneous ones
constexpr double kRidge = 0.75;               // 1.96²/2.26²
constexpr double kRidgeBesideUnknown = 0.58;  // 1.96²/2.58²
constexpr double kNarrow = 0.1;               // an interval of a log that says enough
constexpr std::size_t kMostLoose = 1200;
constexpr double kMostProfileWork = 1e10;  // multiplications for all profiles

// Directions of a symmetric matrix that have information, and those that do not.
struct Directions {
  explicit Directions(const Matrix& information) {
    unknown.resize(information.rows(), 0);
    root.resize(information.rows(), 0);
    if (information.size() == 0) return;
    // Coordinates without any, as of rows that were never left, are directions of their own.
    std::vector<Eigen::Index> seen;
    std::vector<Eigen::Index> unseen;
    for (Eigen::Index i = 0; i < information.rows(); ++i) {
      (std::abs(information(i, i)) < kNoInformation ? unseen : seen).push_back(i);
    }
    unknown.setZero(information.rows(), static_cast<Eigen::Index>(unseen.size()));
    for (std::size_t k = 0; k < unseen.size(); ++k) {
      unknown(unseen[k], static_cast<Eigen::Index>(k)) = 1.0;
    }
    if (!seen.empty()) add_seen(information, seen);
  }
  void add_seen(const Matrix& information, const std::vector<Eigen::Index>& seen) {
    const SymmetricEigen eigen = symmetric_eigen(Matrix(information(seen, seen)));
    const Vector& values = eigen.values;
    const Eigen::Index none = (values.array() < kLeastInformation).count();  // the first ones
    const Eigen::Index some = values.size() - none;
    const Eigen::Index before = unknown.cols();
    unknown.conservativeResize(information.rows(), before + none);
    unknown.rightCols(none).setZero();
    unknown.rightCols(none)(seen, Eigen::all) = eigen.vectors.leftCols(none);
    root.setZero(information.rows(), some);
    root(seen, Eigen::all) =
        eigen.vectors.rightCols(some) * values.tail(some).cwiseSqrt().cwiseInverse().asDiagonal();
  }
  Matrix unknown;
  Matrix root;  // root · rootᵀ is the covariance
};

// Entries at 0 that are pushed there are closed: the curvature at a bound says nothing about what
// happens far from it, the profile does.
std::vector<char> determined_rows(const Summit& summit, const FreeCoordinates& all) {
  std::vector<char> closed(summit.at_zero.size(), 0);
  std::vector<Eigen::Index> open;
  Vector pushes = Vector::Zero(all.size());
  for (Eigen::Index i = 0; i < all.size(); ++i) {
    const double push = summit.slopes[all.reference(i)] - summit.slopes[all.entry(i)];
    if (summit.at_zero[all.entry(i)] != 0) pushes(i) = std::max(push, 0.0);
    // Neither slope nor curvature: the bound is where the climb came to rest by chance.
    const bool zero = summit.at_zero[all.entry(i)] != 0;
    if (!zero || (pushes(i) < kHardPush && summit.information(i, i) < kHardPush)) {
      open.push_back(i);
    } else {
      closed[all.entry(i)] = 1;
    }
  }
  Matrix information = summit.information(open, open);
  information.diagonal() += 4.0 * pushes(open);
  const FreeCoordinates left(summit.at, closed);
  const Matrix loading = left.expand(Directions(information).unknown);
  std::vector<char> determined;
  const auto n = static_cast<Eigen::Index>(summit.at.num_states());
  for (Eigen::Index first = 0; first < loading.rows(); first += n) {
    const double largest =
        loading.cols() == 0 ? 0.0 : loading.middleRows(first, n).rowwise().squaredNorm().maxCoeff();
    determined.push_back(largest < kLoading ? 1 : 0);
  }
  return determined;
}

// The part of a matrix in all coordinates that belongs to the given ones.
Matrix selected(const Matrix& matrix, const std::vector<Eigen::Index>& chosen) {
  return matrix(chosen, chosen);
}

// J⁻¹ √V
Matrix sandwich(const Matrix& root, const Matrix& spread) {
  const SymmetricEigen parts = symmetric_eigen(spread);
  return root *
         (root.transpose() * (parts.vectors * parts.values.cwiseMax(0.0).cwiseSqrt().asDiagonal()));
}

class EvidenceMaker {
 public:
  EvidenceMaker(const Summit& summit, const ErrorContext& context)
      : summit_(summit), context_(context), all_(summit.at), inside_(summit.at, summit.at_zero) {
    if (!context.revealing) ridge_ = kRidge;
    for (Eigen::Index i = 0; i < all_.size(); ++i) {
      if (summit.at_zero[all_.entry(i)] == 0) chosen_.push_back(i);
    }
    root_ = Directions(selected(summit.information, chosen_)).root;
    model_factor_ = inside_.expand(root_);
    find_loose();
    factor_ = model_factor_;
    if (context.spread.size() > 0 && root_.size() > 0) {
      factor_ = inside_.expand(sandwich(root_, selected(context.spread, chosen_)));
    }
  }

  [[nodiscard]] const Matrix& factor() const { return factor_; }
  /// Whether entries at 0 that are hardly held there would make this one much less certain.
  [[nodiscard]] bool leans_on_bounds(std::size_t entry) const {
    const auto row = static_cast<Eigen::Index>(entry);
    return loose_factor_.row(row).squaredNorm() > 1.2 * model_factor_.row(row).squaredNorm();
  }
  [[nodiscard]] const FreeCoordinates& all() const { return all_; }
  /// Some rows are not determined.
  void set_unknown_rows() {
    if (!context_.revealing) ridge_ = kRidgeBesideUnknown;
  }

  /// Of the fall, beyond which twice of it is χ².
  [[nodiscard]] double ridge(std::size_t entry) const {
    return largest_error(entry) > kSafeError ? ridge_ : 1.0;
  }

  [[nodiscard]] EntryEvidence make(std::size_t entry) const {
    const auto row = static_cast<Eigen::Index>(entry);
    const double value = summit_.at.values()[entry];
    const double visits = context_.visits[entry / num_states()];
    EntryEvidence evidence;
    double ratio = 1.0;
    if (summit_.at_zero[entry] != 0) {
      evidence = EntryEvidence::at_bound(0.0, push(entry), curvature(entry));
      ratio = widening(entry);
    } else if (const std::size_t rival = only_rival(entry); rival != entry) {
      evidence = EntryEvidence::at_bound(1.0, push(rival), curvature(rival));
      ratio = widening(rival);
    } else {
      const double variance = model_factor_.row(row).squaredNorm();
      evidence = EntryEvidence::from_counts(value, variance, visits, true);
      const double wider = factor_.row(row).squaredNorm();
      if (context_.spread.size() > 0 && wider > 0.0) ratio = variance / wider;
    }
    evidence.scale_to_visits(visits);
    evidence.scale(ratio);
    evidence.scale(ridge(entry));
    evidence.set_rivals(num_rivals(entry));
    return evidence;
  }

 private:
  [[nodiscard]] std::size_t num_states() const {
    return static_cast<std::size_t>(summit_.at.num_states());
  }
  // The factor with the entries at 0 let go whose slope is no more than two standard errors.
  void find_loose() {
    std::vector<char> held(summit_.at_zero.size(), 0);
    std::vector<Eigen::Index> open;
    for (Eigen::Index i = 0; i < all_.size(); ++i) {
      const std::size_t entry = all_.entry(i);
      const double strength = push(entry);
      const bool firm = strength * strength > 4.0 * std::max(summit_.information(i, i), 0.0);
      held[entry] = summit_.at_zero[entry] != 0 && firm;
      if (held[entry] == 0) open.push_back(i);
    }
    loose_factor_ = model_factor_;
    if (open.size() > kMostLoose) return;  // no profile is made then
    const Matrix root = Directions(selected(summit_.information, open)).root;
    loose_factor_ = FreeCoordinates(summit_.at, held).expand(root);
  }
  // Of the row of an entry.
  [[nodiscard]] double largest_error(std::size_t entry) const {
    const auto n = static_cast<Eigen::Index>(num_states());
    const Eigen::Index first = static_cast<Eigen::Index>(entry) / n * n;
    return std::sqrt(model_factor_.middleRows(first, n).rowwise().squaredNorm().maxCoeff());
  }
  // Entries of the same row that could be above 0.
  [[nodiscard]] int num_rivals(std::size_t entry) const {
    const std::size_t n = num_states();
    const auto row = summit_.at.values().subspan(entry / n * n, n);
    return static_cast<int>(
               std::count_if(row.begin(), row.end(), [](double t) { return t > 0.0; })) -
           1;
  }
  // How hard an entry at 0 is held there.
  [[nodiscard]] double push(std::size_t entry) const {
    const std::size_t reference = summit_.references[entry / num_states()];
    return std::max(summit_.slopes[reference] - summit_.slopes[entry], 0.0);
  }
  [[nodiscard]] Eigen::Index place(std::size_t entry) const {
    for (Eigen::Index i = 0; i < all_.size(); ++i) {
      if (all_.entry(i) == entry) return i;
    }
    return -1;
  }
  // Of the profile along a coordinate at 0: the others that are inside follow.
  [[nodiscard]] double curvature(std::size_t entry) const {
    const Eigen::Index i = place(entry);
    const Vector cross = summit_.information.row(i).transpose()(chosen_);
    const double left = summit_.information(i, i) - (root_.transpose() * cross).squaredNorm();
    return std::max(left, kLeastCurvature);
  }
  // Of a coordinate at 0: information over spread.
  [[nodiscard]] double widening(std::size_t entry) const {
    if (context_.spread.size() == 0) return 1.0;
    const Eigen::Index i = place(entry);
    const double spread = context_.spread(i, i);
    const double information = summit_.information(i, i);
    // Σw/Σw² is 2 for weights that fade, 1 for equal ones.
    return spread > 0.0 && information > 0.0 ? std::clamp(information / spread, 1.0, 2.0) : 1.0;
  }
  // The entry that would take mass first when this one is 1 and all others are at 0; else itself.
  [[nodiscard]] std::size_t only_rival(std::size_t entry) const {
    const std::size_t first = entry / num_states() * num_states();
    std::size_t rival = entry;
    for (std::size_t i = first; i < first + num_states(); ++i) {
      if (i == entry || summit_.at.values()[i] == 0.0) continue;
      if (summit_.at_zero[i] == 0) return entry;
      if (rival == entry || push(i) < push(rival)) rival = i;
    }
    return rival;
  }

  const Summit& summit_;
  const ErrorContext& context_;
  FreeCoordinates all_;
  FreeCoordinates inside_;
  std::vector<Eigen::Index> chosen_;  // coordinates that are not at 0
  double ridge_ = 1.0;                // of D, where it is less than the likelihood's fall
  Matrix root_;
  Matrix model_factor_;
  Matrix loose_factor_;
  Matrix factor_;
};

// Whether the shape alone will do.
bool is_safe(const EntryEvidence& evidence) {
  if (evidence.is_at_bound()) return false;
  const double error = std::sqrt(evidence.variance());
  const double distance = std::min(evidence.value(), 1.0 - evidence.value());
  return error < kSafeError && distance > kSafeDistance * error;
}

void measure_side(ProfileLikelihood& profile, std::size_t entry, bool upwards,
                  EntryEvidence& evidence) {
  const double end = upwards ? 1.0 : 0.0;
  if (evidence.value() == end) return;
  for (const double target : {kNearFall, kFarFall}) {
    const double t = evidence.reach(target, upwards);
    const double expected = evidence.fall(t);
    const double found = profile.fall(entry, t);
    evidence.measured(t, found);
    const bool far_off = !(found < 2.5 * expected && expected < 2.5 * found);
    if (far_off && target == kNearFall) {
      const double again = evidence.reach(target, upwards);
      evidence.measured(again, profile.fall(entry, again));
    }
    if (t == end && !far_off) break;
  }
}

// Rows that are known to ± 0.05 or worse get intervals around a fit inside as well.
void look_from_inside(const Summit& summit, const ErrorContext& context, const EvidenceMaker& maker,
                      JointErrors& errors, int& passes) {
  const auto n = static_cast<std::size_t>(summit.at.num_states());
  const auto is_wide = [](const EntryEvidence& one) {
    return !one.is_certain() && one.reach(kNearFall, true) - one.reach(kNearFall, false) > kNarrow;
  };
  // With weights by age the curvature inside is not the error there.
  if (context.penalised || context.spread.size() > 0) return;
  if (std::none_of(errors.evidence.begin(), errors.evidence.end(), is_wide)) return;
  const PenalisedFit fit = penalised_fit(summit, context.rows, passes);
  const std::vector<double> ratios = cone_ratios(summit, fit);
  // Which entries lean is itself hardly known: none counts as leaning less than all do on average.
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (errors.evidence[i].is_certain()) continue;
    sum += ratios[i];
    count += 1.0;
  }
  const double mean = sum / count;
  for (std::size_t first = 0; first < fit.errors.size(); first += n) {
    const auto row = fit.errors.begin() + static_cast<std::ptrdiff_t>(first);
    if (*std::max_element(row, row + static_cast<std::ptrdiff_t>(n)) < kSafeError) continue;
    for (std::size_t i = first; i < first + n; ++i) {
      errors.evidence[i].scale(std::min(std::min(ratios[i], mean) / maker.ridge(i), 1.0));
      errors.evidence[i].add_opinion(fit.at.values()[i], fit.errors[i]);
    }
  }
}

// Intervals hold what other maxima say, if these are not much lower. A row that is not determined
// here is the one that is not determined there under its other name: what the climb made of it says
// nothing.
void look_at_others(const ErrorContext& context, JointErrors& errors) {
  constexpr double kLevel = 0.95;
  const double normal = 1.959964;
  std::vector<double> own;
  for (const EntryEvidence& one : errors.evidence) {
    const Limits limits = one.interval(kLevel);
    own.push_back(std::max(limits.upper - one.value(), one.value() - limits.lower) / normal);
  }
  for (const OtherMaximum& other : context.others) {
    const std::size_t n = other.states.size();
    for (std::size_t i = 0; i < errors.evidence.size(); ++i) {
      if (errors.evidence[i].is_certain()) continue;
      const std::size_t a = i / (n * n);
      const auto from = static_cast<std::size_t>(other.states[i / n % n]);
      const auto to = static_cast<std::size_t>(other.states[i % n]);
      const bool known = errors.determined[a * n + from] != 0;
      errors.evidence[i].add_opinion(other.at.values()[i],
                                     known ? own[(a * n + from) * n + to] : kNothing, other.fall);
    }
  }
}

}  // namespace

Summit make_summit(LikelihoodFunction objective, const TransitionModel& at,
                   const LikelihoodPass& pass) {
  Summit summit;
  summit.objective = std::move(objective);
  summit.at = at;
  summit.value = pass.log_likelihood;
  summit.slopes = pass.score;
  return summit;
}

Summit make_summit(LikelihoodFunction objective, const TransitionModel& at,
                   const LikelihoodPass& pass, Matrix information) {
  Summit summit = make_summit(std::move(objective), at, pass);
  summit.information = std::move(information);
  const auto n = static_cast<std::size_t>(at.num_states());
  const auto values = at.values();
  for (std::size_t first = 0; first < values.size(); first += n) {
    const auto row = values.subspan(first, n);
    summit.references.push_back(
        first + static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  summit.at_zero.assign(values.size(), 0);
  const FreeCoordinates all(at);
  std::vector<Eigen::Index> order(static_cast<std::size_t>(all.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return values[all.entry(a)] < values[all.entry(b)];
  });
  std::vector<double> mass(summit.references.size(), 0.0);  // of a row's entries at 0
  for (const Eigen::Index i : order) {
    const double value = values[all.entry(i)];
    const double slope = summit.slopes[all.entry(i)] - summit.slopes[all.reference(i)];
    double& sum = mass[all.entry(i) / n];
    const bool zero = sum + value < kLargestZero && value * std::abs(slope) < kSmall &&
                      value * value * summit.information(i, i) < kSmall;
    if (zero) sum += value;
    summit.at_zero[all.entry(i)] = zero;
  }
  return summit;
}

JointErrors likelihood_errors(const Summit& summit, const ErrorContext& context, int& passes) {
  EvidenceMaker maker(summit, context);
  const auto n = static_cast<std::size_t>(summit.at.num_states());
  JointErrors errors;
  errors.determined = determined_rows(summit, maker.all());
  for (std::size_t row = 0; row < context.made_up.size(); ++row) {
    if (context.made_up[row] != 0) errors.determined[row] = 0;
  }
  if (std::find(errors.determined.begin(), errors.determined.end(), 0) != errors.determined.end()) {
    maker.set_unknown_rows();
  }
  errors.factor = maker.factor();
  const auto values = summit.at.values();
  std::vector<char> open(errors.determined.size(), 0);  // not fixed by a structure
  for (Eigen::Index i = 0; i < maker.all().size(); ++i) open[maker.all().entry(i) / n] = 1;
  std::vector<std::size_t> doubtful;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool free = values[i] > 0.0 && open[i / n] != 0;
    const bool known = errors.determined[i / n] != 0;
    errors.evidence.push_back(free && known ? maker.make(i) : EntryEvidence::certain(values[i]));
    const bool safe = is_safe(errors.evidence.back()) && !maker.leans_on_bounds(i);
    if (free && known && !safe) doubtful.push_back(i);
  }
  ProfileLikelihood profile(summit, context.rows);
  for (const std::size_t i : doubtful) {
    if (profile.work() > kMostProfileWork) break;  // the shapes must do for the others
    measure_side(profile, i, false, errors.evidence[i]);
    measure_side(profile, i, true, errors.evidence[i]);
  }
  passes += profile.passes();
  look_from_inside(summit, context, maker, errors, passes);
  look_at_others(context, errors);
  return errors;
}

}  // namespace oas::detail
