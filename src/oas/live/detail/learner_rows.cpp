#include "oas/live/detail/learner_rows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/core/scratch_file.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kRowsAtATime = 4096;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::size_t bytes_for(const Pomdp& sensors) {
  // An observation or none, with likelihoods or without.
  const auto codes = 2 * static_cast<std::int64_t>(sensors.num_actions()) *
                     (static_cast<std::int64_t>(sensors.num_observations()) + 1);
  constexpr std::int64_t kOneByte = 256;
  return codes <= kOneByte ? 1 : codes <= kOneByte * kOneByte ? 2 : 4;
}

char* put_code(std::uint32_t code, std::size_t width, char* out) {
  for (std::size_t i = 0; i < width; ++i, code >>= 8) *out++ = static_cast<char>(code & 255);
  return out;
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

/// The rows of all runs, one run after the other, in memory or in a file.
class RunsSource final : public RowSource {
 public:
  explicit RunsSource(const LearnerRows& rows) : rows_(rows) {
    if (!rows.in_memory_) read_again();
    rewind();
  }

  bool next(RowBlock& block) override {
    while (run_ != rows_.runs_.end() && done_ == run_->second.rows) go_to_next_run();
    if (run_ == rows_.runs_.end()) return false;
    const LearnerRows::Run& run = run_->second;
    const auto count =
        static_cast<std::size_t>(std::min<std::int64_t>(run.rows - done_, kRowsAtATime));
    decode(count);
    block = {};
    block.actions = actions_;
    block.observations = observations_;
    block.likelihoods = likelihoods_;
    if (done_ == 0) {
      start_ = rows_.start_of(run);
      block.run_starts = std::span(&kFirstRow, 1);
      block.starts = std::span(&start_, 1);
    }
    done_ += static_cast<std::int64_t>(count);
    return true;
  }

  void rewind() override {
    run_ = rows_.runs_.begin();
    code_ = codes_in_file();
    likelihood_ = file_ ? reinterpret_cast<const double*>(file_->data()) : nullptr;
    begin_run();
  }

  [[noreturn]] void fail(std::size_t /*row*/, const std::string& message) const override {
    throw InvalidArgument(message);
  }
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override {
    throw InvalidArgument(fmt::format("row {}: {}", index, message));
  }

 private:
  static constexpr std::size_t kFirstRow = 0;

  [[nodiscard]] char* codes_in_file() const {
    if (!file_) return nullptr;
    return file_->data() +
           static_cast<std::size_t>(rows_.vectors_) * rows_.states() * sizeof(double);
  }

  // Likelihoods of all runs come first in the file, and then the codes.
  void read_again() {
    struct Place {
      double* likelihood;
      char* code;
      char* end;
      std::int64_t skip;
    };
    file_ = std::make_unique<ScratchFile>(rows_.storage_.folder, rows_.bytes_);
    std::map<std::uint64_t, Place> places;
    auto* likelihood = reinterpret_cast<double*>(file_->data());
    char* code = codes_in_file();
    for (const auto& [number, run] : rows_.runs_) {
      char* const end = code + static_cast<std::size_t>(run.rows) * rows_.width_;
      places[number] = {likelihood, std::exchange(code, end), end, run.dropped};
      likelihood += static_cast<std::size_t>(run.vectors) * rows_.states();
    }
    std::int64_t index = 0;
    rows_.storage_.again([&](const LearnerRow& row) {
      if (index == rows_.rows_) return false;
      if (row.kind != LearnerRow::Kind::row || index++ < rows_.forgotten_) return true;
      if (index % kRowsAtATime == 0) check_interrupted();
      const auto place = places.find(row.run);
      if (place == places.end() && index <= rows_.rows_ - rows_.fading_.reach()) return true;
      if (place != places.end() && place->second.skip-- > 0) return true;
      OAS_REQUIRE(place != places.end() && place->second.code < place->second.end,
                  "the journal has other rows of run {} than when they were taken", row.run);
      auto& [next_likelihood, next_code, end, skip] = place->second;
      next_code = put_code(rows_.code(row.seen), rows_.width_, next_code);
      next_likelihood =
          std::copy(row.seen.likelihoods.begin(), row.seen.likelihoods.end(), next_likelihood);
      return true;
    });
    OAS_REQUIRE(index == rows_.rows_, "the journal has {} rows where {} were taken", index,
                rows_.rows_);
  }

  void begin_run() {
    done_ = 0;
    if (file_ || run_ == rows_.runs_.end()) return;
    code_ = run_->second.codes.data();
    likelihood_ = run_->second.likelihoods.data();
  }
  void go_to_next_run() {
    ++run_;
    begin_run();
  }

  void decode(std::size_t count) {
    const int symbols = rows_.symbols();
    actions_.clear();
    observations_.clear();
    likelihoods_.clear();
    for (std::size_t row = 0; row < count; ++row) {
      std::uint32_t code = 0;
      for (std::size_t i = 0; i < rows_.width_; ++i) {
        code |= static_cast<std::uint32_t>(static_cast<unsigned char>(*code_++)) << (8 * i);
      }
      const int pair = static_cast<int>(code / 2);
      const int symbol = pair % symbols;
      actions_.push_back(Action{pair / symbols});
      observations_.push_back(symbol == symbols - 1 ? kMissing : Observation{symbol});
      if (rows_.bring_likelihoods()) decode_likelihoods((code & 1) != 0);
    }
  }

  void decode_likelihoods(bool brings) {
    if (brings) {
      likelihoods_.insert(likelihoods_.end(), likelihood_, likelihood_ + rows_.states());
      likelihood_ += rows_.states();
      return;
    }
    const Observation seen = observations_.back();
    for (State s{0}; s < rows_.sensors_.num_states(); ++s) {
      likelihoods_.push_back(seen == kMissing ? 1.0
                                              : rows_.sensors_.sensors()(actions_.back(), s, seen));
    }
  }

  const LearnerRows& rows_;
  std::unique_ptr<ScratchFile> file_;  // none: in memory
  LearnerRows::Runs::const_iterator run_;
  std::int64_t done_ = 0;  // rows of it
  const char* code_ = nullptr;
  const double* likelihood_ = nullptr;
  RunStart start_;
  std::vector<Action> actions_;
  std::vector<Observation> observations_;
  std::vector<double> likelihoods_;
};

LearnerRows::LearnerRows(const Pomdp& sensors, RowStorage storage, double half_life)
    : sensors_(sensors.without_transition()),
      storage_(std::move(storage)),
      fading_{half_life, 0, Age::log},
      width_(bytes_for(sensors)) {}

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
  if (fading_.active()) {
    const std::int64_t vectors = run.marks.empty() ? 0 : run.marks.front().vectors;
    if (run.rows % kFadingRows == 0) run.marks.push_back({rows_, vectors + run.vectors});
    run.last = rows_;
  }
  ++run.rows;
  bytes_ += width_ + row.likelihoods.size() * sizeof(double);
  if (!row.likelihoods.empty()) {
    ++run.vectors;
    ++vectors_;
  }
  if (!in_memory_) return;
  char bytes[sizeof(std::uint32_t)];
  run.codes.append(bytes, put_code(code(row), width_, bytes));
  run.likelihoods.insert(run.likelihoods.end(), row.likelihoods.begin(), row.likelihoods.end());
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

// By stretches of whole marks, so that what is left does not depend on when this was asked before.
void LearnerRows::drop_old() {
  if (!fading_.active()) return;
  const std::int64_t border = rows_ - fading_.reach();
  for (auto each = runs_.begin(); each != runs_.end();) {
    Run& run = each->second;
    std::size_t marks = 0;
    while (marks + 1 < run.marks.size() && run.marks[marks + 1].number <= border) ++marks;
    if (run.ended && run.last < border) marks = run.marks.size();
    if (marks > 0) drop_front(run, marks);
    each = run.ended && run.rows == 0 ? runs_.erase(each) : std::next(each);
  }
}

void LearnerRows::drop_front(Run& run, std::size_t marks) {
  const bool all = marks == run.marks.size();
  const std::int64_t rows = all ? run.rows : static_cast<std::int64_t>(marks) * kFadingRows;
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

// Between marks as if rows came evenly.
double LearnerRows::number_at(const Run& run, double row) {
  const auto mark = std::min(static_cast<std::size_t>(row / static_cast<double>(kFadingRows)),
                             run.marks.size() - 1);
  const auto first = static_cast<double>(static_cast<std::int64_t>(mark) * kFadingRows);
  const bool last = mark + 1 == run.marks.size();
  const auto from = static_cast<double>(run.marks[mark].number);
  const auto to = static_cast<double>(last ? run.last : run.marks[mark + 1].number);
  const double steps =
      last ? static_cast<double>(run.rows - 1) - first : static_cast<double>(kFadingRows);
  return steps > 0.0 ? from + (to - from) * (row - first) / steps : from;
}

std::function<double(std::size_t, std::size_t)> LearnerRows::mean_weight(double power) const {
  auto runs = std::make_shared<std::vector<std::pair<std::size_t, const Run*>>>();
  std::size_t row = 0;
  for (const auto& [number, run] : runs_) {
    runs->emplace_back(row, &run);
    row += static_cast<std::size_t>(run.rows);
  }
  const double rate = std::log(2.0) * power / fading_.half_life;
  const auto newest = static_cast<double>(rows_ - 1);
  return [runs, rate, newest](std::size_t first, std::size_t count) {
    const auto after =
        std::upper_bound(runs->begin(), runs->end(), first,
                         [](std::size_t at, const auto& run) { return at < run.first; });
    const auto& [begin, run] = *std::prev(after);
    const auto from = static_cast<double>(first - begin);
    const double old = rate * (newest - number_at(*run, from));
    const double young = rate * (newest - number_at(*run, from + static_cast<double>(count - 1)));
    const double span = old - young;
    const double mean = span > 0.0 ? -std::expm1(-span) / span : 1.0;  // of exp between the two
    return std::exp(-young) * mean;
  };
}

RunStart LearnerRows::start_of(const Run& run) const {
  const RunStart start = run.unknown ? RunStart::unknown() : RunStart();
  if (run.first.missing()) return start;
  if (!run.first.likelihoods.empty()) {
    return start.with({run.first.observation, {}, run.first.likelihoods});
  }
  return start.with(first_reading(*sensors_.first_observation(), run.first.observation));
}

std::unique_ptr<RowSource> LearnerRows::read() const { return std::make_unique<RunsSource>(*this); }

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
    const std::int64_t marks = (run.rows + kFadingRows - 1) / kFadingRows;
    OAS_REQUIRE(std::cmp_equal(run.marks.size(), fading_.active() ? marks : 0),
                "saved bytes are damaged: {} marks of {} rows", run.marks.size(), run.rows);
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
