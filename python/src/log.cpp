#include "log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models.hpp"
#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/interruption.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/log_files.hpp"
#include "oas/logs/log_writer.hpp"

namespace oas::python {

std::vector<std::int64_t> Log::run_of_rows() const {
  std::vector<std::int64_t> runs(size());
  for (std::size_t run = 0; run < block.run_starts.size(); ++run) {
    const std::size_t end =
        run + 1 < block.run_starts.size() ? block.run_starts[run + 1] : runs.size();
    std::fill(runs.begin() + static_cast<std::ptrdiff_t>(block.run_starts[run]),
              runs.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::int64_t>(run));
  }
  return runs;
}

namespace {

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r#") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

std::string first_line(const Pomdp& chain) {
  std::string line = fmt::format("# oas-log/1 timing={}", to_string(chain.timing()));
  if (chain.reading_first()) line += " rows=reading-first";
  return line + "\n";
}

}  // namespace

void Log::write(const std::string& path) const {
  OAS_REQUIRE(size() > 0, "the log has no rows");
  const bool plain = std::all_of(
      block.starts.begin(), block.starts.end(),
      [](const RunStart& start) { return start.from_model() && start.first() == nullptr; });
  OAS_REQUIRE(plain,
              "runs of this log start in an unknown or a known state, which a file says by "
              "times and gaps or by the column state: use the table it was made of");
  const bool finite = std::holds_alternative<Pomdp>(*model);
  OAS_REQUIRE(finite || !block.readings.empty(),
              "the log has likelihoods and no readings: use the table it was made of");
  LogColumns columns;
  columns.run = runs() > 1 || !block.run_names.empty();
  columns.propensity = !block.rows.propensities.empty();
  columns.reward = !block.rows.rewards.empty();
  columns.state = !block.rows.states.empty();
  LogWriter writer =
      std::visit([&](const auto& any) { return LogWriter(path, any, columns); }, *model);
  for (std::size_t run = 0; run < runs(); ++run) {
    const std::size_t first = block.run_starts[run];
    const std::size_t end = run + 1 < runs() ? block.run_starts[run + 1] : size();
    const auto cut = [&](const auto& column) {
      using Cut = std::decay_t<decltype(column)>;
      if (column.empty()) return Cut();
      return Cut(column.begin() + static_cast<std::ptrdiff_t>(first),
                 column.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const Trajectory rows{cut(block.rows.actions), cut(block.rows.observations),
                          cut(block.rows.propensities), cut(block.rows.rewards),
                          cut(block.rows.states)};
    const auto number = static_cast<long>(run);
    const std::string name = block.run_names.empty() ? std::to_string(run) : block.run_names[run];
    if (finite) {
      writer.write(rows, number, name);
    } else {
      const std::size_t d = block.readings.size() / size();
      writer.write(rows, std::span(block.readings).subspan(first * d, (end - first) * d), number,
                   name);
    }
  }
  writer.commit();
}

bool Log::has_rows_of(const Log& other) const {
  if (block == other.block) return true;
  LogBlock ours = block;
  LogBlock theirs = other.block;
  // What is equal but for ==, which says that NaN differs from itself, is left out.
  const auto leave_out_equals = [](std::vector<double>& a, std::vector<double>& b) {
    const bool equal = std::ranges::equal(
        a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
    if (!equal) return;
    a.clear();
    b.clear();
  };
  leave_out_equals(ours.rows.rewards, theirs.rows.rewards);
  leave_out_equals(ours.readings, theirs.readings);
  leave_out_equals(ours.likelihoods, theirs.likelihoods);
  return ours == theirs;
}

Log Log::labelled_by(AnyModel other) const {
  const Pomdp& ours = chain_of(*model);
  const Pomdp& theirs = chain_of(other);
  OAS_REQUIRE(ours.num_actions() == theirs.num_actions() &&
                  ours.num_observations() == theirs.num_observations() &&
                  (block.rows.states.empty() || ours.num_states() == theirs.num_states()),
              "the log was read with a model of {}, the model has {}", ours.brief(),
              theirs.brief());
  Log log = *this;
  log.model = std::make_shared<const AnyModel>(std::move(other));
  return log;
}

std::string Log::save() const {
  ByteWriter out;
  out.put_text(model_text(*model));
  out.put(dates);
  out.put_all(block.rows.actions);
  out.put_all(block.rows.observations);
  out.put_all(block.rows.states);
  out.put_all(block.known);
  for (const auto* column : {&block.rows.propensities, &block.rows.rewards, &block.readings,
                             &block.likelihoods, &block.times}) {
    out.put_all(*column);
  }
  out.put_all(block.run_starts);
  out.put_all(block.first_steps);
  save_all(block.starts, out);
  out.put(static_cast<std::uint64_t>(block.run_names.size()));
  for (const std::string& name : block.run_names) out.put_text(name);
  return out.take();
}

Log Log::loaded(std::string_view bytes) {
  ByteReader in(bytes);
  Log log;
  log.model = std::make_shared<const AnyModel>(parse_model_text(in.get_text(), "pickled log"));
  log.dates = in.get<bool>();
  LogBlock& block = log.block;
  block.rows.actions = in.get_all<Action>();
  block.rows.observations = in.get_all<Observation>();
  block.rows.states = in.get_all<State>();
  block.known = in.get_all<State>();
  for (auto* column : {&block.rows.propensities, &block.rows.rewards, &block.readings,
                       &block.likelihoods, &block.times}) {
    *column = in.get_all<double>();
  }
  block.run_starts = in.get_all<std::size_t>();
  block.first_steps = in.get_all<std::int64_t>();
  block.starts = load_starts(in);
  block.run_names.resize(in.get<std::uint64_t>());
  for (std::string& name : block.run_names) name = in.get_text();
  return log;
}

bool LoggedRows::next(RowBlock& block) {
  if (read_ || log_.size() == 0) return false;
  read_ = true;
  block = log_.block.view();
  if (progress_) progress_(static_cast<std::int64_t>(block.size()));
  return true;
}

void LoggedRows::fail(std::size_t row, const std::string& message) const {
  throw InvalidArgument(fmt::format("row {} of the log: {}", row, message));
}

void LoggedRows::fail_at(std::int64_t index, const std::string& message) {
  fail(static_cast<std::size_t>(index), message);
}

struct ColumnWriter::Impl {
  Impl(const std::string& path, const std::optional<AnyModel>& model)
      : out(open_output(path)),
        first(model ? first_line(chain_of(*model)) : ""),
        labels(!model || std::holds_alternative<Pomdp>(*model)) {}
  std::unique_ptr<ByteSink> out;
  std::string first;
  bool labels;  // observations are no readings, of which -1 is one
  bool started = false;
};

ColumnWriter::ColumnWriter(const std::string& path, const std::optional<AnyModel>& model)
    : impl_(std::make_unique<Impl>(path, model)) {}
ColumnWriter::~ColumnWriter() = default;

void ColumnWriter::write(const Columns& columns) {
  std::string text;
  if (!impl_->started) {
    text = impl_->first;
    for (const Column& column : columns.all()) {
      text += (&column == &columns.all().front() ? "" : ",") + quoted(column.part);
    }
    text += '\n';
    impl_->started = true;
  }
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  for (std::size_t row = 0; row < columns.size(); ++row) {
    for (const Column& column : columns.all()) {
      if (&column != &columns.all().front()) text += ',';
      std::string cell = cell_text(column, row);
      const bool index = column.part == "action" || column.part == "state" ||
                         (column.part == "observation" && impl_->labels);
      if (cell == "-1" && index && std::holds_alternative<WholeCells>(column.cells)) {
        cell.clear();  // as in the logs that oas hands out
      }
      text += quoted(cell);
    }
    text += '\n';
    if (text.size() < kPiece) continue;
    check_interrupted();
    impl_->out->write(text);
    text.clear();
  }
  impl_->out->write(text);
}

void ColumnWriter::commit() { impl_->out->commit(); }

Log read_log_files(const std::shared_ptr<const AnyModel>& model,
                   const std::vector<std::string>& paths, const LogOptions& options,
                   const RowsRead& progress, LogRows rows) {
  Log log{model, {}, false};
  LogBlock& all = log.block;
  for (const OneLog& one : logs_of(paths, options)) {
    LogReader reader =
        std::visit([&](const auto& any) { return LogReader(one, any, options); }, *model);
    reader.set_rows(rows);
    LogBlock block;
    while (reader.read_block(block, kLogBlockRows)) {
      check_interrupted();
      const std::size_t before = all.rows.size();
      const auto append = [](auto& to, const auto& from) {
        to.insert(to.end(), from.begin(), from.end());
      };
      for (const std::size_t start : block.run_starts) all.run_starts.push_back(before + start);
      append(all.rows.actions, block.rows.actions);
      append(all.rows.observations, block.rows.observations);
      append(all.rows.propensities, block.rows.propensities);
      append(all.rows.rewards, block.rows.rewards);
      append(all.rows.states, block.rows.states);
      append(all.run_names, block.run_names);
      append(all.starts, block.starts);
      append(all.first_steps, block.first_steps);
      append(all.readings, block.readings);
      append(all.likelihoods, block.likelihoods);
      append(all.known, block.known);
      append(all.times, block.times);
      if (progress) progress(static_cast<std::int64_t>(block.rows.size()));
    }
    log.dates = reader.has_time() && reader.has_dates();
  }
  for (const auto* column : {&all.rows.propensities, &all.rows.rewards, &all.times}) {
    OAS_REQUIRE(column->empty() || column->size() == all.rows.size(),
                "the files do not have the same columns: some have propensities, rewards or times, "
                "others have not");
  }
  return log;
}

}  // namespace oas::python
