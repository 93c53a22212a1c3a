#include "oas/model/row_source.hpp"

#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Numbers of a row.
std::size_t width(std::size_t numbers, std::size_t rows) { return rows > 0 ? numbers / rows : 0; }

}  // namespace

RunCut numbered_from(std::int64_t first_run, RunCut cut) {
  if (!cut) return cut;
  return [first_run, cut = std::move(cut)](std::int64_t run, std::int64_t rows) {
    return cut(first_run + run, rows);
  };
}

std::vector<RowPart> RowSource::parts(Parallelism /*parallelism*/, const RunCut& /*cut*/) const {
  return {};
}

void StoredRows::add(const RowBlock& block) {
  if (block.size() == 0) return;
  const std::size_t first = size();
  block.validate();
  OAS_REQUIRE(
      first == 0 ||
          (width(block.readings.size(), block.size()) == width(readings_.size(), first) &&
           width(block.likelihoods.size(), block.size()) == width(likelihoods_.size(), first)),
      "rows with and without a column, or of several widths, cannot be kept together");
  const bool starts_anew = block.run_starts.empty() || block.run_starts.front() != 0;
  if (new_run_ && starts_anew) {
    run_starts_.push_back(first);
    starts_.push_back(next_start_);
  }
  new_run_ = false;
  for (const std::size_t start : block.run_starts) run_starts_.push_back(first + start);
  starts_.insert(starts_.end(), block.starts.begin(), block.starts.end());
  starts_.resize(run_starts_.size());
  if (first > 0 && block.propensities.empty() != propensities_.empty()) {
    propensities_.clear();
    mixed_ = true;
  }
  const auto append = [&](const auto& from, auto& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(block.actions, actions_);
  append(block.observations, observations_);
  if (!mixed_) append(block.propensities, propensities_);
  append(block.readings, readings_);
  append(block.likelihoods, likelihoods_);
}

void StoredRows::add(const StoredRows& other) {
  add(other.all());
  if (other.new_run_) start_run(other.next_start_);
}

RowBlock StoredRows::all() const {
  RowBlock block;
  block.actions = actions_;
  block.observations = observations_;
  block.propensities = propensities_;
  block.readings = readings_;
  block.likelihoods = likelihoods_;
  block.run_starts = run_starts_;
  block.starts = starts_;
  return block;
}

std::size_t StoredRows::bytes() const {
  return actions_.size() * sizeof(Action) + observations_.size() * sizeof(Observation) +
         (propensities_.size() + readings_.size() + likelihoods_.size()) * sizeof(double);
}

void StoredRows::save(ByteWriter& out) const {
  out.put_all(actions_);
  out.put_all(observations_);
  for (const auto* column : {&propensities_, &readings_, &likelihoods_}) out.put_all(*column);
  out.put_all(run_starts_);
  save_all(starts_, out);
  next_start_.save(out);
  for (const bool flag : {new_run_, mixed_}) out.put(flag);
}

void StoredRows::load(ByteReader& in) {
  actions_ = in.get_all<Action>();
  observations_ = in.get_all<Observation>();
  for (auto* column : {&propensities_, &readings_, &likelihoods_}) *column = in.get_all<double>();
  run_starts_ = in.get_all<std::size_t>();
  starts_ = load_starts(in);
  next_start_ = RunStart::loaded(in);
  for (bool* flag : {&new_run_, &mixed_}) *flag = in.get<bool>();
  all().validate();
}

bool StoredRows::next(RowBlock& block) {
  if (read_ || size() == 0) return false;
  read_ = true;
  block = all();
  return true;
}

void StoredRows::fail(std::size_t row, const std::string& message) const {
  throw InvalidArgument(fmt::format("row {}: {}", row + 1, message));
}

void StoredRows::fail_at(std::int64_t index, const std::string& message) {
  fail(static_cast<std::size_t>(index), message);
}

}  // namespace oas
