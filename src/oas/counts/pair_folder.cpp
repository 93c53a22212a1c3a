#include "oas/counts/pair_folder.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// In short runs a batch is not worth a projection; the first run is as likely as not the only one.
constexpr std::int64_t kDensePlaces = static_cast<std::int64_t>(kMaxBatches) * kFirstBatchPlaces;

}  // namespace

PairFolder::PairFolder(const LeftInverses& inverses, Timing timing, const FoldOptions& options,
                       std::int64_t first_run)
    : inverses_(&inverses),
      timing_(timing),
      options_(options),
      pairing_(options.pairing),
      current_(inverses.num_states(), inverses.num_actions()),
      all_(first_run) {
  const auto symbols = static_cast<std::int64_t>(inverses.num_actions()) *
                       static_cast<std::int64_t>(inverses.num_observations());
  const bool weighted = options.inverse_propensity || !options.first_weight.empty() ||
                        !options.second_weight.empty() || options.forgetting.active();
  if (!weighted && symbols * symbols <= options.max_dense_cells) {
    counts_.emplace(inverses.num_sensors(), inverses.num_observations());
  }
  if (options.forgetting.active()) aged_.emplace(options.forgetting, current_);
}

void PairFolder::start_run(const RunStart& start) {
  end_run();
  pairing_.start_run();
  number_ = all_.next_run();
  run_.start(number_);
  in_run_ = true;
  ++books_.runs;
  open_batch();
  if (const FirstReading* const first = start.first()) {
    previous_ = {inverses_->first_sensor(), first->observation};
    pairing_.next(first->observation != kMissing && inverses_->sees_first());
  }
}

void PairFolder::go_on(std::int64_t rows, PairRow before) {
  OAS_REQUIRE(!aged_ && !in_run_ && books_.runs == 0 && all_.next_run() == all_.first_run(),
              "a run can go on only where nothing has been seen before");
  number_ = all_.first_run();
  all_ = BatchSeries<PairMoments>(number_ + 1);
  pairing_.go_on(rows, before.observation != kMissing);
  previous_ = before;
  run_.go_on(number_, pairing_.places());
  in_run_ = goes_on_ = true;
  open_batch();
}

std::int64_t PairFolder::cut_behind(Pairing pairing, std::int64_t run, std::int64_t rows) {
  RowPairing place(pairing);
  place.go_on(rows, false);
  std::int64_t places = place.places();
  if (place.rows_for(places) < rows) ++places;
  return place.rows_for(RunBatches<PairMoments>::border(run, places));
}

void PairFolder::add(const RowBlock& block) {
  by_runs(
      block, [&](const RunStart& start) { start_run(start); },
      [&](const RowBlock& rows) { add(rows.actions, rows.observations, rows.propensities); });
}

void PairFolder::add(std::span<const Action> actions, std::span<const Observation> observations,
                     std::span<const double> propensities) {
  const std::size_t n = actions.size();
  OAS_REQUIRE(observations.size() == n && (propensities.empty() || propensities.size() == n),
              "{} actions, {} observations, {} propensities", n, observations.size(),
              propensities.size());
  OAS_REQUIRE(n == 0 || !propensities.empty() || !options_.inverse_propensity,
              "pairs are to be weighted by propensities, and there are none");
  if ((!in_run_ || next_starts_) && n > 0) start_run();
  books_.enter(observations, propensities);
  for (std::size_t t = 0; t < n;) {
    // Up to the end of the batch; weights by age look at every row.
    const std::size_t left = aged_ ? 1 : static_cast<std::size_t>(close_row_ - pairing_.rows());
    const std::size_t count = std::min(n - t, left);
    const auto part = [&](auto column) {
      return column.empty() ? column : column.subspan(t, count);
    };
    if (dense_) {
      count_pairs(part(actions), part(observations));
    } else {
      sum_pairs(part(actions), part(observations), part(propensities));
    }
    t += count;
    if (aged_) {
      aged_->end_row();
    } else if (pairing_.rows() == close_row_) {
      close_batch();
      open_batch();
    }
  }
}

// Copies of what every row changes, so that they stay in registers.
void PairFolder::count_pairs(std::span<const Action> actions,
                             std::span<const Observation> observations) {
  RowPairing pairing = pairing_;
  PairRow previous = previous_;
  bool any = any_;
  for (std::size_t t = 0; t < actions.size(); ++t) {
    const PairRow row{actions[t], observations[t]};
    if (pairing.next(row.observation != kMissing)) {
      counts_->add(previous.action, previous.observation, row.action, row.observation);
      any = true;
    }
    previous = row;
  }
  pairing_ = pairing;
  previous_ = previous;
  any_ = any;
}

