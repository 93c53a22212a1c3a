#include "oas/logs/log_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/journal/journal_record.hpp"
#include "oas/logs/detail/file_header.hpp"
#include "oas/logs/detail/log_split.hpp"
#include "oas/logs/detail/reading_first.hpp"
#include "oas/logs/detail/row_parser.hpp"
#include "oas/logs/detail/sorted_rows.hpp"
#include "oas/logs/detail/unit_names.hpp"

namespace oas {

using detail::LogColumn;

namespace {

constexpr std::size_t kRowsAhead = 1 << 16;

// The model with rows as the options say.
template <class Model>
Model as_read(const Model& model, const LogOptions& options) {
  return options.rows.empty() ? model : model.with_rows(parse_rows(options.rows));
}

// A live agent's journal holds the rows of its units as they came.
LogOptions as_stored(const OneLog& log, LogOptions options) {
  options.interleaved = options.interleaved || holds_journal(log.name());
  return options;
}

// Rows first … first+count-1 of a block as it came from the parser.
void copy_rows(const LogBlock& from, std::size_t first, std::size_t count, LogBlock& to) {
  const auto copy = [&](const auto& column, auto& out) {
    const auto width = static_cast<std::ptrdiff_t>(column.size() / from.rows.size());
    const auto begin = column.begin() + width * static_cast<std::ptrdiff_t>(first);
    out.assign(begin, begin + width * static_cast<std::ptrdiff_t>(count));
  };
  copy(from.rows.actions, to.rows.actions);
  copy(from.rows.observations, to.rows.observations);
  copy(from.rows.propensities, to.rows.propensities);
  copy(from.rows.rewards, to.rows.rewards);
  copy(from.rows.states, to.rows.states);
  copy(from.readings, to.readings);
  copy(from.likelihoods, to.likelihoods);
  for (std::size_t run = 0; run < from.run_starts.size(); ++run) {
    if (from.run_starts[run] < first || from.run_starts[run] >= first + count) continue;
    to.run_starts.push_back(from.run_starts[run] - first);
    to.run_names.push_back(from.run_names[run]);
  }
}

}  // namespace

void LogBlock::clear() {
  rows.clear();
  run_starts.clear();
  run_names.clear();
  starts.clear();
  first_steps.clear();
  readings.clear();
  likelihoods.clear();
  last_actions.clear();
  known.clear();
  times.clear();
}

RowBlock LogBlock::view() const {
  RowBlock block(rows);
  block.readings = readings;
  block.likelihoods = likelihoods;
  block.run_starts = run_starts;
  block.starts = starts;
  return block;
}

class LogReader::Impl {
 public:
  Impl(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model,
       std::optional<detail::RowEvidence> evidence, const LogOptions& options)
      : parser_(std::move(bytes), name, model, std::move(evidence), (options.validate(), options)) {
    require_columns(options);
    if (model.reading_first()) {
      reading_first_.emplace(parser_, model, options);
    }
    if (parser_.has(LogColumn::run) || parser_.has(LogColumn::time) || options.known_states) {
      sorted_.emplace(parser_, model, parser_.has(LogColumn::observation), options);
    }
    at_once_ = parser_.has(LogColumn::time) || options.known_states || options.interleaved;
  }

  /// The only file of a log, its first one, or all of them where they go on.
  template <class Model>
  static std::unique_ptr<Impl> open(const OneLog& log, const Model& model,
                                    const LogOptions& options) {
    auto made = make(open_bytes(log, 0), input_name(log.name()), model, as_stored(log, options));
    made->continue_with(log);
    return made;
  }
  static std::unique_ptr<Impl> open(const OneLog& log, const Pomdp& model, int dimension,
                                    const LogOptions& options) {
    auto made =
        std::make_unique<Impl>(open_bytes(log, 0), input_name(log.name()), as_read(model, options),
                               detail::RowEvidence(model, dimension), as_stored(log, options));
    made->continue_with(log);
    return made;
  }
  static std::unique_ptr<Impl> make(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                    const Pomdp& model, const LogOptions& options) {
    return std::make_unique<Impl>(std::move(bytes), name, as_read(model, options), std::nullopt,
                                  options);
  }
  static std::unique_ptr<Impl> make(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                    const ContinuousPomdp& model, const LogOptions& options) {
    const ContinuousPomdp read = as_read(model, options);
    return std::make_unique<Impl>(std::move(bytes), name, read.chain(),
                                  detail::RowEvidence(read, Outliers(options.outliers)), options);
  }

