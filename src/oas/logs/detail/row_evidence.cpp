#include "oas/logs/detail/row_evidence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

namespace {

std::string shown_reading(std::span<const double> reading) {
  return reading.size() == 1 ? fmt::format("{}", reading.front())
                             : fmt::format("({})", fmt::join(reading, ", "));
}

}  // namespace

RowEvidence::RowEvidence(const ContinuousPomdp& model)
    : actions_(model.chain().actions()),
      states_(model.chain().states()),
      first_(model.first_density()),
      reading_first_(model.chain().reading_first()) {
  if (model.has_sensors()) sensors_ = model.sensors();
}

ContinuousColumns RowEvidence::columns() const {
  return {sensors_ ? sensors_->dimension() : 0, &states_};
}

void RowEvidence::set_kind(bool likelihoods) {
  likelihoods_ = likelihoods;
  values_.resize(static_cast<std::size_t>(likelihoods ? states_.size() : sensors_->dimension()));
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
  OAS_REQUIRE(filled == 0 || filled == values_.size(),
              "{} of {} {} cells are empty; all or none may be", values_.size() - filled,
              values_.size(), likelihoods_ ? "likelihood" : "observation");
  block.rows.observations.push_back(filled == 0 ? kMissing : Observation{0});
  const auto n = static_cast<std::size_t>(states_.size());
  if (filled == 0) std::fill(values_.begin(), values_.end(), 0.0);
  if (!likelihoods_) block.readings.insert(block.readings.end(), values_.begin(), values_.end());
  if (reading_first_ && !likelihoods_) return;
  if (filled == 0) {
    block.likelihoods.insert(block.likelihoods.end(), n, 1.0);
  } else if (likelihoods_) {
    OAS_REQUIRE(*std::max_element(values_.begin(), values_.end()) > 0.0,
                "the likelihood is 0 in every state");
    block.likelihoods.insert(block.likelihoods.end(), values_.begin(), values_.end());
  } else {
    append_likelihoods(block.rows.actions.back(), values_, block.likelihoods);
  }
}

void RowEvidence::append_likelihoods(Action action, std::span<const double> reading,
                                     std::vector<double>& out) const {
  const std::size_t first = out.size();
  out.resize(first + static_cast<std::size_t>(states_.size()));
  const bool has_action = action >= 0;
  const DensitySensors& sensors = has_action ? *sensors_ : *first_;
  sensors.likelihood(has_action ? action : Action{0}, reading, std::span(out).subspan(first));
  const double largest =
      *std::max_element(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  if (largest > 0.0 && std::isfinite(largest)) return;
  throw_invalid_argument(fmt::format(
      "observation {} has {} {}", shown_reading(reading),
      largest > 0.0 ? "infinite density" : "density 0 in every state",
      has_action ? fmt::format("under action '{}'", actions_[action]) : "as a first reading"));
}

}  // namespace oas::detail
