#include "oas/live/detail/learner_row_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kRowsAtATime = 4096;
constexpr std::size_t kFirstRow = 0;

}  // namespace

LearnerRowSource::LearnerRowSource(const LearnerRows& rows) : rows_(rows) {
  if (!rows_.in_memory_) read_again();
  rewind();
}

bool LearnerRowSource::next(RowBlock& block) {
  while (run_ != rows_.runs_.end() && done_ == run_->second.rows) {
    ++run_;
    begin_run();
  }
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

void LearnerRowSource::rewind() {
  run_ = rows_.runs_.begin();
  code_ = codes_in_file();
  likelihood_ = file_ ? reinterpret_cast<const double*>(file_->data()) : nullptr;
  begin_run();
}

void LearnerRowSource::fail(std::size_t /*row*/, const std::string& message) const {
  throw InvalidArgument(message);
}

void LearnerRowSource::fail_at(std::int64_t index, const std::string& message) {
  throw InvalidArgument(fmt::format("row {}: {}", index, message));
}

// Likelihoods of all runs come first in the file, and then the codes.
char* LearnerRowSource::codes_in_file() const {
  if (!file_) return nullptr;
  return file_->data() + static_cast<std::size_t>(rows_.vectors_) * rows_.states() * sizeof(double);
}

// Where the rows of a run go that are read again.
struct LearnerRowSource::Place {
  const LearnerRows::Run* run;
  double* likelihood;
  char* code;
  char* end;
  std::int64_t rows = 0;  // that were seen, those that were dropped counted in
  std::size_t mark = 0;
};

void LearnerRowSource::read_again() {
  file_ = std::make_unique<ScratchFile>(rows_.storage_.folder, rows_.bytes_);
  std::map<std::uint64_t, Place> places;
  auto* likelihood = reinterpret_cast<double*>(file_->data());
  char* code = codes_in_file();
  for (const auto& [number, run] : rows_.runs_) {
    char* const end = code + static_cast<std::size_t>(run.rows) * rows_.width_;
    places[number] = {&run, likelihood, std::exchange(code, end), end};
    likelihood += static_cast<std::size_t>(run.vectors) * rows_.states();
  }
  std::int64_t index = 0;
  rows_.storage_.again([&](const LearnerRow& row) {
    if (index == rows_.rows_) return false;
    if (row.kind != LearnerRow::Kind::row || index++ < rows_.forgotten_) return true;
    if (index % kRowsAtATime == 0) check_interrupted();
    const auto place = places.find(row.run);
    if (place == places.end() && index <= rows_.rows_ - rows_.fading_.reach()) return true;
    OAS_REQUIRE(place != places.end(),
                "the journal has other rows of run {} than when they were taken", row.run);
    read_again(row, index - 1, place->second);
    return true;
  });
  OAS_REQUIRE(index == rows_.rows_, "the journal has {} rows where {} were taken", index,
              rows_.rows_);
}

// The row of that number, in its place.
void LearnerRowSource::read_again(const LearnerRow& row, std::int64_t number, Place& place) const {
  const std::int64_t before = place.rows++;
  if (before < place.run->dropped) return;
  OAS_REQUIRE(place.code < place.end,
              "the journal has other rows of run {} than when they were taken", row.run);
  std::int64_t delay = 0;
  if (rows_.fading_.active()) {
    const auto& marks = place.run->marks;
    if (place.mark + 1 < marks.size() && marks[place.mark + 1].row == before) ++place.mark;
    delay = rows_.ticks(number - marks[place.mark].number);
  }
  place.code = rows_.put(row.seen, static_cast<std::uint8_t>(delay), place.code);
  place.likelihood =
      std::copy(row.seen.likelihoods.begin(), row.seen.likelihoods.end(), place.likelihood);
}

void LearnerRowSource::begin_run() {
  done_ = 0;
  if (file_ || run_ == rows_.runs_.end()) return;
  code_ = run_->second.codes.data();
  likelihood_ = run_->second.likelihoods.data();
}

void LearnerRowSource::decode(std::size_t count) {
  const int symbols = rows_.symbols();
  actions_.clear();
  observations_.clear();
  likelihoods_.clear();
  for (std::size_t row = 0; row < count; ++row, code_ += rows_.width_) {
    std::uint32_t code = 0;
    for (std::size_t i = 0; i < rows_.code_width(); ++i) {
      code |= static_cast<std::uint32_t>(static_cast<unsigned char>(code_[i])) << (8 * i);
    }
    const int pair = static_cast<int>(code / 2);
    const int symbol = pair % symbols;
    actions_.emplace_back(pair / symbols);
    observations_.push_back(symbol == symbols - 1 ? kMissing : Observation{symbol});
    if (rows_.bring_likelihoods()) decode_likelihoods((code & 1) != 0);
  }
}

void LearnerRowSource::decode_likelihoods(bool brings) {
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

// Weights by mark and delay.
class LearnerRowSource::Weights {
 public:
  Weights(const LearnerRowSource& source, double power) : width_(source.rows_.width_) {
    const LearnerRows& rows = source.rows_;
    const double rate = std::log(2.0) * power / rows.fading_.half_life;
    for (std::size_t ticks = 0; ticks < later_.size(); ++ticks) {
      later_[ticks] = std::exp(rate * static_cast<double>(rows.tick_) * static_cast<double>(ticks));
    }
    const char* codes = source.codes_in_file();
    std::size_t row = 0;
    for (const auto& [number, run] : rows.runs_) {
      const char* const own = codes == nullptr ? run.codes.data() : codes;
      for (const LearnerRows::Mark& mark : run.marks) {
        const auto before = static_cast<std::size_t>(mark.row - run.dropped);
        const auto age = static_cast<double>(rows.rows_ - 1 - mark.number);
        marked_.push_back(
            {row + before, std::exp(-rate * age), own + before * width_ + width_ - 1});
      }
      row += static_cast<std::size_t>(run.rows);
      if (codes != nullptr) codes += static_cast<std::size_t>(run.rows) * width_;
    }
  }

  [[nodiscard]] double mean(std::size_t first, std::size_t count) const {
    auto next =
        std::upper_bound(marked_.begin(), marked_.end(), first,
                         [](std::size_t row, const Marked& mark) { return row < mark.row; });
    double sum = 0.0;
    for (std::size_t row = first; row < first + count; ++next) {
      const Marked& mark = *std::prev(next);
      const std::size_t end =
          next == marked_.end() ? first + count : std::min(first + count, next->row);
      for (; row < end; ++row) {
        sum += mark.weight *
               later_[static_cast<unsigned char>(mark.delays[(row - mark.row) * width_])];
      }
      if (next == marked_.end()) break;
    }
    return sum / static_cast<double>(count);
  }

 private:
  struct Marked {
    std::size_t row;  // among all, in the order in which they are read
    double weight;
    const char* delays;  // of it and those behind it, width_ apart
  };

  std::size_t width_;
  std::vector<Marked> marked_;
  std::array<double, 256> later_{};  // by delay
};

std::function<double(std::size_t, std::size_t)> LearnerRowSource::mean_weight(double power) const {
  OAS_REQUIRE(rows_.fading_.active(), "rows that do not fade have no weights");
  return [weights = std::make_shared<const Weights>(*this, power)](
             std::size_t first, std::size_t count) { return weights->mean(first, count); };
}

}  // namespace oas::detail
