#include "oas/logs/log_writer.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "oas/core/contracts.hpp"
#include "oas/logs/byte_sink.hpp"
#include "oas/logs/csv_cell.hpp"
#include "oas/logs/detail/cell_text.hpp"
#include "oas/logs/detail/line_buffer.hpp"

namespace oas {

using detail::LabelText;
using detail::NumberText;

class LogWriter::Impl {
 public:
  /// `dimension` of real-valued observations; 0: those of the model.
  Impl(const std::string& path, const Pomdp& model, int dimension, LogColumns columns);

  void write(const Trajectory& block, std::span<const double> readings, long run,
             std::optional<std::string_view> name);
  void commit();

 private:
  void write_header(const Pomdp& model);
  [[nodiscard]] std::string observation_names() const;
  void check_block(const Trajectory& block, std::size_t readings, long run) const;
  void set_run(long run, std::optional<std::string_view> name);
  char* append_row(const Trajectory& block, std::span<const double> reading, std::size_t row,
                   char* out);
  char* append_reading(std::span<const double> reading, char* out);
  void flush();

  char* append_observation(Observation observation, std::span<const double> reading, char* out);
  char* append_chosen(const Trajectory& block, std::size_t row, char* out);

  LogColumns columns_;
  bool reading_first_;
  std::size_t dimension_;
  std::unique_ptr<ByteSink> sink_;
  LabelText actions_;
  LabelText observations_;
  LabelText states_;
  NumberText propensities_;
  NumberText rewards_;
  NumberText readings_;
  std::optional<long> run_;
  std::string run_cell_;  // with its comma
  std::size_t longest_row_ = 0;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;
  std::size_t rows_ = 0;
  bool committed_ = false;
};

LogWriter::Impl::Impl(const std::string& path, const Pomdp& model, int dimension,
                      LogColumns columns)
    : columns_(columns),
      reading_first_(model.reading_first()),
      dimension_(static_cast<std::size_t>(dimension)),
      actions_(model.actions(), "action", reading_first_),
      observations_(model.observations(), "observation", true),
      states_(model.states(), "state", true),
      buffer_(detail::LineBuffer::kMaxLine) {
  constexpr std::size_t kPunctuation = 8;
  longest_row_ = actions_.longest() + observations_.longest() + states_.longest() +
                 3 * NumberText::kMaxNumber + kPunctuation +
                 dimension_ * (NumberText::kMaxNumber + 1);
  OAS_REQUIRE(longest_row_ <= buffer_.size(),
              "the names of the model are too long for a log: a "
              "row may need {} bytes, the limit is {}",
              longest_row_, buffer_.size());
  sink_ = open_output(path);
  write_header(model);
}

std::string LogWriter::Impl::observation_names() const {
  if (dimension_ <= 1) return "observation";
  std::string text = "observation_1";
  for (std::size_t i = 1; i < dimension_; ++i) text += fmt::format(",observation_{}", i + 1);
  return text;
}

void LogWriter::Impl::write_header(const Pomdp& model) {
  std::string text = fmt::format("# oas-log/1 timing={}{}\n", to_string(model.timing()),
                                 reading_first_ ? " rows=reading-first" : "");
  if (columns_.run) text += "run,";
  text += reading_first_ ? observation_names() + ",action" : "action," + observation_names();
  if (columns_.propensity) text += ",propensity";
  if (columns_.reward) text += ",reward";
  if (columns_.state) text += ",state";
  text += '\n';
  sink_->write(text);
}

void LogWriter::Impl::check_block(const Trajectory& block, std::size_t readings, long run) const {
  OAS_REQUIRE(!committed_, "rows are written to a log that is complete");
  OAS_REQUIRE(columns_.run || !run_ || *run_ == run,
              "run {} follows run {} in a log without run column", run, run_.value_or(run));
  const auto check = [&](bool needed, std::size_t size, const char* what) {
    OAS_REQUIRE(!needed || size == block.size(), "{} {} for {} rows", size, what, block.size());
  };
  check(true, block.observations.size(), "observations");
  OAS_REQUIRE(readings == dimension_ * block.size(), "{} readings for {} rows of {}", readings,
              block.size(), dimension_);
  check(columns_.propensity, block.propensities.size(), "propensities");
  check(columns_.reward, block.rewards.size(), "rewards");
  check(columns_.state, block.states.size(), "states");
}

void LogWriter::Impl::set_run(long run, std::optional<std::string_view> name) {
  if (run_ == run) return;
  run_ = run;
  if (columns_.run) run_cell_ = name ? csv_cell(*name) + "," : fmt::format("{},", run);
  OAS_REQUIRE(longest_row_ + run_cell_.size() <= buffer_.size(),
              "the name of run {} is too long for a log", run);
}

void LogWriter::Impl::write(const Trajectory& block, std::span<const double> readings, long run,
                            std::optional<std::string_view> name) {
  check_block(block, readings.size(), run);
  set_run(run, name);
  std::size_t row = 0;
  try {
    for (; row < block.size(); ++row) {
      if (buffer_.size() - filled_ < longest_row_ + run_cell_.size()) flush();
      char* const end = append_row(block, readings.subspan(row * dimension_, dimension_), row,
                                   buffer_.data() + filled_);
      filled_ = static_cast<std::size_t>(end - buffer_.data());
    }
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("row {}: {}", rows_ + row, error.what()));
  }
  rows_ += block.size();
}