  bool read_block(LogBlock& block, std::size_t max_rows);

  [[nodiscard]] bool has(LogColumn column) const { return parser_.has(column); }
  void set_rows(LogRows rows) { rows_ = rows; }
  [[nodiscard]] LogRows rows() const { return rows_; }
  void use(Parallelism parallelism) { parser_.use(parallelism); }
  [[nodiscard]] bool reading_first() const { return reading_first_.has_value(); }
  void read_only(const detail::LogSlice& slice) {
    parser_.read_only(slice, open_range(parser_.name(), slice.begin, slice.end));
    looked_ahead_ = true;
  }
  [[nodiscard]] std::shared_ptr<const detail::RowCells> cells() const;
  void require_columns_of(const Impl& other) const;
  [[nodiscard]] long line_of(std::size_t row) const {
    return parser_.line_in_file(line_of_row(row));
  }
  [[nodiscard]] std::size_t file_of(std::size_t row) const {
    return parser_.index_of_file(line_of_row(row));
  }
  [[nodiscard]] std::string time_text(double time) const {
    return parser_.time_column().text(time);
  }
  [[nodiscard]] bool has_dates() const { return parser_.time_column().dates(); }
  [[nodiscard]] long line() const { return parser_.line(); }
  [[nodiscard]] std::size_t rows_read() const { return rows_read_; }
  [[nodiscard]] const std::string& name() const { return parser_.name(); }

 private:
  // Lines of rows are counted over all files.
  [[nodiscard]] long line_of_row(std::size_t row) const {
    return shifts() ? reading_first_->line_of(row) : line_as_read(row);
  }
  [[nodiscard]] long line_as_read(std::size_t row) const {
    return sorting_ ? sorted_->line_of(row) : first_line_ + static_cast<long>(row);
  }
  [[nodiscard]] bool shifts() const { return reading_first_ && rows_ != LogRows::as_written; }
  bool read_rows(LogBlock& block, std::size_t max_rows);
  void require_columns(const LogOptions& options) const;
  void continue_with(const OneLog& log);
  void look_ahead(std::size_t max_rows);
  void read_in_order(LogBlock& block, std::size_t max_rows);

