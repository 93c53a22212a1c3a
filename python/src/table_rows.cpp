#include "table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <type_traits>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/model/label_lookup.hpp"

namespace oas::python {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 15;  // rows; what is converted stays in the cache

// Whether each of `count` cells from the first on is one of least … end - 1, and their labels.
// Branchless, so that compilers make vectors of it; each cell is looked at once, since its owner
// may write to it meanwhile.
template <class Number, class Cell>
bool copy_labels(const Cell& cell, std::size_t count, int least, int end, std::int32_t* labels) {
  using Place = std::conditional_t<(sizeof(Number) < 4 || std::is_same_v<Number, std::int32_t>),
                                   std::uint32_t, std::uint64_t>;
  const int from = std::is_unsigned_v<Number> ? 0 : least;  // no cell of these is -1
  const auto places = static_cast<std::uint32_t>(end - from);
  Place beyond = 0;
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Number value = cell(i);
    const Place place = static_cast<Place>(value) - static_cast<Place>(from);
    if constexpr (sizeof(Place) == 8) beyond |= place >> 32;
    wrong |= static_cast<std::uint32_t>(static_cast<std::uint32_t>(place) >= places);
    labels[i] = static_cast<std::int32_t>(value);
  }
  return beyond == 0 && wrong == 0;
}

// The same of real numbers, of which NaN is a cell that is missing.
template <class Cell>
bool copy_real_labels(const Cell& cell, std::size_t count, int least, int end,
                      std::int32_t* labels) {
  std::uint32_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = cell(i);
    const auto label = static_cast<std::int32_t>(value >= 0.0 && value < end ? value : -1.0);
    const bool missing = value != value || value == -1.0;
    wrong |= static_cast<std::uint32_t>(label < least) |
             static_cast<std::uint32_t>(!missing && label != value);
    labels[i] = label;
  }
  return wrong == 0;
}

// A column of labels as indices, -1 where a cell is missing.
template <class Index>
class LabelColumn {
 public:
  LabelColumn(const Column& column, const Labels& labels, const char* what, bool may_be_missing)
      : column_(column), labels_(labels), what_(what), least_(may_be_missing ? -1 : 0) {
    OAS_REQUIRE(!std::holds_alternative<DateCells>(column.cells),
                "column '{}' holds dates, not {}s", column.name, what);
    if (const auto* const text = std::get_if<TextCells>(&column.cells)) {
      of_word_.assign(text->words.size(), kNotLookedUp);
    }
  }

  // `count` cells from row `first` on, until the next call.
  [[nodiscard]] std::span<const Index> read(std::size_t first, std::size_t count) {
    read_.resize(count);
    auto* const labels =
        reinterpret_cast<std::int32_t*>(read_.data());  // NOLINT: what it consists of
    if (!convert(first, count, labels)) refuse(first, count);
    return read_;
  }

  [[nodiscard]] std::vector<Index> all() {
    static_cast<void>(read(0, column_.size()));
    return std::move(read_);
  }

 private:
  static constexpr std::int32_t kNotLookedUp = -2;
  static constexpr std::int32_t kNone = -3;

  [[nodiscard]] int end() const { return labels_.size(); }

  [[nodiscard]] bool convert(std::size_t first, std::size_t count, std::int32_t* labels) {
    const auto from_series = [&]<class Number>(const Series<Number>& series) {
      const Number* const cells = series.first + static_cast<std::ptrdiff_t>(first) * series.step;
      const auto copied = [&](const auto& cell) {
        if constexpr (std::is_floating_point_v<Number>) {
          return copy_real_labels(cell, count, least_, end(), labels);
        } else {
          return copy_labels<Number>(cell, count, least_, end(), labels);
        }
      };
      if (series.step == 1) return copied([=](std::size_t i) { return cells[i]; });
      const std::ptrdiff_t step = series.step;
      return copied([=](std::size_t i) { return cells[static_cast<std::ptrdiff_t>(i) * step]; });
    };
    if (const auto* const real = std::get_if<RealCells>(&column_.cells)) {
      return std::visit(from_series, real->values);
    }
    const auto* const whole = std::get_if<WholeCells>(&column_.cells);
    if (whole != nullptr && whole->missing.empty()) return std::visit(from_series, whole->values);
    return convert_each(first, count, labels);
  }

  [[nodiscard]] bool convert_each(std::size_t first, std::size_t count, std::int32_t* labels) {
    std::int32_t lowest = end();
    for (std::size_t i = 0; i < count; ++i) {
      labels[i] = label_at(first + i);
      lowest = std::min(lowest, labels[i]);
    }
    return lowest >= least_;
  }

