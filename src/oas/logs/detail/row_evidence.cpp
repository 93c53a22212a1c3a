#include "oas/logs/detail/row_evidence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "oas/core/contracts.hpp"
#include "oas/logs/detail/cells.hpp"

namespace oas::detail {

RowEvidence::RowEvidence(const ContinuousPomdp& model)
    : actions_(model.chain().actions()), states_(model.chain().states()) {
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
  if (filled == 0) {
    block.likelihoods.insert(block.likelihoods.end(), n, 1.0);
  } else {
    append_likelihoods(block.rows, block.likelihoods);
  }
}

void RowEvidence::append_likelihoods(const Trajectory& rows, std::vector<double>& out) const {
  const std::size_t first = out.size();
  if (likelihoods_) {
    out.insert(out.end(), values_.begin(), values_.end());
  } else {
    out.resize(first + static_cast<std::size_t>(states_.size()));
    sensors_->likelihood(rows.actions.back(), values_, std::span(out).subspan(first));
  }
  const double largest =
      *std::max_element(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  if (likelihoods_) {
    OAS_REQUIRE(largest > 0.0, "the likelihood is 0 in every state");
    return;
  }
  const auto action = [&] { return actions_[rows.actions.back()]; };
  OAS_REQUIRE(largest > 0.0, "observation {} has density 0 in every state under action '{}'",
              shown_reading(), action());
  OAS_REQUIRE(std::isfinite(largest), "observation {} has infinite density under action '{}'",
              shown_reading(), action());
}

std::string RowEvidence::shown_reading() const {
  return values_.size() == 1 ? fmt::format("{}", values_.front())
                             : fmt::format("({})", fmt::join(values_, ", "));
}

}  // namespace oas::detail