  detail::RowParser parser_;
  LogBlock ahead_;                            // the first rows, looked at for runs that come back
  std::size_t ahead_used_ = 0;                // rows of these that were handed out
  long first_line_ = 0;                       // of the last block, if rows are not sorted
  std::optional<detail::SortedRows> sorted_;  // where rows may have to be sorted
  std::optional<detail::ReadingFirst> reading_first_;
  LogRows rows_ = LogRows::complete;
  bool at_once_ = false;       // and certainly have to be
  bool looked_ahead_ = false;  // the first rows do not say so
  bool sorting_ = false;
  std::size_t rows_read_ = 0;
};

void LogReader::Impl::require_columns(const LogOptions& options) const {
  const auto require = [&](bool given, const char* option, LogColumn column, const char* name) {
    if (!given || parser_.has(column)) return;
    throw ParseError(parser_.name(), parser_.line(), 0,
                     fmt::format("{}: the log has no column '{}'", option, name));
  };
  require(!options.step.empty(), "step", LogColumn::time, "time");
  require(!options.step_classes.empty(), "step_classes", LogColumn::time, "time");
  require(!options.gaps.empty(), "gaps", LogColumn::time, "time");
  require(options.sparse, "sparse", LogColumn::time, "time");
  require(!options.from.empty(), "from", LogColumn::time, "time");
  require(!options.until.empty(), "until", LogColumn::time, "time");
  require(options.known_states, "known_states", LogColumn::state, "state");
  require(options.interleaved, "interleaved", LogColumn::run, "run");
  if (!options.outliers.empty() && !parser_.has(LogColumn::reading)) {
    throw ParseError(parser_.name(), parser_.line(), 0,
                     "outliers: the observations of the log are not real numbers");
  }
}

std::shared_ptr<const detail::RowCells> LogReader::Impl::cells() const {
  const bool in_order = !at_once_ && !reading_first_ && parser_.plain();
  if (!in_order || !parser_.cells().knows_columns()) return nullptr;
  return std::make_shared<const detail::RowCells>(parser_.cells());
}

void LogReader::Impl::continue_with(const OneLog& log) {
  if (log.files().size() == 1 || log.starts_runs()) return;
  if (!parser_.has(LogColumn::run) || !parser_.has(LogColumn::time)) {
    throw ParseError(
        parser_.name(), parser_.line(), 0,
        fmt::format("the log goes on in {}, but it has no columns for the run and the time, "
                    "which would say how",
                    log.files()[1]));
  }
  parser_.continue_with(log);
}

// Whole blocks, so that those after them are whole too.
void LogReader::Impl::look_ahead(std::size_t max_rows) {
  const std::size_t blocks = (kRowsAhead + max_rows - 1) / max_rows;
  try {
    parser_.read(ahead_, blocks * max_rows);
  } catch (const detail::RunComesBack&) {
    at_once_ = true;
  }
}

void LogReader::Impl::read_in_order(LogBlock& block, std::size_t max_rows) {
  if (ahead_used_ < ahead_.rows.size()) {
    first_line_ = parser_.first_line() + static_cast<long>(ahead_used_);
    const std::size_t count = std::min(max_rows, ahead_.rows.size() - ahead_used_);
    if (count == ahead_.rows.size()) {
      std::swap(block, ahead_);
    } else {
      copy_rows(ahead_, ahead_used_, count, block);
      ahead_used_ += count;
    }
    return;
  }
  try {
    parser_.read(block, max_rows);
    first_line_ = parser_.first_line();
  } catch (const detail::RunComesBack& back) {
    throw ParseError(
        parser_.name(), parser_.line() + 1, parser_.field_of(LogColumn::run),
        fmt::format("{}, and the first {} rows gave no sign of that. Read the log with "
                    "--interleaved, or sort it by run, keeping the order of the rows within each "
                    "run (sort -s)",
                    back.what(), kRowsAhead));
  }
}

bool LogReader::Impl::read_block(LogBlock& block, std::size_t max_rows) {
  OAS_REQUIRE(max_rows >= 1, "max_rows is 0; it must be at least 1");
  const auto line_of = [&](std::size_t row) { return line_as_read(row); };
  if (!shifts()) {
    const bool any = read_rows(block, max_rows);
    if (reading_first_) reading_first_->check(block, line_of);
    return any;
  }
  return reading_first_->read(
      block, max_rows, rows_ == LogRows::all,
      [&](LogBlock& raw) { return read_rows(raw, kRowsAhead); }, line_of);
}

// Rows as they stand in the file, sorted where they have to be.
bool LogReader::Impl::read_rows(LogBlock& block, std::size_t max_rows) {
  block.clear();
  if (!sorting_) {
    const bool first = rows_read_ == 0 && !std::exchange(looked_ahead_, true);
    if (first && !at_once_ && parser_.has(LogColumn::run)) look_ahead(max_rows);
    if (at_once_) {
      sorted_->collect(std::exchange(ahead_, {}));
      sorting_ = true;
    }
  }
  if (sorting_) {
    sorted_->read(block, max_rows);
  } else {
    read_in_order(block, max_rows);
  }
  rows_read_ += block.rows.size();
  if (rows_read_ == 0) throw ParseError(parser_.name(), 0, 0, "no rows below the header");
  return block.rows.size() > 0;
}

// The files behind the first one, where each starts a run.
struct LogReader::Following {
  using Open = std::function<std::unique_ptr<Impl>(const OneLog& log)>;

  Following(const OneLog& all, Open each)
      : log(all), open(std::move(each)), names(all.in_one_list()) {}