  // -1 where the cell is missing, kNone where it is no label.
  [[nodiscard]] std::int32_t label_at(std::size_t row) {
    if (const auto* const whole = std::get_if<WholeCells>(&column_.cells)) {
      if (whole->is_missing(row)) return -1;
      const std::int64_t value = (*whole)[row];  // -1: as in the logs that oas hands out
      return value >= -1 && value < end() ? static_cast<std::int32_t>(value) : kNone;
    }
    if (const auto* const real = std::get_if<RealCells>(&column_.cells)) {
      const double value = (*real)[row];
      if (std::isnan(value)) return -1;
      const bool whole = value >= -1.0 && value < end() && value == std::floor(value);
      return whole ? static_cast<std::int32_t>(value) : kNone;
    }
    const auto& text = std::get<TextCells>(column_.cells);
    const std::int32_t word = text.codes[row];
    if (word < 0) return -1;
    std::int32_t& label = of_word_[static_cast<std::size_t>(word)];
    if (label == kNotLookedUp) label = looked_up(text.words[static_cast<std::size_t>(word)]);
    return label;
  }

  [[nodiscard]] std::int32_t looked_up(const std::string& word) const {
    if (word.empty()) return -1;
    try {
      return element_named(word, labels_, what_);
    } catch (const InvalidArgument&) {
      return kNone;
    }
  }

  // About the first cell that is wrong.
  [[noreturn]] void refuse(std::size_t first, std::size_t count) {
    std::size_t row = first;
    while (row + 1 < first + count && label_at(row) >= least_) ++row;
    if (label_at(row) == -1)
      fail_cell(column_, row, "is not an action; only observations may be missing");
    const bool text = std::holds_alternative<TextCells>(column_.cells);
    const std::string cell = cell_text(column_, row);
    const std::string known =
        labels_.has_names() ? listed(labels_) : fmt::format("0 to {}", labels_.size() - 1);
    throw InvalidArgument(fmt::format("column '{}', row {}: there is no {} {}; there are {}",
                                      column_.name, row, what_,
                                      text ? fmt::format("'{}'", cell) : cell, known));
  }

  const Column& column_;
  const Labels& labels_;
  const char* what_;
  int least_;
  std::vector<std::int32_t> of_word_;
  std::vector<Index> read_;
};

bool is_propensity(double value) { return value > 0.0 && value <= 1.0; }
bool is_reward(double value) { return !std::isinf(value); }  // NaN: not known

// A column of numbers of which all are to be `Fits`.
template <bool (*Fits)(double)>
class NumberColumn {
 public:
  NumberColumn(const Column& column, const char* why) : column_(column), why_(why) {}

  // As of LabelColumn.
  [[nodiscard]] std::span<const double> read(std::size_t first, std::size_t count) {
    const double* cells = in_place(first);
    if (cells == nullptr) {
      read_.resize(count);
      for (std::size_t i = 0; i < count; ++i) read_[i] = real_cell(column_, first + i);
      cells = read_.data();
    }
    bool fine = true;
    for (std::size_t i = 0; i < count; ++i) fine &= Fits(cells[i]);
    if (!fine) {
      const double* const wrong = std::find_if_not(cells, cells + count, Fits);
      fail_cell(column_, first + static_cast<std::size_t>(wrong - cells), why_);
    }
    return {cells, count};
  }

  [[nodiscard]] std::vector<double> all() {
    const std::span<const double> cells = read(0, column_.size());
    if (cells.data() == read_.data()) return std::move(read_);
    return {cells.begin(), cells.end()};
  }

 private:
  [[nodiscard]] const double* in_place(std::size_t first) const {
    const auto* const real = std::get_if<RealCells>(&column_.cells);
    if (real == nullptr) return nullptr;
    const auto* const series = std::get_if<Series<double>>(&real->values);
    return series != nullptr && series->step == 1 ? series->first + first : nullptr;
  }

  const Column& column_;
  const char* why_;
  std::vector<double> read_;
};

template <class Reader>
void make_if(std::optional<Reader>& reader, const Column* column, const auto&... arguments) {
  if (column != nullptr) reader.emplace(*column, arguments...);
}

// The columns of a table that are looked at.
struct TableColumns {
  TableColumns(const Pomdp& model, const Columns& columns)
      : actions(*columns.find("action"), model.actions(), "action", false),
        observations(*columns.find("observation"), model.observations(), "observation", true) {
    make_if(propensities, columns.find("propensity"), "is not in (0, 1]");
    make_if(rewards, columns.find("reward"), "is not a finite number");
    make_if(states, columns.find("state"), model.states(), "state", true);
  }

  LabelColumn<Action> actions;
  LabelColumn<Observation> observations;
  std::optional<NumberColumn<is_propensity>> propensities;
  std::optional<NumberColumn<is_reward>> rewards;
  std::optional<LabelColumn<State>> states;
};

// Rows at which cells differ from those before, and the cells there.
template <class Cell>
auto changes(std::size_t count, const Cell& cell, std::vector<std::size_t>& starts) {
  std::vector<std::decay_t<decltype(cell(0))>> keys;
  for (std::size_t row = 0; row < count; ++row) {
    if (row > 0 && cell(row) == keys.back()) continue;
    keys.push_back(cell(row));
    starts.push_back(row);
  }
  return keys;
}

