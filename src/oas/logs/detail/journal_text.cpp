#include "oas/logs/detail/journal_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "oas/core/contracts.hpp"
#include "oas/core/number_text.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kTextAtATime = std::size_t{1} << 16;

bool is_row(const JournalRecord& record) {
  return record.kind == JournalKind::observe || record.kind == JournalKind::step;
}

}  // namespace

JournalText::JournalText(const std::string& folder) : reader_(folder) {
  survey(folder);
  write_header();
}

void JournalText::survey(const std::string& folder) {
  JournalReader reader(folder);
  bool others = false;
  for (JournalRecord record; reader.next(record);) {
    if (!is_row(record)) continue;
    const JournalRow& row = record.row;
    if (row.action >= 0 && !row.propensity) propensities_ = false;
    if (!row.likelihoods.empty()) likelihoods_ = true;
    if (row.observation != kMissing || !row.reading.empty()) others = true;
    OAS_REQUIRE(!likelihoods_ || !others,
                "{}: some rows of the journal bring likelihoods and others observations; a log has "
                "one of them",
                folder);
  }
}

// Cells between commas: one, or one for each of several numbers.
std::string JournalText::names_of_seen() const {
  const JournalHeader& header = reader_.header();
  const int count = likelihoods_ ? header.num_states : header.dimension;
  if (!likelihoods_ && count <= 1) return "observation";
  std::string names;
  for (int i = 1; i <= count; ++i) {
    names +=
        fmt::format("{}{}_{}", i > 1 ? "," : "", likelihoods_ ? "likelihood" : "observation", i);
  }
  return names;
}

void JournalText::write_header() {
  const JournalHeader& header = reader_.header();
  text_ += fmt::format("# oas-log/1 timing={}{}\n", header.after ? "after" : "before",
                       header.reading_first ? " rows=reading-first" : "");
  const std::string seen = names_of_seen();
  text_ += header.reading_first ? fmt::format("run,{},action", seen)
                                : fmt::format("run,action,{}", seen);
  text_ += propensities_ ? ",propensity\n" : "\n";
}

std::size_t JournalText::read(char* out, std::size_t size) {
  if (given_ == text_.size()) {
    text_.clear();
    given_ = 0;
    JournalRecord record;
    while (text_.size() < kTextAtATime && !ended_) {
      ended_ = !reader_.next(record);
      if (!ended_) write(record);
    }
    if (ended_) {
      for (const auto& [number, run] : runs_) write_end(run);
      runs_.clear();
    }
  }
  const std::size_t count = text_.copy(out, size, given_);
  given_ += count;
  return count;
}

void JournalText::write(const JournalRecord& record) {
  if (record.kind == JournalKind::begin) begin(record);
  const auto run = runs_.find(record.run);
  if (run == runs_.end()) return;
  if (is_row(record)) write_row(run->second, record.row);
  if (record.kind != JournalKind::end) return;
  write_end(run->second);
  runs_.erase(run);
}

void JournalText::begin(const JournalRecord& record) {
  const std::int64_t number = ++begun_[record.text];
  std::string name = record.text;
  if (number > 1) name += fmt::format(" run {}", number);
  while (!names_.insert(name).second) name += '+';  // another unit has that name
  runs_[record.run] = {csv_cell(name), {}};
}

std::string JournalText::cells_of(const JournalRow& row) const {
  const auto count = static_cast<std::size_t>(likelihoods_ ? reader_.header().num_states
                                                           : reader_.header().dimension);
  if (count == 0) return row.observation == kMissing ? "" : std::to_string(row.observation.value());
  const std::vector<double>& numbers = likelihoods_ ? row.likelihoods : row.reading;
  std::string cells(count - 1, ',');
  if (numbers.empty()) return cells;
  cells.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) cells += ',';
    if (!std::isnan(numbers[i])) cells += fmt::format("{}", numbers[i]);
  }
  return cells;
}

void JournalText::write_row(Run& run, const JournalRow& row) {
  if (row.action < 0) {
    run.first = cells_of(row);
    return;
  }
  const std::string seen = cells_of(row);
  if (reader_.header().reading_first) {
    fmt::format_to(std::back_inserter(text_), "{},{},{}", run.name, run.first, row.action.value());
    run.first = seen;
  } else {
    fmt::format_to(std::back_inserter(text_), "{},{},{}", run.name, row.action.value(), seen);
  }
  if (propensities_) fmt::format_to(std::back_inserter(text_), ",{}", *row.propensity);
  text_ += '\n';
}

// The last reading of a run whose rows are reading-first, after which no action was observed.
void JournalText::write_end(const Run& run) {
  if (!reader_.header().reading_first) return;
  fmt::format_to(std::back_inserter(text_), "{},{},{}\n", run.name, run.first,
                 propensities_ ? "," : "");
}

}  // namespace oas::detail
