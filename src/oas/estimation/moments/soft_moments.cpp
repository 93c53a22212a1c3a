#include "oas/estimation/moments/detail/soft_moments.hpp"

#include <algorithm>
#include <cmath>

namespace oas::detail {

namespace {

// A sensor for first readings that tells nothing, where they need one.
std::optional<ObservationModel> nothing_known(const Pomdp& chain) {
  if (!chain.reading_first()) return {};
  const int n = chain.num_states();
  const auto size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  return ObservationModel(n, 1, n, std::vector<double>(size, 1.0 / n));
}

}  // namespace

SoftMoments::SoftMoments(const ContinuousPomdp& model, const FoldOptions& fold,
                         std::size_t memory_limit, std::int64_t first_run)
    : model_(model),
      // What features first readings have in the mean only densities tell.
      folder_(model.num_states(), model.num_actions(), model.timing(), fold, first_run,
              model.first_density().has_value()),
      sample_(model.num_states(), model.num_actions(), memory_limit) {}

bool SoftMoments::fits(const ContinuousPomdp& model) {
  return static_cast<long>(model.num_states()) * model.num_actions() <= SoftFolder::kMaxSymbols;
}

void SoftMoments::add(const RowBlock& given) {
  RowBlock rows = given;
  leave_out_partly_seen(rows);
  folder_.add(rows);
  // Densities say what the means are; likelihoods alone do not.
  if (!rows.readings.empty()) return;
  const auto n = static_cast<std::size_t>(model_.num_states());
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (rows.observations[t] == kMissing) continue;
    const auto row = rows.likelihoods.subspan(t * n, n);
    features_.assign(row.begin(), row.end());
    to_soft_features(features_);
    sample_.add(rows.actions[t], features_);
  }
}

void SoftMoments::leave_out_partly_seen(RowBlock& rows) {
  if (std::none_of(rows.readings.begin(), rows.readings.end(),
                   [](double value) { return std::isnan(value); })) {
    return;
  }
  seen_.assign(rows.observations.begin(), rows.observations.end());
  const std::size_t d = rows.readings.size() / rows.size();
  for (std::size_t i = 0; i < rows.readings.size(); ++i) {
    if (std::isnan(rows.readings[i])) seen_[i / d] = kMissing;
  }
  rows.observations = seen_;
}

void SoftMoments::merge(const SoftMoments& other) {
  folder_.merge(other.folder_);
  sample_.append(other.sample_);
}

Pomdp SoftMoments::soft_model() const {
  if (sample_.rows() == 0) {
    std::optional<ObservationModel> first;
    if (model_.first_density()) first = soft_sensors(*model_.first_density());
    return model_.with_sensors(soft_sensors(model_.sensors()), std::move(first));
  }
  return model_.with_sensors(sample_.sensors(), nothing_known(model_.chain()));
}

MomentSeries SoftMoments::series(const LeftInverses& inverses) const {
  return SoftFolder(folder_).finish(inverses);
}

void SoftMoments::save(ByteWriter& out) const {
  folder_.save(out);
  sample_.save(out);
}

void SoftMoments::load(ByteReader& in) {
  folder_.load(in);
  sample_.load(in);
}

}  // namespace oas::detail