void PairFolder::sum_pairs(std::span<const Action> actions,
                           std::span<const Observation> observations,
                           std::span<const double> propensities) {
  PairMoments& sums = aged_ ? aged_->current() : current_;
  RowPairing pairing = pairing_;
  PairRow previous = previous_;
  for (std::size_t t = 0; t < actions.size(); ++t) {
    const PairRow row{actions[t], observations[t]};
    if (pairing.next(row.observation != kMissing)) {
      double weight = options_.inverse_propensity ? 1.0 / propensities[t] : 1.0;
      if (!options_.first_weight.empty()) {
        weight *= options_.first_weight[static_cast<std::size_t>(previous.action)];
      }
      if (!options_.second_weight.empty()) {
        weight *= options_.second_weight[static_cast<std::size_t>(row.action)];
      }
      add_pair(previous, row, weight, *inverses_, timing_, sums);
      any_ = true;
    }
    previous = row;
  }
  pairing_ = pairing;
  previous_ = previous;
}

// Counting is for long batches; which ones these are follows from run and position.
void PairFolder::open_batch() {
  const std::int64_t places = pairing_.places();
  dense_ = counts_.has_value() && (number_ == 0 || places >= kDensePlaces);
  close_row_ =
      aged_ ? std::numeric_limits<std::int64_t>::max() : pairing_.rows_for(places + run_.places());
}

void PairFolder::close_batch() {
  if (dense_ && any_) {
    run_.close(project(*counts_, *inverses_, timing_));
    counts_->clear();
  } else {
    run_.close(current_);
    if (any_) current_.clear();
  }
  any_ = false;
}

void PairFolder::end_run() {
  if (!in_run_) return;
  if (!aged_ && any_) close_batch();
  append_run(pairing_.places());
}

// The run that is open ends with so many places.
void PairFolder::append_run(std::int64_t places) {
  in_run_ = next_starts_ = false;
  if (aged_) {
    aged_->end_run(books_.run_lengths);
  } else if (std::exchange(goes_on_, false)) {
    rest_ = Rest{run_, places};
    run_.clear();
  } else {
    all_.append(run_, places);
  }
}

void PairFolder::merge(const PairFolder& other) {
  OAS_REQUIRE(!aged_, "rows with weights by age must come in their order, to one place");
  OAS_REQUIRE((in_run_ && !any_) || !(other.rest_ || other.goes_on_),
              "there is no run that could go on");
  books_.append(other.books_);
  if (other.goes_on_) {
    run_.append(other.run_);
    return take_open_run(other);
  }
  if (other.rest_) {
    run_.append(other.rest_->batches);
    append_run(other.rest_->places);
  } else {
    end_run();
  }
  all_.append(other.all_);
  if (!other.in_run_) return;
  run_ = other.run_;
  number_ = other.number_;
  in_run_ = true;
  take_open_run(other);
}

// Another one may go on with it, and nobody else.
void PairFolder::take_open_run(const PairFolder& other) {
  next_starts_ = true;
  pairing_ = other.pairing_;
  previous_ = other.previous_;
  dense_ = other.dense_;
  any_ = other.any_;
  close_row_ = other.close_row_;
  if (!any_) return;
  current_ = other.current_;
  counts_ = other.counts_;
}

MomentSeries PairFolder::finish() {
  end_run();
  MomentSeries series;
  static_cast<RowBooks&>(series) = std::exchange(books_, {});
  if (aged_) {
    aged_->finish(series);
  } else {
    for (PairMoments& batch : all_.finish()) {
      if (batch.total_pairs() > 0) series.batches.push_back(std::move(batch));
    }
  }
  rest_.reset();
  any_ = false;
  return series;
}

void PairFolder::save(ByteWriter& out) const {
  pairing_.save(out);
  out.put(previous_);
  books_.save(out);
  for (const bool flag : {in_run_, goes_on_, next_starts_, dense_, any_, rest_.has_value()}) {
    out.put(flag);
  }
  out.put(number_);
  if (rest_) {
    rest_->batches.save(out);
    out.put(rest_->places);
  }
  out.put(close_row_);
  if (counts_) counts_->save(out);
  current_.save(out);
  run_.save(out);
  all_.save(out);
  if (aged_) aged_->save(out);
}

void PairFolder::load(ByteReader& in) {
  PairMoments empty(inverses_->num_states(), inverses_->num_actions());
  pairing_.load(in);
  previous_ = in.get<PairRow>();
  OAS_REQUIRE(previous_.action >= 0 && previous_.action <= inverses_->first_sensor() &&
                  previous_.observation >= kMissing &&
                  previous_.observation < inverses_->num_observations(),
              "saved row is ({}, {})", previous_.action.value(), previous_.observation.value());
  books_.load(in);
  bool has_rest = false;
  for (bool* flag : {&in_run_, &goes_on_, &next_starts_, &dense_, &any_, &has_rest}) {
    *flag = in.get<bool>();
  }
  number_ = in.get_integer(0, std::int64_t{1} << 60);
  rest_.reset();
  if (has_rest) {
    rest_.emplace(Rest{}).batches.load(in, empty);
    rest_->places = in.get_integer(0, std::int64_t{1} << 60);
  }
  OAS_REQUIRE(!dense_ || counts_, "saved batch is damaged");
  close_row_ = in.get<std::int64_t>();
  if (counts_) counts_->load(in);
  current_.load(in);
  run_.load(in, empty);
  all_.load(in, empty);
  if (aged_) aged_->load(in);
}

}  // namespace oas
