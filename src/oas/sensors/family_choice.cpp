#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "oas/core/contracts.hpp"
#include "oas/sensors/detail/family_choice.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kFolds = 10;
constexpr std::size_t kMostForChoice = 2000;  // readings of a group
constexpr double kLeastLog = -700.0;          // of a density that is 0 as a double
constexpr std::string_view kJoint = "joint-normal";

double log_density(double density) {
  return density > 0.0 ? std::max(std::log(density), kLeastLog) : kLeastLog;
}

std::optional<DensityFamily> family_named(std::string_view name) {
  for (const DensityFamily family : kDensityFamilies) {
    if (to_string(family) == name) return family;
  }
  return {};
}

// Some of many rows of `width` numbers, evenly spread.
std::vector<double> thinned(const std::vector<double>& values, std::size_t width) {
  const std::size_t rows = values.size() / width;
  if (rows <= kMostForChoice) return values;
  std::vector<double> some;
  for (std::size_t i = 0; i < kMostForChoice; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(i * rows / kMostForChoice * width);
    some.insert(some.end(), values.begin() + first,
                values.begin() + first + static_cast<std::ptrdiff_t>(width));
  }
  return some;
}

// Log-densities of rows of `width` numbers under what was fitted to the other folds. Rows of a fold
// are kFolds apart.
template <class Fit, class Score>
void hold_out_folds(const std::vector<double>& values, std::size_t width, const Fit& fit,
                    const Score& score, std::vector<double>& out) {
  const std::size_t rows = values.size() / width;
  const std::size_t folds = std::min(kFolds, rows);
  const std::size_t first_out = out.size();
  out.resize(first_out + rows);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<double> others;
    for (std::size_t t = 0; t < rows; ++t) {
      const auto row = std::span(values).subspan(t * width, width);
      if (t % folds != fold) others.insert(others.end(), row.begin(), row.end());
    }
    const auto density = fit(others);
    for (std::size_t t = fold; t < rows; t += folds) {
      out[first_out + t] = score(density, std::span(values).subspan(t * width, width));
    }
  }
}

double mean_of_scores(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

}  // namespace