template <class Key>
bool all_differ(std::vector<Key> keys) {
  if (std::adjacent_find(keys.begin(), keys.end(), std::greater_equal<>()) == keys.end())
    return true;
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
}

// Where runs start; false where one comes back.
bool find_runs(const Column& column, std::vector<std::size_t>& starts) {
  const std::size_t count = column.size();
  const auto* const whole = std::get_if<WholeCells>(&column.cells);
  if (whole != nullptr && whole->missing.empty()) {
    return std::visit(
        [&](const auto& series) {
          return all_differ(changes(
              count, [&](std::size_t row) { return series[row]; }, starts));
        },
        whole->values);
  }
  const auto named = [&](std::size_t row) {
    std::string name = cell_text(column, row);
    if (name.empty()) fail_cell(column, row, "is not a name of a run");
    return name;
  };
  const auto* const text = std::get_if<TextCells>(&column.cells);
  if (text == nullptr) return all_differ(changes(count, named, starts));
  const auto codes = changes(
      count, [&](std::size_t row) { return text->codes[row]; }, starts);
  for (const std::size_t row : starts) static_cast<void>(named(row));
  return all_differ(codes);
}

}  // namespace

std::optional<std::vector<std::size_t>> runs_of(const Columns& columns) {
  std::vector<std::size_t> starts;
  if (const Column* const column = columns.find("run")) {
    if (!find_runs(*column, starts)) return std::nullopt;
  } else if (columns.size() > 0) {
    starts.push_back(0);
  }
  return starts;
}

struct TableRows::Cells {
  Cells(const Pomdp& model, const Columns& of_columns, const std::vector<std::size_t>& of_runs,
        RowsRead told)
      : columns(model, of_columns),
        size(of_columns.size()),
        runs(of_runs),
        progress(std::move(told)) {}

  TableColumns columns;
  std::size_t size;
  const std::vector<std::size_t>& runs;
  RowsRead progress;
  std::size_t at = 0;        // the first row of the next block
  std::size_t last = 0;      // of the last one
  std::size_t next_run = 0;  // the first that starts behind the last block
  std::vector<std::size_t> starts;
};

TableRows::TableRows(const Pomdp& model, const Columns& columns,
                     const std::vector<std::size_t>& runs, RowsRead progress)
    : cells_(std::make_unique<Cells>(model, columns, runs, std::move(progress))) {}
TableRows::~TableRows() = default;

bool TableRows::next(RowBlock& block) {
  check_interrupted();
  Cells& cells = *cells_;
  const std::size_t count = std::min(kBlock, cells.size - cells.at);
  if (count == 0) return false;
  const std::size_t first = cells.last = std::exchange(cells.at, cells.at + count);
  const std::vector<std::size_t>& starts = cells.runs;
  cells.starts.clear();
  for (; cells.next_run < starts.size() && starts[cells.next_run] < cells.at; ++cells.next_run) {
    cells.starts.push_back(starts[cells.next_run] - first);
  }
  TableColumns& columns = cells.columns;
  block = {};
  block.run_starts = cells.starts;
  block.actions = columns.actions.read(first, count);
  block.observations = columns.observations.read(first, count);
  if (columns.propensities) block.propensities = columns.propensities->read(first, count);
  if (columns.rewards) static_cast<void>(columns.rewards->read(first, count));
  if (columns.states) static_cast<void>(columns.states->read(first, count));
  if (cells.progress) cells.progress(static_cast<std::int64_t>(count));
  return true;
}

void TableRows::rewind() { cells_->at = cells_->last = cells_->next_run = 0; }

void TableRows::fail(std::size_t row, const std::string& message) const {
  throw InvalidArgument(fmt::format("row {} of the log: {}", cells_->last + row, message));
}

void TableRows::fail_at(std::int64_t index, const std::string& message) {
  throw InvalidArgument(fmt::format("row {} of the log: {}", index, message));
}

bool read_columns(const Columns& columns, Log& log) {
  std::optional<std::vector<std::size_t>> runs = runs_of(columns);
  if (!runs) return false;
  log.block.run_starts = std::move(*runs);
  if (const Column* const column = columns.find("run")) {
    for (const std::size_t row : log.block.run_starts) {
      log.block.run_names.push_back(cell_text(*column, row));
    }
  }
  TableColumns cells(std::get<Pomdp>(*log.model), columns);
  Trajectory& rows = log.block.rows;
  rows.actions = cells.actions.all();
  rows.observations = cells.observations.all();
  if (cells.propensities) rows.propensities = cells.propensities->all();
  if (cells.rewards) rows.rewards = cells.rewards->all();
  if (cells.states) rows.states = cells.states->all();
  return true;
}

}  // namespace oas::python
