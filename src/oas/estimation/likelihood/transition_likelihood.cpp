#include "oas/estimation/likelihood/transition_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/estimation/likelihood/detail/likelihood_pass.hpp"

namespace oas {

namespace {

constexpr std::size_t kMarkRows = std::size_t{1} << 17;

}  // namespace

detail::EmissionTable::EmissionTable(const ObservationModel& sensors, int stride) {
  const int num_observations = sensors.num_observations();
  for (Action a{0}; a < sensors.num_actions(); ++a) {
    for (int o = 0; o <= num_observations; ++o) {
      const std::size_t offset = values.size();
      values.resize(offset + static_cast<std::size_t>(stride), 0.0);
      for (State s{0}; s < sensors.num_states(); ++s) {
        values[offset + static_cast<std::size_t>(s)] =
            o == num_observations ? 1.0 : sensors(a, s, Observation{o});
      }
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(offset);
      const double largest = *std::max_element(first, values.end());
      log_largest.push_back(std::log(largest));
      if (largest > 0.0) {
        std::for_each(first, values.end(), [&](double& value) { value /= largest; });
      }
    }
  }
}

TransitionLikelihood::TransitionLikelihood(const Pomdp& model)
    : num_states_(model.num_states()),
      num_actions_(model.num_actions()),
      num_observations_(model.num_observations()),
      stride_((num_states_ + 3) / 4 * 4),
      timing_(model.timing()),
      start_(static_cast<std::size_t>(stride_)),
      emission_(std::make_shared<const detail::EmissionTable>(model.sensors(), stride_)),
      codes_(static_cast<std::uint64_t>(num_actions_) *
             (static_cast<std::uint64_t>(num_observations_) + 1)) {
  std::copy(model.start().begin(), model.start().end(), start_.begin());
  code_counts_.assign(emission_->log_largest.size(), 0);
}

TransitionLikelihood TransitionLikelihood::with_vectors(const Pomdp& chain) {
  TransitionLikelihood likelihood(chain);
  likelihood.vectors_ = true;
  return likelihood;
}

std::uint32_t TransitionLikelihood::code(Action action, Observation observation) const {
  OAS_REQUIRE(action >= 0 && action < num_actions_, "action is {}; there are {} actions",
              action.value(), num_actions_);
  OAS_REQUIRE(observation >= kMissing.value() && observation < num_observations_,
              "observation is {}; there are {} observations", observation.value(),
              num_observations_);
  const int column = observation == kMissing ? num_observations_ : observation.value();
  return static_cast<std::uint32_t>(action) * static_cast<std::uint32_t>(num_observations_ + 1) +
         static_cast<std::uint32_t>(column);
}

void TransitionLikelihood::start_run(RunStart start) {
  OAS_REQUIRE(start.fits(num_states_), "a run starts in a state that is none of the {}",
              num_states_);
  new_run_ = true;
  next_start_ = start;
}

void TransitionLikelihood::append(Action action, Observation observation) {
  const std::uint32_t row = code(action, observation);
  OAS_REQUIRE(std::isfinite(emission_->log_largest[row]),
              "row {}: observation {} has probability 0 in every state under action {}",
              codes_.size(), observation.value(), action.value());
  OAS_REQUIRE(!vectors_, "row {}: has no likelihoods", codes_.size());
  append_code(row);
}

void TransitionLikelihood::append_code(std::uint32_t code) {
  if (new_run_) {
    if (next_start_ != RunStart()) {
      starts_.resize(run_starts_.size());
      starts_.push_back(std::exchange(next_start_, {}));
    }
    run_starts_.push_back(codes_.size());
  }
  new_run_ = false;
  codes_.push_back(code);
  ++code_counts_[code];
  if (codes_.size() % kMarkRows == 0) {
    marks_.insert(marks_.end(), code_counts_.begin(), code_counts_.end());
  }
}

void TransitionLikelihood::append(Action action, std::span<const double> likelihoods) {
  OAS_REQUIRE(vectors_ && likelihoods.size() == static_cast<std::size_t>(num_states_),
              "row {}: {} likelihoods for {} states", codes_.size(), likelihoods.size(),
              num_states_);
  require_room(1);
  double largest = 0.0;
  for (const double value : likelihoods) {
    OAS_REQUIRE(value >= 0.0 && std::isfinite(value),
                "row {}: likelihood {} is negative or not finite", codes_.size(), value);
    largest = std::max(largest, value);
  }
  OAS_REQUIRE(largest > 0.0, "row {}: the likelihood is 0 in every state", codes_.size());
  append_code(code(action, kMissing));
  missing_vectors_ += std::all_of(likelihoods.begin(), likelihoods.end(),
                                  [&](double value) { return value == largest; });
  for (const double value : likelihoods) row_emission_.push_back(value / largest);
  row_emission_.resize(codes_.size() * static_cast<std::size_t>(stride_), 0.0);
  row_log_largest_.push_back(std::log(largest));
}

void TransitionLikelihood::append(std::span<const Action> actions,
                                  std::span<const Observation> observations) {
  OAS_REQUIRE(actions.size() == observations.size(), "{} actions and {} observations",
              actions.size(), observations.size());
  for (std::size_t t = 0; t < actions.size(); ++t) append(actions[t], observations[t]);
}

void TransitionLikelihood::append(const TransitionLikelihood& other, std::size_t first,
                                  std::size_t count, bool goes_on) {
  OAS_REQUIRE(num_states_ == other.num_states_ && num_actions_ == other.num_actions_ &&
                  num_observations_ == other.num_observations_ && vectors_ == other.vectors_,
              "rows of different models cannot be put together");
  OAS_REQUIRE(first <= other.rows() && count <= other.rows() - first, "rows {} to {} of {}", first,
              first + count, other.rows());
  require_room(count);
  const auto end = other.run_starts_.end();
  auto run = std::lower_bound(other.run_starts_.begin(), end, first);
  for (std::size_t row = first; row < first + count; ++row) {
    if (run != end && *run == row) {
      const auto index = static_cast<std::size_t>(run++ - other.run_starts_.begin());
      if (row > first || !goes_on) start_run(other.start_of(index));
    }
    append_code(other.codes_[row]);
  }
  if (!vectors_) return;
  const auto append = [&](const std::vector<double>& from, std::vector<double>& to,
                          std::size_t width) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first * width);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count * width));
  };
  const auto width = static_cast<std::size_t>(stride_);
  append(other.row_emission_, row_emission_, width);
  append(other.row_log_largest_, row_log_largest_, 1);
  for (std::size_t row = rows() - count; row < rows(); ++row) {
    const double* const likelihoods = row_emission_.data() + row * width;
    missing_vectors_ += std::all_of(likelihoods, likelihoods + num_states_,
                                    [](double value) { return value == 1.0; });
  }
}