// Empty where a component was not read, NaN; one was, or the observation would be missing.
char* LogWriter::Impl::append_reading(std::span<const double> reading, char* out) {
  bool read = false;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    OAS_REQUIRE(!std::isinf(reading[i]), "observation {} is not finite", reading[i]);
    if (i > 0) *out++ = ',';
    if (std::isnan(reading[i])) continue;
    out = readings_.append(reading[i], out);
    read = true;
  }
  OAS_REQUIRE(read, "observation {} is not finite", reading[0]);
  return out;
}

char* LogWriter::Impl::append_observation(Observation observation, std::span<const double> reading,
                                          char* out) {
  if (dimension_ == 0) return observations_.append(observation, out);
  if (observation != kMissing) return append_reading(reading, out);
  for (std::size_t i = 1; i < dimension_; ++i) *out++ = ',';
  return out;
}

// Propensity and reward, which belong to the action: empty where there is none. A reward may also
// be unknown, NaN.
char* LogWriter::Impl::append_chosen(const Trajectory& block, std::size_t row, char* out) {
  const bool chosen = block.actions[row] >= 0;
  if (columns_.propensity) {
    const double propensity = block.propensities[row];
    OAS_REQUIRE(!chosen || (propensity > 0.0 && propensity <= 1.0),
                "propensity {} is not in (0, 1]", propensity);
    *out++ = ',';
    if (chosen) out = propensities_.append(propensity, out);
  }
  if (columns_.reward) {
    const double reward = block.rewards[row];
    OAS_REQUIRE(!chosen || !std::isinf(reward), "reward {} is not finite", reward);
    *out++ = ',';
    if (chosen && !std::isnan(reward)) out = rewards_.append(reward, out);
  }
  return out;
}

char* LogWriter::Impl::append_row(const Trajectory& block, std::span<const double> reading,
                                  std::size_t row, char* out) {
  out += run_cell_.copy(out, run_cell_.size());
  if (reading_first_) {
    out = append_observation(block.observations[row], reading, out);
    *out++ = ',';
    out = actions_.append(block.actions[row], out);
  } else {
    out = actions_.append(block.actions[row], out);
    *out++ = ',';
    out = append_observation(block.observations[row], reading, out);
  }
  out = append_chosen(block, row, out);
  if (columns_.state) {
    *out++ = ',';
    out = states_.append(block.states[row], out);
  }
  *out++ = '\n';
  return out;
}

void LogWriter::Impl::flush() {
  sink_->write({buffer_.data(), filled_});
  filled_ = 0;
}

void LogWriter::Impl::commit() {
  OAS_REQUIRE(!committed_, "a log is completed twice");
  OAS_REQUIRE(rows_ > 0, "a log without rows");
  flush();
  sink_->commit();
  committed_ = true;
}

LogWriter::LogWriter(const std::string& path, const Pomdp& model, LogColumns columns)
    : impl_(std::make_unique<Impl>(path, model, 0, columns)) {}

LogWriter::LogWriter(const std::string& path, const ContinuousPomdp& model, LogColumns columns)
    : impl_(std::make_unique<Impl>(path, model.chain(), model.sensors().dimension(), columns)) {}

LogWriter::~LogWriter() = default;
LogWriter::LogWriter(LogWriter&& other) noexcept = default;
LogWriter& LogWriter::operator=(LogWriter&& other) noexcept = default;

void LogWriter::write(const Trajectory& block, long run) { impl_->write(block, {}, run, {}); }

void LogWriter::write(const Trajectory& block, long run, std::string_view name) {
  impl_->write(block, {}, run, name);
}

void LogWriter::write(const Trajectory& block, std::span<const double> readings, long run) {
  impl_->write(block, readings, run, {});
}

void LogWriter::write(const Trajectory& block, std::span<const double> readings, long run,
                      std::string_view name) {
  impl_->write(block, readings, run, name);
}

void LogWriter::commit() { impl_->commit(); }

}  // namespace oas
