#include "oas/live/detail/learner_rows.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/live/detail/learner_row_source.hpp"

namespace oas::detail {

namespace {

constexpr std::int64_t kMarkedRows = 64;  // of a run, between two marks at most
constexpr std::int64_t kLongestDelay = 255;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::size_t bytes_for(const Pomdp& sensors) {
  // An observation or none, with likelihoods or without.
  const auto codes = 2 * static_cast<std::int64_t>(sensors.num_actions()) *
                     (static_cast<std::int64_t>(sensors.num_observations()) + 1);
  constexpr std::int64_t kOneByte = 256;
  return codes <= kOneByte ? 1 : codes <= kOneByte * kOneByte ? 2 : 4;
}

// Of all runs' rows, between which ages are not told apart: odd, so that half of them are rounded
// up.
std::int64_t tick_of(double half_life) {
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(half_life) / 64);
  return most - (most % 2 == 0 ? 1 : 0);
}

}  // namespace

LearnerRow learner_row(const JournalRecord& record, SeenRow seen) {
  if (record.kind == JournalKind::change) return {0, 1.0, {}, LearnerRow::Kind::all_forgotten};
  if (record.kind == JournalKind::end) return {record.run, 1.0, {}, LearnerRow::Kind::run_ends};
  if (record.row.action < 0) {
    return {record.run, 1.0, std::move(seen), LearnerRow::Kind::first_reading};
  }
  return {record.run, record.row.propensity.value_or(0.0), std::move(seen), LearnerRow::Kind::row};
}

LearnerRows::LearnerRows(const Pomdp& sensors, RowStorage storage, double half_life)
    : sensors_(sensors.without_transition()),
      storage_(std::move(storage)),
      fading_{half_life, 0, Age::log},
      tick_(tick_of(half_life)),
      width_(bytes_for(sensors) + (fading_.active() ? 1 : 0)) {}

void LearnerRows::add(const LearnerRow& row) {
  switch (row.kind) {
    case LearnerRow::Kind::all_forgotten:
      forget();
      return;
    case LearnerRow::Kind::first_reading:
      runs_[row.run].first = row.seen;
      return;
    case LearnerRow::Kind::run_ends: {
      const auto run = runs_.find(row.run);
      if (run == runs_.end()) return;
      run->second.ended = true;
      if (run->second.rows == 0) runs_.erase(run);
      return;
    }
    case LearnerRow::Kind::row:
      append(runs_[row.run], row.seen);
      ++rows_;
      drop_where_too_many();
  }
}

// Runs go on, from states that nobody knows.
void LearnerRows::forget() {
  std::erase_if(runs_, [](const auto& each) { return each.second.ended; });
  for (auto& [number, run] : runs_) {
    run = Run();
    run.unknown = true;
  }
  forgotten_ = rows_;
  vectors_ = 0;
  bytes_ = 0;
  in_memory_ = true;
}

void LearnerRows::clear() {
  forget();
  runs_.clear();
  rows_ = forgotten_ = 0;
}

std::uint32_t LearnerRows::code(const SeenRow& row) const {
  const int symbol = row.observation == kMissing ? symbols() - 1 : row.observation.value();
  const int brings = row.likelihoods.empty() ? 0 : 1;
  return static_cast<std::uint32_t>((row.action.value() * symbols() + symbol) * 2 + brings);
}

void LearnerRows::append(Run& run, const SeenRow& row) {
  const std::uint8_t delay = fading_.active() ? mark(run) : 0;
  ++run.rows;
  bytes_ += width_ + row.likelihoods.size() * sizeof(double);
  if (!row.likelihoods.empty()) {
    ++run.vectors;
    ++vectors_;
  }
  if (!in_memory_) return;
  char bytes[kMostBytes];
  run.codes.append(bytes, put(row, delay, bytes));
  run.likelihoods.insert(run.likelihoods.end(), row.likelihoods.begin(), row.likelihoods.end());
}

// Of the next row, which is about to be added.
std::uint8_t LearnerRows::mark(Run& run) const {
  run.last = rows_;
  const std::int64_t row = run.dropped + run.rows;
  if (!run.marks.empty()) {
    const Mark& mark = run.marks.back();
    const std::int64_t delay = ticks(rows_ - mark.number);
    if (row < mark.row + kMarkedRows && delay <= kLongestDelay) {
      return static_cast<std::uint8_t>(delay);
    }
  }
  const std::int64_t vectors = run.marks.empty() ? 0 : run.marks.front().vectors;
  run.marks.push_back({rows_, row, vectors + run.vectors});
  return 0;
}

char* LearnerRows::put(const SeenRow& row, std::uint8_t delay, char* out) const {
  std::uint32_t rest = code(row);
  for (std::size_t i = 0; i < code_width(); ++i, rest >>= 8) *out++ = static_cast<char>(rest & 255);
  if (fading_.active()) *out++ = static_cast<char>(delay);
  return out;
}

// A plan copies them, so half of the memory is theirs.
void LearnerRows::drop_where_too_many() {
  if (!in_memory_ || !storage_.again || bytes_ <= storage_.memory / 2) return;
  in_memory_ = false;
  for (auto& [number, run] : runs_) {
    run.codes = std::string();
    run.likelihoods = std::vector<double>();
  }
}