void TransitionLikelihood::reserve(std::size_t rows) {
  codes_.reserve(rows);
  if (!vectors_) return;
  row_emission_.reserve(rows * static_cast<std::size_t>(stride_));
  row_log_largest_.reserve(rows);
}

void TransitionLikelihood::require_room(std::size_t rows) const {
  OAS_REQUIRE(!vectors_ || (codes_.size() + rows) * static_cast<std::size_t>(stride_) <=
                               std::numeric_limits<std::uint32_t>::max(),
              "{} rows with likelihoods are too many for the memory of one pass", codes_.size());
}

void TransitionLikelihood::save(ByteWriter& out) const {
  std::vector<std::uint32_t> codes(rows());
  for (std::size_t row = 0; row < codes.size(); ++row) codes[row] = codes_[row];
  out.put_all(codes);
  out.put_all(run_starts_);
  save_all(starts_, out);
  out.put_all(row_emission_);
  out.put_all(row_log_largest_);
  out.put(static_cast<std::uint64_t>(missing_vectors_));
}

void TransitionLikelihood::load(ByteReader& in) {
  clear();
  const auto codes = in.get_all<std::uint32_t>();
  const auto starts = in.get_all<std::size_t>();
  const auto kinds = load_starts(in);
  std::size_t run = 0;
  for (std::size_t row = 0; row < codes.size(); ++row) {
    OAS_REQUIRE(codes[row] < code_counts_.size(), "saved row {} is {}, of {} kinds", row,
                codes[row], code_counts_.size());
    if (run < starts.size() && starts[run] == row) {
      start_run(run < kinds.size() ? kinds[run] : RunStart());
      ++run;
    }
    append_code(codes[row]);
  }
  OAS_REQUIRE(run == starts.size() && run_starts_ == starts, "saved run starts are damaged");
  const std::size_t rows = vectors_ ? codes.size() : 0;
  row_emission_ = in.get_all<double>(rows * static_cast<std::size_t>(stride_));
  row_log_largest_ = in.get_all<double>(rows);
  missing_vectors_ =
      static_cast<std::size_t>(in.get_integer(0, static_cast<std::int64_t>(codes.size())));
}

void TransitionLikelihood::clear() {
  codes_.clear();
  run_starts_.clear();
  starts_.clear();
  row_emission_.clear();
  row_log_largest_.clear();
  missing_vectors_ = 0;
  code_counts_.assign(code_counts_.size(), 0);
  marks_.clear();
  new_run_ = true;
  next_start_ = {};
}

