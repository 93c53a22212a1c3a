#include "oas/logs/detail/journal_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "oas/core/number_text.hpp"
#include "oas/logs/csv_cell.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kTextAtATime = std::size_t{1} << 16;

bool is_row(const JournalRecord& record) {
  return record.kind == JournalKind::observe || record.kind == JournalKind::step;
}

}  // namespace

JournalText::JournalText(const std::string& folder)
    : reader_(folder), propensities_(all_have_propensities(folder)) {
  write_header();
}

bool JournalText::all_have_propensities(const std::string& folder) const {
  JournalReader reader(folder);
  for (JournalRecord record; reader.next(record);) {
    if (is_row(record) && record.row.action >= 0 && !record.row.propensity) return false;
  }
  return true;
}

void JournalText::write_header() {
  const JournalHeader& header = reader_.header();
  text_ += fmt::format("# oas-log/1 timing={}{}\n", header.after ? "after" : "before",
                       header.reading_first ? " rows=reading-first" : "");
  text_ += header.reading_first ? "run,observation,action" : "run,action,observation";
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
  return row.observation == kMissing ? "" : std::to_string(row.observation.value());
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