// From mark to mark, so that what is left does not depend on when this was asked before. The rows
// of one mark more than counts are kept: what is believed has to settle.
void LearnerRows::drop_old() {
  if (!fading_.active()) return;
  const std::int64_t border = rows_ - fading_.reach();
  for (auto each = runs_.begin(); each != runs_.end();) {
    Run& run = each->second;
    std::size_t marks = 0;
    while (marks + 2 < run.marks.size() && run.marks[marks + 2].number <= border) ++marks;
    if (run.ended && run.last < border) marks = run.marks.size();
    if (marks > 0) drop_front(run, marks);
    each = run.ended && run.rows == 0 ? runs_.erase(each) : std::next(each);
  }
}

void LearnerRows::drop_front(Run& run, std::size_t marks) {
  const bool all = marks == run.marks.size();
  const std::int64_t rows = all ? run.rows : run.marks[marks].row - run.dropped;
  const std::int64_t vectors =
      all ? run.vectors : run.marks[marks].vectors - run.marks.front().vectors;
  const std::size_t codes = static_cast<std::size_t>(rows) * width_;
  const std::size_t likelihoods = static_cast<std::size_t>(vectors) * states();
  run.marks.erase(run.marks.begin(), run.marks.begin() + static_cast<std::ptrdiff_t>(marks));
  if (in_memory_) {
    run.codes.erase(0, codes);
    run.likelihoods.erase(run.likelihoods.begin(),
                          run.likelihoods.begin() + static_cast<std::ptrdiff_t>(likelihoods));
  }
  run.rows -= rows;
  run.dropped += rows;
  run.vectors -= vectors;
  run.first = {};
  run.unknown = true;
  vectors_ -= vectors;
  bytes_ -= codes + likelihoods * sizeof(double);
}

RunStart LearnerRows::start_of(const Run& run) const {
  const RunStart start = run.unknown ? RunStart::unknown() : RunStart();
  if (run.first.missing()) return start;
  if (!run.first.likelihoods.empty()) {
    return start.with({run.first.observation, {}, run.first.likelihoods});
  }
  return start.with(first_reading(*sensors_.first_observation(), run.first.observation));
}

std::unique_ptr<LearnerRowSource> LearnerRows::read() const {
  return std::make_unique<LearnerRowSource>(*this);
}

void LearnerRows::save(ByteWriter& out) const {
  out.put(rows_);
  out.put(forgotten_);
  out.put(in_memory_);
  out.put(static_cast<std::uint64_t>(runs_.size()));
  for (const auto& [number, run] : runs_) {
    out.put(number);
    out.put(run.first.observation.value());
    out.put_all(run.first.likelihoods);
    out.put(run.ended);
    out.put(run.unknown);
    out.put(run.rows);
    out.put(run.vectors);
    out.put_all(run.marks);
    out.put(run.last);
    out.put(run.dropped);
    out.put_text(run.codes);
    out.put_all(run.likelihoods);
  }
}

// Which rows are looked up in.
void LearnerRows::check_marks(const Run& run) const {
  bool fit = fading_.active() ? run.marks.empty() == (run.rows == 0) : run.marks.empty();
  Mark before = {-1, run.dropped - 1, 0};
  for (const Mark& mark : run.marks) {
    fit = fit && mark.number > before.number && mark.row > before.row &&
          mark.vectors >= before.vectors;
    before = mark;
  }
  if (!run.marks.empty()) {
    fit = fit && run.marks.front().row == run.dropped && before.row < run.dropped + run.rows &&
          before.number <= run.last && run.last < rows_ &&
          before.vectors - run.marks.front().vectors <= run.vectors;
  }
  OAS_REQUIRE(fit, "saved bytes are damaged: {} marks that are none of {} rows", run.marks.size(),
              run.rows);
}

void LearnerRows::load(ByteReader& in) {
  clear();
  rows_ = in.get_integer(0, kMost);
  forgotten_ = in.get_integer(0, rows_);
  in_memory_ = in.get<bool>();
  OAS_REQUIRE(in_memory_ || storage_.again, "saved rows are to be read again, and from nowhere");
  std::int64_t left = rows_ - forgotten_;
  for (auto runs = in.get<std::uint64_t>(); runs > 0; --runs) {
    Run& run = runs_[in.get<std::uint64_t>()];
    run.first.observation = Observation{in.get<std::int32_t>()};
    run.first.likelihoods = in.get_all<double>();
    run.ended = in.get<bool>();
    run.unknown = in.get<bool>();
    run.rows = in.get_integer(0, left);
    run.vectors = in.get_integer(0, run.rows);
    run.marks = in.get_all<Mark>();
    run.last = in.get_integer(0, kMost);
    run.dropped = in.get_integer(0, rows_);
    check_marks(run);
    run.codes = in.get_text();
    run.likelihoods = in.get_all<double>();
    left -= run.rows;
    vectors_ += run.vectors;
    const auto codes = static_cast<std::size_t>(run.rows) * width_;
    const auto likelihoods = static_cast<std::size_t>(run.vectors) * states();
    OAS_REQUIRE(run.codes.size() == (in_memory_ ? codes : 0) &&
                    run.likelihoods.size() == (in_memory_ ? likelihoods : 0),
                "saved bytes are damaged: {} bytes and {} likelihoods of {} rows", run.codes.size(),
                run.likelihoods.size(), run.rows);
    bytes_ += codes + likelihoods * sizeof(double);
  }
  OAS_REQUIRE(left == 0 || fading_.active(), "saved bytes are damaged: {} rows are of no run",
              left);
  drop_where_too_many();
}

}  // namespace oas::detail