std::size_t TransitionLikelihood::missing() const {
  if (vectors_) return missing_vectors_;
  std::int64_t sum = 0;
  for (int a = 0; a < num_actions_; ++a) {
    sum += code_counts_[code(Action{a}, kMissing)];
  }
  return static_cast<std::size_t>(sum);
}

RunLengths TransitionLikelihood::run_lengths() const {
  RunLengths lengths;
  for (std::size_t run = 0; run < run_starts_.size(); ++run) {
    const std::size_t end = run + 1 < run_starts_.size() ? run_starts_[run + 1] : codes_.size();
    ++lengths[static_cast<std::int64_t>(end - run_starts_[run])];
  }
  return lengths;
}

std::vector<std::int64_t> TransitionLikelihood::transitions() const {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(num_actions_), 0);
  const auto width = static_cast<std::size_t>(num_observations_) + 1;
  for (std::size_t code = 0; code < code_counts_.size(); ++code) {
    counts[code / width] += code_counts_[code];
  }
  if (timing_ == Timing::before) {  // nothing is seen of where the last row led to
    for (std::size_t run = 0; run < run_starts_.size(); ++run) {
      const std::size_t end = run + 1 < run_starts_.size() ? run_starts_[run + 1] : codes_.size();
      --counts[codes_[end - 1] / width];
    }
  }
  return counts;
}

std::vector<std::int64_t> TransitionLikelihood::codes_before(std::size_t end) const {
  if (end == rows()) return code_counts_;
  std::vector<std::int64_t> counts(code_counts_.size(), 0);
  const std::size_t mark = end / kMarkRows;
  if (mark > 0) {
    std::copy_n(marks_.data() + (mark - 1) * counts.size(), counts.size(), counts.begin());
  }
  for (std::size_t row = mark * kMarkRows; row < end; ++row) ++counts[codes_[row]];
  return counts;
}

LikelihoodPass TransitionLikelihood::pass(const TransitionModel& transition,
                                          const PassOptions& options,
                                          Parallelism parallelism) const {
  OAS_REQUIRE(transition.num_states() == num_states_ && transition.num_actions() == num_actions_,
              "a transition model of {} states and {} actions for {} and {}",
              transition.num_states(), transition.num_actions(), num_states_, num_actions_);
  OAS_REQUIRE(options.batches >= 0, "batches is {}; it must not be negative", options.batches);
  for (const std::size_t row : options.never_left) {
    OAS_REQUIRE(row < static_cast<std::size_t>(num_states_ * num_actions_),
                "never_left names row {} of {}", row, num_states_ * num_actions_);
  }
  OAS_REQUIRE(!options.known_zeros || options.known_zeros->size() == transition.values().size(),
              "known_zeros has {} entries for {}", options.known_zeros->size(),
              transition.values().size());
  const std::size_t end_row = std::min(options.end_row, rows());
  OAS_REQUIRE(options.first_row <= end_row, "rows {} to {} of {}", options.first_row,
              options.end_row, rows());
  OAS_REQUIRE(options.rows_ahead == 0 || options.rows_ahead < end_row - options.first_row,
              "{} rows ahead, but only {} rows", options.rows_ahead, end_row - options.first_row);
  OAS_REQUIRE(options.first_belief.empty() ||
                  options.first_belief.size() == static_cast<std::size_t>(num_states_),
              "a first belief over {} states for {}", options.first_belief.size(), num_states_);
  OAS_REQUIRE(
      !vectors_ || (!options.sensors && !options.emissions),
      "rows that bring their likelihoods have no other sensors, and no counts of emissions");
  const bool weighted = options.forgetting.active() || options.mean_weight;
  OAS_REQUIRE(!options.emissions || !weighted, "there are no counts of emissions with weights");
  OAS_REQUIRE(!options.mean_weight || !options.forgetting.active(),
              "weights come by age or by another rule, not both");
  OAS_REQUIRE(!options.sensors || (options.sensors->num_states() == num_states_ &&
                                   options.sensors->num_actions() == num_actions_ &&
                                   options.sensors->num_observations() == num_observations_),
              "sensors are {}x{}x{} (actions, states, observations) where the rows have {}, {}, {}",
              options.sensors->num_actions(), options.sensors->num_states(),
              options.sensors->num_observations(), num_actions_, num_states_, num_observations_);
  return LikelihoodPassRunner(*this, transition, options, parallelism).run();
}

std::vector<double> TransitionLikelihood::guess_last_belief(const TransitionModel& transition,
                                                            const PassOptions& options) const {
  return LikelihoodPassRunner(*this, transition, options, {1}).guess_last_belief();
}

}  // namespace oas