  OneLog log;
  Open open;
  detail::UnitNames names;
  std::size_t file = 0;  // that is being read
  std::size_t rows_before = 0;
  Parallelism parallelism{1};
};

// Whoever looks at the rows was told which columns the first file has.
void LogReader::Impl::require_columns_of(const Impl& other) const {
  constexpr std::array<std::pair<LogColumn, const char*>, 5> kTold = {
      {{LogColumn::propensity, "the propensity"},
       {LogColumn::reward, "the reward"},
       {LogColumn::state, "the state"},
       {LogColumn::time, "the time"},
       {LogColumn::likelihood, "likelihoods"}}};
  for (const auto& [column, what] : kTold) {
    if (has(column) == other.has(column)) continue;
    throw ParseError(
        name(), line(), 0,
        fmt::format("there is {} column for {}, unlike in {}, with which it is read as "
                    "one log",
                    has(column) ? "a" : "no", what, other.name()));
  }
}

LogReader::LogReader(std::unique_ptr<Impl> first) : impl_(std::move(first)) {}

LogReader::LogReader(const OneLog& log, const Pomdp& model, const LogOptions& options)
    : LogReader(Impl::open(log, model, options)) {
  if (!log.starts_runs()) return;
  follow(log, [model, options](const OneLog& one) { return Impl::open(one, model, options); });
}

LogReader::LogReader(const OneLog& log, const ContinuousPomdp& model, const LogOptions& options)
    : LogReader(Impl::open(log, model, options)) {
  if (!log.starts_runs()) return;
  follow(log, [model, options](const OneLog& one) { return Impl::open(one, model, options); });
}

LogReader::LogReader(const OneLog& log, const Pomdp& model, int dimension,
                     const LogOptions& options)
    : LogReader(Impl::open(log, model, dimension, options)) {
  if (!log.starts_runs()) return;
  follow(log, [model, dimension, options](const OneLog& one) {
    return Impl::open(one, model, dimension, options);
  });
}

LogReader::LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name, const Pomdp& model,
                     const LogOptions& options)
    : LogReader(Impl::make(std::move(bytes), name, model, options)) {}

LogReader::LogReader(std::unique_ptr<ByteSource> bytes, const std::string& name,
                     const ContinuousPomdp& model, const LogOptions& options)
    : LogReader(Impl::make(std::move(bytes), name, model, options)) {}

LogReader::~LogReader() = default;
LogReader::LogReader(LogReader&& other) noexcept = default;
LogReader& LogReader::operator=(LogReader&& other) noexcept = default;

void LogReader::follow(const OneLog& log,
                       std::function<std::unique_ptr<Impl>(const OneLog& log)> open) {
  following_ = std::make_unique<Following>(log, std::move(open));
  following_->names.begin_file(impl_->name(), impl_->has(LogColumn::run));
}

bool LogReader::begin_next_file() {
  if (!following_ || following_->file + 1 == following_->log.files().size()) return false;
  Following& files = *following_;
  auto next = files.open(files.log.only(++files.file));
  next->require_columns_of(*impl_);
  next->set_rows(impl_->rows());
  next->use(files.parallelism);
  files.rows_before += impl_->rows_read();
  files.names.begin_file(next->name(), next->has(LogColumn::run));
  impl_ = std::move(next);
  return true;
}

bool LogReader::read_block(LogBlock& block, std::size_t max_rows) {
  while (!impl_->read_block(block, max_rows)) {
    if (!begin_next_file()) return false;
  }
  if (following_) following_->names.name(block);
  return true;
}

void LogReader::set_rows(LogRows rows) { impl_->set_rows(rows); }
void LogReader::use(Parallelism parallelism) {
  if (following_) following_->parallelism = parallelism;
  impl_->use(parallelism);
}

void LogReader::read_only(const detail::LogSlice& slice) { impl_->read_only(slice); }
std::shared_ptr<const detail::RowCells> LogReader::cells() const {
  return following_ ? nullptr : impl_->cells();
}

bool LogReader::reading_first() const { return impl_->reading_first(); }
bool LogReader::has_run() const { return following_ != nullptr || impl_->has(LogColumn::run); }
bool LogReader::has_propensity() const { return impl_->has(LogColumn::propensity); }
bool LogReader::has_reward() const { return impl_->has(LogColumn::reward); }
bool LogReader::has_state() const { return impl_->has(LogColumn::state); }
bool LogReader::has_time() const { return impl_->has(LogColumn::time); }
bool LogReader::has_likelihood() const { return impl_->has(LogColumn::likelihood); }
std::string LogReader::time_text(double time) const { return impl_->time_text(time); }
bool LogReader::has_dates() const { return impl_->has_dates(); }
long LogReader::line_of(std::size_t row) const { return impl_->line_of(row); }
std::size_t LogReader::file_of(std::size_t row) const {
  return following_ ? following_->file : impl_->file_of(row);
}
long LogReader::line() const { return impl_->line(); }
std::size_t LogReader::rows_read() const {
  return impl_->rows_read() + (following_ ? following_->rows_before : 0);
}
const std::string& LogReader::name() const { return impl_->name(); }

bool log_brings_likelihoods(const OneLog& log, const LogOptions& options) {
  const auto header = detail::peeked_header(log.name(), options);
  return header && detail::names_likelihoods(*header, ColumnNames(options.columns));
}

}  // namespace oas
