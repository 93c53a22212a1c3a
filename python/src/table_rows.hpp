#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columns.hpp"
#include "log.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/row_source.hpp"

/// The columns action, observation, propensity, reward, state and run of a table as rows of a
/// finite model that are action-first. All throw InvalidArgument naming column, row and value.
namespace oas::python {

/// Rows at which the runs of a table start. None where runs are interleaved, so that the reader of
/// files has to sort them.
[[nodiscard]] std::optional<std::vector<std::size_t>> runs_of(const Columns& columns);

/// Such rows for estimators, block by block: cells are read where they are, whatever their type and
/// distance, and checked on the way, so that no copy of a column is made. Model, columns and runs
/// must outlive it.
class TableRows final : public RowSource {
 public:
  TableRows(const Pomdp& model, const Columns& columns, const std::vector<std::size_t>& runs,
            RowsRead progress = {});
  ~TableRows() override;

  [[nodiscard]] std::string name() const override { return "the log"; }
  [[nodiscard]] bool next(RowBlock& block) override;
  void rewind() override;
  [[noreturn]] void fail(std::size_t row, const std::string& message) const override;
  [[noreturn]] void fail_at(std::int64_t index, const std::string& message) override;

 private:
  struct Cells;
  std::unique_ptr<Cells> cells_;
};

/// Such rows as a log. False where runs are interleaved.
[[nodiscard]] bool read_columns(const Columns& columns, Log& log);

}  // namespace oas::python