FamilyChoice::FamilyChoice(const LabelledReadings& readings, const Pomdp& model,
                           const DensityCalibrationOptions& options, Parallelism parallelism)
    : readings_(readings), model_(model) {
  read_wish(options.family);
  rivals_.resize(static_cast<std::size_t>(readings_.dimension));
  for (int i = 0; i < readings_.dimension; ++i) {
    std::vector<double> all;
    samples_.emplace_back();
    for (Action a{0}; a < readings_.num_actions; ++a) {
      for (State s{0}; s < readings_.num_states; ++s) {
        samples_.back().push_back({a, s, readings_.component(a, s, i)});
        const std::vector<double>& values = samples_.back().back().group.values;
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    resolution_.push_back(resolution_of(std::move(all)));
  }
  for (int i = 0; i < readings_.dimension; ++i) choose_component(i, parallelism);
  consider_joint();
  fit();
}

void FamilyChoice::read_wish(const std::string& family) {
  wish_.assign(static_cast<std::size_t>(readings_.dimension), {});
  joint_wished_ = family == kJoint;
  if (family == "auto") return;
  if (joint_wished_) {
    OAS_REQUIRE(readings_.dimension > 1,
                "family {} is for vectors, and readings are single numbers; use normal", kJoint);
    wish_.assign(wish_.size(), DensityFamily::normal);  // what it needs of every component
    return;
  }
  std::vector<std::string> names(1);
  for (const char c : family) {
    if (c == '+') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (names.size() == 1) names.assign(wish_.size(), names.front());
  OAS_REQUIRE(names.size() == wish_.size(), "family {} names {} components where readings have {}",
              family, names.size(), wish_.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "auto") continue;
    wish_[i] = family_named(names[i]);
    OAS_REQUIRE(wish_[i].has_value(),
                "family '{}' is not one of auto, normal, log-normal, gamma, poisson, "
                "mixture, kernel, {}",
                names[i], kJoint);
  }
}

std::string FamilyChoice::name_of(Action action, State state) const {
  if (readings_.num_actions == 1) return fmt::format("state '{}'", model_.states()[state]);
  if (action >= model_.num_actions()) {
    return fmt::format("first readings of runs, state '{}'", model_.states()[state]);
  }
  return fmt::format("action '{}', state '{}'", model_.actions()[action], model_.states()[state]);
}

void FamilyChoice::fail(const Sample& sample, int i, const SampleFault& fault) const {
  const auto c = static_cast<std::size_t>(i);
  std::string message = fmt::format("column '{}', {}: {}", readings_.columns[c],
                                    name_of(sample.action, sample.state), fault.message);
  if (!fault.reading) {
    throw InvalidArgument(fmt::format("{}: {}", fmt::join(readings_.files, ", "), message));
  }
  const ReadingPlace& place = sample.group.places[*fault.reading];
  throw ParseError(readings_.files[place.file], place.line, readings_.fields[c], message);
}

bool FamilyChoice::can_fit(DensityFamily family, int i) const {
  const auto& samples = samples_[static_cast<std::size_t>(i)];
  return std::none_of(samples.begin(), samples.end(), [&](const Sample& sample) {
    return fault_of_sample(family, sample.group.values).has_value();
  });
}

void FamilyChoice::require_fit(DensityFamily family, int i) const {
  for (const Sample& sample : samples_[static_cast<std::size_t>(i)]) {
    const auto fault = fault_of_sample(family, sample.group.values);
    if (fault) fail(sample, i, *fault);
  }
}

FamilyChoice::HeldOut FamilyChoice::hold_out(DensityFamily family, int i) const {
  HeldOut result;
  const double resolution = resolution_[static_cast<std::size_t>(i)];
  for (const Sample& sample : samples_[static_cast<std::size_t>(i)]) {
    auto fault = fault_of_sample(family, sample.group.values);
    const auto fit_others = [&](const std::vector<double>& others) -> std::optional<Density> {
      if (others.size() >= fewest_readings(family) && !fault) {
        fault = fault_of_sample(family, others);
      }
      if (fault) return {};
      return fit_density(family, others, resolution);
    };
    const auto score = [](const std::optional<Density>& density, std::span<const double> x) {
      return density ? log_density((*density)(x[0])) : 0.0;
    };
    if (!fault) {
      hold_out_folds(thinned(sample.group.values, 1), 1, fit_others, score, result.scores);
    }
    if (fault) {
      result.left_out = fmt::format("{}: {}", name_of(sample.action, sample.state), fault->message);
      return result;
    }
  }
  return result;
}

void FamilyChoice::choose_component(int i, Parallelism parallelism) {
  const auto c = static_cast<std::size_t>(i);
  scores_.emplace_back();
  if (wish_[c]) {
    require_fit(*wish_[c], i);
    chosen_.push_back(*wish_[c]);
    scores_.back().push_back({std::string(to_string(*wish_[c])),
                              mean_of_scores(hold_out(*wish_[c], i).scores),
                              0.0,
                              0.0,
                              true,
                              {}});
    return;
  }
  constexpr std::size_t kCount = std::size(kDensityFamilies);
  // What no family can do without; but counts may all be 0.
  if (!can_fit(DensityFamily::poisson, i)) require_fit(DensityFamily::normal, i);
  std::vector<HeldOut> held(kCount);
  parallel_for(kCount, parallelism,
               [&](std::size_t f) { held[f] = hold_out(kDensityFamilies[f], i); });
  FamilyRivals& rivals = rivals_[c];
  for (std::size_t f = 0; f < kCount; ++f) {
    if (held[f].left_out.empty()) rivals.add(kDensityFamilies[f], std::move(held[f].scores));
  }
  OAS_REQUIRE(rivals.has_simple(), "column '{}': no density can be fitted: {}",
              readings_.columns[c], held.front().left_out);
  chosen_.push_back(rivals.choice());
  for (std::size_t f = 0; f < kCount; ++f) {
    FamilyScore score;
    score.family = to_string(kDensityFamilies[f]);
    score.left_out = held[f].left_out;
    if (score.left_out.empty()) {
      const std::vector<double>& own = rivals.scores(kDensityFamilies[f]);
      score.score = mean_of_scores(own);
      std::tie(score.behind, score.error) = mean_difference(rivals.scores(rivals.best()), own);
    }
    score.chosen = kDensityFamilies[f] == chosen_.back();
    scores_.back().push_back(std::move(score));
  }
}

// Of rows that are complete, the sum over components.
std::vector<double> FamilyChoice::rows_of_product() const {
  std::vector<double> total;
  const auto d = static_cast<std::size_t>(readings_.dimension);
  for (const Sample& group : samples_.front()) {
    const std::vector<double> rows =
        thinned(readings_.complete(group.action, group.state).values, d);
    hold_out_folds(
        rows, d,
        [&](const std::vector<double>& others) {
          std::vector<Density> parts;
          for (std::size_t c = 0; c < d; ++c) {
            std::vector<double> values;
            for (std::size_t k = c; k < others.size(); k += d) values.push_back(others[k]);
            parts.push_back(fit_density(chosen_[c], values, resolution_[c]));
          }
          return VectorDensity(std::move(parts));
        },
        [](const VectorDensity& density, std::span<const double> x) {
          return log_density(density(x));
        },
        total);
  }
  return total;
}

FamilyChoice::HeldOut FamilyChoice::hold_out_joint() const {
  HeldOut result;
  const auto d = static_cast<std::size_t>(readings_.dimension);
  for (const Sample& group : samples_.front()) {
    const ReadingGroup complete = readings_.complete(group.action, group.state);
    std::size_t fewest = fewest_for_joint(readings_.dimension) + 1;
    for (const DensityFamily family : chosen_) fewest = std::max(fewest, fewest_readings(family));
    if (complete.size() < fewest) {
      result.left_out = fmt::format("{}: {} complete readings; at least {} are needed",
                                    name_of(group.action, group.state), complete.size(), fewest);
      return result;
    }
    try {
      hold_out_folds(
          thinned(complete.values, d), d,
          [&](const std::vector<double>& others) {
            return fit_joint_normal(others, readings_.dimension);
          },
          [](const VectorDensity& density, std::span<const double> x) {
            return log_density(density(x));
          },
          result.scores);
    } catch (const InvalidArgument& error) {
      result.left_out = fmt::format("{}: {}", name_of(group.action, group.state), error.what());
      return result;
    }
  }
  return result;
}

void FamilyChoice::consider_joint() {
  if (readings_.dimension == 1) return;
  const bool free = std::none_of(wish_.begin(), wish_.end(),
                                 [](const auto& family) { return family.has_value(); });
  if (!free && !joint_wished_) return;
  const HeldOut joint = hold_out_joint();
  OAS_REQUIRE(!joint_wished_ || joint.left_out.empty(), "{}: a {} density cannot be fitted: {}",
              fmt::join(readings_.files, ", "), kJoint, joint.left_out);
  FamilyScore score;
  score.family = kJoint;
  score.left_out = joint.left_out;
  if (joint_wished_) {
    score.score = mean_of_scores(joint.scores);
    joint_ = score.chosen = true;
    scores_ = {{score}};
    return;
  }
  FamilyScore product;
  product.family = "independent components";
  product.chosen = true;
  if (joint.left_out.empty()) {
    const std::vector<double> alone = rows_of_product();
    product.score = mean_of_scores(alone);
    score.score = mean_of_scores(joint.scores);
    const auto [gain, error] = mean_difference(joint.scores, alone);
    for (std::size_t t = 0; t < alone.size(); ++t) {
      joint_gains_.push_back(joint.scores[t] - alone[t]);
    }
    (gain > 0.0 ? product : score).behind = std::abs(gain);
    (gain > 0.0 ? product : score).error = error;
    joint_ = gain > 0.0;  // to miss a dependence costs more than a few covariances too many
    product.chosen = !joint_;
    score.chosen = joint_;
  }
  scores_.push_back({product, score});
}

VectorDensity FamilyChoice::fit_joint(std::size_t group) const {
  const Sample& sample = samples_.front()[group];
  return fit_joint_normal(readings_.complete(sample.action, sample.state).values,
                          readings_.dimension);
}

void FamilyChoice::fit() {
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    const auto families =
        rivals_[c].empty() ? std::vector<DensityFamily>{chosen_[c]} : rivals_[c].in_doubt();
    parts_.emplace_back();
    for (const DensityFamily family : families) {
      for (const Sample& sample : samples_[c]) {
        parts_[c][family].push_back(fit_density(family, sample.group.values, resolution_[c]));
      }
    }
  }
  for (std::size_t g = 0; g < samples_.front().size(); ++g) {
    if (joint_) {
      fitted_.push_back(fit_joint(g));
      continue;
    }
    std::vector<Density> parts;
    for (std::size_t c = 0; c < samples_.size(); ++c) parts.push_back(parts_[c][chosen_[c]][g]);
    fitted_.emplace_back(std::move(parts));
  }
}

bool FamilyChoice::draw_joint(Rng& rng) const {
  if (joint_gains_.empty()) return joint_;
  const std::vector<double> weights = bootstrap_weights(joint_gains_.size(), rng);
  return std::inner_product(weights.begin(), weights.end(), joint_gains_.begin(), 0.0) > 0.0;
}

std::vector<VectorDensity> FamilyChoice::draw(Rng& rng) const {
  const bool joint = draw_joint(rng);
  std::vector<DensityFamily> families = chosen_;
  for (std::size_t c = 0; c < families.size(); ++c) {
    if (!rivals_[c].empty()) families[c] = rivals_[c].draw(rng);
  }
  std::vector<VectorDensity> result;
  for (std::size_t g = 0; g < fitted_.size(); ++g) {
    const Sample& group = samples_.front()[g];
    if (joint) {
      result.push_back(draw_joint_normal(readings_.complete(group.action, group.state).values,
                                         readings_.dimension, rng));
      continue;
    }
    std::vector<Density> parts;
    for (std::size_t c = 0; c < samples_.size(); ++c) {
      parts.push_back(draw_density(families[c], parts_[c].at(families[c])[g],
                                   samples_[c][g].group.values, resolution_[c], rng));
    }
    result.emplace_back(std::move(parts));
  }
  return result;
}

std::vector<std::string> FamilyChoice::families() const {
  if (joint_) return {std::string(kJoint)};
  std::vector<std::string> names;
  for (const DensityFamily family : chosen_) names.emplace_back(to_string(family));
  return names;
}

}  // namespace oas::detail
