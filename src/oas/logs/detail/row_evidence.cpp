#include "oas/logs/detail/row_evidence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

namespace {

constexpr double kEmpty = std::numeric_limits<double>::quiet_NaN();

}  // namespace

RowEvidence::RowEvidence(const ContinuousPomdp& model, Outliers outliers)
    : actions_(model.chain().actions()), states_(model.chain().states()), outliers_(outliers) {
  if (!model.has_sensors()) return;
  sensors_.emplace(model.sensors(), outliers.share);
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
  OAS_REQUIRE(parsed.ec == std::errc() && parsed.ptr == end, "{} {} is not a number", what,
              shown(text));
  OAS_REQUIRE(std::isfinite(value), "{} {} is not finite", what, shown(text));
  OAS_REQUIRE(!likelihoods_ || value >= 0.0, "{} {} is negative", what, shown(text));
  values_[static_cast<std::size_t>(column.index)] = value;
  ++filled_;
}

void RowEvidence::finish_row(LogBlock& block) {
  const std::size_t filled = std::exchange(filled_, 0);
  const auto n = static_cast<std::size_t>(states_.size());
  const std::size_t first = block.likelihoods.size();
  block.likelihoods.resize(first + n, 1.0);
  const std::span<double> out = std::span(block.likelihoods).subspan(first);
  bool seen = filled > 0;
  if (seen && likelihoods_) {
    OAS_REQUIRE(filled == values_.size(), "{} of {} likelihood cells are empty; all or none may be",
                values_.size() - filled, values_.size());
    std::copy(values_.begin(), values_.end(), out.begin());
    OAS_REQUIRE(*std::max_element(out.begin(), out.end()) > 0.0,
                "the likelihood is 0 in every state");
  } else if (seen && sensors_) {
    seen = judge_reading(block.rows.actions.back(), out);
  }
  block.rows.observations.push_back(seen ? Observation{0} : kMissing);
  if (!likelihoods_) {
    if (!seen) std::fill(values_.begin(), values_.end(), 0.0);
    block.readings.insert(block.readings.end(), values_.begin(), values_.end());
  }
  std::fill(values_.begin(), values_.end(), kEmpty);
}

// Whether the reading is to be believed. Where one cannot be, and that is allowed for, components
// that cannot be by themselves are left out, or else all of it.
bool RowEvidence::judge_reading(Action action, std::span<double> out) {
  (*sensors_)(action, values_, out);
  std::string fault = fault_of(out, action);
  if (fault.empty()) return true;
  OAS_REQUIRE(outliers_.kind != Outliers::Kind::error, "{}", fault);
  if (sensors_->leave_out_impossible(action, values_)) {
    (*sensors_)(action, values_, out);
    fault = fault_of(out, action);
  }
  const bool nothing_left =
      std::all_of(values_.begin(), values_.end(), [](double value) { return std::isnan(value); });
  if (fault.empty() && !nothing_left) return true;
  std::fill(out.begin(), out.end(), 1.0);
  return false;
}

// Empty: the reading can be.
std::string RowEvidence::fault_of(std::span<const double> likelihoods, Action action) const {
  const double largest = *std::max_element(likelihoods.begin(), likelihoods.end());
  if (!(largest > 0.0)) {
    return fmt::format("observation {} has density 0 in every state under action '{}'",
                       shown_reading(), actions_[action]);
  }
  if (!std::isfinite(largest)) {
    return fmt::format("observation {} has infinite density under action '{}'", shown_reading(),
                       actions_[action]);
  }
  return {};
}

std::string RowEvidence::shown_reading() const {
  const auto shown_value = [](double value) {
    return std::isnan(value) ? std::string("empty") : fmt::format("{}", value);
  };
  if (values_.size() == 1) return shown_value(values_.front());
  std::vector<std::string> words;
  for (const double value : values_) words.push_back(shown_value(value));
  return fmt::format("({})", fmt::join(words, ", "));
}

}  // namespace oas::detail
