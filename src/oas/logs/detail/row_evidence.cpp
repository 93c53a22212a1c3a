#include "oas/logs/detail/row_evidence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"
#include "oas/logs/detail/dialect.hpp"

namespace oas::detail {

namespace {

constexpr double kEmpty = std::numeric_limits<double>::quiet_NaN();

std::string shown_value(double value) {
  return std::isnan(value) ? std::string("empty") : fmt::format("{}", value);
}

std::string shown_reading(std::span<const double> reading) {
  if (reading.size() == 1) return shown_value(reading.front());
  std::vector<std::string> words;
  for (const double value : reading) words.push_back(shown_value(value));
  return fmt::format("({})", fmt::join(words, ", "));
}

}  // namespace

RowEvidence::RowEvidence(const ContinuousPomdp& model, Outliers outliers)
    : actions_(model.chain().actions()),
      states_(model.chain().states()),
      outliers_(outliers),
      later_(model.chain().reading_first()) {
  if (!model.has_sensors()) return;
  sensors_.emplace(model.sensors(), outliers.share);
  if (model.first_density()) first_.emplace(*model.first_density(), outliers.share);
  dimension_ = model.sensors().dimension();
}

RowEvidence::RowEvidence(const Pomdp& model, int dimension)
    : actions_(model.actions()), states_(model.states()), dimension_(dimension) {}

ContinuousColumns RowEvidence::columns() const { return {dimension_, &states_}; }

void RowEvidence::set_kind(bool likelihoods) {
  likelihoods_ = likelihoods;
  values_.assign(static_cast<std::size_t>(likelihoods ? states_.size() : dimension_), kEmpty);
}

void RowEvidence::forget_row() {
  filled_ = 0;
  std::fill(values_.begin(), values_.end(), kEmpty);
}

void RowEvidence::read_cell(HeaderColumn column, const char*& position) {
  const char* const what = likelihoods_ ? "likelihood" : "observation";
  const std::string_view text = next_cell(position, scratch_);
  if (text.empty()) return;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  OAS_REQUIRE(parsed.ec == std::errc() && parsed.ptr == end, "{} {} is not a number{}", what,
              shown(text), number_hint(text, true));
  OAS_REQUIRE(std::isfinite(value), "{} {} is not finite", what, shown(text));
  OAS_REQUIRE(!likelihoods_ || value >= 0.0, "{} {} is negative", what, shown(text));
  values_[static_cast<std::size_t>(column.index)] = value;
  ++filled_;
}

void RowEvidence::finish_row(LogBlock& block) {
  const std::size_t filled = std::exchange(filled_, 0);
  const bool seen = filled > 0;
  block.rows.observations.push_back(seen ? Observation{0} : kMissing);
  if (likelihoods_) {
    if (seen) {
      OAS_REQUIRE(filled == values_.size(),
                  "{} of {} likelihood cells are empty; all or none may be",
                  values_.size() - filled, values_.size());
      OAS_REQUIRE(*std::max_element(values_.begin(), values_.end()) > 0.0,
                  "the likelihood is 0 in every state");
    } else {
      std::fill(values_.begin(), values_.end(), 1.0);
    }
    block.likelihoods.insert(block.likelihoods.end(), values_.begin(), values_.end());
  } else {
    if (!seen) std::fill(values_.begin(), values_.end(), 0.0);
    block.readings.insert(block.readings.end(), values_.begin(), values_.end());
    if (!later_) judge_last(block, block.rows.actions.back());
  }
  std::fill(values_.begin(), values_.end(), kEmpty);
}

void RowEvidence::judge_last(LogBlock& block, Action action) const {
  const auto n = static_cast<std::size_t>(states_.size());
  block.likelihoods.resize(block.likelihoods.size() + n, 1.0);
  if (block.rows.observations.back() == kMissing) return;
  const auto reading = std::span(block.readings).last(static_cast<std::size_t>(dimension_));
  if (judge(action, reading, std::span(block.likelihoods).last(n))) return;
  std::fill(reading.begin(), reading.end(), 0.0);
  block.rows.observations.back() = kMissing;
}

bool RowEvidence::same_sensor(Action one, Action other) const {
  if (likelihoods_ || !sensors_) return true;
  for (State s{0}; s < states_.size(); ++s) {
    if (!(sensors_->sensors()(one, s) == sensors_->sensors()(other, s))) return false;
  }
  return true;
}

// Where a reading cannot be, and that is allowed for, components that cannot be by themselves are
// left out, or else all of it.
bool RowEvidence::judge(Action action, std::span<double> reading, std::span<double> out) const {
  std::fill(out.begin(), out.end(), 1.0);
  if (!sensors_) return true;
  const ReadingLikelihood& sensors = action >= 0 ? *sensors_ : *first_;
  const Action of = action >= 0 ? action : Action{0};
  sensors(of, reading, out);
  std::string fault = fault_of(reading, out, action);
  if (fault.empty()) return true;
  OAS_REQUIRE(outliers_.kind != Outliers::Kind::error, "{}", fault);
  if (sensors.leave_out_impossible(of, reading)) {
    sensors(of, reading, out);
    fault = fault_of(reading, out, action);
  }
  const bool nothing_left =
      std::all_of(reading.begin(), reading.end(), [](double value) { return std::isnan(value); });
  if (fault.empty() && !nothing_left) return true;
  std::fill(out.begin(), out.end(), 1.0);
  return false;
}

// Empty: the reading can be.
std::string RowEvidence::fault_of(std::span<const double> reading,
                                  std::span<const double> likelihoods, Action action) const {
  const double largest = *std::max_element(likelihoods.begin(), likelihoods.end());
  if (largest > 0.0 && std::isfinite(largest)) return {};
  return fmt::format(
      "observation {} has {} {}", shown_reading(reading),
      largest > 0.0 ? "infinite density" : "density 0 in every state",
      action >= 0 ? fmt::format("under action '{}'", actions_[action]) : "as a first reading");
}

}  // namespace oas::detail
