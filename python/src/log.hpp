#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columns.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/logs/log_reader.hpp"
#include "oas/model/any_model.hpp"
#include "oas/model/row_source.hpp"

/// Logs in memory, as Python has them.
namespace oas::python {

namespace nb = nanobind;

/// The rows of a log in memory, as a file would have them, sorted by run; labels are indices.
struct Log {
  std::shared_ptr<const AnyModel> model;  ///< whose labels these are
  LogBlock block;
  bool dates = false;  ///< times are seconds since 1970

  [[nodiscard]] std::size_t size() const { return block.rows.size(); }
  [[nodiscard]] std::size_t runs() const { return block.run_starts.size(); }
  [[nodiscard]] bool reading_first() const { return chain_of(*model).reading_first(); }
  /// [row]: the number of its run.
  [[nodiscard]] std::vector<std::int64_t> run_of_rows() const;
  /// Writes it as a file. Throws InvalidArgument where a file could not say it.
  void write(const std::string& path) const;

  /// Whether all rows are the same, NaN being NaN.
  [[nodiscard]] bool has_rows_of(const Log& other) const;

  /// The same rows as those of another model. Throws InvalidArgument where it has other sizes.
  [[nodiscard]] Log labelled_by(AnyModel other) const;

  /// Bytes that come back to the bit.
  [[nodiscard]] std::string save() const;
  [[nodiscard]] static Log loaded(std::string_view bytes);
};

/// Rows of a log as estimators take them; the log must outlive it.
class LoggedRows final : public RowSource {
 public:
  explicit LoggedRows(const Log& log, RowsRead progress = {})
      : log_(log), progress_(std::move(progress)) {}

  [[nodiscard]] std::string name() const override { return "the log"; }
  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override { read_ = false; }
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;

 private:
  const Log& log_;
  RowsRead progress_;
  bool read_ = false;
};

/// Writes columns as a log file whose columns have the names of the parts. Without a model nothing
/// is said about the timing, and whole numbers are indices.
class ColumnWriter {
 public:
  ColumnWriter(const std::string& path, const std::optional<AnyModel>& model);
  ~ColumnWriter();
  void write(const Columns& columns);
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// All rows of log files, reading-first ones as `rows` says.
[[nodiscard]] Log read_log_files(const std::shared_ptr<const AnyModel>& model,
                                 const std::vector<std::string>& paths, const LogOptions& options,
                                 const RowsRead& progress, LogRows rows);

}  // namespace oas::python
